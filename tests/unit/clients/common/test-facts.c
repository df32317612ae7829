/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/cluster-facts.h"
#include "clients/common/columns/node-facts.h"
#include "clients/common/finding-display.h"
#include "clients/common/node-summary.h"
#include "clients/common/words.h"
#include "record/figure-text.h"
#include "tests/unit/model-maker.h"

#define NOW 1.7e15

static void test_figures(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autofree char *addresses = NULL;
        AldNodeFigures figures;
        AldGpuSummary gpus;

        model_put_node(model, 1, model_atlas);
        figures = ald_node_figures(model_node(model, 1));
        gpus = ald_gpu_summary(model_node(model, 1));
        addresses = ald_node_addresses(model_node(model, 1));
        g_assert_cmpfloat(figures.usage, ==, 12);
        g_assert_true(isnan(figures.microwatts));
        g_assert_cmpfloat(figures.tflops, ==, 15);
        g_assert_cmpfloat(figures.bandwidth, ==, 100);
        g_assert_cmpuint(gpus.n, ==, 3);
        g_assert_cmpuint(gpus.n_asleep, ==, 1);
        g_assert_cmpfloat(gpus.usage, ==, 30);
        g_assert_cmpstr(addresses, ==, "192.0.2.1");
}

static void check_text(char *text, const char *expected)
{
        g_assert_cmpstr(text, ==, expected);
        g_free(text);
}

static AldModel *model_with_totals(const char *totals)
{
        AldModel *model = ald_model_new();
        json_t *properties = model_parse(totals);

        ald_model_update_totals(model, properties, NULL);
        json_decref(properties);
        return model;
}

static void test_totals(void)
{
        g_autoptr(AldModel) model = model_with_totals(
                "{'Nodes':5,'NodesLeftOut':2,'Links':1,'TflopsFp16':330.0,'TflopsFp16LeftOut':7,"
                "'TflopsFp16LeftOutReasons':{'NoOpenCl':3,'NeverMeasured':2,'Failed':1,"
                "'OtherPrecision':1,'Newer':9}}");
        g_autoptr(AldModel) memory = model_with_totals(
                "{'MemoryTotalBytes':214748364800,'MemoryAvailableBytes':53687091200,"
                "'DeviceMemoryTotalBytes':85899345920,'DeviceMemoryAvailableBytes':21474836480,"
                "'DeviceMemoryUnread':1,'MemoryBandwidthBytesPerSecond':900000000000,"
                "'MemoryBandwidthOf':'both','MemoryBandwidthLeftOut':1,"
                "'MemoryBandwidthLeftOutReasons':{'Failed':1}}");
        g_autoptr(AldModel) whole = model_with_totals(
                "{'MemoryTotalBytes':214748364800,'DeviceMemoryTotalBytes':85899345920}");
        g_autoptr(AldModel) nothing = ald_model_new();

        check_text(ald_cluster_counts(model), "5 nodes (2 not counted), 1 link");
        check_text(ald_cluster_compute(model),
                "330 TFLOPS, 7 devices left out (1 failed, 2 never measured, 3 without OpenCL, "
                "1 measured in another precision)");
        check_text(ald_cluster_memory(memory),
                "50.0 GiB free of 200 GiB, devices 20.0 GiB free of 80.0 GiB (use of 1 unknown)");
        check_text(ald_cluster_bandwidth(memory),
                "900 GB/s over GPUs, accelerators and processors, 1 device left out: failed");
        check_text(ald_cluster_memory(whole), "200 GiB, devices 80.0 GiB");
        check_text(ald_cluster_counts(nothing), "– nodes, – links");
        check_text(ald_cluster_compute(nothing), "–");
        check_text(ald_cluster_bandwidth(nothing), "–");
        check_text(ald_cluster_memory(nothing), "–");
}

static void test_power_of_the_cluster(void)
{
        g_autoptr(AldModel) whole = model_with_totals("{'PowerMicroWatts':412000000,'NodesPowerUnread':0}");
        g_autoptr(AldModel) parts = model_with_totals(
                "{'PowerMicroWatts':1840000000,'NodesPowerUnread':2,'NodesPowerOfParts':1}");
        g_autoptr(AldModel) unread = model_with_totals("{'NodesPowerUnread':2}");
        g_autoptr(AldModel) older = ald_model_new();

        check_text(ald_cluster_power(whole), "412 W");
        check_text(
                ald_cluster_power(parts), "1.84 kW, only parts of 1 node, 2 nodes not counted");
        g_assert_null(ald_cluster_power(unread));
        g_assert_null(ald_cluster_power(older));
}

