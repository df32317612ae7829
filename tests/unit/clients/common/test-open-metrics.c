/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/common/open-metrics.h"
#include "record/docs.h"
#include "tests/unit/model-maker.h"
#include "tests/unit/record-maker.h"

#define N1 "00000000000000000000000000000001"
#define N2 "00000000000000000000000000000002"
#define N3 "00000000000000000000000000000003"
#define ONLINE "'Node1.Presence':{'State':'online'}"

/* Node 1 is this machine. */
static AldModel *model_make(void)
{
        AldModel *model = ald_model_new();

        ald_model_set_node_id(model, N1);
        return model;
}

static char *render(AldModel *model, AldMetricFormat format)
{
        g_autoptr(AldMetricSet) set = ald_open_metrics_new(model);

        return g_string_free(ald_metric_set_write(set, format), FALSE);
}

static bool has_line(const char *text, const char *line)
{
        g_autofree char *wanted = g_strdup_printf("\n%s\n", line);

        return strstr(text, wanted) != NULL;
}

/* With ' for ". */
static void assert_line(const char *text, const char *line)
{
        g_autofree char *wanted = g_strdelimit(g_strdup(line), "'", '"');

        if (!has_line(text, wanted))
                g_error("no line %s in:\n%s", wanted, text);
}

/* The number of samples with this in them. */
static unsigned samples_with(const char *text, const char *what)
{
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        unsigned n = 0;

        for (char **line = lines; *line; line++)
                n += **line != '#' && strstr(*line, what);
        return n;
}

static void test_units(void)
{
        g_autoptr(AldModel) model = model_make();
        g_autofree char *text = NULL;

        model_put_node(model, 1,
                "{'Node1.Identity':{'FriendlyName':'one','Vendor':'V','UpdatedUSec':1700000000500000},"
                "'Node1.Memory':{'TotalBytes':1024,'PressureSome10':12.5},"
                "'Node1.System':{'TemperatureMilliCelsius':-1500,'PowerMicroWatts':2500000,"
                "'Devices':[{'Id':'0000:01:00.0','ClockHz':1500,'PowerState':'active',"
                "'EnergyMicroJoules':7200500000,'FanRpm':1780,'Throttled':true,"
                "'ThrottleReasons':['power']}]},"
                "'Node1.Network':{'Interfaces':[{'Id':'eth0','SpeedBitsPerSecond':1000000001,'Carrier':false}"
                "]},"
                "'Node1.Backends':{'Devices':[{'Id':'0000:01:00.0','Name':'Card'}],'Joins':[{'Id':'a,host,"
                "pcie',"
                "'Device':'a','TransfersPerSecondMax':5}]},"
                "'Node1.Compute':{'Devices':[{'Id':'0000:01:00.0','TflopsFp16':82.5,'Flags':['busy','"
                "unstable'],"
                "'MeasuredUSec':1700000000000001,'Failure':'busy: x'}]},"
                "'Node1.Membership':{'RefusedPublishers':[{'Id':'" N2 "','RefusedMessages':3}]},"
                "'Node1.Presence':{'State':'stale','ClockOffsetUSec':-250}}");
        text = render(model, ALD_METRIC_FORMAT_OPEN);
        assert_line(text, "alidade_node_info{node='" N1 "',name='one'} 1");
        assert_line(text, "alidade_node_samples_left_out{node='" N1 "'} 0");
        assert_line(text, "alidade_node_up{node='" N1 "'} 1");
        assert_line(text, "alidade_node_updated_timestamp_seconds{node='" N1 "'} 1700000000.5");
        assert_line(text, "alidade_identity_info{node='" N1 "',vendor='V'} 1");
        assert_line(text, "alidade_memory_total_bytes{node='" N1 "'} 1024");
        assert_line(text, "alidade_memory_pressure_some10_ratio{node='" N1 "'} 0.125");
        assert_line(text, "alidade_system_temperature_celsius{node='" N1 "'} -1.5");
        assert_line(text, "alidade_system_power_watts{node='" N1 "'} 2.5");
        assert_line(text, "alidade_system_device_clock_hertz{node='" N1 "',device='0000:01:00.0'} 1500");
        assert_line(text,
                "alidade_system_device_energy_joules_total{node='" N1 "',device='0000:01:00.0'} 7200.5");
        assert_line(text, "# TYPE alidade_system_device_energy_joules counter");
        assert_line(text,
                "alidade_system_device_fan_revolutions_per_minute{node='" N1 "',device='0000:01:00.0'} 1780");
        assert_line(text, "alidade_system_device_throttled{node='" N1 "',device='0000:01:00.0'} 1");
        assert_line(text, "alidade_network_interface_speed_bytes_per_second{node='" N1
                          "',interface='eth0'} 125000000.125");
        assert_line(text, "alidade_network_interface_carrier{node='" N1 "',interface='eth0'} 0");
        assert_line(text,
                "alidade_backends_device_info{node='" N1 "',device='0000:01:00.0',device_name='Card'} 1");
        assert_line(
                text, "alidade_backends_join_max_transfers_per_second{node='" N1 "',join='a,host,pcie'} 5");
        assert_line(text,
                "alidade_compute_device_fp16_flops{node='" N1 "',device='0000:01:00.0'} 82500000000000");
        assert_line(text,
                "alidade_compute_device_info{node='" N1 "',device='0000:01:00.0',flags='busy,unstable'} 1");
        assert_line(text, "alidade_compute_device_measured_timestamp_seconds{node='" N1
                          "',device='0000:01:00.0'} 1700000000.000001");
        assert_line(text, "alidade_membership_refused_publisher_refused_messages_total{node='" N1
                          "',refused_publisher='" N2 "'} 3");
        assert_line(text, "alidade_presence_info{node='" N1 "',state='stale'} 1");
        assert_line(text, "alidade_presence_clock_offset_seconds{node='" N1 "'} -0.00025");
        assert_line(text, "# TYPE alidade_membership_refused_publisher_refused_messages counter");
        assert_line(text, "# UNIT alidade_memory_total_bytes bytes");
        assert_line(
                text, "# HELP alidade_memory_total_bytes MemTotal of /proc/meminfo: usable RAM of the host.");
        g_assert_true(g_str_has_suffix(text, "\n# EOF\n"));
        /* Neither what is absent, nor sentences for people. */
        g_assert_null(strstr(text, "available"));
        g_assert_null(strstr(text, "busy: x"));
        g_assert_null(strstr(text, "nan"));
}

