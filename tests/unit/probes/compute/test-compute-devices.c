/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/compute/compute-report.h"
#include "probes/compute/opencl/cards.h"
#include "probes/compute/opencl/devices.h"
#include "probes/compute/run/answer.h"
#include "tests/unit/fake-root.h"

#define AMD "\"Vendor\":\"Advanced Micro Devices, Inc.\",\"VendorId\":4098,\"Type\":\"gpu\""
#define ROCM "\"Platform\":\"AMD Accelerated Parallel Processing\",\"PlatformRank\":2"
#define CLOVER "\"Platform\":\"Clover\",\"PlatformRank\":0"
#define POCL "\"Platform\":\"Portable Computing Language\",\"PlatformRank\":1,\"Type\":\"cpu\""

/* What a child lists, matched with these cards. Each row gets its place as Id. */
static GPtrArray *list_of(const char *rows, const GPtrArray *cards)
{
        g_autoptr(GString) line = g_string_new("DeviceList {\"Devices\":[");
        g_autoptr(GPtrArray) none = ald_cards_new();
        g_autoptr(AldRecord) answer = NULL;
        GPtrArray *devices = ald_devices_new();
        unsigned n = 0;

        for (; *rows; rows++)
                if (*rows == '{')
                        g_string_append_printf(line, "{\"Id\":\"%04u\",", n++);
                else
                        g_string_append_c(line, *rows);
        g_string_append(line, "]}");
        g_assert_cmpint(ald_answer_parse(line->str, line->len, &answer), ==, 0);
        g_assert_cmpint(answer->kind, ==, ALD_KIND_DEVICE_LIST);
        g_assert_cmpuint(ald_record_as(answer, DEVICE_LIST, AldDeviceList)->devices.n, ==, n);
        for (unsigned i = 0; i < n; i++)
                g_ptr_array_add(devices, ald_opencl_target_of_list(answer, i));
        ald_devices_match(devices, cards ?: none);
        return devices;
}

/* Their ids, with blanks between. */
static char *ids_of(const char *rows, const GPtrArray *cards)
{
        g_autoptr(GPtrArray) devices = list_of(rows, cards);
        GString *ids = g_string_new(NULL);

        for (guint i = 0; i < devices->len; i++) {
                const AldOpenclTarget *device = devices->pdata[i];

                g_string_append_printf(ids, "%s%s", i > 0 ? " " : "", device->listed.id);
        }
        return g_string_free(ids, FALSE);
}

static void assert_ids(const char *rows, const GPtrArray *cards, const char *expected)
{
        g_autofree char *ids = ids_of(rows, cards);

        g_assert_cmpstr(ids, ==, expected);
}

static void test_addresses(void)
{
        assert_ids("{" POCL "},{" AMD "," ROCM ",\"Pci\":\"0000:03:00.0\"},{" AMD "," ROCM
                   ",\"Pci\":\"0000:01:00.0\"}",
                NULL, "0000:01:00.0 0000:03:00.0 cpu");
}

static void test_two_platforms(void)
{
        /* By address, by UUID, and the processor, of which there is one. */
        assert_ids("{" AMD "," CLOVER ",\"Pci\":\"0000:01:00.0\"},{" AMD "," ROCM
                   ",\"Pci\":\"0000:01:00.0\"}",
                NULL, "0000:01:00.0");
        assert_ids("{" AMD "," CLOVER ",\"Uuid\":\"u\",\"Pci\":\"0000:01:00.0\"},{" AMD "," ROCM
                   ",\"Uuid\":\"u\"}",
                NULL, "0000:01:00.0");
        assert_ids("{" POCL "},{\"Platform\":\"Intel(R) OpenCL\",\"PlatformRank\":2,\"Type\":\"cpu\"}", NULL,
                "cpu");
}

static void test_parts(void)
{
        /* A driver that shows the parts of a device as well. */
        assert_ids("{" AMD "," ROCM ",\"Pci\":\"0000:01:00.0\"},{" AMD "," ROCM ",\"Pci\":\"0000:01:00.0\"}",
                NULL, "0000:01:00.0");
}

#define NVIDIA \
        "\"Vendor\":\"NVIDIA Corporation\",\"VendorId\":4318,\"Type\":\"gpu\",\"Platform\":\"NVIDIA CUDA\""
#define INSTANCE(name) "{" NVIDIA ",\"Name\":\"" name "\",\"Pci\":\"0000:01:00.0\"}"