static const char *load_of(GPtrArray *facts)
{
        for (guint i = 0; i < facts->len; i++)
                if (g_str_equal(((const AldFact *) facts->pdata[i])->label, "CPU"))
                        return ((const AldFact *) facts->pdata[i])->text;
        return NULL;
}

static void test_power_of_a_node(void)
{
        static const struct {
                const char *system, *load;
        } cases[] = {
                { "'CpuUsage':12.0", "12 %" },
                { "'CpuUsage':12.0,'PowerMicroWatts':65000000", "12 %, 65 W (processors)" },
                { "'PowerMicroWatts':65000000,'Devices':[{'Id':'a','PowerMicroWatts':220000000}]",
                        "285 W (processors + GPUs)" },
                { "'Devices':[{'Id':'a','PowerMicroWatts':1220000000}]", "1.22 kW (GPUs)" },
                { "'PowerMicroWatts':65000000,'MeterMicroWatts':412000000",
                        "412 W (whole machine, by its meter)" },
                { "'PowerMicroWatts':5000000,'Batteries':[{'Id':'BAT0','State':'discharging','"
                  "PowerMicroWatts':"
                  "9500000}]",
                        "9.5 W (whole machine, by its battery)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *node = g_strdup_printf(
                        "{'Node1.Backends':{'Devices':[{'Id':'a','Class':'gpu'}]},'Node1.System':{%s}}",
                        cases[i].system);
                g_autoptr(GPtrArray) facts = NULL;

                model_put_node(model, 1, node);
                facts = ald_node_facts(model_node(model, 1), NOW);
                g_assert_cmpstr(load_of(facts), ==, cases[i].load);
        }
}

/* FP32 is marked as such, and apart from FP16. */
static void test_fp32(void)
{
        g_autoptr(AldModel)
                only = model_with_totals("{'TflopsFp32':1.25,'TflopsFp32Devices':2,'TflopsFp16LeftOut':1,"
                                         "'TflopsFp16LeftOutReasons':{'NeverMeasured':1}}");
        g_autoptr(AldModel)
                both = model_with_totals("{'TflopsFp16':330.0,'TflopsFp32':1.25,'TflopsFp32Devices':2}");
        g_autoptr(AldModel) older = model_with_totals("{'TflopsFp16':330.0}");
        g_autoptr(AldModel) model = ald_model_new();
        AldNodeFigures figures;

        g_assert_true(ald_cluster_has_fp32_only(only));
        check_text(ald_cluster_compute(only),
                "1.25 TFLOPS (none measured in FP16), 1 device left out: never measured");
        g_assert_null(ald_cluster_fp32(only));
        g_assert_false(ald_cluster_has_fp32_only(both));
        check_text(ald_cluster_compute(both), "330 TFLOPS");
        check_text(ald_cluster_fp32(both), "1.25 TFLOPS over 2 devices measured in FP32");
        g_assert_null(ald_cluster_fp32(older));

        model_put_node(model, 1,
                "{'Node1.Backends':{'Devices':[{'Id':'cpu','Class':'cpu'}]},"
                "'Node1.Compute':{'Devices':[{'Id':'cpu','GemmTflops':0.5,'Precision':'fp32'}]}}");
        figures = ald_node_figures(model_node(model, 1));
        check_text(ald_node_compute(&figures), "500 GFLOPS FP32");
        model_put_node(model, 1,
                "{'Node1.Compute':{'Devices':[{'Id':'cpu','GemmTflops':0.5,'Precision':'fp16','TflopsFp16':0."
                "5}]}}");
        figures = ald_node_figures(model_node(model, 1));
        check_text(ald_node_compute(&figures), "500 GFLOPS");
}

