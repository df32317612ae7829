/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/alidadectl/history/history-export.h"
#include "clients/alidadectl/history/history-text.h"
#include "clients/alidadectl/history/series-choice.h"
#include "clients/command-line/terminal-text.h"
#include "tests/unit/model-maker.h"

#define HOUR UINT64_C(3600000000)
#define FROM (UINT64_C(1795690800) * 1000000) /* 2026-11-26 11:00 UTC */
#define TO (FROM + HOUR)
#define GIB (1024.0 * 1024 * 1024)

static AldModel *make_model(void)
{
        g_autofree char *one = model_id(1), *two = model_id(2);
        g_autofree char *there = g_strdup_printf("%s/%s,192.0.2.2", one, two);
        g_autofree char *back = g_strdup_printf("%s/%s,192.0.2.1", two, one);
        g_autofree char *rdma = g_strdup_printf("%s/mlx5_0.1,%s,mlx5_1.1", one, two);
        g_autofree char *ports = g_strdup_printf(
                "{'Sink':'%s','SourcePort':'mlx5_0.1','SinkPort':'mlx5_1.1','MeasuredUSec':1}", two);
        AldModel *model = ald_model_new();

        model_put_node(model, 1,
                "{'Node1.Identity':{'FriendlyName':'atlas'},'Node1.Memory':{'AvailableBytes':1},"
                "'Node1.System':{'CpuUsage':1,'Devices':[{'Id':'0000:01:00.0','Usage':3}]},"
                "'Node1.Backends':{'Devices':[{'Id':'0000:01:00.0','Name':'RTX 4090','Class':'gpu'},"
                "{'Id':'cpu','Class':'cpu'}]},"
                "'Node1.Compute':{'Devices':[{'Id':'cpu','GemmTflops':1}]}}");
        model_put_node(model, 2, "{'Node1.Identity':{'FriendlyName':'borealis'}}");
        model_put(model, there, "Link1.Socket",
                "{'SinkAddress':'192.0.2.2','SourceInterface':'eth0','MeasuredUSec':1}");
        model_put(model, back, "Link1.Socket", "{'SinkAddress':'192.0.2.1','MeasuredUSec':1}");
        model_put(model, rdma, "Link1.Rdma", ports);
        return model;
}

/* "KIND FIELD" of each, with the label if it is another one. */
static char *list_series(const GPtrArray *list)
{
        GString *out = g_string_new(NULL);

        for (guint i = 0; i < list->len; i++) {
                const AldShownSeries *series = list->pdata[i];

                g_string_append_printf(out, "%s.%s\n", ald_kinds[series->kind].name, series->field);
        }
        return g_string_free(out, FALSE);
}

static void assert_chosen(const char *names, bool of_link, const char *expected)
{
        g_autoptr(AldModel) model = make_model();
        g_auto(GStrv) words = g_strsplit(names, " ", -1);
        g_autoptr(GPtrArray) list = NULL;
        g_autofree char *problem = NULL, *text = NULL;
        int r = ald_series_choose(model, model_node(model, 1), of_link ? model_node(model, 2) : NULL,
                (const char *const *) words, 1e15, &list, &problem);

        g_test_message("%s", names);
        g_assert_cmpint(r, ==, list ? 0 : -ENOENT);
        text = list ? list_series(list) : g_steal_pointer(&problem);
        g_assert_cmpstr(text, ==, expected);
}

static void test_names(void)
{
        assert_chosen("AvailableBytes", false, "Node1.Memory.AvailableBytes\n");
        assert_chosen("Node1.Memory.AvailableBytes AvailableBytes", false, "Node1.Memory.AvailableBytes\n");
        assert_chosen("CpuUsage Node1.Memory.AvailableBytes", false,
                "Node1.System.CpuUsage\nNode1.Memory.AvailableBytes\n");
        assert_chosen("Devices[cpu].GemmTflops", false, "Node1.Compute.Devices[cpu].GemmTflops\n");
        assert_chosen("GemmTflops", false, "Node1.Compute.Devices[cpu].GemmTflops\n");
        assert_chosen("Usage", false, "Node1.System.Devices[0000:01:00.0].Usage\n");
        /* One that is there no more. */
        assert_chosen("Devices[gone].Usage", false, "Node1.System.Devices[gone].Usage\n");
        assert_chosen(
                "Node1.Compute.Devices[a]b].GemmTflops", false, "Node1.Compute.Devices[a]b].GemmTflops\n");
}