static void test_presence(void)
{
        g_autoptr(AldModel) model = model_make();
        g_autofree char *text = NULL;
        static const struct {
                const char *state;
                int up;
                unsigned samples;
        } cases[] = { { "online", 1, 5 }, { "stale", 1, 5 }, { "offline", 0, 2 }, { "duplicate", -1, 2 },
                { "unknown", -1, 2 }, { "new-word", -1, 2 }, { NULL, -1, 1 } };

        for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *presence = g_strdup_printf(
                        cases[i].state ? "{'Node1.Presence':{'State':'%s'}}" : "{}", cases[i].state);

                model_put_node(model, i + 2, "{'Node1.Memory':{'TotalBytes':5}}");
                model_put_node(model, i + 2, presence);
        }
        model_put_node(model, 1, "{'Node1.Memory':{'TotalBytes':5}}");
        text = render(model, ALD_METRIC_FORMAT_TEXT);
        assert_line(text, "alidade_node_up{node='" N1 "'} 1");
        for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *id = model_id(i + 2),
                                *up = g_strdup_printf("alidade_node_up{node='%s'} %i", id, cases[i].up);

                if (cases[i].up >= 0)
                        assert_line(text, up);
                g_assert_cmpuint(samples_with(text, id), ==, cases[i].samples);
        }
}

static void put_links(AldModel *model)
{
        model_put(model, N1 "/" N2 ",192.0.2.2", "Link1.Socket",
                "{'Source':'" N1 "','Sink':'" N2 "','SinkAddress':'192.0.2.2','UploadBitsPerSecond':8000,"
                "'RttP50NSec':1500,'MeasuredUSec':1000000,'Failure':'x','SourceInterface':'eth0'}");
        model_put(model, N1 "/mlx5_0.1," N2 ",mlx5_1.2", "Link1.Rdma",
                "{'Source':'" N1 "','Sink':'" N2 "','SourcePort':'mlx5_0.1','JitterNSec':7}");
        model_put(model, N2 "/" N3 ",192.0.2.3", "Link1.Socket", "{'UploadBitsPerSecond':1}");
        model_put(model, N1 "/nonsense", "Link1.Socket", "{'UploadBitsPerSecond':1}");
}

static void test_links(void)
{
        g_autoptr(AldModel) model = model_make();
        g_autofree char *both = NULL, *none = NULL;

        model_put_node(model, 1, "{'Node1.Identity':{'FriendlyName':'a'}}");
        model_put_node(model, 2, "{'Node1.Identity':{'FriendlyName':'b'}," ONLINE "}");
        model_put_node(model, 3, "{'Node1.Presence':{'State':'offline'}}");
        put_links(model);
        both = render(model, ALD_METRIC_FORMAT_TEXT);
#define ENDS "source='" N1 "',sink='" N2 "'"
        assert_line(both, "alidade_link_socket_upload_bytes_per_second{" ENDS ",path='192.0.2.2'} 1000");
        assert_line(both, "alidade_link_socket_rtt_p50_seconds{" ENDS ",path='192.0.2.2'} 0.0000015");
        assert_line(both, "alidade_link_socket_measured_timestamp_seconds{" ENDS ",path='192.0.2.2'} 1");
        assert_line(both, "alidade_link_socket_info{" ENDS ",path='192.0.2.2',source_interface='eth0'} 1");
        assert_line(both, "alidade_link_rdma_jitter_seconds{" ENDS ",path='mlx5_0.1,mlx5_1.2'} 0.000000007");
#undef ENDS
        g_assert_cmpuint(samples_with(both, "alidade_link_"), ==, 6);
        model_put_node(model, 2, "{'Node1.Presence':{'State':'offline'}}");
        none = render(model, ALD_METRIC_FORMAT_TEXT);
        g_assert_cmpuint(samples_with(none, "alidade_link_"), ==, 0);
        g_assert_cmpuint(samples_with(none, N2), ==, 2); /* its name, and that it is not up */
}