/* What is to be installed stands where nothing can measure the devices, once among the totals. */
static void test_missing_opencl(void)
{
        g_autoptr(AldModel) model = model_with_totals(
                "{'TflopsFp16LeftOut':2,'TflopsFp16LeftOutReasons':{'NoOpenCl':2},'MemoryBandwidthLeftOut':2,"
                "'MemoryBandwidthLeftOutReasons':{'NoOpenCl':2}}");
        g_autoptr(AldModel) mixed = model_with_totals(
                "{'TflopsFp16LeftOut':2,'TflopsFp16LeftOutReasons':{'NoOpenCl':1,'Failed':1}}");
        static const char processor[] = "{'Node1.Backends':{'OpenCl':'no-platform','Devices':[{'Id':'cpu',"
                                        "'Class':'cpu','Name':'Chip'}]}}";
        g_autoptr(GPtrArray) facts = NULL;
        const AldFact *fact = NULL;

        check_text(ald_cluster_compute(model), "–, 2 devices left out: without OpenCL");
        model_put_node(model, 1, processor);
        check_text(
                ald_cluster_compute(model), "–, 2 devices left out: install pocl-opencl-icd to measure them");
        check_text(ald_cluster_bandwidth(model), "–, 2 devices left out: without OpenCL");
        model_put_node(model, 2,
                "{'Node1.Backends':{'OpenCl':'no-library','Devices':[{'Id':'a','Class':'gpu','Driver':'"
                "nvidia',"
                "'Vendor':'NVIDIA'}]}}");
        check_text(ald_cluster_compute(model),
                "–, 2 devices left out: install pocl-opencl-icd, nvidia-opencl-icd to measure them");
        model_put_node(mixed, 1, processor);
        check_text(ald_cluster_compute(mixed), "–, 2 devices left out (1 failed, 1 without OpenCL)");

        facts = ald_node_facts(model_node(model, 1), NOW);
        for (guint i = 0; i < facts->len; i++)
                if (strcmp(((const AldFact *) facts->pdata[i])->label, "Not measured") == 0)
                        fact = facts->pdata[i];
        g_assert_nonnull(fact);
        g_assert_cmpstr(fact->text, ==, "Chip, install pocl-opencl-icd to measure it");
}

static void test_names(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autofree char *second = model_id(2);

        model_put_node(model, 1, "{'Node1.Identity':{'FriendlyName':' at\\u001blas '}}");
        model_put_node(model, 2, "{'Node1.Identity':{'FriendlyName':' '}}");
        model_put_node(model, 3, "{'Node1.Memory':{}}");
        check_text(ald_entity_label(model_node(model, 1)), "at�las");
        check_text(ald_entity_label(model_node(model, 2)), "00000000");
        check_text(ald_entity_label(model_node(model, 3)), "00000000");
        check_text(ald_node_label("0abc1234", "fedcba9876543210fedcba9876543210"), "0abc1234 (fedcba98)");
        check_text(ald_node_label("abc1234", "fedcba9876543210fedcba9876543210"), "abc1234");
        check_text(ald_node_label("\u00a0\u3000 at las\u2003", "fedcba98"), "at las");
        check_text(ald_node_label("\u00a0", "fedcba9876543210fedcba9876543210"), "fedcba98");
        check_text(ald_node_label("\u3164\u0301 \ufffd", "fedcba9876543210fedcba9876543210"), "fedcba98");
        check_text(ald_node_label("\u0e17\u0e35\u0e48", "fedcba98"), "\u0e17\u0e35\u0e48");
        check_text(ald_node_name(model, second), "00000000");
        check_text(ald_node_name(model, "abcdefghijk"), "abcdefgh");
        check_text(ald_node_name(model, "\033\xff"), "��");
        g_assert_null(ald_node_name(model, NULL));
}

