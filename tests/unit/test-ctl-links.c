/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/links/drawing.h"
#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/links/link-table.h"
#include "clients/alidadectl/links/negotiated.h"
#include "clients/alidadectl/text.h"

#define NOW 1.7e15
#define MINUTE 60e6

static json_t *parse(const char *text)
{
        g_autofree char *quoted = g_strdelimit(g_strdup(text), "'", '"');
        json_error_t error;
        json_t *value = json_loads(quoted, 0, &error);

        if (!value)
                g_error("%s: %s", error.text, quoted);
        return value;
}

static char *id_of(unsigned number)
{
        return g_strdup_printf("%032x", number);
}

static void put(AldModel *model, const char *id, const char *kind, const char *text)
{
        json_t *fields = parse(text);

        g_assert_cmpint(ald_model_put(model, id, kind, fields), ==, 0);
        json_decref(fields);
}

static void add_node(AldModel *model, unsigned number, const char *name)
{
        g_autofree char *id = id_of(number), *text = g_strdup_printf("{'FriendlyName':'%s'}", name);

        put(model, id, "Node1.Identity", text);
}

/* A link from 1 to 2 with these fields. */
static void add_link(AldModel *model, const char *kind, const char *text)
{
        g_autofree char *from = id_of(1), *to = id_of(2);
        g_autofree char *id = g_strdup_printf("%s/%s,192.0.2.2", from, to);

        put(model, id, kind, text);
}

static char *verdict_of(AldModel *model)
{
        g_autoptr(GPtrArray) infos = ald_link_infos(model, NULL, NOW);
        g_autofree char *styled = NULL;

        g_assert_cmpuint(infos->len, ==, 1);
        styled = ald_link_verdict_text(infos->pdata[0]);
        return ald_text_render(styled, false, true);
}

static void test_verdicts(void)
{
        static const struct {
                double age; /* minutes; NaN: never measured */
                const char *kind, *fields, *verdict;
        } cases[] = {
                { 1, "Link1.Socket", "'UploadBitsPerSecond':5", "ok" },
                { 10, "Link1.Socket", "'UploadBitsPerSecond':5", "ok" },
                { 10.1, "Link1.Socket", "'UploadBitsPerSecond':5", "stale" },
                { 700, "Link1.Rdma", "'UploadBitsPerSecond':5", "ok" },
                { 721, "Link1.Rdma", "'UploadBitsPerSecond':5", "stale" },
                { -60, "Link1.Socket", "'UploadBitsPerSecond':5", "ok" },
                { NAN, "Link1.Socket", "'UploadBitsPerSecond':5", "not measured" },
                { NAN, "Link1.Socket", "'Failure':'no answer'", "failed: no answer" },
                { NAN, "Link1.Socket", "'FailedUSec':1", "failed" },
                { 1, "Link1.Socket", "'Failure':'no answer','FailedUSec':1", "ok" },
                { 1, "Link1.Socket", "'Failure':'no answer','FailedUSec':1700000000000000",
                        "failed: no answer" },
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':50,'DownloadBitsPerSecond':49,'NegotiatedBitsPerSecond':100",
                        "49 % of negotiated" },
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':50,'DownloadBitsPerSecond':50,'NegotiatedBitsPerSecond':100",
                        "ok" },
                { 1, "Link1.Socket", "'UploadBitsPerSecond':0,'NegotiatedBitsPerSecond':100",
                        "0 % of negotiated" },
                { 1, "Link1.Socket", "'UploadBitsPerSecond':0,'NegotiatedBitsPerSecond':0", "ok" },
                { 1, "Link1.Socket", "'NegotiatedBitsPerSecond':100", "ok" },
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':40,'UploadInterval':24,'NegotiatedBitsPerSecond':100",
                        "40 % of negotiated" },
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':40,'UploadInterval':25,'NegotiatedBitsPerSecond':100", "ok" },
                { 1, "Link1.Socket", "'UploadBitsPerSecond':5,'Flags':['unsteady']", "unsteady" },
                { 1, "Link1.Rdma", "'UploadBitsPerSecond':5,'Flags':['unsteady']", "unsteady" },
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':5,'NegotiatedBitsPerSecond':100,'Flags':['unsteady','"
                        "disturbed'],"
                        "'UploadOtherBitsPerSecond':1000,'DownloadOtherBitsPerSecond':300000000",
                        "disturbed by 300 Mb/s" },
                { 1, "Link1.Socket", "'UploadBitsPerSecond':5,'Flags':['disturbed',7]", "disturbed" },
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':5,'Failure':'partial: download: too little arrived'",
                        "partial: download: too little arrived" },
                { 50, "Link1.Socket", "'UploadBitsPerSecond':5,'TimeToLiveUSec':1800000000", "ok" },
                { 61, "Link1.Socket", "'UploadBitsPerSecond':5,'TimeToLiveUSec':1800000000", "stale" },
                { 11, "Link1.Socket", "'UploadBitsPerSecond':0,'NegotiatedBitsPerSecond':100", "stale" },
                { 1, "Link1.Socket", "'UploadBitsPerSecond':-5,'NegotiatedBitsPerSecond':100", "ok" },
                { 1, "Link1.Socket", "'UploadBitsPerSecond':'x','NegotiatedBitsPerSecond':[]", "ok" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *fields = isnan(cases[i].age)
                                                  ? g_strdup_printf("{%s}", cases[i].fields)
                                                  : g_strdup_printf("{%s,'MeasuredUSec':%.0f}",
                                                            cases[i].fields, NOW - cases[i].age * MINUTE);
                g_autofree char *verdict = NULL;

                add_link(model, cases[i].kind, fields);
                verdict = verdict_of(model);
                g_assert_cmpstr(verdict, ==, cases[i].verdict);
        }
}

