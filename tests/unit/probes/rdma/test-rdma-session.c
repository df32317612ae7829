/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#include "record/message.h"
#include "tests/unit/probes/rdma/rdma-sides.h"

/* Both sides of the RDMA probe, over devices that exist here only and misbehave as requested. */

static void assert_measured(const RdmaSides *sides)
{
        const AldRdmaMeasurement *result = &sides->result;

        g_assert_cmpstr(sides->client.failure.message, ==, NULL);
        g_assert_cmpstr(sides->server.failure.message, ==, NULL);
        g_assert_cmpstr(result->source_port, ==, "fake0.1");
        g_assert_cmpstr(result->sink_port, ==, "fake0.1");
        g_assert_cmpuint(result->rtt.n, >, 0);
        g_assert_cmpuint(result->read.n, >, 0);
        g_assert_cmpuint(result->upload.bytes, >, 0);
        g_assert_cmpuint(result->download.bytes, >, 0);
        g_assert_cmpuint(sides->server.served.received, >, 0);
        g_assert_cmpuint(sides->server.served.sent, >, 0);
}

/* All that is printed is within the limits of the schema: its reader would leave out the rest. */
static void assert_printed(const AldRdmaMeasurement *measurement)
{
        g_autofree char *text = ald_rdma_measurement_to_json(measurement), *again = NULL;
        g_autoptr(AldRecord) record = NULL;
        const AldRdmaResult *result;

        g_assert_cmpint(
                ald_message_parse(ALD_KIND_RDMA_RESULT, text, strlen(text), 1 << 16, &record, NULL), ==, 0);
        again = ald_message_format(ALD_KIND_RDMA_RESULT, ald_record_fields(record));
        g_assert_cmpstr(again, ==, text);
        result = ald_record_as(record, RDMA_RESULT, AldRdmaResult);
        g_assert_cmpuint(result->upload.bits_per_second, ==, measurement->upload.bits_per_second);
        g_assert_cmpuint(result->queue_pairs, ==, measurement->plan.queues);
        g_assert_cmpstr(result->operation, ==, "write");
        g_assert_cmpstr(result->connected_by, ==, "verbs");
        g_assert_nonnull(result->source_gid);
}

static void test_write(RdmaSides *sides, gconstpointer userdata)
{
        rdma_sides_run(sides, &(FakeFaults){});
        assert_measured(sides);
        assert_printed(&sides->result);
        g_assert_cmpint(sides->result.plan.operation, ==, ALD_RDMA_USE_OPERATION_WRITE);
        g_assert_cmpuint(sides->result.inline_max, >=, ALD_RDMA_PLAN_PING);
}

static void test_send_by_many(RdmaSides *sides, gconstpointer userdata)
{
        sides->client.options.method = ALD_RDMA_METHOD_SEND;
        sides->client.options.queues = 4;
        rdma_sides_run(sides, &(FakeFaults){});
        assert_measured(sides);
        g_assert_cmpint(sides->result.plan.operation, ==, ALD_RDMA_USE_OPERATION_SEND);
        g_assert_cmpuint(sides->result.plan.queues, ==, 4);
}

/* A device without inline, with few requests and little memory. */
static void test_small_device(RdmaSides *sides, gconstpointer userdata)
{
        rdma_sides_run(sides, &(FakeFaults){ .no_inline = true, .requests_max = 3, .region_max = 100 << 10 });
        assert_measured(sides);
        g_assert_cmpuint(sides->result.inline_max, ==, 0);
        g_assert_cmpuint(sides->result.plan.depth, ==, 3);
        g_assert_cmpuint(sides->result.plan.bytes, ==, 64 << 10);
}

/* As of Soft-RoCE below many addresses. */
static void test_many_gids(RdmaSides *sides, gconstpointer userdata)
{
        rdma_sides_run(sides, &(FakeFaults){ .n_gids = 1024 });
        assert_measured(sides);
        g_assert_true(sides->result.has_gid);
}

/* What the server may spend is little. */
static void test_little(RdmaSides *sides, gconstpointer userdata)
{
        sides->client.options.link.bytes_max = UINT64_MAX / 4;
        sides->server.options.link.bytes_max = 1;
        rdma_sides_run(sides, &(FakeFaults){});
        assert_measured(sides);
        g_assert_cmpuint(sides->result.upload.bins, ==, 0);
        g_assert_cmpuint(sides->result.download.bins, ==, 0);
}

