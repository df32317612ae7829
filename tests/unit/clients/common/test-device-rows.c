/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/common/columns/device-rows.h"
#include "clients/common/columns/holder-columns.h"
#include "record/figure-text.h"
#include "tests/unit/model-maker.h"

#define NOW 1.7e15

/* A GPU that is split, one that sleeps, one that computes in memory of the host, and the processors. */
static const char node[] =
        "{'Node1.Identity':{'FriendlyName':'atlas'},"
        "'Node1.Memory':{'TotalBytes':64000000000,'AvailableBytes':40000000000},"
        "'Node1.System':{'CpuUsage':5.0,'TemperatureMilliCelsius':45000,'PowerMicroWatts':80000000,'Devices':"
        "["
        "{'Id':'0000:01:00.0','PowerState':'active','Usage':98.0,'MemoryUsedBytes':20000000000,"
        "'TemperatureMilliCelsius':61000,'MemoryTemperatureMilliCelsius':70000,'PowerMicroWatts':320000000,"
        "'PowerLimitMicroWatts':700000000,'ClockHz':1980000000,'MemoryClockHz':3201000000,'FanPercent':45.0,"
        "'Throttled':true,'ThrottleReasons':['power','thermal'],'EncoderUsage':1.0,'DecoderUsage':2.0},"
        "{'Id':'0000:01:00.0/1-0','MemoryUsedBytes':10000000000},"
        "{'Id':'0000:01:00.0/2-0','MemoryUsedBytes':5000000000},"
        "{'Id':'0000:02:00.0','PowerState':'asleep'},"
        "{'Id':'0000:03:00.0','PowerState':'active','Usage':0.0,'SharedUsedBytes':1000000000,'FanRpm':1780,"
        "'Throttled':false}]},"
        "'Node1.Processes':{'Devices':[{'Id':'0000:01:00.0','Holders':5,'HeldBytes':19000000000},"
        "{'Id':'0000:02:00.0','Holders':0}],'Holders':["
        "{'Id':'0000:01:00.0,1','Device':'0000:01:00.0','Program':'python3','Pid':4711,'User':'alice',"
        "'OwnerKind':'job','Owner':'12','Processes':1,'MemoryBytes':15000000000,'Usage':90.0},"
        "{'Id':'0000:01:00.0,2','Device':'0000:01:00.0','OwnerKind':'unit','Owner':'ollama.service'},"
        "{'Id':'0000:01:00.0,3','Device':'0000:01:00.0','OwnerKind':'session'},"
        "{'Id':'0000:01:00.0,4','Device':'0000:01:00.0','OwnerKind':'none'}]},"
        "'Node1.Compute':{'Devices':[{'Id':'0000:01:00.0','TflopsFp16':82.6,"
        "'MemoryBandwidthBytesPerSecond':1010000000000,'MeasuredUSec':1699999700000000}]},"
        "'Node1.Backends':{'Devices':["
        "{'Id':'0000:01:00.0','Class':'gpu','Name':'Big','MemoryTotalBytes':80000000000,'Driver':'nvidia',"
        "'DriverVersion':'570.1'},"
        "{'Id':'0000:01:00.0/1-0','Class':'gpu','Name':'Slice','MemoryTotalBytes':40000000000,"
        "'Parent':'0000:01:00.0'},"
        "{'Id':'0000:01:00.0/2-0','Class':'gpu','Name':'Slice','MemoryTotalBytes':40000000000,"
        "'Parent':'0000:01:00.0'},"
        "{'Id':'0000:02:00.0','Class':'gpu','Name':'Asleep','MemoryTotalBytes':24000000000},"
        "{'Id':'0000:03:00.0','Class':'accelerator','Name':'Unified','Unified':true,"
        "'SharedBytes':30000000000},"
        "{'Id':'cpu','Class':'cpu','Name':'Zen','Unified':true,'SharedBytes':64000000000}]}}";

static GArray *list(AldModel *model)
{
        GArray *rows = g_array_new(FALSE, FALSE, sizeof(AldDeviceRow));
        const GPtrArray *nodes = ald_model_nodes(model);

        for (guint i = 0; i < nodes->len; i++)
                g_assert_cmpuint(ald_device_rows_add(rows, model, nodes->pdata[i], NOW), ==, 0);
        return rows;
}