/* The failure, or the name of the device; matched without cards. */
static void assert_chosen(const char *rows, const char *id, const char *expected)
{
        g_autoptr(GPtrArray) devices = list_of(rows, NULL);
        const AldOpenclTarget *device = NULL;
        AldFailure failure = {};

        if (ald_devices_choose(devices, id, &device, &failure) < 0)
                g_assert_cmpstr(failure.message, ==, expected);
        else
                g_assert_cmpstr(device->listed.name, ==, expected);
        ald_failure_clear(&failure);
}

static void test_instances(void)
{
        static const char one[] = INSTANCE("A100 MIG 1g.5gb"), card[] = INSTANCE("A100");
        static const char *const wrong[] = { "0000:01:00.0/", "0000:01:00.0/x", "0000:01:00.0/1",
                "0000:01:00.0/1-", "0000:01:00.0/1-x", "0000:01:00.0/1-0x", "0000:01:00.0/-1-0",
                "0000:01:00.0/1- 0", "0000:01:00.0/1-0/1-0", "0000:02:00.0/1-0", "A100/1-0" };

        assert_chosen(one, "0000:01:00.0", "A100 MIG 1g.5gb");
        assert_chosen(one, "0000:01:00.0/1-0", "A100 MIG 1g.5gb");
        for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autofree char *message = g_strdup_printf("OpenCL shows no device %s", wrong[i]);

                assert_chosen(one, wrong[i], message);
        }
        assert_chosen(card, "0000:01:00.0", "A100");
        assert_chosen(card, "0000:01:00.0/1-0", "OpenCL shows no device 0000:01:00.0/1-0");
        assert_chosen(INSTANCE("A100 MIG 1g.5gb") "," INSTANCE("A100 MIG 2g.10gb"), "0000:01:00.0/1-0",
                "0000:01:00.0/1-0 is ambiguous: OpenCL shows several MIG instances at 0000:01:00.0");
}

static void test_names(void)
{
        assert_ids("{\"Name\":\"cpu\"},{\"Name\":\"0000:01:00.0\"},{" AMD
                   ",\"Pci\":\"0000:01:00.0\"},{\"Name\":\"x\","
                   "\"Pci\":\"x\"}",
                NULL, "0000:01:00.0 0000:01:00.0#1 cpu#1 x");
        g_assert_true(ald_opencl_target_is_address("0010:c1:1f.7"));
        g_assert_true(ald_opencl_target_is_address("10000:c1:00.0"));
        g_assert_false(ald_opencl_target_is_address("0000:C1:00.0"));
        g_assert_false(ald_opencl_target_is_address("0000:c1:00"));
        g_assert_false(ald_opencl_target_is_address("0000:c1:00.0 "));
        g_assert_false(ald_opencl_target_is_address(""));
}

static void test_cards(void)
{
        g_autoptr(GPtrArray) cards = ald_cards_new();

        ald_cards_add(cards, "0000:00:02.0", 0x8086);
        ald_cards_add(cards, "0000:01:00.0", 0x1002);
        /* The only one of its vendor; a second view of it; then two that may be either. */
        assert_ids("{" AMD "," ROCM ",\"Name\":\"x\"}", cards, "0000:01:00.0");
        assert_ids("{" AMD "," CLOVER ",\"Name\":\"x\"},{" AMD "," ROCM ",\"Pci\":\"0000:01:00.0\"}", cards,
                "0000:01:00.0");
        /* The preferred view reports no address. */
        assert_ids("{" AMD "," ROCM ",\"Name\":\"x\"},{" AMD "," CLOVER ",\"Pci\":\"0000:01:00.0\"}", cards,
                "0000:01:00.0");
        ald_cards_add(cards, "0000:02:00.0", 0x1002);
        assert_ids("{" AMD "," ROCM ",\"Name\":\"x\"},{" AMD "," ROCM ",\"Name\":\"x\"}", cards, "x x#2");
}

