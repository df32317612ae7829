/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/links/topology-drawing.h"
#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/links/link-table.h"
#include "clients/command-line/text.h"
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

/* An edge of sockets from one node to another. */
typedef struct Edge {
        unsigned from, to;
        uint64_t rate;
} Edge;

#define EDGES_MAX 2

static char *draw(unsigned n_nodes, const Edge *edges, unsigned columns)
{
        g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(AldTopology) topology = NULL;
        g_autoptr(GString) out = g_string_new(NULL);
        AldEdgeRow items[EDGES_MAX];
        AldRows rows = { &ald_edge_row_struct, items, 0 };

        for (unsigned i = 1; i <= n_nodes; i++) {
                g_autofree char *name = g_strdup_printf("n%u", i);

                g_ptr_array_add(ids, model_id(i));
                add_node(model, i, name);
        }
        for (; rows.n < EDGES_MAX && edges[rows.n].from > 0; rows.n++)
                items[rows.n] = (AldEdgeRow){ ids->pdata[edges[rows.n].from - 1],
                        ids->pdata[edges[rows.n].to - 1], "socket", edges[rows.n].rate, ALD_ABSENT_UINT64,
                        ALD_ABSENT_UINT64, NULL };
        topology = ald_topology_new(model, &rows);
        ald_topology_draw(out, topology, columns);
        return ald_text_render(out->str, false, true);
}

static void test_drawings(void)
{
        static const struct {
                unsigned n_nodes, columns;
                Edge edges[EDGES_MAX];
                const char *drawing;
        } cases[] = {
                { 2, 0, {}, "No link has been measured yet.\n" },
                { 2, 0, { { 1, 2, 1000000000 }, { 2, 1, 2000000001 } },
                        "Over sockets, from the node at the left to the one at the top:\n"
                        "  │          n1          n2\n"
                        "──┼────────────────────────\n"
                        "n1│          ·   1.00 Gb/s≠\n"
                        "n2│  2.00 Gb/s≠          · \n"
                        "≠ uneven: 1.00 Gb/s from n1 to n2, 2.00 Gb/s back\n" },
                { 2, 24, { { 1, 2, 1000000000 }, { 2, 1, 7 } },
                        "Over sockets, from the\nnode at the left to the\none at the top:\n"
                        "    │      1       2 \n"
                        "────┼────────────────\n"
                        "1 n1│      ·   1.00G≠\n"
                        "2 n2│      7≠      · \n"
                        "≠ uneven: 1.00 Gb/s from\nn1 to n2, 7 b/s back\n" },
                { 2, 20, { { 1, 2, 1000000000 } },
                        "Over sockets:\n"
                        "NODES        →  ←\n"
                        "n1 ↔ n2  1.00G  –\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *drawing = draw(cases[i].n_nodes, cases[i].edges, cases[i].columns);

                g_assert_cmpstr(drawing, ==, cases[i].drawing);
        }
}

static void test_excluded_nodes_are_named_below(void)
{
        const AldRows none = { .type = &ald_edge_row_struct };
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(AldTopology) topology = NULL;
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *two = model_id(2), *three = model_id(3), *drawing = NULL;

        for (unsigned i = 1; i <= 3; i++) {
                g_autofree char *name = g_strdup_printf("n%u", i);

                add_node(model, i, name);
        }
        model_put(model, two, "Node1.Presence", "{'State':'offline'}");
        model_put(model, three, "Node1.Presence", "{'State':'unknown'}");
        topology = ald_topology_new(model, &none);
        ald_topology_draw(out, topology, 0);
        drawing = ald_text_render(out->str, false, true);
        g_assert_cmpstr(drawing, ==,
                "No link between the other nodes has been measured yet.\n\nLeft out: n2 (offline), n3 "
                "(unknown)\n");
}

static void test_many_are_listed(void)
{
        g_autofree char *drawing = draw(9, (Edge[]){ { 1, 2, 7 }, { 2, 1, 5 } }, 0);

        g_assert_nonnull(strstr(drawing, "The slowest of 1 pairs over sockets:\n"));
        g_assert_nonnull(strstr(drawing, "n1 ↔ n2  7 b/s  5 b/s"));
        g_assert_null(strstr(drawing, "uneven"));
        g_assert_nonnull(strstr(drawing, "9 nodes are too many to draw."));
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

                ald_probed_path_read(&path, false, row);
                ald_probed_path_describe(out, &path, "node", 0);
                g_assert_cmpstr(out->str, ==, cases[i].text);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl-links/table-fits", test_table_fits);
        g_test_add_func("/ctl-links/drawings", test_drawings);
        g_test_add_func("/ctl-links/excluded-nodes-are-named-below", test_excluded_nodes_are_named_below);
        g_test_add_func("/ctl-links/many-are-listed", test_many_are_listed);
        g_test_add_func("/ctl-links/rates", test_rates);
        g_test_add_func("/ctl-links/progress", test_progress);
        g_test_add_func("/ctl-links/results", test_results);
        return g_test_run();
}
