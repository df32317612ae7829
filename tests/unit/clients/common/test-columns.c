/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "clients/common/columns/column-choice.h"
#include "clients/common/columns/column-export.h"
#include "clients/common/columns/device-columns.h"
#include "clients/common/columns/finding-columns.h"
#include "clients/common/columns/holder-columns.h"
#include "clients/common/columns/link-columns.h"
#include "clients/common/columns/node-columns.h"
#include "clients/common/columns/series-columns.h"
#include "record/figure-text.h"
#include "tests/unit/model-maker.h"

#define NOW 1.7e15

static const char hot_device[] =
        "{'Node1.Identity':{'FriendlyName':'hot'},'Node1.Memory':{'TotalBytes':100,'AvailableBytes':9},"
        "'Node1.System':{'CpuUsage':5.0,'TemperatureMilliCelsius':45000,"
        "'Devices':[{'Id':'gpu0','TemperatureMilliCelsius':61000},{'Id':'gpu1','TemperatureMilliCelsius':"
        "60000}]},"
        "'Node1.Backends':{'Devices':[{'Id':'gpu0','Class':'gpu'},{'Id':'gpu1','Class':'gpu'}]},"
        "'Node1.Compute':{'Devices':[{'Id':'gpu0','TflopsFp16':10.0}]}}";

/* Every column has all that its users rely on, and no two have the same name or key. */
static void check_list(const AldListColumn *columns, unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                const AldListColumn *column = &columns[i];

                g_assert_true(column->id && column->key && column->heading && column->title);
                g_assert_true(column->text || column->number);
                g_assert_true(!column->is_number || column->number || column->plain);
                for (unsigned k = 0; k < i; k++) {
                        g_assert_cmpstr(column->id, !=, columns[k].id);
                        g_assert_cmpstr(column->key, !=, columns[k].key);
                }
        }
}

static void check_descriptions(const AldColumnList *list)
{
        for (unsigned i = 0; i < list->n_columns; i++) {
                g_assert_nonnull(list->columns[i].description);
                g_assert_false(g_str_has_suffix(list->columns[i].description, "."));
        }
}

static void test_lists(void)
{
        check_list(ald_node_columns, ALD_NODE_N_COLUMNS);
        check_list(ald_device_columns, ALD_DEVICE_N_COLUMNS);
        check_list(ald_holder_columns, ALD_HOLDER_N_COLUMNS);
        check_list(ald_finding_columns, ALD_FINDING_N_COLUMNS);
        check_list(ald_series_columns, ALD_SERIES_N_COLUMNS);
        check_descriptions(&ald_node_column_list);
        check_descriptions(&ald_device_column_list);
        check_descriptions(&ald_finding_column_list);
        check_list(ald_link_columns, ALD_LINK_N_COLUMNS);
        check_descriptions(&ald_series_column_list);
        check_descriptions(&ald_link_column_list);
}

static double number_of(AldModel *model, AldNodeColumn column)
{
        AldNodeRow row = ald_node_row(model, model_node(model, 1), NOW);

        return ald_node_columns[column].number(&row);
}

static void test_temperatures(void)
{
        g_autoptr(AldModel) model = ald_model_new();

        model_put_node(model, 1, hot_device);
        g_assert_cmpfloat(number_of(model, ALD_NODE_COLUMN_TEMPERATURE), ==, 61000);
        g_assert_cmpfloat(number_of(model, ALD_NODE_COLUMN_CPU_TEMPERATURE), ==, 45000);
        model_put(model, model_node(model, 1)->id, "Node1.System", "{'TemperatureMilliCelsius':70000}");
        g_assert_cmpfloat(number_of(model, ALD_NODE_COLUMN_TEMPERATURE), ==, 70000);
        model_put(model, model_node(model, 1)->id, "Node1.System", "{'CpuUsage':1.0}");
        g_assert_true(isnan(number_of(model, ALD_NODE_COLUMN_TEMPERATURE)));
}