/* The most severe first, and one of a severity that this version does not know behind all others. */
static void test_findings(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autofree char *one = model_id(1);
        json_t *findings = json_pack("[{s:s,s:s,s:s},{s:s,s:s},{s:s,s:s,s:[s,s],s:s,s:s},{s:s}]", "Id", "a",
                "Severity", "strange", "Text", "A.", "Id", "b", "Severity", "notice", "Id", "no-broker",
                "Severity", "error", "Nodes", one, "x, y", "Text", "C\033.", "Remedy", "R.", "Id", "d");
        g_autoptr(GPtrArray) sorted = NULL, own = NULL, counts = NULL;
        const AldFindingRow *worst;
        AldTone tone;

        model_put_node(model, 1, model_atlas);
        model_set_findings(model, findings);
        json_decref(findings);
        sorted = ald_findings_sorted(model, NULL);
        own = ald_findings_sorted(model, one);
        counts = ald_findings_counts(model);
        g_assert_cmpuint(sorted->len, ==, 4);
        g_assert_cmpuint(own->len, ==, 1);
        worst = sorted->pdata[0];
        g_assert_true(worst == own->pdata[0] && worst == ald_find_brokerless(model));
        g_assert_cmpstr(((const AldFindingRow *) sorted->pdata[1])->id, ==, "a");
        check_text(ald_finding_title(worst, model), "no-broker: atlas, \"x, y\"");
        check_text(ald_finding_severity(worst, &tone), "error");
        g_assert_cmpint(tone, ==, ALD_TONE_ERROR);
        check_text(ald_finding_severity(sorted->pdata[1], &tone), "strange");
        g_assert_cmpint(tone, ==, ALD_TONE_PLAIN);
        check_text(ald_finding_words(sorted->pdata[1]), "A.");
        g_assert_null(ald_finding_words(sorted->pdata[3]));
        g_assert_cmpuint(counts->len, ==, 2);
        g_assert_cmpstr(((const AldFact *) counts->pdata[0])->text, ==, "1 error");
        g_assert_cmpstr(((const AldFact *) counts->pdata[1])->text, ==, "1 notice");
}

/* Those that the service left out are findings too. */
static void test_findings_left_out(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        json_t *findings = model_parse(
                "[{'Id':'no-broker','Severity':'error'},"
                "{'Id':'no-broker','Severity':'error','LeftOut':40},"
                "{'Id':'field-absent','Severity':'notice','LeftOut':9007199254740992}]");
        g_autoptr(GPtrArray) counts = NULL;

        model_set_findings(model, findings);
        json_decref(findings);
        counts = ald_findings_counts(model);
        g_assert_cmpuint(counts->len, ==, 2);
        g_assert_cmpstr(((const AldFact *) counts->pdata[0])->text, ==, "41 errors");
        g_assert_cmpstr(((const AldFact *) counts->pdata[1])->text, ==, "4294967295 notices");
}

static const char *id_at(const GPtrArray *findings, guint i)
{
        return ((const AldFindingRow *) findings->pdata[i])->id;
}

static void test_findings_of_offline_nodes_first(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autofree char *online = model_id(1), *offline = model_id(2);
        json_t *findings = json_pack("[{s:s,s:s,s:[s]},{s:s,s:s,s:[s]},{s:s,s:s,s:[s]},{s:s,s:s,s:[s]}]",
                "Id", "link-asymmetric", "Severity", "notice", "Nodes", online, "Id", "field-absent",
                "Severity", "notice", "Nodes", offline, "Id", "node-offline", "Severity", "notice", "Nodes",
                "not-known", "Id", "memory-pressure", "Severity", "warning", "Nodes", online);
        g_autoptr(GPtrArray) sorted = NULL;

        model_put(model, online, "Node1.Presence", "{'State':'online'}");
        model_put(model, offline, "Node1.Presence", "{'State':'offline'}");
        model_set_findings(model, findings);
        json_decref(findings);
        sorted = ald_findings_sorted(model, NULL);
        g_assert_cmpuint(sorted->len, ==, 4);
        g_assert_cmpstr(id_at(sorted, 0), ==, "memory-pressure");
        g_assert_cmpstr(id_at(sorted, 1), ==, "field-absent");
        g_assert_cmpstr(id_at(sorted, 2), ==, "node-offline");
        g_assert_cmpstr(id_at(sorted, 3), ==, "link-asymmetric");
}