/* Any port will do, and the first one does not. */
static void test_second_port(RdmaSides *sides, gconstpointer userdata)
{
        rdma_sides_run(sides, &(FakeFaults){ .first_port_down = true });
        g_assert_cmpstr(sides->client.failure.message, ==, NULL);
        g_assert_cmpstr(sides->server.failure.message, ==, NULL);
        g_assert_cmpstr(sides->result.source_port, ==, "fake0.2");
        g_assert_cmpstr(sides->result.sink_port, ==, "fake0.2");
}

/* Another port of the device goes down. */
static void test_other_port(RdmaSides *sides, gconstpointer userdata)
{
        rdma_sides_run(sides, &(FakeFaults){ .event = IBV_EVENT_PORT_ERR, .event_at = 200, .event_port = 2 });
        assert_measured(sides);
}

static void assert_both_fail(const RdmaSides *sides, AldFailureKind kind)
{
        rdma_side_assert_fails(&sides->client, kind);
        rdma_side_assert_fails(&sides->server, kind);
}

typedef struct Fault {
        const char *name;
        FakeFaults faults;
        bool client_lies, server_lies;
        AldFailureKind kind;
} Fault;

/* 200 warm-ups come first, of which each is two completions at each side. */
static const Fault all_faults[] = {
        { "a-key-that-is-none", { .wrong_key = true }, false, true, ALD_FAILURE_REFUSED },
        { "a-key-of-the-client", { .wrong_key = true }, true, false, ALD_FAILURE_REFUSED },
        { "a-wrong-psn", { .wrong_psn = true }, false, true, ALD_FAILURE_UNREACHABLE },
        { "a-wrong-psn-of-the-client", { .wrong_psn = true }, true, false, ALD_FAILURE_UNREACHABLE },
        { "a-wrong-nonce", { .wrong_nonce = true }, false, true, ALD_FAILURE_WRONG_PEER },
        { "a-wrong-nonce-of-the-client", { .wrong_nonce = true }, true, false, ALD_FAILURE_WRONG_PEER },
        { "a-gid-of-somebody-else", { .wrong_gid = true }, false, true, ALD_FAILURE_UNREACHABLE },
        { "a-gid-of-somebody-else-of-the-client", { .wrong_gid = true }, true, false,
                ALD_FAILURE_UNREACHABLE },
        { "a-gid-that-goes-meanwhile", { .gid_goes = true }, .kind = ALD_FAILURE_NO_GID },
        { "short-messages", { .short_messages = true }, false, true, ALD_FAILURE_PROTOCOL },
        { "short-messages-of-the-client", { .short_messages = true }, true, false, ALD_FAILURE_PROTOCOL },
        { "no-completion-queue", { .completions_error = ENOMEM }, .kind = ALD_FAILURE_LIMIT },
        { "no-queue-pair", { .queue_error = ENOMEM }, .kind = ALD_FAILURE_LIMIT },
        { "no-way", { .way_error = ENETUNREACH }, .kind = ALD_FAILURE_UNREACHABLE },
        { "memory-that-cannot-be-used", { .register_error = EFAULT }, .kind = ALD_FAILURE_OUT_OF_MEMORY },
        { "a-refused-request", { .request_error = EIO, .request_error_at = 900 },
                .kind = ALD_FAILURE_DEVICE_LOST },
        { "no-answer", { .status = IBV_WC_RETRY_EXC_ERR, .status_at = 50 }, .kind = ALD_FAILURE_UNREACHABLE },
        { "a-failed-request", { .status = IBV_WC_LOC_QP_OP_ERR, .status_at = 900 },
                .kind = ALD_FAILURE_ABORTED },
        { "flushed", { .status = IBV_WC_WR_FLUSH_ERR, .status_at = 900 }, .kind = ALD_FAILURE_ABORTED },
        { "a-broken-queue", { .broken_at = 900 }, .kind = ALD_FAILURE_DEVICE_LOST },
        { "a-full-queue", { .event = IBV_EVENT_CQ_ERR, .event_at = 200 }, .kind = ALD_FAILURE_ABORTED },
        { "device-removed", { .event = IBV_EVENT_DEVICE_FATAL, .event_at = 200 },
                .kind = ALD_FAILURE_DEVICE_LOST },
        { "port-down", { .event = IBV_EVENT_PORT_ERR, .event_at = 200, .event_port = 1 },
                .kind = ALD_FAILURE_PORT_DOWN },
};

