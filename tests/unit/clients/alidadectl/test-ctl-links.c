/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/links/link-table.h"
#include "clients/alidadectl/links/topology-drawing.h"
#include "clients/command-line/terminal-text.h"
#include "state-client/value.h"
#include "tests/unit/model-maker.h"

#define NOW 1.7e15

static void add_node(AldModel *model, unsigned number, const char *name)
{
        g_autofree char *id = model_id(number), *text = g_strdup_printf("{'FriendlyName':'%s'}", name);

        model_put(model, id, "Node1.Identity", text);
}

static void test_table_fits(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GPtrArray) links = NULL;
        g_autofree char *from = model_id(1), *to = model_id(2);
        g_autofree char *id = g_strdup_printf("%s/%s,192.0.2.2", from, to);

        add_node(model, 1, "日本語のとても長い名前のノード");
        model_put(model, id, "Link1.Socket",
                "{'SinkAddress':'2001:db8:1111:2222:3333:4444:5555:6666','SourceInterface':'enp0s31f6',"
                "'SourceInterfaceType':'thunderbolt','UploadBitsPerSecond':9007199254740992,'MeasuredUSec':1,"
                "'DownloadBitsPerSecond':123456,'RttP50NSec':123456,'JitterNSec':99999999,'Failure':"
                "'a long story','FailedUSec':2}");
        links = ald_link_summaries(model, NULL, NOW);
        for (unsigned columns = 20; columns < 200; columns++) {
                g_autoptr(AldTable) table = ald_link_table_new(links, links->len, columns, NULL);

                for (int row = -1; row < 1; row++) {
                        g_autofree char *line = ald_table_line(table, row);

                        g_assert_cmpuint(ald_text_width(line), <=, columns);
                }
        }
}

/* What joins two nodes. */
typedef struct Pair {
        unsigned node, peer;
        uint64_t there, back, rtt; /* 0: absent */
        const char *presence;      /* NULL: live */
        const char *kinds[2];      /* none: socket */
} Pair;

#define PAIRS_MAX 6

static void add_graph_node(AldTopology *topology, unsigned number, const char *presence)
{
        g_autofree char *id = model_id(number), *name = g_strdup_printf("n%u", number);
        const AldGraphNodeRow row = {
                .node = id, .presence = presence, .name = name, .since_usec = ALD_ABSENT_UINT64
        };

        g_ptr_array_add(topology->nodes, ald_struct_dup(&ald_graph_node_row_struct, &row));
}

static void add_pair(AldTopology *topology, const Pair *pair)
{
        static const char *const sockets[] = { "socket", NULL };
        g_autofree char *node = model_id(pair->node), *peer = model_id(pair->peer);
        AldNodePairRow row = ALD_NODE_PAIR_ROW_INIT;

        row.node = node;
        row.peer = peer;
        row.presence = pair->presence ?: "live";
        row.kinds = pair->kinds[0] ? (const char *const *) pair->kinds : sockets;
        row.type = "ethernet";
        row.to_peer_bits_per_second = pair->there ?: ALD_ABSENT_UINT64;
        row.from_peer_bits_per_second = pair->back ?: ALD_ABSENT_UINT64;
        row.rtt_p50_nsec = pair->rtt ?: ALD_ABSENT_UINT64;
        g_ptr_array_add(topology->pairs, ald_struct_dup(&ald_node_pair_row_struct, &row));
}

static AldTopology *make_topology(unsigned n_nodes, const Pair *pairs)
{
        AldTopology *topology = ald_topology_new();

        for (unsigned i = 1; i <= n_nodes; i++)
                add_graph_node(topology, i, "online");
        for (unsigned i = 0; i < PAIRS_MAX && pairs[i].node > 0; i++)
                add_pair(topology, &pairs[i]);
        return topology;
}

static char *draw(unsigned n_nodes, const Pair *pairs, unsigned columns)
{
        g_autoptr(AldTopology) topology = make_topology(n_nodes, pairs);
        g_autoptr(AldTopologySummary) summary = ald_topology_summarize(topology);
        g_autoptr(GString) out = g_string_new(NULL);

        ald_topology_draw(out, summary, columns);
        return ald_text_render(out->str, false, true);
}

