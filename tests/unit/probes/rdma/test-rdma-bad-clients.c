/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/rdma/rdma-session.h"
#include "probes/rdma/rdma-transfer.h"
#include "tests/unit/probes/rdma/rdma-sides.h"

/* Clients of the RDMA probe that have the right keys, but send or do what they must not. */

#define SIZE (64u << 10)
#define ALLOWED (UINT64_C(1) << 20) /* what the server may send and take */

static void say(AldRdmaSession *session, AldKind kind, const void *fields)
{
        g_assert_cmpint(ald_channel_send(&session->channel, kind, fields), ==, 0);
}

static AldRecord *expect(AldRdmaSession *session, AldKind kind)
{
        AldRecord *message = NULL;

        g_assert_cmpint(ald_rdma_session_expect(session, kind, &message), ==, 0);
        return message;
}

static void expect_go(AldRdmaSession *session)
{
        g_assert_cmpint(ald_rdma_session_expect(session, ALD_KIND_RDMA_GO, NULL), ==, 0);
}

static void open_channel(RdmaSides *sides, AldRdmaSession *session)
{
        int stop = session->channel.stop;

        session->timeout = 60 * ALD_NSEC_PER_SEC;
        g_assert_cmpint(ald_rdma_session_send_preamble(sides->client.fd, session->failure), ==, 0);
        g_assert_cmpint(ald_channel_open(&session->channel, &ald_rdma_protocol, sides->client.fd,
                                rdma_sides_keys(&sides->client, false), false, stop, session->failure),
                ==, 0);
}

static void greet_by(RdmaSides *sides, AldRdmaSession *session, bool manager)
{
        const AldRdmaHello hello = { .version = ald_rdma_protocol.version, .manager = manager };

        open_channel(sides, session);
        say(session, ALD_KIND_RDMA_HELLO, &hello);
}

static void greet(RdmaSides *sides, AldRdmaSession *session)
{
        greet_by(sides, session, false);
}

/* What the client chooses, with the text of its GID. */
typedef struct Choice {
        AldRdmaUse use;
        char gid[INET6_ADDRSTRLEN];
} Choice;

static void take_offer(AldRdmaSession *session, const AldRdmaOffer *offer, unsigned queues, Choice *ret)
{
        const AldRdmaGid *gid = ald_rows_at(&offer->gids, 0);
        AldRdmaPlanLimits limits;
        AldRdmaPlan plan;

        ald_verbs_port_limits(&session->port, &limits);
        g_assert_true(ald_rdma_plan_make(&limits, ALD_RDMA_USE_OPERATION_WRITE, SIZE, queues, &plan));
        g_assert_cmpint(
                ald_endpoint_open(&session->port, &plan, NULL, &session->endpoint, session->failure), ==, 0);
        session->own_gid = session->port.gids.gids[0];
        g_assert_cmpint(inet_pton(AF_INET6, gid->gid, &session->peer_gid.bytes), ==, 1);
        session->has_gid = true;
        inet_ntop(AF_INET6, &session->own_gid.bytes, ret->gid, sizeof ret->gid);
        ret->use = (AldRdmaUse){ .message_bytes = SIZE,
                .queue_pairs = queues,
                .operation = "write",
                .duration_max_msec = offer->duration_max_msec,
                .bytes_max = ALD_INTEGER_MAX,
                .source_gid = ret->gid,
                .gid_type = ald_gid_type_to_string(session->own_gid.type),
                .sink_gid_index = gid->index };
}

static void prepare(AldRdmaSession *session, unsigned queues, Choice *ret)
{
        g_autoptr(AldRecord) offer = expect(session, ALD_KIND_RDMA_OFFER);

        take_offer(session, ald_record_as(offer, RDMA_OFFER, AldRdmaOffer), queues, ret);
}

static void say_choice(AldRdmaSession *session, const Choice *choice)
{
        say(session, ALD_KIND_RDMA_USE, &choice->use);
        say(session, ALD_KIND_RDMA_READY, &session->endpoint.own);
}

static void connect_both(RdmaSides *sides, AldRdmaSession *session, unsigned queues)
{
        g_autoptr(AldRecord) ready = NULL;
        Choice choice;

        greet(sides, session);
        prepare(session, queues, &choice);
        say_choice(session, &choice);
        ready = expect(session, ALD_KIND_RDMA_READY);
        g_assert_cmpint(ald_endpoint_set_peer(&session->endpoint, ready, session->failure), ==, 0);
        g_assert_cmpint(ald_rdma_session_connect(session), ==, 0);
}

