/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/link-summary.h"
#include "clients/common/topology-summary.h"
#include "record/figure-text.h"
#include "tests/unit/model-maker.h"

#define NOW 1.7e15
#define MINUTE 60e6

static void add_node(AldModel *model, unsigned number, const char *name)
{
        g_autofree char *id = model_id(number), *text = g_strdup_printf("{'FriendlyName':'%s'}", name);

        model_put(model, id, "Node1.Identity", text);
}

/* A link from 1 to 2 with these fields. */
static void add_link(AldModel *model, const char *kind, const char *text)
{
        g_autofree char *from = model_id(1), *to = model_id(2);
        g_autofree char *id = g_strdup_printf("%s/%s,192.0.2.2", from, to);

        model_put(model, id, kind, text);
}

static char *verdict_of(AldModel *model)
{
        g_autoptr(GPtrArray) links = ald_link_summaries(model, NULL, NOW);
        AldTone tone;

        g_assert_cmpuint(links->len, ==, 1);
        return ald_link_verdict_words(links->pdata[0], &tone);
}

static void test_verdicts(void)
{
        static const struct {
                double age; /* minutes; NaN: never measured */
                const char *kind, *fields, *verdict;
        } cases[] = {
                { 1, "Link1.Socket", "'UploadBitsPerSecond':5", "ok" },
                { 10, "Link1.Socket", "'UploadBitsPerSecond':5", "ok" },
                { 10.1, "Link1.Socket", "'UploadBitsPerSecond':5", "overdue" },
                { 700, "Link1.Rdma", "'UploadBitsPerSecond':5", "ok" },
                { 721, "Link1.Rdma", "'UploadBitsPerSecond':5", "overdue" },
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
                { 1, "Link1.Socket", "'UploadBitsPerSecond':5,'Flags':['unsteady','suspect']", "suspect" },
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':5,'NegotiatedBitsPerSecond':100,'Flags':['unsteady','"
                        "disturbed'],"
                        "'UploadOtherBitsPerSecond':1000,'DownloadOtherBitsPerSecond':300000000",
                        "disturbed by 300 Mb/s" },
                { 1, "Link1.Socket", "'UploadBitsPerSecond':5,'Flags':['disturbed']", "disturbed" },
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':5,'Failure':'partial: download: too little arrived'",
                        "partial: download: too little arrived" },
                { 50, "Link1.Socket", "'UploadBitsPerSecond':5,'TimeToLiveUSec':1800000000", "ok" },
                { 61, "Link1.Socket", "'UploadBitsPerSecond':5,'TimeToLiveUSec':1800000000", "overdue" },
                { 11, "Link1.Socket", "'UploadBitsPerSecond':0,'NegotiatedBitsPerSecond':100", "overdue" },
                { 1, "Link1.Socket", "'UploadBitsPerSecond':5,'Changed':'speed'", "changed: speed" },
                /* A radio at one end makes the path one, and delivers a quarter at least. */
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':30,'NegotiatedBitsPerSecond':100,'SinkInterfaceType':'wifi'",
                        "ok" },
                { 1, "Link1.Socket",
                        "'UploadBitsPerSecond':20,'NegotiatedBitsPerSecond':100,'SinkInterfaceType':'wifi'",
                        "20 % of negotiated" },
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