/* A node that reports too much hides nothing of others, and it is said how much is left out of it. */
static void test_too_many_samples(void)
{
        g_autoptr(AldModel) model = model_make();
        g_autofree char *text = NULL;
        g_autoptr(GString) paths = g_string_new("{'Node1.Disk':{'Paths':[");

        for (unsigned i = 0; i < 2000; i++)
                g_string_append_printf(
                        paths, "%s{'Id':'/%u','TotalBytes':1,'AvailableBytes':1}", i > 0 ? "," : "", i);
        g_string_append(paths, "]}," ONLINE "}");
        model_put_node(model, 2, paths->str);
        model_put_node(model, 3, "{'Node1.Memory':{'TotalBytes':5}," ONLINE "}");
        for (unsigned i = 0; i < ALD_METRIC_SAMPLES_PER_NODE; i++) {
                g_autofree char *link = g_strdup_printf(N2 "/" N3 ",192.0.%u.%u", i / 256, i % 256);

                model_put(model, link, "Link1.Socket", "{'UploadBitsPerSecond':8}");
        }
        text = render(model, ALD_METRIC_FORMAT_TEXT);
        g_assert_cmpuint(samples_with(text, "alidade_disk_path_"), ==, 4000);
        g_assert_cmpuint(samples_with(text, "alidade_link_"), ==,
                ALD_METRIC_SAMPLES_PER_NODE + 2 * ALD_METRIC_SAMPLES_PER_PEER - 4001);
        assert_line(text, "alidade_node_samples_left_out{node='" N2 "'} 3873");
        assert_line(text, "alidade_node_samples_left_out{node='" N3 "'} 0");
        assert_line(text, "alidade_memory_total_bytes{node='" N3 "'} 5");
}

static void test_totals_and_findings(void)
{
        g_autoptr(AldModel) model = model_make();
        g_autofree char *text = NULL;
        json_t *findings,
                *totals = model_parse(
                        "{'Nodes':3,'TflopsFp16':1.5,'MemoryBandwidthOf':'gpu','RefusedRecords':9}");

        ald_model_update_totals(model, totals, NULL);
        json_decref(totals);
        findings = model_parse("[{'Id':'node-offline','Severity':'error'},"
                               "{'Id':'node-offline','Severity':'error','LeftOut':40},"
                               "{'Id':'from-tomorrow','Severity':'warning'}]");
        model_set_findings(model, findings);
        json_decref(findings);
        text = render(model, ALD_METRIC_FORMAT_TEXT);
        assert_line(text, "alidade_cluster_nodes 3");
        assert_line(text, "alidade_cluster_fp16_flops 1500000000000");
        assert_line(text, "alidade_cluster_info{memory_bandwidth_of='gpu'} 1");
        assert_line(text, "alidade_cluster_findings{severity='error'} 41");
        assert_line(text, "alidade_cluster_findings{severity='warning'} 1");
        assert_line(text, "alidade_cluster_findings{severity='notice'} 0");
        assert_line(text, "alidade_cluster_findings_by_id{severity='error',id='node-offline'} 41");
        assert_line(text, "alidade_cluster_findings_by_id{severity='warning',id='from-tomorrow'} 1");
        g_assert_null(strstr(text, "refused"));
        g_assert_null(strstr(text, "memory_total"));
}

/* Names that differ only in what cannot be shown have the same label, and one sample only. */
static void test_hostile_rows(void)
{
        g_autoptr(AldModel) model = model_make();
        g_autofree char *text = NULL;

        model_put_node(model, 1,
                "{'Node1.Identity':{'FriendlyName':'a\\u0022b\\u005c\\n} 1'},"
                "'Node1.Disk':{'Paths':[{'Id':'/a\\u0001','TotalBytes':1},{'Id':'/a\\u0002','TotalBytes':2},"
                "{'Id':'/a\\ufffd','TotalBytes':3},{'Id':'/a\\u0022','TotalBytes':4},{'Id':'/"
                "a','TotalBytes':5}]}}");
        text = render(model, ALD_METRIC_FORMAT_TEXT);
        g_assert_cmpuint(samples_with(text, "alidade_disk_path_total_bytes"), ==, 3);
        g_assert_nonnull(strstr(text, "name=\"a\\\"b\\\\\xEF\xBF\xBD} 1\""));
        g_assert_nonnull(strstr(text, "path=\"/a\\\"\"} 4\n"));
}