static void test_fault(RdmaSides *sides, gconstpointer userdata)
{
        const Fault *fault = userdata;

        sides->client.lies = fault->client_lies;
        sides->server.lies = fault->server_lies;
        rdma_sides_run(sides, &fault->faults);
        assert_both_fail(sides, fault->kind);
}

/* The limit is named where it is the reason. */
static void test_no_memory(RdmaSides *sides, gconstpointer userdata)
{
        struct rlimit before, low;

        g_assert_cmpint(getrlimit(RLIMIT_MEMLOCK, &before), ==, 0);
        low = before;
        low.rlim_cur = MIN(before.rlim_cur, 64 << 10);
        g_assert_cmpint(setrlimit(RLIMIT_MEMLOCK, &low), ==, 0);
        rdma_sides_run(sides, &(FakeFaults){ .register_error = ENOMEM });
        g_assert_cmpint(setrlimit(RLIMIT_MEMLOCK, &before), ==, 0);
        assert_both_fail(sides, ALD_FAILURE_MEMLOCK);
        g_assert_nonnull(strstr(sides->client.failure.message, "RLIMIT_MEMLOCK) is 64.0 KiB"));
}

static void test_too_little_room(RdmaSides *sides, gconstpointer userdata)
{
        rdma_sides_run(sides, &(FakeFaults){ .region_max = 8 << 10 });
        assert_both_fail(sides, ALD_FAILURE_LIMIT);
}

static void test_port_that_is_none(RdmaSides *sides, gconstpointer userdata)
{
        sides->client.options.peer_device = (char *) userdata;
        rdma_sides_run(sides, &(FakeFaults){});
        assert_both_fail(sides, ALD_FAILURE_NO_SUCH_DEVICE);
}