static char *text_of(const GArray *rows, guint i, AldDeviceColumn column)
{
        return ald_list_column_text(&ald_device_columns[column], &g_array_index(rows, AldDeviceRow, i));
}

static void check_text(const GArray *rows, guint i, AldDeviceColumn column, const char *wanted)
{
        g_autofree char *text = text_of(rows, i, column);

        g_assert_cmpstr(text, ==, wanted);
}

static void check_names(const GArray *rows, const char *wanted)
{
        g_autoptr(GString) names = g_string_new(NULL);

        for (guint i = 0; i < rows->len; i++) {
                g_autofree char *name = text_of(rows, i, ALD_DEVICE_COLUMN_NAME);

                g_string_append_printf(names, "%s%s", i > 0 ? "|" : "", name);
        }
        g_assert_cmpstr(names->str, ==, wanted);
}

static void test_texts(void)
{
        static const struct {
                AldDeviceColumn column;
                const char *busy, *asleep, *unified, *processors;
        } cases[] = {
                { ALD_DEVICE_COLUMN_NODE, "atlas", "atlas", "atlas", "atlas" },
                { ALD_DEVICE_COLUMN_STATE, "online", "asleep", "online", "online" },
                { ALD_DEVICE_COLUMN_CLASS, "GPU", "GPU", "Accelerator", "Processor" },
                { ALD_DEVICE_COLUMN_USED_MEMORY, "18.6/74.5 GiB", "–/22.4 GiB", "shared", "22.4/59.6 GiB" },
                { ALD_DEVICE_COLUMN_FREE, "32.6 GiB", "22.4 GiB", "27.0 GiB", "37.3 GiB" },
                { ALD_DEVICE_COLUMN_LOAD, "98 %", "asleep", "0 %", "5 %" },
                { ALD_DEVICE_COLUMN_TEMPERATURE, "61 °C", "–", "–", "45 °C" },
                { ALD_DEVICE_COLUMN_MEMORY_TEMPERATURE, "70 °C", "–", "–", "–" },
                { ALD_DEVICE_COLUMN_POWER, "320/700 W", "–", "–", "80 W" },
                { ALD_DEVICE_COLUMN_POWER_LIMIT, "700 W", "–", "–", "–" },
                { ALD_DEVICE_COLUMN_FAN, "45 %", "–", "1780 rpm", "–" },
                { ALD_DEVICE_COLUMN_THROTTLED, "power, thermal", "–", "no", "–" },
                { ALD_DEVICE_COLUMN_HOLDERS, "5", "0", "–", "–" },
                { ALD_DEVICE_COLUMN_HELD, "17.7 GiB", "–", "–", "–" },
                { ALD_DEVICE_COLUMN_HELD_BY, "python3, ollama.service, a user's session, +1", "–", "–", "–" },
                { ALD_DEVICE_COLUMN_TFLOPS, "82.6 TFLOPS", "–", "–", "–" },
                { ALD_DEVICE_COLUMN_BANDWIDTH, "1.01 TB/s", "–", "–", "–" },
                { ALD_DEVICE_COLUMN_AGE, "5 min ago", "–", "–", "–" },
                { ALD_DEVICE_COLUMN_DRIVER, "nvidia, 570.1", "–", "–", "–" },
        };
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GArray) rows = NULL;

        model_put_node(model, 1, node);
        rows = list(model);
        check_names(rows, "Big|  Slice|  Slice|Asleep|Unified|Zen");
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                check_text(rows, 0, cases[i].column, cases[i].busy);
                check_text(rows, 3, cases[i].column, cases[i].asleep);
                check_text(rows, 4, cases[i].column, cases[i].unified);
                check_text(rows, 5, cases[i].column, cases[i].processors);
        }
}