/* However good its figures are. */
static void test_links_of_nodes_that_are_gone(void)
{
        static const char *const states[][2] = { { "online", "ok" }, { "stale", "ok" },
                { "offline", "node offline" }, { "duplicate", "node duplicate" },
                { "unknown", "node unknown" } };

        for (size_t i = 0; i < 2 * G_N_ELEMENTS(states); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *fields = g_strdup_printf(
                        "{'UploadBitsPerSecond':5,'MeasuredUSec':%.0f}", NOW);
                g_autofree char *end = id_of(i % 2 + 1), *other = id_of(2 - i % 2), *verdict = NULL;
                g_autofree char *presence = g_strdup_printf("{'State':'%s'}", states[i / 2][0]);

                add_link(model, "Link1.Socket", fields);
                put(model, end, "Node1.Presence", presence);
                put(model, other, "Node1.Presence", "{'State':'online'}");
                verdict = verdict_of(model);
                g_assert_cmpstr(verdict, ==, states[i / 2][1]);
        }
}

/* Where peers take turns, each waits for longer. */
static void test_stale_in_a_big_cluster(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autofree char *small = NULL, *big = NULL, *fields = NULL;

        fields = g_strdup_printf("{'MeasuredUSec':%.0f}", NOW - 24 * MINUTE);
        add_link(model, "Link1.Socket", fields);
        for (unsigned i = 1; i <= 63; i++)
                add_node(model, i, "n");
        small = verdict_of(model);
        add_node(model, 64, "n");
        big = verdict_of(model);
        g_assert_cmpstr(small, ==, "stale");
        g_assert_cmpstr(big, ==, "ok");
}