/* A link about which there is a finding is never "ok", and its tone is that of the severity. */
static void test_verdicts_agree_with_findings(void)
{
        static const struct {
                const char *kind, *fields, *verdict;
                AldTone tone;
        } cases[] = {
                { "Link1.Socket", "'UploadBitsPerSecond':50,'DownloadBitsPerSecond':50", "ok",
                        ALD_TONE_GOOD },
                { "Link1.Socket", "'UploadBitsPerSecond':196,'DownloadBitsPerSecond':48", "asymmetric",
                        ALD_TONE_PLAIN },
                { "Link1.Rdma", "'UploadBitsPerSecond':48,'DownloadBitsPerSecond':196", "asymmetric",
                        ALD_TONE_PLAIN },
                /* The intervals leave it open whether one is twice the other. */
                { "Link1.Socket", "'UploadBitsPerSecond':210,'UploadInterval':10,'DownloadBitsPerSecond':100",
                        "ok", ALD_TONE_GOOD },
                { "Link1.Socket", "'UploadBitsPerSecond':196,'DownloadBitsPerSecond':48,'Flags':['unsteady']",
                        "asymmetric", ALD_TONE_PLAIN },
                { "Link1.Socket", "'UploadBitsPerSecond':5,'Flags':['unsteady']", "unsteady",
                        ALD_TONE_PLAIN },
                { "Link1.Socket", "'UploadBitsPerSecond':5,'UploadInterval':26", "unsteady", ALD_TONE_PLAIN },
                { "Link1.Socket", "'DownloadBitsPerSecond':5,'DownloadSpread':51", "unsteady",
                        ALD_TONE_PLAIN },
                { "Link1.Socket",
                        "'UploadBitsPerSecond':196,'DownloadBitsPerSecond':48,'NegotiatedBitsPerSecond':200",
                        "24 % of negotiated", ALD_TONE_WARNING },
                { "Link1.Socket", "'UploadBitsPerSecond':5,'Failure':'partial: download: too little arrived'",
                        "partial: download: too little arrived", ALD_TONE_WARNING },
                /* No finding is made of a measurement that other traffic disturbed. */
                { "Link1.Socket",
                        "'UploadBitsPerSecond':196,'DownloadBitsPerSecond':48,'Flags':['disturbed']",
                        "disturbed", ALD_TONE_WARNING },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GPtrArray) links = NULL;
                g_autofree char *fields = g_strdup_printf(
                        "{%s,'MeasuredUSec':%.0f}", cases[i].fields, NOW - MINUTE);
                g_autofree char *verdict = NULL;
                AldTone tone;

                add_link(model, cases[i].kind, fields);
                links = ald_link_summaries(model, NULL, NOW);
                verdict = ald_link_verdict_words(links->pdata[0], &tone);
                g_assert_cmpstr(verdict, ==, cases[i].verdict);
                g_assert_cmpint(tone, ==, cases[i].tone);
        }
}

/* However good its figures are. */
static void test_links_of_excluded_nodes(void)
{
        static const char *const states[][2] = { { "online", "ok" }, { "stale", "node stale" },
                { "offline", "node offline" }, { "duplicate", "node duplicate" },
                { "unknown", "node unknown" } };

        for (size_t i = 0; i < 2 * G_N_ELEMENTS(states); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *fields = g_strdup_printf(
                        "{'UploadBitsPerSecond':5,'MeasuredUSec':%.0f}", NOW);
                g_autofree char *end = model_id(i % 2 + 1), *other = model_id(2 - i % 2), *verdict = NULL;
                g_autofree char *presence = g_strdup_printf("{'State':'%s'}", states[i / 2][0]);

                add_link(model, "Link1.Socket", fields);
                model_put(model, end, "Node1.Presence", presence);
                model_put(model, other, "Node1.Presence", "{'State':'online'}");
                verdict = verdict_of(model);
                g_assert_cmpstr(verdict, ==, states[i / 2][1]);
        }
}

/* A path from 1 to 2, which the prober probes, with what the graph tells of it. */
static void add_edge_row(AldModel *model, const AldEdgeRow *row)
{
        ald_model_add_topology(model, false);
        g_ptr_array_add(ald_model_topology(model)->edges, ald_struct_dup(&ald_edge_row_struct, row));
}

static void add_edge(AldModel *model, const char *prober, bool rdma, const char *problem, const char *reason)
{
        g_autofree char *from = model_id(1), *to = model_id(2);
        AldEdgeRow row = ALD_EDGE_ROW_INIT;

        row.source = from;
        row.sink = to;
        row.prober = prober;
        row.kind = rdma ? "rdma" : "socket";
        row.presence = "offline";
        row.problem = problem;
        row.reason = reason;
        if (rdma)
                row.source_port = row.sink_port = "rxe0.1";
        else
                row.sink_address = "192.0.2.2";
        add_edge_row(model, &row);
}