/* What was sampled is outdated, what was measured is not. */
static void test_offline(void)
{
        static const AldDeviceColumn sampled[] = { ALD_DEVICE_COLUMN_FREE, ALD_DEVICE_COLUMN_LOAD,
                ALD_DEVICE_COLUMN_TEMPERATURE, ALD_DEVICE_COLUMN_MEMORY_TEMPERATURE, ALD_DEVICE_COLUMN_POWER,
                ALD_DEVICE_COLUMN_POWER_LIMIT, ALD_DEVICE_COLUMN_CLOCK, ALD_DEVICE_COLUMN_FAN,
                ALD_DEVICE_COLUMN_THROTTLED, ALD_DEVICE_COLUMN_HOLDERS, ALD_DEVICE_COLUMN_HELD,
                ALD_DEVICE_COLUMN_HELD_BY, ALD_DEVICE_COLUMN_ENCODER, ALD_DEVICE_COLUMN_DECODER,
                ALD_DEVICE_COLUMN_MEMORY_CLOCK, ALD_DEVICE_COLUMN_FAN_RPM, ALD_DEVICE_COLUMN_USED };
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GArray) rows = NULL;

        model_put_node(model, 1, node);
        model_put(model, model_node(model, 1)->id, "Node1.Presence", "{'State':'offline'}");
        rows = list(model);
        for (guint i = 0; i < rows->len; i++)
                for (size_t k = 0; k < G_N_ELEMENTS(sampled); k++)
                        check_text(rows, i, sampled[k], "–");
        check_text(rows, 0, ALD_DEVICE_COLUMN_STATE, "offline");
        check_text(rows, 0, ALD_DEVICE_COLUMN_TFLOPS, "82.6 TFLOPS");
        check_text(rows, 0, ALD_DEVICE_COLUMN_TOTAL_MEMORY, "74.5 GiB");
}

/* A text of a peer makes no column wide that a terminal cannot narrow. */
static void test_long_texts(void)
{
        g_autofree char *word = g_strnfill(300, 'x');
        g_autofree char *long_node = g_strdup_printf(
                "{'Node1.Identity':{'FriendlyName':'%s'},"
                "'Node1.System':{'Devices':[{'Id':'a','Throttled':true,'ThrottleReasons':['%s','%s']}]},"
                "'Node1.Processes':{'Devices':[{'Id':'a','Holders':1}],'Holders':[{'Id':'a,1','Device':'a',"
                "'Program':'%s','User':'%s','OwnerKind':'unit','Owner':'%s'}]},"
                "'Node1.Compute':{'Devices':[{'Id':'a','Precision':'%s'}]},"
                "'Node1.Backends':{'Devices':[{'Id':'a','Class':'%s','Name':'%s','Driver':'%s',"
                "'DriverVersion':'%s'}]}}",
                word, word, word, word, word, word, word, word, word, word, word);
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GArray) rows = NULL;

        model_put_node(model, 1, long_node);
        rows = list(model);
        g_assert_cmpuint(rows->len, ==, 1);
        for (AldDeviceColumn i = 0; i < ALD_DEVICE_N_COLUMNS; i++) {
                g_autofree char *text = text_of(rows, 0, i);

                g_test_message("%s: %s", ald_device_columns[i].id, text);
                g_assert_true(ald_device_columns[i].flexible || !strstr(text, "xxx"));
        }
}

/* Parts stay with their device, in both directions. */
static void test_sort(void)
{
        static const struct {
                const char *by, *names;
        } cases[] = {
                { "-free", "Zen|Big|  Slice|  Slice|Unified|Asleep" },
                { "free", "Asleep|Unified|Big|  Slice|  Slice|Zen" },
                { "-name", "Zen|Unified|Big|  Slice|  Slice|Asleep" },
                { "-power,name", "Big|  Slice|  Slice|Zen|Asleep|Unified" },
        };
        g_autoptr(AldModel) model = ald_model_new();
        g_autofree char *problem = NULL;

        model_put_node(model, 1, node);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GArray) rows = list(model);

                g_assert_cmpint(ald_device_rows_sort(rows, cases[i].by, &problem), ==, 0);
                check_names(rows, cases[i].names);
                g_assert_cmpint(ald_device_rows_sort(rows, "nothing", &problem), ==, -EINVAL);
                g_clear_pointer(&problem, g_free);
                check_names(rows, cases[i].names);
        }
}

static void test_free(void)
{
        static const struct {
                double least;
                const char *names;
        } cases[] = {
                { 0, "Big|  Slice|  Slice|Asleep|Unified|Zen" },
                { 30e9, "Big|  Slice|  Slice|Zen" },
                { 35e9, "Big|  Slice|Zen" },
                { 38e9, "Zen" },
                { 50e9, "" },
        };
        g_autoptr(AldModel) model = ald_model_new();

        model_put_node(model, 1, node);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GArray) rows = list(model);
                guint n = 0;

                ald_device_rows_keep_free(rows, cases[i].least);
                check_names(rows, cases[i].names);
                for (guint k = 0; k < rows->len; k += 1 + g_array_index(rows, AldDeviceRow, k).n_parts)
                        n += 1 + g_array_index(rows, AldDeviceRow, k).n_parts;
                g_assert_cmpuint(n, ==, rows->len);
        }
}