static void test_unknown_names(void)
{
        static const char *const unlike[] = { "", "AvailableBytes2x", "Devices[].Usage", "Devices[cpu]x",
                "Node1.Memory.", "Node1.Compute.CpuUsage", "Node1.Identity.HostName", "MeasuredUSec", "[",
                "]", "." };
        g_autoptr(AldModel) model = make_model();

        assert_chosen("AvailableByte", false,
                "Neither a node nor a figure of a node is called \"AvailableByte\"; similar: AvailableBytes, "
                "SwapAvailableBytes");
        assert_chosen("gemmtflop", false,
                "Neither a node nor a figure of a node is called \"gemmtflop\"; similar: GemmTflops");
        assert_chosen("AvailableBytes nonsense", false,
                "Neither a node nor a figure of a node is called \"nonsense\"; see "
                "org.alidade.Node1.System(5)");
        assert_chosen("RttP50", true,
                "No figure of a link is called \"RttP50\"; similar: LoadedRttP50NSec, RttP50NSec");
        assert_chosen("CpuUsage", true,
                "No figure of a link is called \"CpuUsage\"; see org.alidade.Link1.Socket(5)");
        for (size_t i = 0; i < G_N_ELEMENTS(unlike); i++) {
                const char *const names[] = { unlike[i], NULL };
                g_autoptr(GPtrArray) list = NULL;
                g_autofree char *problem = NULL;

                g_test_message("\"%s\"", unlike[i]);
                g_assert_cmpint(
                        ald_series_choose(model, model_node(model, 1), NULL, names, 1e15, &list, &problem),
                        ==, -ENOENT);
                g_assert_true(strstr(problem, unlike[i]));
        }
}

/* Each direction has its own record, whichever node measured. */
static void test_links(void)
{
        g_autoptr(AldModel) model = make_model();
        g_autoptr(GPtrArray)
                all = ald_shown_series_of_links(model, model_node(model, 2), model_node(model, 1), 1e15);
        static const char *const groups[] = { "atlas → borealis: socket, 192.0.2.2, eth0",
                "atlas → borealis: rdma, mlx5_0.1 → mlx5_1.1, mlx5_0.1",
                "borealis → atlas: socket, 192.0.2.1" };
        static const char *const labels[] = { "Up", "Down", "RTT/2", "Jitter/2" };

        g_assert_cmpuint(all->len, ==, 12);
        for (guint i = 0; i < all->len; i++) {
                const AldShownSeries *series = all->pdata[i];

                g_assert_cmpstr(series->group, ==, groups[i / 4]);
                g_assert_cmpstr(series->label, ==, labels[i % 4]);
                g_assert_true(ald_shown_series_is_probed(series));
        }
        assert_chosen("RttMinNSec", true,
                "Link1.Socket.RttMinNSec\nLink1.Rdma.RttMinNSec\nLink1.Socket.RttMinNSec\n");
        assert_chosen("Link1.Rdma.RttMinNSec", true, "Link1.Rdma.RttMinNSec\n");
}

static void test_no_links(void)
{
        static const char *const names[] = { "RttP50NSec", NULL };
        g_autoptr(AldModel) model = make_model();
        g_autoptr(GPtrArray) list = NULL;
        g_autofree char *problem = NULL;

        model_put_node(model, 3, "{'Node1.Identity':{'FriendlyName':'corvus'}}");
        g_assert_cmpint(ald_series_choose(model, model_node(model, 1), model_node(model, 3), names, 1e15,
                                &list, &problem),
                ==, -ENXIO);
        g_assert_null(list);
}