/* From the arguments where the Id is known; else the service words it. What it sends is made safe. */
static void test_words_of_findings(void)
{
        static const char *const nodes[] = { "000000000000000000000000000000a1", NULL };
        static const char *const names[] = { "at\033las", NULL };
        AldFindingRow known = ALD_FINDING_ROW_INIT, newer = ALD_FINDING_ROW_INIT;
        g_autofree char *words = NULL, *remedy = NULL;

        known.id = "node-offline";
        known.nodes = nodes;
        known.names = names;
        known.text = newer.text = "Of another\033version.";
        known.remedy = newer.remedy = "Wait\033.";
        newer.id = "node-on-fire";
        words = ald_finding_words(&known);
        remedy = ald_finding_remedy_words(&known);
        g_assert_true(g_str_has_prefix(words, "at�las is offline"));
        g_assert_nonnull(strstr(remedy, "alidadectl forget"));
        check_text(ald_finding_words(&newer), "Of another�version.");
        check_text(ald_finding_remedy_words(&newer), "Wait�.");
        /* Known, but without the argument that its sentence needs. */
        known.names = NULL;
        check_text(ald_finding_words(&known), "Of another�version.");
        check_text(ald_finding_remedy_words(&known), "Wait�.");
}

static const char *text_of(const GPtrArray *facts, const char *label)
{
        for (guint i = 0; i < facts->len; i++) {
                const AldFact *fact = facts->pdata[i];

                if (g_str_equal(fact->label, label))
                        return fact->text;
        }
        return "no such fact";
}

static void test_node(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GPtrArray) facts = NULL;

        model_put_node(model, 1, model_atlas);
        facts = ald_node_facts(model_node(model, 1), NOW);
        g_assert_cmpstr(text_of(facts, "Memory"), ==, "16.0/64.0 GiB free");
        g_assert_cmpstr(text_of(facts, "CPU"), ==, "12 %");
        g_assert_cmpstr(text_of(facts, "GPU"), ==,
                "Big, 20 %, 1.00/1.00 GiB free, 10.0 TFLOPS FP16, 100 B/s memory bandwidth");
        g_assert_cmpstr(text_of(facts, "Measured"), ==, "cpu, 7 B/s memory bandwidth");
        g_assert_null(text_of(facts, "Model"));
        g_assert_cmpstr(text_of(facts, "Seen"), ==, "live");
}

/* The line of a device has what its driver reports at the moment, and nothing of what is absent or idle. */
static void test_live_figures(void)
{
        static const struct {
                const char *row, *text;
        } cases[] = {
                { "'PowerMicroWatts':310000000,'PowerLimitMicroWatts':450000000,'FanPercent':45.0,'FanRpm':"
                  "1780,"
                  "'MemoryTemperatureMilliCelsius':88000,'EncoderUsage':12.0,'DecoderUsage':0.0,"
                  "'Throttled':true,'ThrottleReasons':['power','thermal']",
                        "a, shares the memory of the host, 310/450 W, memory at 88 °C, fan 45 %, "
                        "encoder 12 %, throttled: power, thermal" },
                { "'FanRpm':1780,'Throttled':false", "a, shares the memory of the host, fan 1780 rpm" },
                { "'Throttled':true,'ThrottleReasons':['\\u001b[2J']",
                        "a, shares the memory of the host, throttled: �[2J" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *records = g_strdup_printf(
                        "{'Node1.Backends':{'Devices':[{'Id':'a','Class':'gpu','Unified':true}]},"
                        "'Node1.System':{'Devices':[{'Id':'a',%s}]}}",
                        cases[i].row);
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GPtrArray) facts = NULL;

                model_put_node(model, 1, records);
                facts = ald_node_facts(model_node(model, 1), NOW);
                g_assert_cmpstr(text_of(facts, "GPU"), ==, cases[i].text);
        }
}

/* A row of a processor that only waits to be measured is no result. */
static void test_unmeasured_processor(void)
{
        static const struct {
                const char *row, *measured, *not_measured;
        } cases[] = {
                { "'WaitingReason':'in use'", "no such fact", "no such fact" },
                { "'Failure':'crashed','FailedUSec':1600000000000000", "no such fact",
                        "cpu, last attempt failed: crashed" },
                { "'TflopsFp16':1.5,'MeasuredUSec':1600000000000000", "cpu, 1.50 TFLOPS FP16",
                        "no such fact" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *records = g_strdup_printf(
                        "{'Node1.Backends':{'Devices':[{'Id':'cpu','Class':'cpu'}]},"
                        "'Node1.Compute':{'Devices':[{'Id':'cpu',%s}]}}",
                        cases[i].row);
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GPtrArray) facts = NULL;

                model_put_node(model, 1, records);
                facts = ald_node_facts(model_node(model, 1), NOW);
                g_assert_cmpstr(text_of(facts, "Measured"), ==, cases[i].measured);
                g_assert_cmpstr(text_of(facts, "Not measured"), ==, cases[i].not_measured);
        }
}