/* What the graph tells of a path that was measured; of its two directions, that which begins at the prober.
 */
static void test_links_that_cannot_be_used(void)
{
        static const struct {
                unsigned prober;
                bool rdma;
                const char *problem, *reason, *presence, *verdict;
        } cases[] = {
                /* A node has come back, and the graph has not heard of that yet. */
                { 1, false, NULL, NULL, "online", "ok" },
                { 1, false, "policy", "the sink starts no such probes", "online", "ok" },
                { 2, false, "no-carrier", "eth0 at the sink has no carrier", "online", "ok" },
                { 1, false, "no-carrier", "eth0\033 at the sink has no carrier", "online",
                        "unusable: eth0� at the sink has no carrier" },
                { 1, false, "no-carrier", "eth0 has no carrier", "stale", "unusable: eth0 has no carrier" },
                { 1, false, "no-carrier", "eth0 has no carrier", "offline", "node offline" },
                { 1, false, "new-word", NULL, "online", "unusable" },
                { 1, true, "down", "rxe0.1 is down", "online", "unusable: rxe0.1 is down" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *from = model_id(1), *to = model_id(2), *verdict = NULL;
                g_autofree char *prober = model_id(cases[i].prober);
                g_autofree char *presence = g_strdup_printf("{'State':'%s'}", cases[i].presence);
                g_autofree char *fields = g_strdup_printf(
                        "{'UploadBitsPerSecond':5,'MeasuredUSec':%.0f}", NOW);
                g_autofree char *rdma_id = g_strdup_printf("%s/rxe0.1,%s,rxe0.1", from, to);

                add_edge(model, prober, cases[i].rdma, cases[i].problem, cases[i].reason);
                model_put(model, from, "Node1.Presence", "{'State':'online'}");
                model_put(model, to, "Node1.Presence", presence);
                if (cases[i].rdma)
                        model_put(model, rdma_id, "Link1.Rdma", fields);
                else
                        add_link(model, "Link1.Socket", fields);
                verdict = verdict_of(model);
                g_assert_cmpstr(verdict, ==, cases[i].verdict);
        }
}

/* The rates are those of an interface that the path does not use any more; how long a round trip takes is
 * kept. */
static void test_rates_of_another_interface(void)
{
        static const struct {
                const char *changed;
                uint64_t rate;
                const char *verdict;
                bool shown;
        } cases[] = {
                { NULL, 5, "ok", true },
                { NULL, ALD_ABSENT_UINT64, "ok", true }, /* the graph is a little behind */
                { "speed", 5, "ok", true },
                { "route", ALD_ABSENT_UINT64, "changed: route", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *from = model_id(1), *to = model_id(2), *verdict = NULL;
                AldEdgeRow row = ALD_EDGE_ROW_INIT;
                g_autofree char *fields = g_strdup_printf(
                        "{'UploadBitsPerSecond':5,'DownloadBitsPerSecond':5,'RttP50NSec':8,"
                        "'SourceInterface':'eth0','SinkInterface':'eth1','MeasuredUSec':%.0f}",
                        NOW);
                g_autoptr(GPtrArray) links = NULL;
                const AldLinkSummary *link;

                row.source = row.prober = from;
                row.sink = to;
                row.kind = "socket";
                row.presence = "live";
                row.sink_address = "192.0.2.2";
                row.changed = cases[i].changed;
                row.bits_per_second = cases[i].rate;
                add_edge_row(model, &row);
                add_link(model, "Link1.Socket", fields);
                links = ald_link_summaries(model, NULL, NOW);
                link = links->pdata[0];
                g_assert_true(isfinite(link->upload.rate) == cases[i].shown);
                g_assert_true(isfinite(link->download.rate) == cases[i].shown);
                g_assert_cmpfloat(link->rtt, ==, 8);
                verdict = verdict_of(model);
                g_assert_cmpstr(verdict, ==, cases[i].verdict);
        }
}

/* What is wrong with an end of a path comes before that nobody has measured it. */
static void test_untried_paths(void)
{
        static const struct {
                const char *problem, *reason, *presence, *verdict;
        } cases[] = {
                { NULL, NULL, "online", "not measured" },
                { "policy", "the sink starts no such probes", "online",
                        "not measured: the sink starts no such probes" },
                { NULL, NULL, "stale", "node stale" },
                { "no-carrier", "eth0 has no carrier", "stale", "unusable: eth0 has no carrier" },
                { "no-carrier", "eth0 has no carrier", "offline", "node offline" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *from = model_id(1), *to = model_id(2), *verdict = NULL;
                g_autofree char *presence = g_strdup_printf("{'State':'%s'}", cases[i].presence);
                g_autoptr(GPtrArray) links = NULL, measured = NULL;
                AldTone tone;

                add_edge(model, from, false, cases[i].problem, cases[i].reason);
                model_put(model, from, "Node1.Presence", "{'State':'online'}");
                model_put(model, to, "Node1.Presence", presence);
                links = ald_link_summaries_with_untried(model, NOW);
                g_assert_cmpuint(links->len, ==, 1);
                verdict = ald_link_verdict_words(links->pdata[0], &tone);
                g_assert_cmpstr(verdict, ==, cases[i].verdict);
                measured = ald_link_summaries(model, NULL, NOW);
                g_assert_cmpuint(measured->len, ==, 0);
        }
}

/* Where peers take turns, each waits for longer. */
static void test_overdue_in_a_big_cluster(void)
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
        g_assert_cmpstr(small, ==, "overdue");
        g_assert_cmpstr(big, ==, "ok");
}

static void test_interface(void)
{
        static const struct {
                const char *kind, *link, *fabric, *expected;
        } cases[] = {
                { "Link1.Socket", "{'SourceInterface':'eth0'}", "{}", "eth0" },
                { "Link1.Socket", "{}", "{'RdmaPorts':[{'Id':'rxe0.1','Interface':'x'}]}", NULL },
                { "Link1.Rdma", "{'SourcePort':'rxe0.1'}",
                        "{'RdmaPorts':[{'Id':'rxe1.1','Interface':'eth1'},{'Id':'rxe0.1','Interface':'eth0'}]"
                        "}",
                        "eth0" },
                { "Link1.Rdma", "{'SourcePort':'mlx5_0.1'}", "{'RdmaPorts':[{'Id':'mlx5_0.1'}]}",
                        "mlx5_0.1" },
                { "Link1.Rdma", "{'SourcePort':'mlx5_0.1'}", "{}", "mlx5_0.1" },
                { "Link1.Rdma", "{}", "{'RdmaPorts':[{'Id':'rxe0.1','Interface':'eth0'}]}", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GPtrArray) links = NULL;
                g_autofree char *id = model_id(1);

                model_put(model, id, "Node1.Fabric", cases[i].fabric);
                add_link(model, cases[i].kind, cases[i].link);
                links = ald_link_summaries(model, NULL, NOW);
                g_assert_cmpuint(links->len, ==, 1);
                g_assert_cmpstr(((const AldLinkSummary *) links->pdata[0])->interface, ==, cases[i].expected);
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
                g_autoptr(GPtrArray) links = NULL;

                add_link(model, cases[i].kind, cases[i].link);
                links = ald_link_summaries(model, NULL, NOW);
                g_assert_cmpstr(((const AldLinkSummary *) links->pdata[0])->type, ==, cases[i].type);
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
                { 250, "±250 %" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = ald_format_interval(cases[i].percent);

                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

/* A fast end that talks to a slow one is not at fault, as far as the sink says what it has. */
static void test_slower_end_counts(void)
{
        static const struct {
                const char *sink_kind, *sink, *kind, *link, *verdict;
        } cases[] = {
                { "Node1.Network",
                        "{'Interfaces':[{'Id':'e','Addresses':['192.0.2.2/24'],'SpeedBitsPerSecond':10}]}",
                        "Link1.Socket", "'SinkAddress':'192.0.2.2'", "ok" },
                { "Node1.Network",
                        "{'Interfaces':[{'Id':'e','Addresses':['192.0.2.2/24'],'SpeedBitsPerSecond':100}]}",
                        "Link1.Socket", "'SinkAddress':'192.0.2.2'", "10 % of negotiated" },
                { "Node1.Network",
                        "{'Interfaces':[{'Id':'e','Addresses':['192.0.2.22/24'],'SpeedBitsPerSecond':10}]}",
                        "Link1.Socket", "'SinkAddress':'192.0.2.2'", "10 % of negotiated" },
                { "Node1.Fabric", "{'RdmaPorts':[{'Id':'mlx5_0.1','RateBitsPerSecond':10}]}", "Link1.Rdma",
                        "'SinkPort':'mlx5_0.1'", "ok" },
                { "Node1.Fabric", "{'RdmaPorts':[{'Id':'mlx5_0.2','RateBitsPerSecond':10}]}", "Link1.Rdma",
                        "'SinkPort':'mlx5_0.1'", "10 % of negotiated" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *sink = model_id(2), *verdict = NULL;
                g_autofree char *fields = g_strdup_printf(
                        "{%s,'UploadBitsPerSecond':10,'NegotiatedBitsPerSecond':100,'MeasuredUSec':%.0f}",
                        cases[i].link, NOW);

                model_put(model, sink, cases[i].sink_kind, cases[i].sink);
                add_link(model, cases[i].kind, fields);
                verdict = verdict_of(model);
                g_assert_cmpstr(verdict, ==, cases[i].verdict);
        }
}

static void test_tones(void)
{
        static const struct {
                const char *fields;
                AldTone tone;
        } cases[] = {
                { "'MeasuredUSec':1700000000000000", ALD_TONE_GOOD },
                { "'MeasuredUSec':1", ALD_TONE_WARNING },
                { "'Streams':1", ALD_TONE_FAINT },
                { "'Failure':'no answer'", ALD_TONE_ERROR },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *fields = g_strdup_printf("{%s}", cases[i].fields), *words = NULL;
                g_autoptr(GPtrArray) links = NULL;
                AldTone tone;

                add_link(model, "Link1.Socket", fields);
                links = ald_link_summaries(model, NULL, NOW);
                words = ald_link_verdict_words(links->pdata[0], &tone);
                g_assert_cmpint(tone, ==, cases[i].tone);
        }
}

/* What another machine sent is text that only shows itself. */
static void test_texts_are_safe(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GPtrArray) links = NULL;
        g_autofree char *words = NULL;
        AldTone tone;

        add_link(model, "Link1.Socket",
                "{'SinkAddress':'\\u001b]0;x','SourceInterface':'\\u202egnp','SourceInterfaceType':'"
                "\\u009b31m',"
                "'Failure':'\\u001b[2J'}");
        links = ald_link_summaries(model, NULL, NOW);
        words = ald_link_verdict_words(links->pdata[0], &tone);
        g_assert_cmpstr(words, ==, "failed: �[2J");
        g_assert_cmpstr(((const AldLinkSummary *) links->pdata[0])->path, ==, "�]0;x");
        g_assert_cmpstr(((const AldLinkSummary *) links->pdata[0])->interface, ==, "�gnp");
        g_assert_cmpstr(((const AldLinkSummary *) links->pdata[0])->type, ==, "�31m → –");
}

/* Those that begin or end at a node. */
static void test_links_of_a_node(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autofree char *sink = model_id(2);
        g_autofree char *fields = g_strdup_printf("{'Sink':'%s'}", sink);

        for (unsigned i = 1; i <= 3; i++)
                add_node(model, i, "n");
        add_link(model, "Link1.Socket", fields);
        for (unsigned i = 1; i <= 3; i++) {
                g_autoptr(GPtrArray) links = ald_links_of(model, model_node(model, i));
                g_autoptr(GPtrArray) summaries = ald_link_summaries(model, model_node(model, i), NOW);

                g_assert_cmpuint(links->len, ==, i < 3);
                g_assert_cmpuint(summaries->len, ==, i < 3);
        }
}

static void test_asymmetric_pairs(void)
{
        static const uint64_t asymmetric[][2] = { { 1, 3 }, { 3, 1 }, { 0, 1 } };
        static const uint64_t even[][2] = { { 1, 2 }, { 0, 0 }, { ALD_ABSENT_UINT64, 5 },
                { 5, ALD_ABSENT_UINT64 } };

        for (size_t i = 0; i < G_N_ELEMENTS(asymmetric); i++)
                g_assert_true(ald_node_pair_is_asymmetric(
                        &(AldNodePair){ .there = asymmetric[i][0], .back = asymmetric[i][1] }));
        for (size_t i = 0; i < G_N_ELEMENTS(even); i++)
                g_assert_false(ald_node_pair_is_asymmetric(
                        &(AldNodePair){ .there = even[i][0], .back = even[i][1] }));
}

static void add_node_row(AldTopology *topology, unsigned number, const char *name)
{
        g_autofree char *id = model_id(number);
        const AldGraphNodeRow row = {
                .node = id, .presence = "online", .name = name, .since_usec = ALD_ABSENT_UINT64
        };

        g_ptr_array_add(topology->nodes, ald_struct_dup(&ald_graph_node_row_struct, &row));
}

/* Nodes are in the order of their names, and so are the directions of a pair. */
static void test_pairs(void)
{
        g_autofree char *one = model_id(1), *two = model_id(2);
        g_autoptr(AldTopology) topology = ald_topology_new();
        g_autoptr(AldTopologySummary) summary = NULL;
        AldNodePairRow row = ALD_NODE_PAIR_ROW_INIT;
        const AldNodePair *pair;

        add_node_row(topology, 1, "b");
        add_node_row(topology, 2, "a");
        row.node = one;
        row.peer = two;
        row.to_peer_bits_per_second = 7;
        row.from_peer_bits_per_second = 5;
        row.rtt_p50_nsec = 20;
        g_ptr_array_add(topology->pairs, ald_struct_dup(&ald_node_pair_row_struct, &row));
        row.peer = "\033";
        g_ptr_array_add(topology->pairs, ald_struct_dup(&ald_node_pair_row_struct, &row));
        summary = ald_topology_summarize(topology);
        g_assert_cmpuint(summary->nodes->len, ==, 2);
        g_assert_cmpstr(ald_topology_summary_name(summary, two), ==, "a");
        g_assert_cmpuint(summary->pairs->len, ==, 1);
        pair = ald_topology_summary_find(summary, 1, 0);
        g_assert_cmpuint(pair->there, ==, 5);
        g_assert_cmpuint(pair->back, ==, 7);
        g_assert_cmpuint(pair->rtt, ==, 20);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-summary/verdicts", test_verdicts);
        g_test_add_func("/link-summary/verdicts-and-findings", test_verdicts_agree_with_findings);
        g_test_add_func("/link-summary/links-of-excluded-nodes", test_links_of_excluded_nodes);
        g_test_add_func("/link-summary/links-that-cannot-be-used", test_links_that_cannot_be_used);
        g_test_add_func("/link-summary/rates-of-another-interface", test_rates_of_another_interface);
        g_test_add_func("/link-summary/untried-paths", test_untried_paths);
        g_test_add_func("/link-summary/overdue-in-a-big-cluster", test_overdue_in_a_big_cluster);
        g_test_add_func("/link-summary/slower-end-counts", test_slower_end_counts);
        g_test_add_func("/link-summary/tones", test_tones);
        g_test_add_func("/link-summary/texts-are-safe", test_texts_are_safe);
        g_test_add_func("/link-summary/links-of-a-node", test_links_of_a_node);
        g_test_add_func("/link-summary/interface", test_interface);
        g_test_add_func("/link-summary/type", test_type_of_both_ends);
        g_test_add_func("/link-summary/intervals", test_intervals);
        g_test_add_func("/link-summary/asymmetric-pairs", test_asymmetric_pairs);
        g_test_add_func("/link-summary/pairs", test_pairs);
        return g_test_run();
}