/* What was sampled is outdated, what was measured is not. */
static void test_node_that_does_not_count(void)
{
        g_autoptr(AldModel) model = ald_model_new();

        model_put_node(model, 1, hot_device);
        model_put(model, model_node(model, 1)->id, "Node1.Presence", "{'State':'offline'}");
        g_assert_true(isnan(number_of(model, ALD_NODE_COLUMN_TEMPERATURE)));
        g_assert_true(isnan(number_of(model, ALD_NODE_COLUMN_MEMORY)));
        g_assert_true(isnan(number_of(model, ALD_NODE_COLUMN_CPU)));
        g_assert_cmpfloat(number_of(model, ALD_NODE_COLUMN_TFLOPS), ==, 10);
        g_assert_cmpfloat(number_of(model, ALD_NODE_COLUMN_TOTAL_MEMORY), ==, 100);
}

static void test_nearly_full(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        AldNodeRow row;

        model_put_node(model, 1, hot_device);
        row = ald_node_row(model, model_node(model, 1), NOW);
        g_assert_cmpint(ald_node_columns[ALD_NODE_COLUMN_USED].tone(&row), ==, ALD_TONE_WARNING);
        g_assert_cmpint(ald_share_tone(0.89), ==, ALD_TONE_GOOD);
        g_assert_cmpint(ald_share_tone(ALD_SHARE_NEARLY_FULL), ==, ALD_TONE_WARNING);
        g_assert_cmpint(ald_share_tone(NAN), ==, ALD_TONE_PLAIN);
}

/* What two links show in each column: one with all figures, and one without any. */
static void test_links(void)
{
        static const struct {
                AldLinkColumn column;
                const char *measured, *unmeasured;
        } cases[] = {
                { ALD_LINK_COLUMN_SOURCE, "a", "a" },
                { ALD_LINK_COLUMN_SINK, "b", "b" },
                { ALD_LINK_COLUMN_LINK, "a → b", "a → b" },
                { ALD_LINK_COLUMN_SOURCE_ID, "000000000000", "000000000000" },
                { ALD_LINK_COLUMN_PROTOCOL, "TCP/IP", "RDMA" },
                { ALD_LINK_COLUMN_ADDRESS, "192.0.2.2", "mlx5_0.1 → mlx5_1.1" },
                { ALD_LINK_COLUMN_TYPE, "ethernet → wifi", "rdma" },
                { ALD_LINK_COLUMN_INTERFACE, "eth0", "mlx5_0.1" },
                { ALD_LINK_COLUMN_UPLOAD, "1.00 Gb/s", "–" },
                { ALD_LINK_COLUMN_UPLOAD_INTERVAL, "±0.4 %", "–" },
                { ALD_LINK_COLUMN_DOWNLOAD, "900 Mb/s", "–" },
                { ALD_LINK_COLUMN_DOWNLOAD_INTERVAL, "±1.3 %", "–" },
                { ALD_LINK_COLUMN_RTT, "18.2 µs", "–" },
                { ALD_LINK_COLUMN_JITTER, "2.00 µs", "–" },
                { ALD_LINK_COLUMN_AGE, "2 min ago", "–" },
                { ALD_LINK_COLUMN_VERDICT, "ok", "not measured" },
        };
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GPtrArray) links = NULL;
        g_autofree char *from = model_id(1), *to = model_id(2);
        g_autofree char *socket = g_strdup_printf("%s/%s,192.0.2.2", from, to);
        g_autofree char *rdma = g_strdup_printf("%s/mlx5_0.1,%s,mlx5_1.1", from, to);
        g_autofree char *ports = g_strdup_printf(
                "{'Sink':'%s','SourcePort':'mlx5_0.1','SinkPort':'mlx5_1.1'}", to);

        model_put_node(model, 1, "{'Node1.Identity':{'FriendlyName':'a'}}");
        model_put_node(model, 2, "{'Node1.Identity':{'FriendlyName':'b'}}");
        model_put(model, socket, "Link1.Socket",
                "{'SinkAddress':'192.0.2.2','SourceInterface':'eth0','SourceInterfaceType':'ethernet',"
                "'SinkInterfaceType':'wifi','UploadBitsPerSecond':1000000000,'UploadInterval':0.4,"
                "'DownloadBitsPerSecond':900000000,'DownloadInterval':1.3,'RttP50NSec':36400,"
                "'JitterNSec':4000,'MeasuredUSec':1699999880000000}");
        model_put(model, rdma, "Link1.Rdma", ports);
        links = ald_link_summaries(model, NULL, NOW);
        g_assert_cmpuint(links->len, ==, 2);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const AldListColumn *column = &ald_link_columns[cases[i].column];
                g_autofree char *measured = ald_list_column_text(column, links->pdata[0]);
                g_autofree char *unmeasured = ald_list_column_text(column, links->pdata[1]);

                g_assert_cmpstr(measured, ==, cases[i].measured);
                g_assert_cmpstr(unmeasured, ==, cases[i].unmeasured);
                g_assert_true(!column->number || column->number(links->pdata[0]) >= 0);
                g_assert_true(
                        !column->is_number || isfinite(column->number(links->pdata[1])) ==
                                                      !g_str_equal(cases[i].unmeasured, ALD_ABSENT_TEXT));
        }
        g_assert_cmpint(ald_link_columns[ALD_LINK_COLUMN_VERDICT].tone(links->pdata[0]), ==, ALD_TONE_GOOD);
        g_assert_cmpint(ald_link_columns[ALD_LINK_COLUMN_VERDICT].tone(links->pdata[1]), ==, ALD_TONE_FAINT);
}

