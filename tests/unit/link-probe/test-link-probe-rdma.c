/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What link-probed makes of RDMA ports and of what their probe says. */
#include <errno.h>
#include <math.h>

#include "probes/listen/listener.h"
#include "services/common/errors.h"
#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/link/busy.h"
#include "services/link-probe/link/link-validation.h"
#include "services/link-probe/link/rdma-pairs.h"
#include "tests/unit/fake-root.h"

#define OWN "0000000000000000000000000000000a"
#define PEER "0000000000000000000000000000000b"
#define RATES "\"UploadBitsPerSecond\":5,\"DownloadBitsPerSecond\":7"
#define PORTS "\"SourcePort\":\"mlx5_0.1\",\"SinkPort\":\"mlx5_1.2\""
#define SECOND UINT64_C(1000000)

static void test_answer(void)
{
        static const struct {
                const char *output;
                AldProbeVerdict verdict;
                const char *reason;
        } table[] = {
                { "{" RATES "}", ALD_PROBE_DONE, NULL },
                { "{\"error\":\"no-gid\",\"message\":\"no address\"}", ALD_PROBE_FAILED,
                        "no-gid: no address" },
                { "{\"error\":\"no-gid\"}", ALD_PROBE_FAILED, "no-gid" },
                { "{\"error\":\"busy\",\"message\":\"later\"}", ALD_PROBE_LATER, "later" },
                { "{\"error\":\"inhibited\",\"message\":\"me: so\"}", ALD_PROBE_LATER, "me: so" },
                { "{\"error\":\"round-trips-only\"}", ALD_PROBE_LATER, "round-trips-only" },
                { "", ALD_PROBE_FAILED, "the probe returned no result" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                g_auto(AldProbeAnswer) answer = { 0 };

                ald_probe_answer_read(ALD_KIND_RDMA_RESULT, table[i].output, NULL, &answer);
                g_assert_cmpint(answer.verdict, ==, table[i].verdict);
                g_assert_cmpstr(answer.reason, ==, table[i].reason);
        }
}

/* The result as it is kept, or why it is none. */
static const AldRdmaResult *validate(AldProbeAnswer *answer, const char *output)
{
        AldProbeTarget target;

        ald_probe_answer_clear(answer);
        g_assert_cmpint(ald_probe_target_set(&target, &ald_probe_rdma, PEER, "192.0.2.2", NULL), ==, 0);
        g_assert_cmpint(ald_probe_target_set_ports(&target, "mlx5_0.1", "mlx5_1.2"), ==, 0);
        ald_probe_answer_read(ALD_KIND_RDMA_RESULT, output, NULL, answer);
        ald_result_validate(&target, answer);
        g_assert_true((answer->verdict == ALD_PROBE_DONE) == (answer->result != NULL));
        return ald_record_as(answer->result, RDMA_RESULT, AldRdmaResult);
}

static void test_figures(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        const AldRdmaResult *row = validate(&answer,
                "{" RATES "," PORTS ",\"RttP50NSec\":3000,\"JitterNSec\":-1,\"QueuePairs\":1,"
                "\"MessageBytes\":65536,\"NegotiatedBitsPerSecond\":100000000000,\"RttMinNSec\":2.5}");

        g_assert_nonnull(row);
        g_assert_cmpuint(row->upload.bits_per_second, ==, 5);
        g_assert_cmpuint(row->download.bits_per_second, ==, 7);
        g_assert_cmpuint(row->rtt_p50_nsec, ==, 3000);
        g_assert_cmpuint(row->rtt_min_nsec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row->jitter_nsec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row->queue_pairs, ==, 1);
        g_assert_cmpuint(row->message_bytes, ==, 65536);
        g_assert_cmpuint(row->negotiated_bits_per_second, ==, UINT64_C(100000000000));
        g_assert_true(isnan(row->upload.interval));
        row = validate(
                &answer, "{" RATES ",\"UploadInterval\":0.3,\"DownloadInterval\":0,\"DownloadSpread\":4}");
        g_assert_nonnull(row);
        g_assert_cmpfloat(row->upload.interval, ==, 0.3);
        g_assert_true(isnan(row->download.interval));
        g_assert_cmpfloat(row->download.spread, ==, 4);
        g_assert_cmpstr(row->source_port, ==, "mlx5_0.1");
        g_assert_cmpstr(row->sink_port, ==, "mlx5_1.2");
        g_assert_null(validate(&answer, "{\"UploadBitsPerSecond\":0}"));
        g_assert_cmpstr(answer.reason, ==, "the probe returned no rates");
        row = validate(&answer, "{\"UploadBitsPerSecond\":5,\"DownloadBitsPerSecond\":0}");
        g_assert_nonnull(row);
        g_assert_cmpuint(row->download.bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_null(validate(&answer, "{" RATES ",\"SourcePort\":\"mlx5_0.2\"}"));
        g_assert_cmpstr(answer.reason, ==, "the probe measured between different ports");
        g_assert_null(validate(&answer, "{" RATES ",\"SinkPort\":\"mlx5_0.1\"}"));
        row = validate(&answer, "{" RATES ",\"UploadInterval\":26}");
        g_assert_nonnull(row);
        g_assert_cmpstr(row->flags[0], ==, "unsteady");
}

static void on_changed(AldKind kind, const char *key, const AldRecord *record, void *userdata)
{
        AldRecord **kept = userdata;

        g_assert_cmpstr(key, ==, "mlx5_0.1," PEER ",mlx5_1.2");
        g_assert_cmpint(kind, ==, ALD_KIND_LINK_RDMA);
        g_clear_pointer(kept, ald_record_unref);
        *kept = record ? ald_record_ref((AldRecord *) record) : NULL;
}

/* Each is reported as it is; counting them is for the state service. */
static void test_failures_are_reported(void)
{
        AldResults *results = ald_results_new(OWN);
        AldRecord *kept = NULL;
        const AldLinkRdma *row;
        AldProbeTarget target;

        ald_results_watch(results, on_changed, &kept);
        g_assert_cmpint(ald_probe_target_set(&target, &ald_probe_rdma, PEER, "192.0.2.2", NULL), ==, 0);
        g_assert_cmpint(ald_probe_target_set_ports(&target, "mlx5_0.1", "mlx5_1.2"), ==, 0);
        ald_results_fail(results, &target, "port-down: down", 5, 1);
        ald_results_fail(results, &target, "no-gid: none", 6, 2);
        row = ald_record_as(kept, LINK_RDMA, AldLinkRdma);
        g_assert_cmpstr(row->source, ==, OWN);
        g_assert_cmpstr(row->sink, ==, PEER);
        g_assert_cmpstr(row->source_port, ==, "mlx5_0.1");
        g_assert_cmpstr(row->sink_port, ==, "mlx5_1.2");
        g_assert_cmpstr(row->failure, ==, "no-gid: none");
        g_assert_cmpuint(row->failed_usec, ==, 6);
        g_assert_cmpuint(row->failures, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(ald_results_rate(results, "mlx5_0.1"), ==, ALD_ABSENT_UINT64);
        g_assert_false(ald_results_reached(results, PEER, "192.0.2.2"));
        ald_results_expire(results, ALD_RESULT_KEPT_USEC + 2);
        g_assert_null(kept);
        ald_results_free(results);
}

static void test_names(void)
{
        static const char *const good[] = { "mlx5_0.1", "rocep1s0f0.1", "a.b.255", "x-y.2" };
        static const char *const bad[] = { "", ".1", "mlx5_0", "mlx5_0.", "mlx5_0.0", "mlx5_0.01",
                "mlx5_0.256", "../x.1", "a/b.1", "..1", "a,b.1", "a b.1", "mlx5_0.1\n" };
        g_autofree char *longest = g_strnfill(ALD_PORT_NAME_SIZE - 3, 'a'),
                        *fits = g_strconcat(longest, ".1", NULL), *over = g_strconcat("a", fits, NULL);
        AldProbeTarget target = { 0 };

        for (size_t i = 0; i < G_N_ELEMENTS(good); i++)
                g_assert_true(ald_port_name_ok(good[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_false(ald_port_name_ok(bad[i]));
        g_assert_true(ald_port_name_ok(fits));
        g_assert_false(ald_port_name_ok(over));
        g_assert_cmpint(ald_probe_target_set_ports(&target, "mlx5_0.1", "../x.1"), ==, -EINVAL);
        g_assert_cmpint(ald_probe_target_set_ports(&target, "", "mlx5_0.1"), ==, -EINVAL);
        g_assert_cmpstr(target.source_port, ==, "");
}

#define PORT "sys/class/infiniband/mlx5_0/ports/1/"
#define IB "sys/class/infiniband/mlx5_1/ports/1/"

static void make_ports(FakeRoot *root)
{
        fake_root_write(root, PORT "rate", "100 Gb/sec (4X EDR)\n");
        fake_root_write(root, PORT "gid_attrs/ndevs/1", "ens1\n");
        fake_root_write(root, IB "rate", "200 Gb/sec (4X HDR)\n");
        fake_root_write(root, "sys/class/infiniband/mlx5_1/ports/0/rate", "1 Gb/sec\n");
        fake_root_write(root, "sys/class/infiniband/rxe0/ports/1/rate", "fast\n");
        fake_root_write(root, "proc/net/dev", "|\n|\n");
}

static void say(FakeRoot *root, uint64_t received, uint64_t sent)
{
        g_autofree char *r = g_strdup_printf("%" G_GUINT64_FORMAT "\n", received / 4);
        g_autofree char *s = g_strdup_printf("%" G_GUINT64_FORMAT "\n", sent / 4);

        fake_root_write(root, PORT "counters/port_rcv_data", r);
        fake_root_write(root, PORT "counters/port_xmit_data", s);
}

static void test_ports(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldCounters *counters;
        const AldPortCounters *port;

        make_ports(root);
        say(root, 400, 800);
        counters = ald_counters_new(root->fd);
        g_assert_cmpuint(ald_counters_ports(counters), ==, 3);
        port = ald_counters_find_port(counters, "mlx5_0.1");
        g_assert_cmpstr(port->interface, ==, "ens1");
        g_assert_cmpuint(port->bits_per_second, ==, UINT64_C(100000000000));
        g_assert_cmpuint(port->received, ==, 400);
        g_assert_cmpuint(port->sent, ==, 800);
        port = ald_counters_find_port(counters, "mlx5_1.1");
        g_assert_cmpstr(port->interface, ==, "");
        g_assert_cmpuint(port->received, ==, ALD_ABSENT_UINT64);
        port = ald_counters_find_port(counters, "rxe0.1");
        g_assert_cmpuint(port->bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_null(ald_counters_find_port(counters, "ens1"));
        ald_counters_free(counters);
}

static void check_traffic(const AldCounters *counters, uint64_t port, uint64_t interface)
{
        g_autoptr(GHashTable) traffic = ald_counters_traffic(counters);

        g_assert_cmpuint(*(const uint64_t *) g_hash_table_lookup(traffic, "mlx5_0.1"), ==, port);
        g_assert_cmpuint(*(const uint64_t *) g_hash_table_lookup(traffic, "ens1"), ==, interface);
}

/* What an adapter carries by itself is not in the counters of its interface, but goes over its wire. */
static void test_traffic_of_a_port(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldResults *results = ald_results_new(OWN);
        AldCounters *counters;
        g_autofree char *of_port = NULL, *of_interface = NULL;

        make_ports(root);
        say(root, 0, 0);
        counters = ald_counters_new(root->fd);
        ald_counters_read(counters, SECOND);
        g_assert_null(ald_busy_reason(counters, results, NULL, "mlx5_0.1"));
        say(root, 400, UINT64_C(2000000000));
        ald_counters_read(counters, 2 * SECOND);
        g_assert_cmpuint(ald_counters_rate(counters, "mlx5_0.1"), ==, UINT64_C(16000000000));
        of_port = ald_busy_reason(counters, results, NULL, "mlx5_0.1");
        g_assert_cmpstr(of_port, ==, "mlx5_0.1 is in use, with 16.0 Gb/s");
        of_interface = ald_busy_reason(counters, results, NULL, "ens1");
        g_assert_cmpstr(of_interface, ==, of_port);
        g_assert_null(ald_busy_reason(counters, results, NULL, "mlx5_1.1"));
        check_traffic(counters, UINT64_C(16000000000), UINT64_C(16000000000));
        ald_counters_free(counters);
        ald_results_free(results);
}

/* A port and the interface behind it are one wire. */
static void test_one_probe_at_a_time(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldCounters *counters;

        make_ports(root);
        say(root, 0, 0);
        counters = ald_counters_new(root->fd);
        g_assert_cmpint(ald_counters_occupy(counters, NULL, "mlx5_0.1"), ==, 0);
        g_assert_true(ald_counters_is_occupied(counters, NULL, "ens1"));
        g_assert_cmpint(ald_counters_occupy(counters, NULL, "ens1"), ==, -EBUSY);
        g_assert_cmpint(ald_counters_occupy(counters, NULL, "mlx5_1.1"), ==, 0);
        check_traffic(counters, UINT64_MAX, UINT64_MAX);
        ald_counters_release(counters, "mlx5_0.1");
        g_assert_cmpint(ald_counters_occupy(counters, NULL, "ens1"), ==, 0);
        g_assert_cmpint(ald_counters_occupy(counters, NULL, "mlx5_0.1"), ==, -EBUSY);
        ald_counters_release(counters, "ens1");
        g_assert_false(ald_counters_is_occupied(counters, NULL, "mlx5_0.1"));
        /* Its own traffic is none of others. */
        ald_counters_read(counters, SECOND);
        g_assert_cmpint(ald_counters_occupy(counters, NULL, "mlx5_0.1"), ==, 0);
        say(root, 0, UINT64_C(2000000000));
        ald_counters_release(counters, "mlx5_0.1");
        ald_counters_read(counters, 2 * SECOND);
        g_assert_cmpuint(ald_counters_rate(counters, "mlx5_0.1"), ==, ALD_ABSENT_UINT64);
        ald_counters_free(counters);
}

static void test_first_bytes(void)
{
        static const unsigned char tls[] = { 0x16, 0x03, 0x01, 0x00 };

        g_assert_true(ald_first_bytes_are_rdma((const unsigned char *) "RDMA", 4));
        g_assert_false(ald_first_bytes_are_rdma((const unsigned char *) "RDMA", 3));
        g_assert_false(ald_first_bytes_are_rdma((const unsigned char *) "RDMb", 4));
        g_assert_false(ald_first_bytes_are_rdma(tls, sizeof tls));
        g_assert_false(ald_first_bytes_are_tls((const unsigned char *) "RDMA", 4));
}

/* Two machines; one interface each, and ports as the test says. */
typedef struct Ends {
        AldInterface interfaces[2];
        AldNetwork networks[2];
        AldRdmaPort ports[2][4];
        AldFabric fabrics[2];
        AldRdmaRequestEnd own, peer;
        AldNeighbours *neighbours;
} Ends;

static const char *const some_gids[] = { "0 rocev2 fe80::1 eth0", NULL };
static const char *const addresses[2][2] = { { "192.0.2.1/24", NULL }, { "192.0.2.2/24", NULL } };

static void make_ends(Ends *ends)
{
        *ends = (Ends){ .neighbours = ald_neighbours_new() };
        for (unsigned i = 0; i < 2; i++) {
                ends->interfaces[i] = (AldInterface) ALD_INTERFACE_INIT;
                ends->interfaces[i].id = "eth0";
                ends->interfaces[i].type = "ethernet";
                ends->interfaces[i].carrier = 1;
                ends->interfaces[i].addresses = addresses[i];
                ends->networks[i] = (AldNetwork) ALD_NETWORK_INIT;
                ends->networks[i].interfaces.items = &ends->interfaces[i];
                ends->networks[i].interfaces.n = 1;
                ends->fabrics[i] = (AldFabric) ALD_FABRIC_INIT;
                ends->fabrics[i].rdma_ports.items = ends->ports[i];
        }
        ends->own = (AldRdmaRequestEnd){ OWN, &ends->networks[0], &ends->fabrics[0] };
        ends->peer = (AldRdmaRequestEnd){ PEER, &ends->networks[1], &ends->fabrics[1] };
}

static void add_port(Ends *ends, unsigned end, const char *id, const char *layer, const char *state)
{
        AldRdmaPort *port = &ends->ports[end][ends->fabrics[end].rdma_ports.n++];

        *port = (AldRdmaPort) ALD_RDMA_PORT_INIT;
        port->id = id;
        port->link_layer = layer;
        port->state = state;
        port->gids = some_gids;
}

static char *resolve(const Ends *ends, const char *source_port, const char *sink_port)
{
        g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(AldProbeTarget));
        AldProbeTarget wanted = { .kind = &ald_probe_rdma, .peer = PEER };
        AldResults *results = ald_results_new(OWN);
        GString *text = g_string_new(NULL);
        int r;

        g_strlcpy(wanted.source_port, source_port, sizeof wanted.source_port);
        g_strlcpy(wanted.sink_port, sink_port, sizeof wanted.sink_port);
        r = ald_rdma_request_resolve(&wanted, &ends->own, &ends->peer, ends->neighbours, results, targets);
        if (r < 0)
                g_string_printf(text, "%s",
                        r == -ALD_E_NO_SUCH_DEVICE    ? "no device"
                        : r == -ALD_E_NO_SUCH_ADDRESS ? "no way"
                                                      : "?");
        for (unsigned i = 0; i < targets->len; i++) {
                const AldProbeTarget *target = &g_array_index(targets, AldProbeTarget, i);

                g_assert_true(target->kind == &ald_probe_rdma);
                g_assert_cmpstr(target->address, ==, "192.0.2.2");
                g_assert_cmpstr(target->peer, ==, PEER);
                g_string_append_printf(text, "%s>%s ", target->source_port, target->sink_port);
        }
        ald_results_free(results);
        return g_string_free(text, FALSE);
}

static void assert_resolved(const Ends *ends, const char *from, const char *to, const char *expected)
{
        g_autofree char *found = resolve(ends, from, to);

        g_assert_cmpstr(found, ==, expected);
}

static void test_request(void)
{
        Ends ends;

        make_ends(&ends);
        assert_resolved(&ends, "", "", "no device");
        add_port(&ends, 0, "a.1", "ethernet", "active");
        assert_resolved(&ends, "", "", "no device");
        add_port(&ends, 1, "x.1", "infiniband", "active");
        assert_resolved(&ends, "", "", "no device");
        add_port(&ends, 1, "x.2", "ethernet", "down");
        add_port(&ends, 1, "y.1", "ethernet", "active");
        add_port(&ends, 0, "b.1", "ethernet", "active");
        add_port(&ends, 0, "c.1", "infiniband", "active");
        add_port(&ends, 0, "d.1", "ethernet", "down");
        assert_resolved(&ends, "", "", "a.1>y.1 b.1>y.1 c.1>x.1 ");
        /* What is named is tried, whatever its state. */
        assert_resolved(&ends, "d.1", "x.2", "d.1>x.2 ");
        assert_resolved(&ends, "b.1", "", "b.1>y.1 ");
        assert_resolved(&ends, "", "x.1", "c.1>x.1 ");
        assert_resolved(&ends, "e.1", "", "no device");
        assert_resolved(&ends, "", "z.1", "no device");
        ends.peer.network = NULL;
        assert_resolved(&ends, "", "", "no way");
        ends.own.fabric = NULL;
        assert_resolved(&ends, "", "", "no device");
        ald_neighbours_free(ends.neighbours);
}

/* Whoever names no ports gets neighbours, rail by rail; those that perhaps are come before those that are
 * not.
 */
static void test_request_prefers_neighbours(void)
{
        static const char *const blue[] = { OWN " a.1", PEER " y.1", OWN " c.1", PEER " z.1" };
        static const char *const red[] = { OWN " b.1", PEER " x.1" };
        Ends ends;

        make_ends(&ends);
        add_port(&ends, 0, "a.1", "ethernet", "active");
        add_port(&ends, 0, "b.1", "ethernet", "active");
        add_port(&ends, 0, "c.1", "ethernet", "active");
        add_port(&ends, 1, "x.1", "ethernet", "active");
        add_port(&ends, 1, "y.1", "ethernet", "active");
        add_port(&ends, 1, "z.1", "ethernet", "active");
        assert_resolved(&ends, "", "", "a.1>x.1 b.1>y.1 c.1>z.1 ");
        ald_neighbours_add(ends.neighbours, red, 2, true);
        assert_resolved(&ends, "b.1", "", "b.1>x.1 ");
        ald_neighbours_add(ends.neighbours, blue, 4, false);
        assert_resolved(&ends, "", "", "a.1>y.1 b.1>x.1 c.1>z.1 ");
        /* A port that perhaps is the neighbour of one, and surely of another. */
        ald_neighbours_add(ends.neighbours, (const char *const[]){ OWN " b.1", PEER " z.1" }, 2, false);
        assert_resolved(&ends, "b.1", "", "b.1>z.1 ");
        assert_resolved(&ends, "a.1", "x.1", "a.1>x.1 ");
        /* What cannot be used is left out. */
        ends.ports[1][1].problem = "no-verbs";
        assert_resolved(&ends, "a.1", "", "a.1>x.1 ");
        ald_neighbours_free(ends.neighbours);
}

/* Of a large subnet only the ports of the two nodes are kept. */
static void test_neighbours_of_two_nodes(void)
{
        static const char other[] = "0000000000000000000000000000000c";
        static const char *const sure[] = { OWN " a.1", "0000000000000000000000000000000c x.1", PEER " y.1",
                NULL };
        static const char *const maybe[] = { OWN " a.1", PEER " z.1", "0000000000000000000000000000000c y.1",
                NULL };
        AldSegmentRow rows[] = { ALD_SEGMENT_ROW_INIT, ALD_SEGMENT_ROW_INIT, ALD_SEGMENT_ROW_INIT };
        const AldRows segments = { &ald_segment_row_struct, rows, G_N_ELEMENTS(rows) };
        g_autoptr(AldNeighbours) neighbours = NULL;

        rows[0].members = sure;
        rows[0].candidate = 0;
        rows[1].members = maybe;
        rows[1].candidate = 1;
        neighbours = ald_neighbours_between(&segments, OWN, PEER);
        g_assert_cmpuint(ald_neighbours_rank(neighbours, OWN, "a.1", PEER, "y.1"), ==, 2);
        g_assert_cmpuint(ald_neighbours_rank(neighbours, OWN, "a.1", PEER, "z.1"), ==, 1);
        g_assert_cmpuint(ald_neighbours_rank(neighbours, OWN, "a.1", other, "x.1"), ==, 0);
        g_assert_cmpuint(ald_neighbours_rank(neighbours, OWN, "a.1", other, "y.1"), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-rdma/answer", test_answer);
        g_test_add_func("/link-probe-rdma/figures", test_figures);
        g_test_add_func("/link-probe-rdma/failures-are-reported", test_failures_are_reported);
        g_test_add_func("/link-probe-rdma/names", test_names);
        g_test_add_func("/link-probe-rdma/ports", test_ports);
        g_test_add_func("/link-probe-rdma/traffic-of-a-port", test_traffic_of_a_port);
        g_test_add_func("/link-probe-rdma/one-probe-at-a-time", test_one_probe_at_a_time);
        g_test_add_func("/link-probe-rdma/first-bytes", test_first_bytes);
        g_test_add_func("/link-probe-rdma/neighbours", test_neighbours_of_two_nodes);
        g_test_add_func("/link-probe-rdma/request", test_request);
        g_test_add_func("/link-probe-rdma/request-prefers-neighbours", test_request_prefers_neighbours);
        return g_test_run();
}