/* The free memory of a device that computes in memory of the host is known only with that and its limit. */
static void test_unknown_free(void)
{
        static const char *const unknown[] = {
                ("{'Node1.Memory':{'TotalBytes':64000000000,'AvailableBytes':40000000000},"
                 "'Node1.Backends':{'Devices':[{'Id':'a','Unified':true}]}}"),
                "{'Node1.Backends':{'Devices':[{'Id':'a','Unified':true,'SharedBytes':30000000000}]}}",
                "{'Node1.Backends':{'Devices':[{'Id':'a','MemoryTotalBytes':80000000000}]}}",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(unknown); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GArray) rows = NULL;

                model_put_node(model, 1, unknown[i]);
                rows = list(model);
                check_text(rows, 0, ALD_DEVICE_COLUMN_FREE, "–");
                ald_device_rows_keep_free(rows, 0);
                g_assert_cmpuint(rows->len, ==, 0);
        }
}

static void test_holders(void)
{
        static const char *const wanted[] = { "python3, 4711, alice, job 12", "ollama.service",
                "a user's session", "other processes" };
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GPtrArray) holders = NULL;
        g_autoptr(GArray) rows = NULL;

        model_put_node(model, 1, node);
        rows = list(model);
        holders = ald_device_row_holders(&g_array_index(rows, AldDeviceRow, 0));
        g_assert_cmpuint(holders->len, ==, G_N_ELEMENTS(wanted));
        for (guint i = 0; i < holders->len; i++) {
                g_autofree char *name = ald_list_column_text(
                        &ald_holder_columns[ALD_HOLDER_COLUMN_NAME], holders->pdata[i]);

                g_assert_cmpstr(name, ==, wanted[i]);
        }
        g_assert_cmpfloat(ald_holder_columns[ALD_HOLDER_COLUMN_MEMORY].number(holders->pdata[0]), ==, 15e9);
}

/* A peer may name any parents. No device is lost, and none is listed twice. */
static void test_odd_parents(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GArray) rows = NULL;

        model_put_node(model, 1,
                "{'Node1.System':{'Devices':[{'Id':'unlisted','Usage':1.0}]},"
                "'Node1.Compute':{'Devices':[{'Id':'measured','TflopsFp16':1.0}]},"
                "'Node1.Backends':{'Devices':[{'Id':'a','Parent':'b'},{'Id':'b','Parent':'a'},"
                "{'Id':'c','Parent':'c'},{'Id':'d','Parent':'gone'},{'Id':'e'},{'Id':'f','Parent':'e'},"
                "{'Id':'g','Parent':'f'},{'Id':'\\u001b[2J','Parent':'unlisted'}]}}");
        rows = list(model);
        check_names(rows, "a|b|c|d|e|  f|g|\357\277\275[2J|unlisted|measured");
}

/* Each of very many devices names the same parent, which is beyond what is listed. */
static void test_many(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldDeviceRow));
        g_autoptr(GString) records = g_string_new("{'Node1.Backends':{'Devices':[{'Id':'zero'}");

        for (guint i = 0; i < 1000; i++)
                g_string_append_printf(records, ",{'Id':'d%03u','Parent':'%s'}", i, i % 2 ? "zero" : "d001");
        g_string_append(records, "]}}");
        model_put_node(model, 1, records->str);
        g_assert_cmpuint(
                ald_device_rows_add(rows, model, model_node(model, 1), NOW), ==, 1001 - ALD_NODE_DEVICES_MAX);
        g_assert_cmpuint(rows->len, ==, ALD_NODE_DEVICES_MAX);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/device-rows/texts", test_texts);
        g_test_add_func("/device-rows/offline", test_offline);
        g_test_add_func("/device-rows/long-texts", test_long_texts);
        g_test_add_func("/device-rows/sort", test_sort);
        g_test_add_func("/device-rows/free", test_free);
        g_test_add_func("/device-rows/unknown-free", test_unknown_free);
        g_test_add_func("/device-rows/holders", test_holders);
        g_test_add_func("/device-rows/odd-parents", test_odd_parents);
        g_test_add_func("/device-rows/many", test_many);
        return g_test_run();
}