static void ask_for(AldRdmaSession *session, AldRdmaPhaseName name)
{
        const AldRdmaPhase phase = { .name = ald_rdma_phase_name_to_string(name) };

        say(session, ALD_KIND_RDMA_PHASE, &phase);
}

static void ping(AldRdmaSession *session)
{
        AldRttSample sample;
        size_t n;

        ask_for(session, ALD_RDMA_PHASE_NAME_PING);
        expect_go(session);
        g_assert_cmpint(ald_rdma_transfer_ping(session, &sample, 1, &n), ==, 0);
}

static void begin(RdmaSides *sides, AldRdmaSession *session, AldRdmaPhaseName phase)
{
        connect_both(sides, session, 1);
        ping(session);
        ask_for(session, phase);
        expect_go(session);
}

/* Takes what comes until the server has had enough of it. */
static void take_all(AldRdmaSession *session)
{
        int r = 0;

        while (r == 0) {
                g_assert_cmpint(
                        ald_endpoint_received(&session->endpoint, SIZE, NULL, session->failure), >=, 0);
                r = ald_rdma_session_poll(session, UINT64_MAX, NULL);
        }
        g_assert_cmpint(r, <, 0);
}

static void never_enough(RdmaSides *sides, AldRdmaSession *session)
{
        begin(sides, session, ALD_RDMA_PHASE_NAME_DOWNLOAD);
        take_all(session);
}

static void the_same_again(RdmaSides *sides, AldRdmaSession *session)
{
        begin(sides, session, ALD_RDMA_PHASE_NAME_READ);
        ask_for(session, ALD_RDMA_PHASE_NAME_READ);
}

static void back_again(RdmaSides *sides, AldRdmaSession *session)
{
        begin(sides, session, ALD_RDMA_PHASE_NAME_READ);
        ask_for(session, ALD_RDMA_PHASE_NAME_PING);
}

static void another_amount(RdmaSides *sides, AldRdmaSession *session)
{
        const AldRdmaDrained drained = { .bytes = 1 };
        g_autoptr(AldRecord) stop = NULL;
        int r = 0;

        begin(sides, session, ALD_RDMA_PHASE_NAME_UPLOAD);
        while (r == 0) {
                g_assert_cmpint(ald_endpoint_fill(&session->endpoint, session->failure), >=, 0);
                g_assert_cmpint(ald_endpoint_sent(&session->endpoint, session->failure), >=, 0);
                r = ald_rdma_session_poll(session, UINT64_MAX, &stop);
        }
        g_assert_cmpint(stop->kind, ==, ALD_KIND_RDMA_STOP);
        say(session, ALD_KIND_RDMA_DRAINED, &drained);
}

static void out_of_turn(RdmaSides *sides, AldRdmaSession *session)
{
        const AldRdmaGo go = {};

        begin(sides, session, ALD_RDMA_PHASE_NAME_UPLOAD);
        say(session, ALD_KIND_RDMA_GO, &go);
}

static void send_instead_of_use(RdmaSides *sides, AldRdmaSession *session, const char *text)
{
        greet(sides, session);
        g_assert_cmpint(ald_rdma_session_expect(session, ALD_KIND_RDMA_OFFER, NULL), ==, 0);
        g_assert_cmpint(ald_channel_send_text(&session->channel, text), ==, 0);
}

static void no_message(RdmaSides *sides, AldRdmaSession *session)
{
        send_instead_of_use(sides, session, "{\"type\":\"use\"}");
}

static void invalid_message(RdmaSides *sides, AldRdmaSession *session)
{
        send_instead_of_use(sides, session, "RdmaUse {\"QueuePairs\":0}");
}

/* As a newer client may report it; a reason that is known stays even if its text is invalid. */
static void unknown_reason(RdmaSides *sides, AldRdmaSession *session)
{
        send_instead_of_use(sides, session, "ProbeAbort {\"Reason\":\"full-moon\",\"Text\":\"wait\"}");
}

static void odd_text(RdmaSides *sides, AldRdmaSession *session)
{
        send_instead_of_use(sides, session, "ProbeAbort {\"Reason\":\"no-gid\",\"Text\":\"\\u001b[2J\"}");
}