static void test_sysfs(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autoptr(GPtrArray) cards = NULL;
        const AldCard *card;

        fake_root_write(root, "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
        fake_root_write(root, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
        fake_root_write(root, "sys/bus/pci/devices/0000:00:1f.0/class", "0x060100\n");
        fake_root_mkdir(root, "sys/devices/platform/soc/soc:gpu");
        fake_root_link(root, "sys/devices/platform/soc/soc:gpu/subsystem", "../../../../bus/platform");
        fake_root_mkdir(root, "sys/class/drm/renderD128");
        fake_root_link(root, "sys/class/drm/renderD128/device", "../../../devices/platform/soc/soc:gpu");
        cards = ald_cards_read(root->dir);
        g_assert_cmpuint(cards->len, ==, 2);
        card = cards->pdata[0];
        g_assert_cmpstr(card->id, ==, "0000:01:00.0");
        g_assert_cmpuint(card->vendor, ==, 0x10de);
        card = cards->pdata[1];
        g_assert_cmpstr(card->id, ==, "soc:gpu");
        g_assert_cmpuint(card->vendor, ==, 0);
}

static AldRecord *measured(const char *message)
{
        g_autofree char *line = g_strdup_printf("ComputeMeasure %s", message);
        AldRecord *record = NULL;

        g_assert_cmpint(ald_answer_parse(line, strlen(line), &record), ==, 0);
        return record;
}

static void test_text(void)
{
        static const AldOpenclTarget device = {
                .listed = { .id = "cpu", .name = "N", .platform = "P", .driver_version = "3" }
        };
        g_auto(AldFigures) figures = {};
        g_autofree char *text = NULL;

        figures.answers[ALD_METRIC_READ] = measured("{\"Best\":47.6e9,\"Median\":4.71e10,\"Interval\":0.02,"
                                                    "\"Method\":\"plain\",\"Flags\":[\"unstable\"]}");
        figures.answers[ALD_METRIC_TO_HOST] = measured(
                "{\"Best\":25.2e9,\"Median\":2.51e10,\"Interval\":0.001,\"Method\":\"pinned-buffer\"}");
        (void) ald_fail(&figures.failures[ALD_METRIC_COPY], ALD_FAILURE_CRASHED, "it fell");
        text = ald_compute_to_text(&device, &figures);
        g_assert_cmpstr(text, ==,
                "cpu  N, P 3\n"
                "  Memory read     47.6 GB/s ±2 % (median 47.1 GB/s), by plain; unstable\n"
                "  Memory copy     crashed: it fell\n"
                "  Device to host  25.2 GB/s ±0.1 % (median 25.1 GB/s), by pinned-buffer\n"
                "  unstable: the rate did not become steady; more --seconds-max may help\n");
}

static void test_json(void)
{
        static const AldOpenclTarget device = { .listed = {
                                                        .id = "cpu", .name = "N", .driver_version = "3" } };
        g_autoptr(AldComputeReport) report = ald_compute_report_new();
        g_auto(AldFigures) figures = { .measured = 7, .suspect = true };
        g_autofree char *text = NULL;

        figures.answers[ALD_METRIC_GEMM] = measured(
                "{\"Best\":5e11,\"Median\":4e11,\"Interval\":0.02,\"Method\":\"m\",\"Precision\":\"fp16\","
                "\"Accumulator\":\"fp32\",\"Fp16Hardware\":true,\"ThrottleReasons\":[\"heat\"],"
                "\"RefusedMethods\":[\"x\"]}");
        figures.answers[ALD_METRIC_PEAK] = measured(
                "{\"Best\":6e11,\"Median\":6e11,\"Interval\":0,\"Method\":\"p\",\"Precision\":\"fp16\","
                "\"Accumulator\":\"fp32\",\"PowerLimitMicroWatts\":450000000}");
        figures.answers[ALD_METRIC_READ] = measured(
                "{\"Best\":0.5,\"Median\":2.75,\"Interval\":0,\"Method\":\"plain\",\"ClockHz\":9,"
                "\"Theoretical\":1e12,"
                "\"ThrottleReasons\":[\"heat\"],"
                "\"Flags\":[\"unstable\"]}");
        figures.answers[ALD_METRIC_TO_DEVICE] = measured(
                "{\"Best\":25.5e9,\"Median\":25.25e9,\"Interval\":0.25,\"Method\":\"pinned-buffer\"}");
        figures.answers[ALD_METRIC_TO_HOST] = measured(
                "{\"Best\":20.5e9,\"Median\":20.25e9,\"Interval\":0.5,\"Method\":\"pinned-buffer\"}");
        (void) ald_fail(&figures.failures[ALD_METRIC_COPY], ALD_FAILURE_CRASHED, "it fell");
        ald_compute_report_add(report, &device, &figures);
        ald_figures_clear(&figures);
        text = ald_compute_report_to_json(report);
        g_assert_cmpstr(text, ==,
                "{\"Devices\":[{\"Id\":\"cpu\",\"Name\":\"N\",\"DriverVersion\":\"3\",\"GemmTflops\":0.5,"
                "\"GemmMedianTflops\":0.4,\"GemmInterval\":2.0,\"Precision\":\"fp16\",\"Accumulator\":"
                "\"fp32\","
                "\"Method\":\"m\",\"TflopsFp16\":0.5,\"RefusedMethods\":[\"x\"],"
                "\"PeakTflops\":0.6,\"PeakMedianTflops\":0.6,\"PeakInterval\":0.0,\"PeakPrecision\":\"fp16\","
                "\"PeakAccumulator\":\"fp32\",\"PeakMethod\":\"p\","
                "\"MemoryBandwidthMedianBytesPerSecond\":2,\"MemoryBandwidthInterval\":0.0,"
                "\"MemoryBandwidthTheoreticalBytesPerSecond\":1000000000000,"
                "\"MemoryBandwidthMethod\":\"plain\",\"HostToDeviceBytesPerSecond\":25500000000,"
                "\"HostToDeviceMedianBytesPerSecond\":25250000000,\"HostToDeviceInterval\":25.0,"
                "\"DeviceToHostBytesPerSecond\":20500000000,\"DeviceToHostMedianBytesPerSecond\":"
                "20250000000,\"DeviceToHostInterval\":50.0,\"ClockHz\":9,\"PowerLimitMicroWatts\":450000000,"
                "\"ThrottleReasons\":[\"heat\"],"
                "\"Flags\":[\"unstable\",\"suspect\"],\"MeasuredUSec\":7}],"
                "\"Errors\":[{\"Id\":\"cpu "
                "copy\",\"Device\":\"cpu\",\"Metric\":\"copy\",\"error\":\"crashed\","
                "\"message\":\"it fell\"}]}");
}

/* What a compiler says is long, and goes to terminals. */
static void test_failure(void)
{
        g_autofree char *log = g_strnfill(5000, 'x'), *line = NULL;
        AldFailure failure = {}, again = {};
        g_autoptr(AldRecord) answer = NULL, unknown = NULL;

        (void) ald_fail(&failure, ALD_FAILURE_BUILD_FAILED, "a\n\033[31mé%s", log);
        line = ald_answer_of_failure(&failure);
        g_assert_cmpint(ald_answer_parse(line, strlen(line), &answer), ==, 0);
        g_assert_cmpint(ald_answer_fail(answer, &again), <, 0);
        g_assert_cmpint(again.kind, ==, ALD_FAILURE_BUILD_FAILED);
        g_assert_true(g_str_has_prefix(again.message, "a  [31méxxx"));
        g_assert_cmpuint(strlen(again.message), >, 240);
        ald_failure_clear(&failure);
        ald_failure_clear(&again);

        g_assert_cmpint(ald_answer_parse("ProbeFailure {\"error\":\"new\"}", 28, &unknown), ==, 0);
        g_assert_cmpint(ald_answer_fail(unknown, &again), <, 0);
        g_assert_cmpint(again.kind, ==, ALD_FAILURE_CRASHED);
        ald_failure_clear(&again);
}

static void test_lines_that_are_none(void)
{
        static const char *const lines[] = { "", "ComputeStep", "ComputeStep ", "{\"Phase\":\"build\"}",
                "ComputeStep {}", "ComputeStep {\"Phase\":\"rest\"}", "ComputeResult {}", "NodeAlive {}",
                "ComputeMeasure {\"Best\":0,\"Median\":1,\"Interval\":0,\"Method\":\"m\"}",
                "ComputeMeasure {\"Best\":1,\"Median\":1,\"Interval\":0}",
                "ComputeMeasure {\"Best\":1,\"Median\":1,\"Interval\":-1,\"Method\":\"m\"}",
                "ProbeFailure {}" };
        AldRecord *answer = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                g_test_message("%s", lines[i]);
                g_assert_cmpint(ald_answer_parse(lines[i], strlen(lines[i]), &answer), ==, -EBADMSG);
        }
        g_assert_null(answer);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute/devices/addresses", test_addresses);
        g_test_add_func("/compute/devices/two-platforms", test_two_platforms);
        g_test_add_func("/compute/devices/parts", test_parts);
        g_test_add_func("/compute/devices/instances", test_instances);
        g_test_add_func("/compute/devices/names", test_names);
        g_test_add_func("/compute/devices/cards", test_cards);
        g_test_add_func("/compute/devices/sysfs", test_sysfs);
        g_test_add_func("/compute/devices/text", test_text);
        g_test_add_func("/compute/devices/json", test_json);
        g_test_add_func("/compute/devices/failure", test_failure);
        g_test_add_func("/compute/devices/lines-that-are-none", test_lines_that_are_none);
        return g_test_run();
}