static void test_defaults(void)
{
        g_autoptr(AldModel) model = make_model();
        g_autoptr(GPtrArray) list = ald_shown_series_of_node(model_node(model, 1));
        const AldShownSeries *first = list->pdata[0], *device = list->pdata[4],
                             *last = list->pdata[list->len - 1];

        g_assert_cmpstr(first->label, ==, "Memory free");
        g_assert_null(first->group);
        g_assert_cmpstr(ald_shown_series_unit(first), ==, "bytes");
        g_assert_cmpstr(device->group, ==, "RTX 4090 (0000:01:00.0)");
        g_assert_cmpstr(device->field, ==, "Devices[0000:01:00.0].Usage");
        g_assert_cmpstr(ald_shown_series_unit(device), ==, "percent");
        g_assert_cmpstr(last->group, ==, "cpu");
        g_assert_true(last->optional);
}

/* Each of them is a call. While a record is missing, it is unknown what is in it. */
static void test_only_what_may_be_recorded(void)
{
        static const char *const devices = "{'Node1.Backends':{'Devices':[{'Id':'gpu','Class':'gpu'}]}}";
        g_autoptr(AldModel) model = make_model();
        g_autoptr(GPtrArray) list = ald_shown_series_of_node(model_node(model, 1)), unknown = NULL,
                             held = NULL;
        g_autofree char *text = list_series(list), *text_of_held = NULL;

        g_assert_cmpstr(strstr(text, "Node1.System.Devices"), ==,
                "Node1.System.Devices[0000:01:00.0].Usage\n"
                "Node1.System.Devices[0000:01:00.0].MemoryUsedBytes\n"
                "Node1.System.Devices[0000:01:00.0].TemperatureMilliCelsius\n"
                "Node1.System.Devices[0000:01:00.0].PowerMicroWatts\n"
                "Node1.Compute.Devices[cpu].GemmTflops\n"
                "Node1.Compute.Devices[cpu].MemoryBandwidthBytesPerSecond\n"
                "Node1.Compute.Devices[cpu].CopyBandwidthBytesPerSecond\n"
                "Node1.Compute.Devices[cpu].HostToDeviceBytesPerSecond\n"
                "Node1.Compute.Devices[cpu].DeviceToHostBytesPerSecond\n");
        model_put_node(model, 3, devices);
        unknown = ald_shown_series_of_node(model_node(model, 3));
        g_assert_cmpuint(unknown->len, ==, 4 + 9);
        model_put(
                model, model_node(model, 3)->id, "Node1.Processes", "{'Devices':[{'Id':'gpu','Holders':0}]}");
        held = ald_shown_series_of_node(model_node(model, 3));
        text_of_held = list_series(held);
        g_assert_cmpuint(held->len, ==, unknown->len + 2);
        g_assert_nonnull(strstr(text_of_held,
                "Node1.Processes.Devices[gpu].Holders\nNode1.Processes.Devices[gpu].HeldBytes\n"));
}

/* Text */

static void set_points(AldShownSeries *series, const AldHistoryPoint *points, guint n)
{
        g_clear_pointer(&series->points, g_array_unref);
        series->points = g_array_new(FALSE, FALSE, sizeof(AldHistoryPoint));
        g_array_append_vals(series->points, points, n);
}

/* Free memory that falls, with a gap of a quarter of an hour and some minutes in which it was unknown. */
static void set_memory(AldShownSeries *series)
{
        g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(AldHistoryPoint));
        const unsigned n = 120;

        for (unsigned i = 0; i < n; i++) {
                double value = (64 - 56.0 * i / (n - 1)) * GIB;
                AldHistoryPoint point = { FROM + HOUR / n * i, value, value, value, 2 };

                if (4 * i >= n && 4 * i < 2 * n)
                        continue;
                if (4 * i >= 2 * n && 5 * i < 3 * n)
                        point = (AldHistoryPoint){ point.time_usec, NAN, NAN, NAN, 0 };
                g_array_append_val(points, point);
        }
        set_points(series, (const AldHistoryPoint *) points->data, points->len);
}