static const unsigned usual[] = { ALD_NODE_COLUMN_NAME, ALD_NODE_COLUMN_CPU };

static char *choose(const char *names)
{
        g_auto(AldColumnChoice) choice = {};
        GString *out = g_string_new(NULL);
        char *problem = NULL;

        if (ald_column_choice_init(
                    &choice, &ald_node_column_list, usual, G_N_ELEMENTS(usual), names, &problem) < 0) {
                g_string_free(out, TRUE);
                return problem;
        }
        for (guint i = 0; i < choice.shown->len; i++)
                g_string_append_printf(out, "%s ", g_array_index(choice.shown, const AldListColumn *, i)->id);
        return g_string_free(out, FALSE);
}

static void test_choice(void)
{
        static const struct {
                const char *names, *wanted;
        } cases[] = {
                { NULL, "name cpu " },
                { "power,NAME", "power name " },
                { "+id,power", "name cpu id power " },
                { "+name", "Column \"name\" is named twice" },
                { "name,", "Unknown column \"\"; see alidadectl nodes --columns=help" },
                { "\033[2J", "Unknown column \"\357\277\275[2J\"; see alidadectl nodes --columns=help" },
                { "", "--columns= needs names; see alidadectl nodes --columns=help" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *found = choose(cases[i].names);

                g_assert_cmpstr(found, ==, cases[i].wanted);
        }
}

static GArray *rows_of(AldModel *model)
{
        const GPtrArray *nodes = ald_model_nodes(model);
        GArray *rows = g_array_new(FALSE, FALSE, sizeof(AldNodeRow));

        for (guint i = 0; i < nodes->len; i++) {
                AldNodeRow row = ald_node_row(model, nodes->pdata[i], NOW);

                g_array_append_val(rows, row);
        }
        return rows;
}

static char *sort(AldModel *model, const char *names)
{
        g_autoptr(GArray) rows = rows_of(model);
        GString *out = g_string_new(NULL);
        char *problem = NULL;

        if (ald_column_sort(&ald_node_column_list, names, rows, &problem) < 0) {
                g_string_free(out, TRUE);
                return problem;
        }
        for (guint i = 0; i < rows->len; i++)
                g_string_append_printf(out, "%s ", ald_entity_name(g_array_index(rows, AldNodeRow, i).node));
        return g_string_free(out, FALSE);
}

static void test_sort(void)
{
        static const struct {
                const char *names, *wanted;
        } cases[] = {
                { "name", "node9 node10 node11 node12 " },
                { "-name", "node12 node11 node10 node9 " },
                { "cpu", "node10 node9 node12 node11 " },
                { "-cpu", "node9 node12 node10 node11 " },
                { "-cpu,-name", "node12 node9 node10 node11 " },
                { "+cpu", "node10 node9 node12 node11 " },
                { "name,none", "Unknown column \"none\"; see alidadectl nodes --columns=help" },
                { "-", "Unknown column \"\"; see alidadectl nodes --columns=help" },
        };
        g_autoptr(AldModel) model = ald_model_new();

        model_put_node(
                model, 1, "{'Node1.Identity':{'FriendlyName':'node9'},'Node1.System':{'CpuUsage':7.0}}");
        model_put_node(
                model, 2, "{'Node1.Identity':{'FriendlyName':'node10'},'Node1.System':{'CpuUsage':2.0}}");
        model_put_node(model, 3, "{'Node1.Identity':{'FriendlyName':'node11'}}");
        model_put_node(
                model, 4, "{'Node1.Identity':{'FriendlyName':'node12'},'Node1.System':{'CpuUsage':7.0}}");
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *found = sort(model, cases[i].names);

                g_assert_cmpstr(found, ==, cases[i].wanted);
        }
}