/* Models are loaded at a rate, or there is a reason why it is not known; else there is no such fact. */
static void test_storage(void)
{
        static const struct {
                const char *row, *text;
        } cases[] = {
                { "'ModelFiles':1,'ModelBytes':1073741824", "no such fact" },
                { "'WaitingReason':'sda may be asleep'",
                        "/srv/models (nvme0n1), not measured: sda may be asleep" },
                { "'ModelFiles':1,'ModelBytes':1073741824,'Failure':'busy: sda','WaitingReason':'x'",
                        "/srv/models (nvme0n1), 1 model of 1.00 GiB, not measured: busy: sda" },
                { "'ReadBytesPerSecond':3210000000", "/srv/models (nvme0n1) 3.21 GB/s" },
                { "'ReadBytesPerSecond':3210000000,'ReadInterval':1.0,'ReadSpread':4.0,'ModelFiles':12,"
                  "'ModelBytes':332859965440,'MeasuredUSec':1699989200000000,'Flags':['busy']",
                        "/srv/models (nvme0n1) 3.21 GB/s ±1 %, spread 4 %, busy, 12 models of 310 GiB, "
                        "measured 3 h ago" },
                { "'ReadBytesPerSecond':3210000000,'MeasuredUSec':1699989200000000,'Failure':'busy'",
                        "/srv/models (nvme0n1) 3.21 GB/s, measured 3 h ago, last attempt failed: busy" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *records = g_strdup_printf("{'Node1.Storage':{'FileSystems':[{'Id':"
                                                           "'/srv/models','Disks':['nvme0n1'],%s}]}}",
                        cases[i].row);
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GPtrArray) facts = NULL;

                model_put_node(model, 1, records);
                facts = ald_node_facts(model_node(model, 1), NOW);
                g_assert_cmpstr(text_of(facts, "Loading"), ==, cases[i].text);
        }
}

/* How many they are, and who, as far as the node says that. */
static void test_holders(void)
{
        static const struct {
                const char *records, *text;
        } cases[] = {
                { "'Devices':[]", "RTX, 2 compute processes" },
                { "'Devices':[{'Id':'0000:01:00.0','Holders':0,'HeldBytes':0}]", "RTX" },
                { "'Devices':[{'Id':'0000:01:00.0','Holders':1}]", "RTX, 1 process" },
                { "'Devices':[{'Id':'0000:01:00.0','Holders':3,'HeldBytes':1073741824}]",
                        "RTX, 3 processes hold 1.00 GiB" },
                { "'Devices':[{'Id':'0000:01:00.0','Holders':3}],'Holders':["
                  "{'Id':'a','Device':'0000:01:00.0','OwnerKind':'unit','Owner':'ollama.service',"
                  "'Processes':2},"
                  "{'Id':'b','Device':'0000:01:00.0','OwnerKind':'session','Processes':1},"
                  "{'Id':'c','Device':'0000:01:00.0','OwnerKind':'none','Processes':1},"
                  "{'Id':'d','Device':'0000:02:00.0','OwnerKind':'unit','Owner':'x','Processes':1}]",
                        "RTX, 3 processes (ollama.service, a user's session, other processes)" },
                { "'Devices':[{'Id':'0000:01:00.0','Holders':1}],'Holders':["
                  "{'Id':'a','Device':'0000:01:00.0','OwnerKind':'unit','Owner':'a.service',"
                  "'Program':'train\\u001b',"
                  "'Processes':1}]",
                        "RTX, 1 process (train\xef\xbf\xbd)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *records = g_strdup_printf(
                        "{'Node1.Backends':{'Devices':[{'Id':'0000:01:00.0','Name':'RTX'}]},"
                        "'Node1.System':{'Devices':[{'Id':'0000:01:00.0','ComputeProcesses':2}]},"
                        "'Node1.Processes':{%s}}",
                        cases[i].records);
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GPtrArray) facts = NULL;

                model_put_node(model, 1, records);
                facts = ald_node_facts(model_node(model, 1), NOW);
                g_assert_cmpstr(text_of(facts, "GPU"), ==, cases[i].text);
        }
}