/* The names of all families that there can be, each once. */
static GHashTable *families_of(const char *text)
{
        GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autofree char *family = NULL;

        for (char **line = lines; *line && **line; line++) {
                if (g_str_has_prefix(*line, "# TYPE ")) {
                        g_auto(GStrv) words = g_strsplit(*line, " ", -1);

                        g_free(family);
                        family = g_strdup(words[2]);
                        g_assert_true(g_hash_table_add(names, g_strdup(family)));
                        g_assert_true(g_str_has_prefix(family, "alidade_"));
                        g_assert_null(strstr(family, "__"));
                        g_assert_false(g_str_has_suffix(family, "_"));
                        g_assert_false(g_str_has_suffix(family, "_count"));
                } else if (**line != '#') {
                        g_assert_true(family && g_str_has_prefix(*line, family));
                        g_assert_true(strchr("{ ", (*line)[strlen(family)]) != NULL);
                }
        }
        return names;
}

/* No sample comes twice, and each list of labels has each name once. */
static void assert_unique(const char *text)
{
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GRegex) regex = g_regex_new("[{,]([a-z_0-9]+)=\"", 0, 0, NULL);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
                g_autoptr(GMatchInfo) match = NULL;

                if (**line == '\0' || **line == '#')
                        continue;
                g_assert_true(
                        g_hash_table_add(seen, g_strndup(*line, (gsize) (strrchr(*line, ' ') - *line))));
                for (g_regex_match(regex, *line, 0, &match); g_match_info_matches(match);
                        g_match_info_next(match, NULL))
                        g_assert_true(g_hash_table_add(names, g_match_info_fetch(match, 1)));
        }
}

/* Every field of every kind, with values that are odd. */
static void test_random_records(void)
{
        g_autoptr(AldModel) model = model_make();
        g_autofree char *text = NULL, *again = NULL;
        g_autoptr(GHashTable) families = NULL;

        ald_model_set_node_id(model, ID_TEXT(1));
        for (unsigned i = 0; i < 20; i++)
                for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                        for (unsigned node = 1; node <= 3; node++) {
                                AldId from = id_make(node), to = id_make(node % 3 + 1);
                                g_autofree char *key = key_make(kind, &to, i % 4), *id = NULL;
                                g_autoptr(AldRecord) record = record_random_for(kind, &from, key);

                                id = ald_kinds[kind].is_link ? g_strdup_printf("%s/%s", ID_TEXT(node), key)
                                                             : g_strdup(ID_TEXT(node));
                                g_assert_cmpint(ald_model_put(model, id, record, NULL), ==, 0);
                        }
        for (unsigned node = 2; node <= 3; node++)
                model_put(model, ID_TEXT(node), "Node1.Presence", "{'State':'online'}");
        text = render(model, ALD_METRIC_FORMAT_TEXT);
        again = render(model, ALD_METRIC_FORMAT_TEXT);
        g_assert_cmpstr(text, ==, again);
        families = families_of(text);
        g_assert_cmpuint(g_hash_table_size(families), >, 50);
        assert_unique(text);
        g_assert_true(g_utf8_validate(text, -1, NULL));
}

static void test_docs(void)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                const AldStruct *type = ald_kinds[kind].type;
                const AldStructDocs *docs = ald_docs_of(type);

                g_assert_nonnull(docs);
                for (size_t i = 0; i < type->n_fields; i++)
                        g_assert_true(docs->fields[i].help && docs->fields[i].help[0]);
        }
        g_assert_cmpstr(ald_docs_of(&ald_memory_struct)->words, ==, "memory");
        g_assert_cmpstr(ald_docs_of(&ald_rdma_port_struct)->words, ==, "rdma_ports");
        g_assert_cmpstr(ald_docs_of(&ald_link_socket_struct)->words, ==, "link_socket");
        g_assert_null(ald_docs_of(&ald_finding_row_struct));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/open-metrics/docs", test_docs);
        g_test_add_func("/open-metrics/units", test_units);
        g_test_add_func("/open-metrics/presence", test_presence);
        g_test_add_func("/open-metrics/links", test_links);
        g_test_add_func("/open-metrics/too-many-samples", test_too_many_samples);
        g_test_add_func("/open-metrics/totals-and-findings", test_totals_and_findings);
        g_test_add_func("/open-metrics/hostile-rows", test_hostile_rows);
        g_test_add_func("/open-metrics/random-records", test_random_records);
        return g_test_run();
}