static void no_room(RdmaSides *sides, AldRdmaSession *session)
{
        Choice choice;

        greet(sides, session);
        prepare(session, 1, &choice);
        session->endpoint.own.bytes = SIZE - 1;
        say_choice(session, &choice);
}

static void too_few_queue_pairs(RdmaSides *sides, AldRdmaSession *session)
{
        Choice choice;

        greet(sides, session);
        prepare(session, 2, &choice);
        session->endpoint.own.queue_pairs.n = 1;
        say_choice(session, &choice);
}

/* Of two rows with the same Id one is dropped. */
static void one_queue_pair_twice(RdmaSides *sides, AldRdmaSession *session)
{
        Choice choice;

        greet(sides, session);
        prepare(session, 2, &choice);
        session->endpoint.own_queues[1].id = session->endpoint.own_queues[0].id;
        say_choice(session, &choice);
}

static void another_version(RdmaSides *sides, AldRdmaSession *session)
{
        const AldRdmaHello hello = { .version = ald_rdma_protocol.version + 1, .manager = false };

        open_channel(sides, session);
        say(session, ALD_KIND_RDMA_HELLO, &hello);
}

/* As version 2 begins. */
static void an_older_version(RdmaSides *sides, AldRdmaSession *session)
{
        open_channel(sides, session);
        g_assert_cmpint(
                ald_channel_send_text(&session->channel,
                        "{\"type\":\"hello\",\"version\":2,\"port\":\"\",\"manager\":0,\"automatic\":0}"),
                ==, 0);
}

/* As it may be that an address went away between the offer and the choice. */
static void no_such_gid(RdmaSides *sides, AldRdmaSession *session)
{
        Choice choice;

        greet(sides, session);
        prepare(session, 1, &choice);
        choice.use.sink_gid_index = 7;
        say_choice(session, &choice);
}

static void no_gid_index(RdmaSides *sides, AldRdmaSession *session)
{
        Choice choice;

        greet(sides, session);
        prepare(session, 1, &choice);
        choice.use.sink_gid_index = ALD_ABSENT_UINT64;
        say_choice(session, &choice);
}

static void another_type_of_gid(RdmaSides *sides, AldRdmaSession *session)
{
        Choice choice;

        greet(sides, session);
        prepare(session, 1, &choice);
        choice.use.gid_type = "rocev3";
        say_choice(session, &choice);
}

static void no_type_of_gid(RdmaSides *sides, AldRdmaSession *session)
{
        Choice choice;

        greet(sides, session);
        prepare(session, 1, &choice);
        choice.use.gid_type = NULL;
        say_choice(session, &choice);
}

static void no_address_as_gid(RdmaSides *sides, AldRdmaSession *session)
{
        Choice choice;

        greet(sides, session);
        prepare(session, 1, &choice);
        choice.use.source_gid = "everywhere";
        say_choice(session, &choice);
}

/* Data would go to whatever queue pair the client has named. */
static void no_ping(RdmaSides *sides, AldRdmaSession *session)
{
        connect_both(sides, session, 1);
        ask_for(session, ALD_RDMA_PHASE_NAME_DOWNLOAD);
}

static void a_ping_phase_without_a_ping(RdmaSides *sides, AldRdmaSession *session)
{
        connect_both(sides, session, 1);
        ask_for(session, ALD_RDMA_PHASE_NAME_PING);
        expect_go(session);
        ask_for(session, ALD_RDMA_PHASE_NAME_READ);
}

/* The other queue may lead to somebody else. */
static void ping_by_one_of_two(RdmaSides *sides, AldRdmaSession *session)
{
        connect_both(sides, session, 2);
        session->endpoint.plan.queues = 1;
        ping(session);
        session->endpoint.plan.queues = 2;
        ask_for(session, ALD_RDMA_PHASE_NAME_DOWNLOAD);
}

/* The server would send to whichever LID the client has named. */
static void no_gid(RdmaSides *sides, AldRdmaSession *session)
{
        Choice choice;

        greet(sides, session);
        prepare(session, 1, &choice);
        choice.use.source_gid = NULL;
        say_choice(session, &choice);
}

/* What rdma_cm reports to the server about the client, and what the kernel knows then. */
typedef struct Request {
        const char *path, *address; /* path NULL: there is none, and the address is that of the device */
        bool iwarp;
} Request;

#define KNOWN "2001:db8::1"
#define FOREIGN "2001:db8::66"