static void test_compute(void)
{
        static const char *const flags[] = { "unstable", NULL };
        AldComputeDevice row = ALD_COMPUTE_DEVICE_INIT;
        g_autoptr(GPtrArray) nothing = ald_compute_facts(&row, NULL), facts = NULL;

        check_text(ald_compute_glance(&row), "");
        g_assert_cmpuint(nothing->len, ==, 0);
        row.id = "gpu0";
        row.gemm_tflops = 19.5;
        row.precision = "fp32";
        row.gemm_median_tflops = 19;
        row.gemm_interval = 0.25;
        row.memory_bandwidth_bytes_per_second = 900000000000;
        row.host_to_device_bytes_per_second = 25500000000;
        row.host_to_device_median_bytes_per_second = 25000000000;
        row.host_to_device_interval = 0.5;
        row.device_to_host_bytes_per_second = 26500000000;
        row.flags = flags;
        row.failure = "busy";
        facts = ald_compute_facts(&row, "Big\033");
        check_text(ald_compute_glance(&row), "19.5 TFLOPS FP32, 900 GB/s memory bandwidth, unstable");
        g_assert_cmpstr(text_of(facts, "Device"), ==, "gpu0, Big�");
        g_assert_cmpstr(text_of(facts, "Matrices"), ==, "19.5 TFLOPS FP32, median 19.0 TFLOPS, ±0.2 %");
        g_assert_cmpstr(text_of(facts, "Reads"), ==, "900 GB/s");
        g_assert_cmpstr(text_of(facts, "To device"), ==, "25.5 GB/s, median 25.0 GB/s, ±0.5 %");
        g_assert_cmpstr(text_of(facts, "To host"), ==, "26.5 GB/s");
        g_assert_cmpstr(text_of(facts, "Failed"), ==, "busy");
        row.tflops_fp16 = 40;
        row.flags = NULL;
        check_text(ald_compute_glance(&row), "40.0 TFLOPS FP16, 900 GB/s memory bandwidth");
}

/* What this version does not know is left as it is, but made safe. */
static void test_words(void)
{
        static const char *const flags[] = { "busy", "odd\033", NULL };

        g_assert_cmpstr(ald_word("offline"), ==, "offline");
        g_assert_cmpstr(ald_word("on-fire"), ==, "on-fire");
        g_assert_cmpstr(ald_word(""), ==, "");
        g_assert_null(ald_word(NULL));
        check_text(ald_words_list(flags), "busy, odd�");
        check_text(ald_words_list(NULL), ALD_ABSENT_TEXT);
        check_text(ald_limiter_words("network"), "limited by the network");
        check_text(ald_limiter_words("moon\033"), "limited by the moon�");
        g_assert_null(ald_limiter_words(""));
        g_assert_null(ald_limiter_words(NULL));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/facts/figures", test_figures);
        g_test_add_func("/facts/totals", test_totals);
        g_test_add_func("/facts/power-of-the-cluster", test_power_of_the_cluster);
        g_test_add_func("/facts/power-of-a-node", test_power_of_a_node);
        g_test_add_func("/facts/fp32", test_fp32);
        g_test_add_func("/facts/missing-opencl", test_missing_opencl);
        g_test_add_func("/facts/names", test_names);
        g_test_add_func("/facts/findings", test_findings);
        g_test_add_func("/facts/findings-left-out", test_findings_left_out);
        g_test_add_func("/facts/findings-of-offline-nodes-first", test_findings_of_offline_nodes_first);
        g_test_add_func("/facts/words-of-findings", test_words_of_findings);
        g_test_add_func("/facts/node", test_node);
        g_test_add_func("/facts/live-figures", test_live_figures);
        g_test_add_func("/facts/unmeasured-processor", test_unmeasured_processor);
        g_test_add_func("/facts/storage", test_storage);
        g_test_add_func("/facts/holders", test_holders);
        g_test_add_func("/facts/compute", test_compute);
        g_test_add_func("/facts/words", test_words);
        return g_test_run();
}