static void test_export(void)
{
        g_auto(AldColumnChoice) choice = {};
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) csv = g_string_new(NULL);
        g_autoptr(GArray) rows = NULL;
        g_autofree char *text = NULL, *problem = NULL;
        json_auto_t *json = NULL;

        model_put_node(model, 1,
                "{'Node1.Identity':{'FriendlyName':'a, c'},"
                "'Node1.Memory':{'TotalBytes':68719476736},'Node1.System':{'CpuUsage':12.0,"
                "'Devices':[{'Id':'a','PowerMicroWatts':7000000}]},'Node1.Backends':{'Devices':[{'Id':'a','"
                "Class':'gpu'}"
                "]}}");
        rows = rows_of(model);
        g_assert_cmpint(ald_column_choice_init(&choice, &ald_node_column_list, NULL, 0,
                                "name,total-memory,cpu,power,power-of,model", &problem),
                ==, 0);
        ald_columns_append_csv(csv, &choice, rows);
        g_assert_cmpstr(csv->str, ==,
                "Name,MemoryTotalBytes,CpuUsage,PowerMicroWatts,PowerOf,Model\r\n"
                "\"a, c\",68719476736,12,7000000,gpus,\r\n");
        json = ald_columns_to_json(&choice, rows);
        text = json_dumps(json, JSON_COMPACT);
        /* A percentage is never an integer. */
        g_assert_cmpstr(text, ==,
                "[{\"Name\":\"a, c\",\"MemoryTotalBytes\":68719476736,\"CpuUsage\":12.0,"
                "\"PowerMicroWatts\":7000000,\"PowerOf\":\"gpus\"}]");
}

/* Without a text of its own, a column has that of its number in the unit that its key ends in. */
static void test_units(void)
{
        static const struct {
                AldNodeColumn column;
                const char *text;
        } cases[] = {
                { ALD_NODE_COLUMN_CPU, "12 %" },
                { ALD_NODE_COLUMN_TOTAL_MEMORY, "64.0 GiB" },
                { ALD_NODE_COLUMN_CPU_TEMPERATURE, "45 °C" },
                { ALD_NODE_COLUMN_POWER, "60 W" },
                { ALD_NODE_COLUMN_POWER_OF, "processors" },
        };
        g_autoptr(AldModel) model = ald_model_new();
        AldNodeRow row;

        model_put_node(model, 1,
                "{'Node1.Memory':{'TotalBytes':68719476736},"
                "'Node1.System':{'CpuUsage':12.0,'TemperatureMilliCelsius':45000,"
                "'PowerMicroWatts':60000000}}");
        row = ald_node_row(model, model_node(model, 1), NOW);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = ald_list_column_text(&ald_node_columns[cases[i].column], &row);

                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

/* Members of the cluster choose their texts, but none of them is a formula in a spreadsheet. */
static void test_formulas(void)
{
        static const struct {
                const char *text, *field;
        } cases[] = {
                { "=HYPERLINK(\"http://192.0.2.1\",\"x\")",
                        "\"'=HYPERLINK(\"\"http://192.0.2.1\"\",\"\"x\"\")\"" },
                { "+1", "'+1" },
                { "-1+1", "'-1+1" },
                { "@SUM(A1)", "'@SUM(A1)" },
                { "\t=1", "'\t=1" },
                { "\r=1", "\"'\r=1\"" },
                { "a=1", "a=1" },
                { "'=1", "'=1" },
                { "", "" },
        };
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) out = g_string_new(NULL);

                ald_csv_append_text(out, cases[i].text);
                g_assert_cmpstr(out->str, ==, cases[i].field);
        }
}

/* No digit of a time in µs is lost. */
static void test_csv_numbers(void)
{
        static const struct {
                double number;
                const char *field;
        } cases[] = {
                { -1.5, "-1.5" },
                { 0.1, "0.1" },
                { 1795956121527490, "1795956121527490" },
                { -12, "-12" },
                { 1e20, "1e+20" },
                { NAN, "" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) out = g_string_new(NULL);

                ald_csv_append_number(out, cases[i].number);
                g_assert_cmpstr(out->str, ==, cases[i].field);
        }
}