static const Request foreign_path = { .path = FOREIGN, .address = KNOWN };
static const Request own_path = { .path = KNOWN, .address = FOREIGN };
static const Request foreign_device = { .address = FOREIGN };
static const Request foreign_address = { .address = FOREIGN, .iwarp = true };
static const Request own_address = { .address = KNOWN, .iwarp = true };

static struct {
        struct rdma_event_channel channel;
        struct rdma_cm_event event;
        struct ibv_sa_path_rec path;
        uint64_t nonce; /* as it is sent */
        const Request *request;
} cm;

struct rdma_event_channel *rdma_create_event_channel(void)
{
        cm.channel.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
        return &cm.channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
        close(channel->fd);
}

static struct ibv_device *the_device(void)
{
        struct ibv_device **list, *device;
        int n;

        list = ibv_get_device_list(&n);
        device = list[0];
        ibv_free_device_list(list);
        return device;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **ret, void *userdata,
        enum rdma_port_space space)
{
        *ret = g_new0(struct rdma_cm_id, 1);
        (*ret)->verbs = ibv_open_device(the_device());
        (*ret)->port_num = 1;
        return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
        ibv_close_device(id->verbs);
        g_free(id);
        return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
        return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
        return 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
        return htons(7480);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **ret)
{
        const Request *request = cm.request;
        struct in6_addr gid = {};
        struct sockaddr_in6 *from;
        eventfd_t one;

        g_assert_cmpint(eventfd_read(channel->fd, &one), ==, 0);
        cm.event = (struct rdma_cm_event){ .event = RDMA_CM_EVENT_CONNECT_REQUEST,
                .param.conn = { .private_data = &cm.nonce, .private_data_len = sizeof cm.nonce } };
        rdma_create_id(channel, &cm.event.id, NULL, RDMA_PS_TCP);
        from = &cm.event.id->route.addr.dst_sin6;
        from->sin6_family = AF_INET6;
        g_assert_cmpint(inet_pton(AF_INET6, request->address, &from->sin6_addr), ==, 1);
        memcpy(&cm.event.id->route.addr.addr.ibaddr.dgid, &from->sin6_addr, sizeof from->sin6_addr);
        if (request->path) {
                g_assert_cmpint(inet_pton(AF_INET6, request->path, &gid), ==, 1);
                memcpy(&cm.path.dgid, &gid, sizeof gid);
                cm.event.id->route.path_rec = &cm.path;
                cm.event.id->route.num_paths = 1;
        }
        *ret = &cm.event;
        return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
        return 0;
}

/* Nobody gets further than this here. */
int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *domain, struct ibv_qp_init_attr *how)
{
        errno = ENOMEM;
        return -1;
}

/* The same with rdma_cm, where the client names nothing: data follows the request. */
static void connect_by_cm(RdmaSides *sides, AldRdmaSession *session)
{
        g_autoptr(AldRecord) record = NULL;
        const AldRdmaOffer *offer;
        Choice choice;

        greet_by(sides, session, true);
        record = expect(session, ALD_KIND_RDMA_OFFER);
        offer = ald_record_as(record, RDMA_OFFER, AldRdmaOffer);
        g_assert_true(offer->manager);
        g_assert_cmpuint(offer->service_port, ==, 7480);
        cm.nonce = GUINT64_TO_BE(offer->service_nonce);
        g_assert_cmpint(eventfd_write(cm.channel.fd, 1), ==, 0);
        take_offer(session, offer, 1, &choice);
        say_choice(session, &choice);
}

typedef struct Case {
        const char *path;
        void (*run)(RdmaSides *sides, AldRdmaSession *session);
        AldFailureKind kind;
        const char *answer; /* of the program that runs the server */
        const Request *request;
} Case;