/* The program that runs the server learns the peer, the port and that nobody requested it, and refuses. */
static void test_asked(RdmaSides *sides, gconstpointer userdata)
{
        static const char no[] = "round-trips-only work: nccl.service is active\n";
        char report[256] = "";
        int ends[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
        g_assert_cmpint(write(ends[0], no, strlen(no)), ==, strlen(no));
        sides->server.options.link.report_fd = ends[1];
        sides->server.options.link.ask = true;
        sides->client.options.link.automatic = true;
        rdma_sides_run(sides, &(FakeFaults){});
        assert_both_fail(sides, ALD_FAILURE_ROUND_TRIPS_ONLY);
        g_assert_cmpstr(sides->client.failure.message, ==, "the other side: work: nccl.service is active");
        g_assert_cmpint(read(ends[0], report, sizeof report - 1), >, 0);
        g_assert_cmpstr(report, ==, "{\"port\":\"fake0.1\",\"scope\":\"full\",\"automatic\":true}\n");
        close(ends[0]);
        close(ends[1]);
}

static void answer_asked(RdmaSides *sides, const char *answer)
{
        int ends[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
        g_assert_cmpint(write(ends[0], answer, strlen(answer)), ==, strlen(answer));
        sides->server.options.link.report_fd = ends[1];
        sides->server.options.link.ask = true;
        rdma_sides_run(sides, &(FakeFaults){});
        close(ends[0]);
        close(ends[1]);
}

/* Data goes only to addresses that are known to belong to the requesting node. */
static void test_gid_that_is_known(RdmaSides *sides, gconstpointer userdata)
{
        char text[INET6_ADDRSTRLEN];
        g_autofree char *answer = NULL;
        AldFailure failure = {};
        AldVerbsPort port;

        fake_verbs_begin(&(FakeFaults){});
        g_assert_cmpint(ald_verbs_port_open(NULL, &port, &failure), ==, 0);
        inet_ntop(AF_INET6, &port.gids.gids[0].bytes, text, sizeof text);
        ald_verbs_port_close(&port);
        g_assert_true(fake_verbs_end());
        answer = g_strdup_printf("gids 2001:db8::1 %s\n", text);
        answer_asked(sides, answer);
        assert_measured(sides);
}

static void test_gid_of_another_node(RdmaSides *sides, gconstpointer userdata)
{
        answer_asked(sides, userdata);
        assert_both_fail(sides, ALD_FAILURE_REFUSED);
        g_assert_nonnull(strstr(sides->client.failure.message, "is not a known GID of the other side"));
}

typedef struct Wire {
        int client, server;
        size_t left; /* bytes until it is cut */
} Wire;

static bool carry(Wire *wire, int from, int to)
{
        char buffer[4096];
        ssize_t n = read(from, buffer, MIN(sizeof buffer, wire->left));

        if (n <= 0 || write(to, buffer, (size_t) n) != n)
                return n < 0 && errno == EAGAIN;
        wire->left -= (size_t) n;
        return true;
}

static gpointer wire_thread(gpointer userdata)
{
        Wire *wire = userdata;
        bool whole = true;

        while (whole && wire->left > 0) {
                struct pollfd fds[] = { { wire->client, POLLIN, 0 }, { wire->server, POLLIN, 0 } };

                g_assert_cmpint(poll(fds, 2, -1), >, 0);
                if (fds[0].revents)
                        whole = carry(wire, wire->client, wire->server);
                if (whole && wire->left > 0 && fds[1].revents)
                        whole = carry(wire, wire->server, wire->client);
        }
        close(wire->client);
        close(wire->server);
        return NULL;
}

/* The other side disconnects after N bytes, which covers each step of the session, from both ends. */
static void test_cut(RdmaSides *sides, gconstpointer userdata)
{
        Wire wire = { .left = GPOINTER_TO_UINT(userdata) };
        int ends[2];
        GThread *thread;

        rdma_sides_connect(ends);
        sides->client.fd = ends[0];
        wire.client = ends[1];
        rdma_sides_connect(ends);
        sides->server.fd = ends[0];
        wire.server = ends[1];
        thread = g_thread_new("wire", wire_thread, &wire);
        rdma_sides_run(sides, &(FakeFaults){});
        g_thread_join(thread);
        g_assert_nonnull(sides->client.failure.message);
        g_assert_nonnull(sides->server.failure.message);
        /* A connection that is closed before TLS is not a failure of the link. */
        if (GPOINTER_TO_UINT(userdata) <= 4)
                rdma_side_assert_fails(&sides->client, ALD_FAILURE_BUSY);
        g_test_message(
                "client: %s; server: %s", sides->client.failure.message, sides->server.failure.message);
}

static void add(const char *path, void (*test)(RdmaSides *, gconstpointer), gconstpointer userdata)
{
        g_test_add(path, RdmaSides, userdata, rdma_sides_set_up, test, rdma_sides_tear_down);
}

int main(int argc, char *argv[])
{
        static const unsigned cuts[] = { 2, 4, 300, 700, 1000, 1300, 1500, 1700, 1900 };

        g_test_init(&argc, &argv, NULL);
        (void) signal(SIGPIPE, SIG_IGN);
        add("/rdma/session/write", test_write, NULL);
        add("/rdma/session/send-by-many", test_send_by_many, NULL);
        add("/rdma/session/small-device", test_small_device, NULL);
        add("/rdma/session/many-gids", test_many_gids, NULL);
        add("/rdma/session/little", test_little, NULL);
        add("/rdma/session/second-port", test_second_port, NULL);
        add("/rdma/session/other-port", test_other_port, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(all_faults); i++) {
                g_autofree char *path = g_strdup_printf("/rdma/session/fault/%s", all_faults[i].name);

                add(path, test_fault, &all_faults[i]);
        }
        add("/rdma/session/no-memory", test_no_memory, NULL);
        add("/rdma/session/too-little-room", test_too_little_room, NULL);
        add("/rdma/session/port-that-is-none", test_port_that_is_none, "../fake0");
        add("/rdma/session/port-beyond-all", test_port_that_is_none, "fake0.257");
        add("/rdma/session/asked", test_asked, NULL);
        add("/rdma/session/gid-that-is-known", test_gid_that_is_known, NULL);
        add("/rdma/session/gid-of-another-node", test_gid_of_another_node, "gids 2001:db8::1\n");
        add("/rdma/session/no-gid-is-known", test_gid_of_another_node, "gids\n");
        for (size_t i = 0; i < G_N_ELEMENTS(cuts); i++) {
                g_autofree char *path = g_strdup_printf("/rdma/session/cut/%u", cuts[i]);

                add(path, test_cut, GUINT_TO_POINTER(cuts[i]));
        }
        return g_test_run();
}