static void test_drawings(void)
{
        static const struct {
                unsigned n_nodes, columns;
                Pair pairs[PAIRS_MAX];
                const char *drawing;
        } cases[] = {
                { 2, 0, {}, "No link between nodes is known yet.\n" },
                { 2, 0, { { 1, 2, 1000000000, 2000000001, 36400 } },
                        "From the node at the left to the one at the top, over the best path; RTT/2 below:\n"
                        "  │          n1          n2\n"
                        "──┼────────────────────────\n"
                        "n1│          ·   1.00 Gb/s≠\n"
                        "  │                18.2 µs \n"
                        "n2│  2.00 Gb/s≠          · \n"
                        "  │    18.2 µs             \n"
                        "≠ asymmetric: 1.00 Gb/s from n1 to n2, 2.00 Gb/s back\n" },
                { 2, 24, { { 1, 2, 1000000000, 7 } },
                        "From the node at the\nleft to the one at the\ntop, over the best path;\nRTT/2 "
                        "below:\n"
                        "    │      1       2 \n"
                        "────┼────────────────\n"
                        "1 n1│      ·   1.00G≠\n"
                        "2 n2│      7≠      · \n"
                        "≠ asymmetric: 1.00 Gb/s\nfrom n1 to n2, 7 b/s\nback\n" },
                { 2, 20, { { 1, 2, 1000000000 } },
                        "NODES        →  ←\n"
                        "n1 ↔ n2  1.00G  –\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *drawing = draw(cases[i].n_nodes, cases[i].pairs, cases[i].columns);

                g_assert_cmpstr(drawing, ==, cases[i].drawing);
        }
}

/* Each mark that is used is explained below. */
static void test_marks(void)
{
        static const Pair pairs[PAIRS_MAX] = {
                { 1, 2, 1000, 1000, .presence = "stale" },
                { 1, 3, .presence = "unmeasured" },
                { 1, 4, .presence = "candidate" },
                { 2, 3, 2000, 2000, .presence = "live", .kinds = { "rdma" } },
                { 2, 4, 3000, 3000, .presence = "offline" },
                { 3, 4, .presence = "unknown" },
        };
        g_autofree char *drawing = draw(4, pairs, 0);

        g_assert_cmpstr(drawing, ==,
                "From the node at the left to the one at the top, over the best path; RTT/2 below:\n"
                "  │          n1          n2          n3          n4\n"
                "──┼────────────────────────────────────────────────\n"
                "n1│          ·   1.00 kb/s~          ?         (?) \n"
                "n2│  1.00 kb/s~          ·   2.00 kb/s°          × \n"
                "n3│          ?   2.00 kb/s°          ·           … \n"
                "n4│        (?)           ×           …           · \n"
                "~ a node at its end has not been heard from for some seconds\n"
                "° there is no path over IP\n"
                "? not measured yet\n"
                "(?) not measured, and possibly not connected\n"
                "× offline, or no path can be used\n"
                "… it is unknown whether a node at its end is online\n");
}

static void test_no_path(void)
{
        static const Pair pairs[PAIRS_MAX] = { { 1, 2, 1000, 1000 } };
        g_autofree char *drawing = draw(3, pairs, 0);

        g_assert_nonnull(strstr(drawing, "n3│          –           –           · \n"
                                         "– no path is known, or no rate in this direction\n"));
}

static void test_many_are_listed(void)
{
        static const Pair pairs[PAIRS_MAX] = {
                { 1, 2, 1000000, 1000000000 },
                { 1, 3, 2000000000, 2000000000 },
                { 2, 3, .presence = "unmeasured" },
                { 2, 4, .presence = "offline" },
        };
        g_autofree char *drawing = draw(ALD_DRAWING_NODES_MAX + 1, pairs, 0);

        g_assert_cmpstr(drawing, ==,
                "The slowest of 2 measured pairs:\n"
                "NODES            →          ←  RTT/2  TYPE      NOTE\n"
                "n1 ↔ n2  1.00 Mb/s  1.00 Gb/s      –  ethernet  ≠ asymmetric\n"
                "n1 ↔ n3  2.00 Gb/s  2.00 Gb/s      –  ethernet  \n"
                "\nThe most asymmetric ones:\n"
                "NODES            →          ←  RTT/2  TYPE      NOTE\n"
                "n1 ↔ n2  1.00 Mb/s  1.00 Gb/s      –  ethernet  ≠ asymmetric\n"
                "\nPairs that are not measured yet: 1. Pairs that are offline: 1.\n"
                "\n9 nodes are too many to draw. --all shows all paths, \"alidadectl links NODE\" the "
                "measurements of one node.\n");
}

static void add_edge(
        AldTopology *topology, uint64_t id, unsigned source, unsigned sink, const AldEdgeRow *like)
{
        g_autofree char *source_id = model_id(source), *sink_id = model_id(sink);
        AldEdgeRow row = *like;

        row.id = id;
        row.source = source_id;
        row.sink = sink_id;
        g_ptr_array_add(topology->edges, ald_struct_dup(&ald_edge_row_struct, &row));
}

static AldTopology *make_edges(void)
{
        AldTopology *topology = make_topology(2, (Pair[PAIRS_MAX]){ { 1, 2, 1000, 2000, 50 } });
        AldEdgeRow row = ALD_EDGE_ROW_INIT;

        row.kind = "socket";
        row.presence = "live";
        row.source_port = "eth0";
        row.sink_port = "wlan0";
        row.source_type = "ethernet";
        row.sink_type = "wifi";
        row.sink_generation = 6;
        row.sink_address = "192.0.2.2";
        row.bits_per_second = 1000;
        row.rtt_p50_nsec = 50;
        add_edge(topology, 1, 1, 2, &row);
        row = (AldEdgeRow) ALD_EDGE_ROW_INIT;
        row.kind = "rdma";
        row.presence = "offline";
        row.source_port = "mlx5_0.1";
        row.sink_port = "mlx5_0.1";
        row.transport = "roce";
        row.reason = "mlx5_0.1 at the sink cannot be used: it is down";
        add_edge(topology, 2, 1, 2, &row);
        return topology;
}

static void test_all_paths(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(AldTopology) topology = make_edges();
        g_autoptr(AldTopologySummary) summary = ald_topology_summarize(topology);
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *list = NULL;

        ald_topology_list(out, model, topology, summary, 0, NOW);
        list = ald_text_render(out->str, false, true);
        g_assert_cmpstr(list, ==,
                "EDGE       PATH                    TYPE                    RATE  RTT/2  AGE  STATE\n"
                "n1 → n2    eth0 → wlan0 192.0.2.2  ethernet → wifi 6  1.00 kb/s  25 ns    –  live\n"
                "n1 → n2    mlx5_0.1 → mlx5_0.1     rdma roce                  –      –    –  offline: "
                "mlx5_0.1 at "
                "the sink cannot be used: it is down\n");
}

static void test_dot(void)
{
        g_autoptr(AldTopology) topology = make_edges();
        g_autoptr(AldTopologySummary) summary = ald_topology_summarize(topology);
        g_autoptr(GString) pairs = g_string_new(NULL), all = g_string_new(NULL);

        ald_topology_write_dot(pairs, topology, summary, false);
        g_assert_nonnull(strstr(pairs->str, "graph alidade {\n"));
        g_assert_nonnull(strstr(pairs->str,
                "  n0 -- n1 [style=solid label=\"→ n2 1.00 kb/s\\n→ n1 2.00 kb/s\\n25 ns\"];\n}\n"));
        ald_topology_write_dot(all, topology, summary, true);
        g_assert_nonnull(strstr(all->str, "digraph alidade {\n"));
        g_assert_nonnull(
                strstr(all->str, "  n0 -> n1 [style=solid label=\"ethernet → wifi 6\\n1.00 kb/s\"];\n"));
}

static void test_rates(void)
{
        static const struct {
                uint64_t rate;
                const char *wide, *compact;
        } cases[] = {
                { 0, "0 b/s", "0" },
                { 999, "999 b/s", "999" },
                { 9410000000, "9.41 Gb/s", "9.41G" },
                { 196000000, "196 Mb/s", "196M" },
                { UINT64_C(1000000000000000000), "1000 Pb/s", "1000P" },
                { ALD_ABSENT_UINT64, ALD_ABSENT_TEXT, ALD_ABSENT_TEXT },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *wide = ald_topology_rate(cases[i].rate, false);
                g_autofree char *compact = ald_topology_rate(cases[i].rate, true);

                g_assert_cmpstr(wide, ==, cases[i].wide);
                g_assert_cmpstr(compact, ==, cases[i].compact);
        }
}

static void test_progress(void)
{
        static const struct {
                const char *job;
                unsigned columns;
                const char *line;
        } cases[] = {
                { "{}", 40, "node: starting" },
                { "{'State':'waiting'}", 20, "node: waiting for o…" },
                { "{'State':'running','Phase':''}", 20, "node: starting" },
                { "{'State':'waiting','Phase':''}", 20, "node: waiting for o…" },
                { "{'State':'waiting','Phase':'refused: busy'}", 40, "node: waiting: refused: busy" },
                { "{'State':'running','Phase':'rtt','Progress':0.0}", 40,
                        "░░░░░░░░░░░░░░   0 %  node: round trips" },
                { "{'State':'running','Phase':'upload','Address':'192.0.2.2','Progress':0.5}", 60,
                        "████████████░░░░░░░░░░░░  50 %  node: upload over 192.0.2.2" },
                { "{'State':'running','Phase':'download','Progress':1.0}", 20, "█████ 100 %  node: …" },
                { "{'State':'running','Progress':7}", 20, "█████ 100 %  node: …" },
                { "{'State':'running','Progress':-7}", 20, "░░░░░   0 %  node: …" },
                { "{'State':'running','Progress':'x','Phase':5}", 20, "node: starting" },
                { "{'State':'running','Progress':0.5}", 8, "node: s…" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                json_auto_t *json = model_parse(cases[i].job);
                g_autofree char *line = NULL;
                AldProbeJob job;

                ald_value_to_struct(json, &ald_probe_job_struct, &job);
                line = ald_job_progress(&job, "node", cases[i].columns);
                g_assert_cmpstr(line, ==, cases[i].line);
                g_assert_cmpuint(ald_text_width(line), <=, cases[i].columns);
        }
}

static void test_results(void)
{
        static const struct {
                const char *path, *text;
        } cases[] = {
                { "{}", "   Link to: node\n    Upload: –\n  Download: –\n     RTT/2: –\n  Jitter/2: –\n" },
                { "{'Scope':'round-trips','RttP50NSec':20,'JitterNSec':8}",
                        "   Link to: node\n     RTT/2: 10 ns\n  Jitter/2: 4 ns\n" },
                { "{'UploadBitsPerSecond':[],'Address':'192.0.2.2'}",
                        "   Link to: node over 192.0.2.2\n    Upload: –\n  Download: –\n     RTT/2: –\n"
                        "  Jitter/2: –\n" },
                { "{'UploadBitsPerSecond':1000,'UploadInterval':0.42,'UploadSpread':2.0,'UploadBytes':1024,"
                  "'UploadSeconds':2.0,'UploadLimiter':'receiver','RttP50NSec':20,'DownloadBytes':5,"
                  "'DownloadReason':'too little "
                  "arrived','JitterNSec':8,'Streams':2,'SourceInterface':'eth0'}",
                        "   Link to: node (eth0)\n"
                        "    Upload: 1.00 kb/s ±0.4 %, spread 2 %, limited by the receiver, 1.00 KiB in 2.00 "
                        "s\n"
                        "  Download: not measured: too little arrived\n"
                        "     RTT/2: 10 ns\n  Jitter/2: 4 ns\n   Streams: 2\n" },
                { "{'DownloadBitsPerSecond':1000000000,'Flags':['disturbed','unsteady'],"
                  "'UploadOtherBitsPerSecond':5,'DownloadOtherBitsPerSecond':300000000}",
                        "   Link to: node\n    Upload: –\n  Download: 1.00 Gb/s\n     RTT/2: –\n  Jitter/2: "
                        "–\n"
                        " Disturbed: other traffic of 300 Mb/s disturbed this measurement; it does not "
                        "replace a "
                        "better one\n"
                        "  Unsteady: the interval of a rate exceeds 25 %, or its spread 50 %\n" },
                { "{'DownloadBitsPerSecond':1000000000,'Flags':['disturbed']}",
                        "   Link to: node\n    Upload: –\n  Download: 1.00 Gb/s\n     RTT/2: –\n  Jitter/2: "
                        "–\n"
                        " Disturbed: other traffic disturbed this measurement; it does not replace a better "
                        "one\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) out = g_string_new(NULL);
                json_auto_t *row = model_parse(cases[i].path);
                g_auto(AldProbedPath) path = {};

                ald_probed_path_read(&path, ALD_KIND_SOCKET_RESULT, row);
                ald_probed_path_describe(out, &path, "node", 0);
                g_assert_cmpstr(out->str, ==, cases[i].text);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl-links/table-fits", test_table_fits);
        g_test_add_func("/ctl-links/drawings", test_drawings);
        g_test_add_func("/ctl-links/marks", test_marks);
        g_test_add_func("/ctl-links/no-path", test_no_path);
        g_test_add_func("/ctl-links/all-paths", test_all_paths);
        g_test_add_func("/ctl-links/dot", test_dot);
        g_test_add_func("/ctl-links/many-are-listed", test_many_are_listed);
        g_test_add_func("/ctl-links/rates", test_rates);
        g_test_add_func("/ctl-links/progress", test_progress);
        g_test_add_func("/ctl-links/results", test_results);
        return g_test_run();
}