static AldFindingEvent *make_event(uint64_t began, uint64_t ended)
{
        const AldHistoryEvent times = { 7, began, ended };
        json_auto_t *finding = model_parse(
                "{'Id':'something-new','Severity':'warning','Text':'Something that this "
                "version does not know has happened to the memory of this node'}");

        return ald_finding_event_new(&times, finding);
}

static void event_free(void *event)
{
        ald_finding_event_free(event);
}

typedef struct Shown {
        AldModel *model;
        AldHistoryView view;
} Shown;

static void shown_init(Shown *shown, const char *name)
{
        const char *const names[] = { name, NULL };
        char *problem = NULL;

        shown->model = make_model();
        shown->view = (AldHistoryView){ .model = shown->model,
                .node = model_node(shown->model, 1),
                .from_usec = FROM,
                .to_usec = TO,
                .events = g_ptr_array_new_with_free_func(event_free) };
        g_assert_cmpint(ald_series_choose(shown->model, shown->view.node, NULL, names, 1e15,
                                &shown->view.series, &problem),
                ==, 0);
}

static void shown_clear(Shown *shown)
{
        g_ptr_array_unref(shown->view.series);
        g_ptr_array_unref(shown->view.events);
        ald_model_free(shown->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Shown, shown_clear)

static char *describe(const Shown *shown, unsigned columns)
{
        g_autoptr(GString) out = g_string_new(NULL);

        set_memory(shown->view.series->pdata[0]);
        ald_history_describe(out, &shown->view, columns, TO);
        return ald_text_render(out->str, false, true);
}

static void test_text(void)
{
        g_auto(Shown) shown;
        g_autofree char *wide = NULL, *narrow = NULL;

        shown_init(&shown, "AvailableBytes");
        g_ptr_array_add(shown.view.events, make_event(FROM + HOUR / 2, FROM + HOUR / 4 * 3));
        wide = describe(&shown, 80);
        g_assert_cmpstr(wide, ==,
                "atlas 2026-11-26 11:00 to 12:00, 2 min 13 s per character\n"
                "\n"
                "FIGURE            11:00                 12:00    MIN   MEAN    MAX   LAST\n"
                "Node1.Memory\n"
                "  AvailableBytes  ████▇▇▇      ···▄▄▄▃▃▃▃▂▂▂▂   8.00   33.7   64.0   8.00 GiB\n"
                "Events                         ▲──────▼\n"
                "\n"
                "BEGAN     ENDED     FINDING\n"
                "11:30:00  11:45:00  warning: Something that this version does not know has\n"
                "                    happened to the memory of this node\n");
        narrow = describe(&shown, 40);
        g_assert_cmpstr(narrow, ==,
                "atlas\n"
                "2026-11-26 11:00 to 12:00, 1 min 30 s\n"
                "per character\n"
                "\n"
                "11:00                              12:00\n"
                "Node1.Memory\n"
                "AvailableBytes: 8.00 to 64.0 GiB, mean\n"
                "33.7, last 8.00\n"
                "██████▇▇▇▇          ····▄▄▄▄▄▃▃▃▃▃▂▂▂▂▂▂\n"
                "Events\n"
                "                    ▲─────────▼\n"
                "\n"
                "FINDINGS\n"
                "11:30:00 to 11:45:00\n"
                "  warning: Something that this version\n"
                "  does not know has happened to the\n"
                "  memory of this node\n");
}

/* Times tell the days apart, also of what ended after the end of the view. */
static void test_days_of_events(void)
{
        static const struct {
                uint64_t lasted;
                const char *times;
        } cases[] = {
                { HOUR / 4, "\n11:30:00  11:45:00  warning" },
                { 24 * HOUR, "\n11-26 11:30:00  11-27 11:30:00  warning" },
                { 365 * 24 * HOUR, "\n2026-11-26 11:30  2027-11-26 11:30  warning" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(Shown) shown;
                g_autofree char *text = NULL;

                shown_init(&shown, "AvailableBytes");
                g_ptr_array_add(
                        shown.view.events, make_event(FROM + HOUR / 2, FROM + HOUR / 2 + cases[i].lasted));
                text = describe(&shown, 80);
                g_assert_nonnull(strstr(text, cases[i].times));
        }
}

static void test_text_fits(void)
{
        g_auto(Shown) shown;

        shown_init(&shown, "Node1.Memory");
        g_ptr_array_add(shown.view.events, make_event(FROM - 400 * 24 * HOUR, ALD_ABSENT_UINT64));
        for (unsigned columns = 20; columns < 200; columns++) {
                g_autofree char *text = describe(&shown, columns);
                g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

                for (char **line = lines; *line; line++)
                        g_assert_cmpuint(ald_text_width(*line), <=, columns);
        }
}

/* Other programs */

static void test_csv(void)
{
        const AldHistoryPoint points[] = { { FROM, 2, 1.5, 2.5, 3 }, { FROM + 1500000, NAN, NAN, NAN, 0 } };
        g_auto(Shown) shown;
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *id = model_id(1), *expected = NULL;

        shown_init(&shown, "Devices[a,\"b].Usage");
        set_points(shown.view.series->pdata[0], points, G_N_ELEMENTS(points));
        ald_history_append_csv(out, &shown.view);
        expected = g_strdup_printf(
                "time,node,kind,key,field,unit,min,mean,max,count\r\n"
                "2026-11-26T11:00:00.000000Z,%s,Node1.System,,\"Devices[a,\"\"b].Usage\",percent,1.5,2,2.5,"
                "3\r\n"
                "2026-11-26T11:00:01.500000Z,%s,Node1.System,,\"Devices[a,\"\"b].Usage\",percent,,,,0\r\n",
                id, id);
        g_assert_cmpstr(out->str, ==, expected);
}

static void test_json(void)
{
        const AldHistoryPoint points[] = { { FROM, 2, 1.5, 2.5, 3 }, { FROM + 1500000, NAN, NAN, NAN, 0 } };
        g_auto(Shown) shown;
        json_auto_t *json = NULL, *expected = NULL;
        g_autofree char *id = model_id(1), *text = NULL;

        shown_init(&shown, "CpuUsage");
        set_points(shown.view.series->pdata[0], points, G_N_ELEMENTS(points));
        g_ptr_array_add(shown.view.events, make_event(FROM, ALD_ABSENT_UINT64));
        json = ald_history_to_json(&shown.view);
        text = g_strdup_printf(
                "{'NodeId':'%s','Names':{'%s':'atlas'},'FromUSec':1795690800000000,'ToUSec':1795694400000000,"
                "'Series':[{'Node':'%s','Kind':'Node1.System','Field':'CpuUsage','Unit':'percent','Points':["
                "{'TimeUSec':1795690800000000,'Mean':2.0,'Min':1.5,'Max':2.5,'Count':3},"
                "{'TimeUSec':1795690801500000,'Count':0}]}],"
                "'Events':[{'Event':7,'BeganUSec':1795690800000000,'Finding':{'Id':'something-new',"
                "'Severity':'warning','Text':'Something that this version does not know has happened to the "
                "memory "
                "of this node'}}]}",
                id, id, id);
        expected = model_parse(text);
        g_assert_true(json_equal(json, expected));
}

int main(int argc, char **argv)
{
        (void) g_setenv("TZ", "UTC", true);
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl-history/names", test_names);
        g_test_add_func("/ctl-history/unknown-names", test_unknown_names);
        g_test_add_func("/ctl-history/links", test_links);
        g_test_add_func("/ctl-history/no-links", test_no_links);
        g_test_add_func("/ctl-history/defaults", test_defaults);
        g_test_add_func("/ctl-history/only-what-may-be-recorded", test_only_what_may_be_recorded);
        g_test_add_func("/ctl-history/text", test_text);
        g_test_add_func("/ctl-history/text-fits", test_text_fits);
        g_test_add_func("/ctl-history/days-of-events", test_days_of_events);
        g_test_add_func("/ctl-history/csv", test_csv);
        g_test_add_func("/ctl-history/json", test_json);
        return g_test_run();
}