static void test_slower_end_counts(void)
{
        static const struct {
                const char *kind, *record, *link;
                double rate;
                bool wifi;
        } cases[] = {
                { "Node1.Network", "{'Interfaces':[{'Addresses':['192.0.2.2/24'],'SpeedBitsPerSecond':10}]}",
                        "{'SinkAddress':'192.0.2.2','NegotiatedBitsPerSecond':100}", 10, false },
                { "Node1.Network",
                        "{'Interfaces':[{'Addresses':['192.0.2.2/24'],'SpeedBitsPerSecond':1000}]}",
                        "{'SinkAddress':'192.0.2.2','NegotiatedBitsPerSecond':100}", 100, false },
                { "Node1.Network", "{'Interfaces':[{'Addresses':['192.0.2.22/24'],'SpeedBitsPerSecond':10}]}",
                        "{'SinkAddress':'192.0.2.2','NegotiatedBitsPerSecond':100}", 100, false },
                { "Node1.Network", "{'Interfaces':[{'Addresses':['192.0.2.2'],'Type':'wifi'}]}",
                        "{'SinkAddress':'192.0.2.2','NegotiatedBitsPerSecond':100}", 100, true },
                { "Node1.Network", "{'Interfaces':[{'Addresses':['192.0.2.2'],'SpeedBitsPerSecond':10}]}",
                        "{'SinkAddress':'192.0.2.2','SourceInterfaceType':'wifi'}", NAN, true },
                { "Node1.Network", "{'Interfaces':[5,{'Addresses':[7,null]}]}",
                        "{'SinkAddress':'x','NegotiatedBitsPerSecond':100}", 100, false },
                { "Node1.Fabric", "{'RdmaPorts':[{'Id':'mlx5_0.1','RateBitsPerSecond':25}]}",
                        "{'SinkPort':'mlx5_0.1','NegotiatedBitsPerSecond':100}", 25, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *id = id_of(2);
                json_t *link = parse(cases[i].link);
                AldNegotiated negotiated;

                put(model, id, cases[i].kind, cases[i].record);
                negotiated = ald_negotiated_of(
                        link, ald_model_get(model, id), strcmp(cases[i].kind, "Node1.Fabric") == 0);
                json_decref(link);
                if (isnan(cases[i].rate))
                        g_assert_true(isnan(negotiated.rate));
                else
                        g_assert_cmpfloat(negotiated.rate, ==, cases[i].rate);
                g_assert_true(negotiated.wifi == cases[i].wifi);
        }
}

static void test_interface(void)
{
        static const struct {
                const char *kind, *link, *fabric, *expected;
        } cases[] = {
                { "Link1.Socket", "{'SourceInterface':'eth0'}", "{}", "eth0" },
                { "Link1.Socket", "{'SourcePort':'rxe0.1'}",
                        "{'RdmaPorts':[{'Id':'rxe0.1','Interface':'x'}]}", NULL },
                { "Link1.Rdma", "{'SourcePort':'rxe0.1'}",
                        "{'RdmaPorts':[{'Id':'rxe1.1','Interface':'eth1'},{'Id':'rxe0.1','Interface':'eth0'}]"
                        "}",
                        "eth0" },
                { "Link1.Rdma", "{'SourcePort':'mlx5_0.1'}", "{'RdmaPorts':[{'Id':'mlx5_0.1'}]}",
                        "mlx5_0.1" },
                { "Link1.Rdma", "{'SourcePort':'mlx5_0.1'}", "{'RdmaPorts':7}", "mlx5_0.1" },
                { "Link1.Rdma", "{}", "{'RdmaPorts':[{'Id':'rxe0.1','Interface':'eth0'}]}", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GPtrArray) infos = NULL;
                g_autofree char *id = id_of(1);

                put(model, id, "Node1.Fabric", cases[i].fabric);
                add_link(model, cases[i].kind, cases[i].link);
                infos = ald_link_infos(model, NULL, NOW);
                g_assert_cmpuint(infos->len, ==, 1);
                g_assert_cmpstr(((const AldLinkInfo *) infos->pdata[0])->interface, ==, cases[i].expected);
        }
}

static void test_type_of_both_ends(void)
{
        static const struct {
                const char *kind, *link, *type;
        } cases[] = {
                { "Link1.Socket", "{'SourceInterfaceType':'ethernet','SinkInterfaceType':'ethernet'}",
                        "ethernet" },
                { "Link1.Socket",
                        "{'SourceInterfaceType':'ethernet','SinkInterfaceType':'wifi','"
                        "SinkInterfaceGeneration':6}",
                        "ethernet → wifi 6" },
                { "Link1.Socket",
                        "{'SourceInterfaceType':'wifi','SourceInterfaceGeneration':6,'SinkInterfaceType':'"
                        "wifi'}",
                        "wifi 6" },
                { "Link1.Socket",
                        "{'SourceInterfaceType':'thunderbolt','SourceInterfaceGeneration':4,"
                        "'SinkInterfaceType':'thunderbolt','SinkInterfaceGeneration':3}",
                        "thunderbolt 4 → thunderbolt 3" },
                { "Link1.Socket", "{'SourceInterfaceType':'ethernet'}", "ethernet → –" },
                { "Link1.Socket", "{'SinkInterfaceType':'wifi'}", "– → wifi" },
                { "Link1.Socket", "{}", NULL },
                { "Link1.Rdma", "{'Transport':'infiniband'}", "infiniband" },
                { "Link1.Rdma", "{}", "rdma" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GPtrArray) infos = NULL;

                add_link(model, cases[i].kind, cases[i].link);
                infos = ald_link_infos(model, NULL, NOW);
                g_assert_cmpstr(((const AldLinkInfo *) infos->pdata[0])->type, ==, cases[i].type);
        }
}

static void test_intervals(void)
{
        static const struct {
                double percent;
                const char *text;
        } cases[] = {
                { NAN, ALD_ABSENT_TEXT },
                { 0, ALD_ABSENT_TEXT },
                { -1, ALD_ABSENT_TEXT },
                { 0.01, "±<0.1 %" },
                { 0.42, "±0.4 %" },
                { 9.96, "±10 %" },
                { 31.4, "±31 %" },
                { 250, "±>100 %" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = ald_link_interval_text(cases[i].percent);

                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

static void test_unevenness(void)
{
        g_assert_true(ald_link_is_uneven(1, 2.1) && ald_link_is_uneven(2.1, 1) && ald_link_is_uneven(0, 1));
        g_assert_false(ald_link_is_uneven(1, 2) || ald_link_is_uneven(0, 0) || ald_link_is_uneven(NAN, 5) ||
                       ald_link_is_uneven(5, NAN));
}

static void test_table_fits(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GPtrArray) infos = NULL;

        add_node(model, 1, "日本語のとても長い名前のノード");
        add_link(model, "Link1.Socket",
                "{'SinkAddress':'2001:db8:1111:2222:3333:4444:5555:6666','SourceInterface':'enp0s31f6',"
                "'SourceInterfaceType':'thunderbolt','UploadBitsPerSecond':9007199254740992,'MeasuredUSec':1,"
                "'DownloadBitsPerSecond':123456,'RttP50NSec':123456,'JitterNSec':99999999,'Failure':"
                "'a long story','FailedUSec':2}");
        infos = ald_link_infos(model, NULL, NOW);
        for (unsigned columns = 20; columns < 200; columns++) {
                g_autoptr(AldTable) table = ald_link_table_new(infos, infos->len, columns, NULL);

                for (int row = -1; row < 1; row++) {
                        g_autofree char *line = ald_table_line(table, row);

                        g_assert_cmpuint(ald_text_width(line), <=, columns);
                }
        }
}

static char *draw(unsigned n_nodes, const char *edges, unsigned columns)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(AldTopology) topology = NULL;
        g_autoptr(GString) out = g_string_new(NULL), ids = g_string_new(edges);
        json_t *rows;

        for (unsigned i = 1; i <= n_nodes; i++) {
                g_autofree char *name = g_strdup_printf("n%u", i), *id = id_of(i);
                g_autofree char *mark = g_strdup_printf("#%u", i);

                add_node(model, i, name);
                g_string_replace(ids, mark, id, 0);
        }
        rows = parse(ids->str);
        topology = ald_topology_new(model, rows);
        json_decref(rows);
        ald_topology_draw(out, topology, columns);
        return ald_text_render(out->str, false, true);
}

#define EDGE(from, to, rate) \
        "{'Source':'#" from "','Sink':'#" to "','Path':'socket','BitsPerSecond':" rate "}"

static void test_drawings(void)
{
        static const struct {
                unsigned n_nodes, columns;
                const char *edges, *drawing;
        } cases[] = {
                { 2, 0, "[]", "No link has been measured yet.\n" },
                { 2, 0, "[{},5,'x',null,{'Source':'#1','Sink':'#1','Path':'socket','BitsPerSecond':5}]",
                        "No link has been measured yet.\n" },
                { 2, 0, "[" EDGE("1", "2", "1000000000") "," EDGE("2", "1", "2000000001") "]",
                        "Over sockets, from the node at the left to the one at the top:\n"
                        "  │          n1          n2\n"
                        "──┼────────────────────────\n"
                        "n1│          ·   1.00 Gb/s≠\n"
                        "n2│  2.00 Gb/s≠          · \n"
                        "≠ uneven: 1.00 Gb/s from n1 to n2, 2.00 Gb/s back\n" },
                { 2, 24, "[" EDGE("1", "2", "1000000000") "," EDGE("2", "1", "7") "]",
                        "Over sockets, from the\nnode at the left to the\none at the top:\n"
                        "    │      1       2 \n"
                        "────┼────────────────\n"
                        "1 n1│      ·   1.00G≠\n"
                        "2 n2│      7≠      · \n"
                        "≠ uneven: 1.00 Gb/s from\nn1 to n2, 7 b/s back\n" },
                { 2, 20, "[" EDGE("1", "2", "1000000000") "]",
                        "Over sockets:\n"
                        "NODES        →  ←\n"
                        "n1 ↔ n2  1.00G  –\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *drawing = draw(cases[i].n_nodes, cases[i].edges, cases[i].columns);

                g_assert_cmpstr(drawing, ==, cases[i].drawing);
        }
}

static void test_gone_nodes_are_named_below(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(AldTopology) topology = NULL;
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *two = id_of(2), *three = id_of(3), *drawing = NULL;
        json_t *rows = json_array();

        for (unsigned i = 1; i <= 3; i++) {
                g_autofree char *name = g_strdup_printf("n%u", i);

                add_node(model, i, name);
        }
        put(model, two, "Node1.Presence", "{'State':'offline'}");
        put(model, three, "Node1.Presence", "{'State':'unknown'}");
        topology = ald_topology_new(model, rows);
        json_decref(rows);
        ald_topology_draw(out, topology, 0);
        drawing = ald_text_render(out->str, false, true);
        g_assert_cmpstr(drawing, ==,
                "No link between the other nodes has been measured yet.\n\nLeft out: n2 (offline), n3 "
                "(unknown)\n");
}

static void test_many_are_listed(void)
{
        g_autofree char *drawing = draw(9, "[" EDGE("1", "2", "7") "," EDGE("2", "1", "5") "]", 0);

        g_assert_nonnull(strstr(drawing, "The slowest of 1 pairs over sockets:\n"));
        g_assert_nonnull(strstr(drawing, "n1 ↔ n2  7 b/s  5 b/s"));
        g_assert_null(strstr(drawing, "uneven"));
        g_assert_nonnull(strstr(drawing, "9 nodes are too many to draw."));
}

static void test_rates(void)
{
        static const struct {
                double rate;
                const char *wide, *compact;
        } cases[] = {
                { 0, "0 b/s", "0" },
                { 999, "999 b/s", "999" },
                { 9.41e9, "9.41 Gb/s", "9.41G" },
                { 196e6, "196 Mb/s", "196M" },
                { 1e18, "1000 Pb/s", "1000P" },
                { NAN, ALD_ABSENT_TEXT, ALD_ABSENT_TEXT },
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
                { "{'State':'waiting'}", 20, "node: waiting until…" },
                { "{'State':'running','Phase':''}", 20, "node: starting" },
                { "{'State':'waiting','Phase':''}", 20, "node: waiting until…" },
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
                json_t *job = parse(cases[i].job);
                g_autofree char *line = ald_job_progress(job, "node", cases[i].columns);

                json_decref(job);
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
                        " Disturbed: other traffic of 300 Mb/s disturbed this measurement, which replaces no "
                        "better one\n"
                        "  Unsteady: the interval of a rate exceeds 25 %, or its spread 50 %\n" },
                { "{'DownloadBitsPerSecond':1000000000,'Flags':['disturbed']}",
                        "   Link to: node\n    Upload: –\n  Download: 1.00 Gb/s\n     RTT/2: –\n  Jitter/2: "
                        "–\n"
                        " Disturbed: other traffic disturbed this measurement, which replaces no better "
                        "one\n" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) out = g_string_new(NULL);
                json_t *path = parse(cases[i].path);

                ald_job_describe_path(out, path, "node", 0);
                json_decref(path);
                g_assert_cmpstr(out->str, ==, cases[i].text);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl-links/verdicts", test_verdicts);
        g_test_add_func("/ctl-links/stale-in-a-big-cluster", test_stale_in_a_big_cluster);
        g_test_add_func("/ctl-links/slower-end-counts", test_slower_end_counts);
        g_test_add_func("/ctl-links/interface", test_interface);
        g_test_add_func("/ctl-links/type", test_type_of_both_ends);
        g_test_add_func("/ctl-links/intervals", test_intervals);
        g_test_add_func("/ctl-links/unevenness", test_unevenness);
        g_test_add_func("/ctl-links/table-fits", test_table_fits);
        g_test_add_func("/ctl-links/drawings", test_drawings);
        g_test_add_func("/ctl-links/many-are-listed", test_many_are_listed);
        g_test_add_func("/ctl-links/rates", test_rates);
        g_test_add_func("/ctl-links/progress", test_progress);
        g_test_add_func("/ctl-links/results", test_results);
        g_test_add_func("/ctl-links/links-of-nodes-that-are-gone", test_links_of_nodes_that_are_gone);
        g_test_add_func("/ctl-links/gone-nodes-are-named-below", test_gone_nodes_are_named_below);
        return g_test_run();
}