static void check_finding(const AldFindingListRow *row, AldFindingColumn column, const char *wanted)
{
        g_autofree char *text = ald_list_column_text(&ald_finding_columns[column], row);

        g_assert_cmpstr(text, ==, wanted);
}

static char *format_minutes(uint64_t usec)
{
        return g_strdup_printf("%u min", (unsigned) (usec / 60000000));
}

/* A clock that was set back makes no negative duration. */
static void test_times_of_findings(void)
{
        AldFindingRow finding = ALD_FINDING_ROW_INIT;
        AldHistoryEvent times = { .began_usec = 60000000, .ended_usec = ALD_ABSENT_UINT64 };
        AldSilenceRow silence = ALD_SILENCE_ROW_INIT;
        AldFindingListRow row = { .finding = &finding };

        check_finding(&row, ALD_FINDING_COLUMN_BEGAN, "–");
        check_finding(&row, ALD_FINDING_COLUMN_ENDED, "–");
        check_finding(&row, ALD_FINDING_COLUMN_LASTED, "–");
        check_finding(&row, ALD_FINDING_COLUMN_SILENCED, "–");
        row = (AldFindingListRow){ .finding = &finding,
                .times = &times,
                .silence = &silence,
                .format_time = format_minutes,
                .now_usec = 240000000 };
        check_finding(&row, ALD_FINDING_COLUMN_BEGAN, "1 min");
        check_finding(&row, ALD_FINDING_COLUMN_ENDED, "lasts");
        check_finding(&row, ALD_FINDING_COLUMN_LASTED, "3 min");
        check_finding(&row, ALD_FINDING_COLUMN_SILENCED, "until stopped");
        times.ended_usec = 180000000;
        silence.until_usec = 600000000;
        check_finding(&row, ALD_FINDING_COLUMN_ENDED, "3 min");
        check_finding(&row, ALD_FINDING_COLUMN_LASTED, "2 min");
        check_finding(&row, ALD_FINDING_COLUMN_SILENCED, "until 10 min");
        times.ended_usec = 0;
        g_assert_cmpfloat(ald_finding_columns[ALD_FINDING_COLUMN_LASTED].number(&row), ==, 0);
}

/* The gravest come first, and those of later versions count as notices. */
static void test_order_of_findings(void)
{
        static const char *const wanted[] = { "error", "warning", "severe", "notice" };
        g_autoptr(AldModel) model = ald_model_new();
        json_auto_t *findings = json_pack("[{s:s,s:s},{s:s,s:s},{s:s,s:s},{s:s,s:s}]", "Id", "a", "Severity",
                "severe", "Id", "b", "Severity", "notice", "Id", "c", "Severity", "warning", "Id", "d",
                "Severity", "error");
        g_autoptr(GArray) rows = NULL;
        g_autofree char *problem = NULL;

        model_set_findings(model, findings);
        rows = ald_finding_list_rows(model, NULL, NULL, NULL);
        g_assert_cmpint(ald_column_sort(&ald_finding_column_list, "severity", rows, &problem), ==, 0);
        g_assert_cmpuint(rows->len, ==, G_N_ELEMENTS(wanted));
        for (guint i = 0; i < rows->len; i++)
                check_finding(
                        &g_array_index(rows, AldFindingListRow, i), ALD_FINDING_COLUMN_SEVERITY, wanted[i]);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/columns/lists", test_lists);
        g_test_add_func("/columns/temperatures", test_temperatures);
        g_test_add_func("/columns/node-that-does-not-count", test_node_that_does_not_count);
        g_test_add_func("/columns/nearly-full", test_nearly_full);
        g_test_add_func("/columns/links", test_links);
        g_test_add_func("/columns/choice", test_choice);
        g_test_add_func("/columns/sort", test_sort);
        g_test_add_func("/columns/export", test_export);
        g_test_add_func("/columns/units", test_units);
        g_test_add_func("/columns/formulas", test_formulas);
        g_test_add_func("/columns/csv-numbers", test_csv_numbers);
        g_test_add_func("/columns/times-of-findings", test_times_of_findings);
        g_test_add_func("/columns/order-of-findings", test_order_of_findings);
        return g_test_run();
}