static const Case cases[] = {
        { "/rdma/bad-clients/never-enough", never_enough, ALD_FAILURE_TIMEOUT },
        { "/rdma/bad-clients/the-same-again", the_same_again, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/back-again", back_again, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/another-amount", another_amount, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/out-of-turn", out_of_turn, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/no-ping", no_ping, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/a-ping-phase-without-a-ping", a_ping_phase_without_a_ping,
                ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/ping-by-one-of-two", ping_by_one_of_two, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/no-message", no_message, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/invalid-message", invalid_message, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/another-version", another_version, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/an-older-version", an_older_version, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/unknown-reason", unknown_reason, ALD_FAILURE_ABORTED },
        { "/rdma/bad-clients/odd-text", odd_text, ALD_FAILURE_NO_GID },
        { "/rdma/bad-clients/no-room", no_room, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/too-few-queue-pairs", too_few_queue_pairs, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/one-queue-pair-twice", one_queue_pair_twice, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/no-such-gid", no_such_gid, ALD_FAILURE_NO_GID },
        { "/rdma/bad-clients/no-gid-index", no_gid_index, ALD_FAILURE_NO_GID },
        { "/rdma/bad-clients/another-type-of-gid", another_type_of_gid, ALD_FAILURE_NO_GID },
        { "/rdma/bad-clients/no-type-of-gid", no_type_of_gid, ALD_FAILURE_NO_GID },
        { "/rdma/bad-clients/no-address-as-gid", no_address_as_gid, ALD_FAILURE_PROTOCOL },
        { "/rdma/bad-clients/no-gid", no_gid, ALD_FAILURE_REFUSED, "gids " KNOWN "\n" },
        { "/rdma/bad-clients/cm-by-a-foreign-path", connect_by_cm, ALD_FAILURE_REFUSED, "gids " KNOWN "\n",
                &foreign_path },
        { "/rdma/bad-clients/cm-to-a-foreign-device", connect_by_cm, ALD_FAILURE_REFUSED, "gids " KNOWN "\n",
                &foreign_device },
        { "/rdma/bad-clients/iwarp-to-a-foreign-address", connect_by_cm, ALD_FAILURE_REFUSED,
                "gids " KNOWN "\n", &foreign_address },
        /* These are correct, and get as far as to the queue pair. */
        { "/rdma/bad-clients/cm-by-its-own-path", connect_by_cm, ALD_FAILURE_LIMIT, "gids " KNOWN "\n",
                &own_path },
        { "/rdma/bad-clients/iwarp-to-its-own-address", connect_by_cm, ALD_FAILURE_LIMIT, "gids " KNOWN "\n",
                &own_address },
        { "/rdma/bad-clients/cm-by-hand", connect_by_cm, ALD_FAILURE_LIMIT, "\n", &foreign_path },
};

/* The client stays until the server has reported why it ends. */
static void misbehave(RdmaSides *sides, AldRdmaSession *session)
{
        const Case *one = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                if (g_str_equal(cases[i].path, g_test_get_path()))
                        one = &cases[i];
        one->run(sides, session);
        while (!session->failure->message)
                (void) ald_rdma_session_expect(session, ALD_KIND_PROBE_ABORT, NULL);
}

static bool is_printable(const char *text)
{
        for (; *text; text = g_utf8_next_char(text))
                if (!g_unichar_isprint(g_utf8_get_char(text)))
                        return false;
        return true;
}

/* What is under way beyond that: 128 messages, and those that are looked at together. */
static void test_case(RdmaSides *sides, gconstpointer userdata)
{
        const Case *one = userdata;
        int ends[2] = { -1, -1 };

        sides->measure = misbehave;
        sides->server.options.link.bytes_max = ALLOWED;
        cm.request = one->request;
        the_device()->transport_type = one->request && one->request->iwarp ? IBV_TRANSPORT_IWARP
                                                                           : IBV_TRANSPORT_IB;
        if (one->answer) {
                g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
                g_assert_cmpint(write(ends[0], one->answer, strlen(one->answer)), ==, strlen(one->answer));
                sides->server.options.link.report_fd = ends[1];
                sides->server.options.link.ask = true;
        }
        rdma_sides_run(sides, &(FakeFaults){});
        if (one->answer) {
                close(ends[0]);
                close(ends[1]);
        }
        rdma_side_assert_fails(&sides->server, one->kind);
        rdma_side_assert_fails(&sides->client, one->kind);
        g_assert_true(is_printable(sides->server.failure.message));
        g_assert_cmpuint(sides->server.served.sent, <=, ALLOWED + (128 + 2 * ALD_ENDPOINT_BATCH) * SIZE);
        g_assert_cmpint(sides->server.served.sent >= ALLOWED, ==, one->run == never_enough);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        (void) signal(SIGPIPE, SIG_IGN);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_test_add(cases[i].path, RdmaSides, &cases[i], rdma_sides_set_up, test_case,
                        rdma_sides_tear_down);
        return g_test_run();
}
