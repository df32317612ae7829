/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/json.h"
#include "state/results/compute-result.h"

#define TTL UINT64_C(1000)

/* A record written as JSON, with ' for ". */
static AldRecord *make(AldKind kind, const char *text)
{
        g_autofree char *json_text = g_strdelimit(g_strdup(text), "'", '"');
        json_t *json = NULL;
        AldRecord *record = NULL;

        g_assert_cmpint(ald_json_load(json_text, strlen(json_text), 4096, &json, NULL), ==, 0);
        g_assert_cmpint(ald_record_from_json(kind, json, &record, NULL), ==, 0);
        json_decref(json);
        return record;
}

/* Takes the reference of what there is. */
static AldRecord *merge(AldRecord *before, const char *rows)
{
        g_autofree char *text = g_strdup_printf("{'Devices': [%s]}", rows);
        g_autoptr(AldRecord) told = make(ALD_KIND_COMPUTE, text);
        AldRecord *merged = NULL;

        told->updated_usec = 77;
        g_assert_cmpint(ald_compute_result_merge(before, told, &merged), ==, 0);
        g_assert_cmpuint(merged->updated_usec, ==, 77);
        g_clear_pointer(&before, ald_record_unref);
        return merged;
}

static void check(const AldRecord *record, const char *rows)
{
        g_autofree char *text = g_strdup_printf("{'Devices': [%s]}", rows);
        g_autoptr(AldRecord) expected = make(ALD_KIND_COMPUTE, text);

        if (ald_record_compare(record, expected) != 0) {
                json_t *json = ald_record_to_json(record);
                g_autofree char *found = json_dumps(json, 0);

                g_error("%s\nis not\n%s", found, rows);
        }
}

#define GOOD                                                                                       \
        "{'Id': 'a', 'GemmTflops': 10.5, 'Precision': 'fp16', 'TflopsFp16': 10.5, 'Method': 'm', " \
        "'MemoryBandwidthBytesPerSecond': 5, 'CopyBandwidthBytesPerSecond': 4, 'PeakTflops': 20, " \
        "'DriverVersion': '1', 'Flags': ['unstable'], 'MeasuredUSec': 100%s}"

static char *good(const char *more)
{
        return g_strdup_printf(GOOD, more);
}

static void test_a_failure_keeps_the_figures(void)
{
        g_autofree char *fresh = good(""), *once = NULL, *twice = NULL;
        g_autoptr(AldRecord) row = merge(NULL, fresh);

        check(row, fresh);
        row = merge(row, "{'Id': 'a', 'Failure': 'busy', 'FailedUSec': 200}");
        once = good(", 'Failure': 'busy', 'FailedUSec': 200, 'Failures': 1");
        check(row, once);
        /* Said again. */
        row = merge(row, "{'Id': 'a', 'Failure': 'busy', 'FailedUSec': 200}");
        check(row, once);
        row = merge(row, "{'Id': 'a', 'Failure': 'crashed', 'FailedUSec': 300}");
        twice = good(", 'Failure': 'crashed', 'FailedUSec': 300, 'Failures': 2");
        check(row, twice);
        row = merge(row, fresh);
        check(row, fresh);
}

static void test_what_failed_in_part(void)
{
        g_autofree char *fresh = good("");
        g_autoptr(AldRecord) row = merge(NULL, fresh);

        /* The product stays whole, with the precision that it had. */
        row = merge(row,
                "{'Id': 'a', 'MemoryBandwidthBytesPerSecond': 6, 'CopyBandwidthBytesPerSecond': 3, "
                "'PeakTflops': 21, 'MeasuredUSec': 200, 'Failure': 'gemm: crashed', 'FailedUSec': 200}");
        check(row, "{'Id': 'a', 'GemmTflops': 10.5, 'Precision': 'fp16', 'TflopsFp16': 10.5, 'Method': 'm', "
                   "'MemoryBandwidthBytesPerSecond': 6, 'CopyBandwidthBytesPerSecond': 3, 'PeakTflops': 21, "
                   "'MeasuredUSec': 200, 'Failure': 'gemm: crashed', 'FailedUSec': 200, 'Failures': 1}");
        /* No TflopsFp16 of another precision comes back, and each such attempt counts. */
        row = merge(row, "{'Id': 'a', 'GemmTflops': 2.5, 'Precision': 'fp32', 'MeasuredUSec': 300, "
                         "'Failure': 'read: timeout', 'FailedUSec': 300}");
        check(row, "{'Id': 'a', 'GemmTflops': 2.5, 'Precision': 'fp32', 'MemoryBandwidthBytesPerSecond': 6, "
                   "'CopyBandwidthBytesPerSecond': 3, 'PeakTflops': 21, 'MeasuredUSec': 300, "
                   "'Failure': 'read: timeout', 'FailedUSec': 300, 'Failures': 2}");
}

/* A transfer that failed keeps its figures, and only those. */
static void test_transfers_that_failed(void)
{
        g_autoptr(AldRecord) row = merge(NULL,
                "{'Id': 'a', 'HostToDeviceBytesPerSecond': 50, 'HostToDeviceMedianBytesPerSecond': 49, "
                "'HostToDeviceInterval': 1, 'DeviceToHostBytesPerSecond': 40, "
                "'DeviceToHostMedianBytesPerSecond': 39, 'DeviceToHostInterval': 2, 'MeasuredUSec': 100}");

        row = merge(row,
                "{'Id': 'a', 'PeakTflops': 2, 'DeviceToHostBytesPerSecond': 30, 'MeasuredUSec': 200, "
                "'Failure': 'to-device: x', 'FailedUSec': 200}");
        check(row, "{'Id': 'a', 'PeakTflops': 2, 'HostToDeviceBytesPerSecond': 50, "
                   "'HostToDeviceMedianBytesPerSecond': 49, 'HostToDeviceInterval': 1, "
                   "'DeviceToHostBytesPerSecond': 30, 'MeasuredUSec': 200, 'Failure': 'to-device: x', "
                   "'FailedUSec': 200, 'Failures': 1}");
        row = merge(row, "{'Id': 'a', 'HostToDeviceBytesPerSecond': 20, 'MeasuredUSec': 300, "
                         "'Failure': 'to-host: x', 'FailedUSec': 300}");
        check(row, "{'Id': 'a', 'PeakTflops': 2, 'HostToDeviceBytesPerSecond': 20, "
                   "'DeviceToHostBytesPerSecond': 30, 'MeasuredUSec': 300, 'Failure': 'to-host: x', "
                   "'FailedUSec': 300, 'Failures': 2}");
        /* An older version measures neither. */
        row = merge(row, "{'Id': 'a', 'PeakTflops': 3, 'MeasuredUSec': 400}");
        check(row, "{'Id': 'a', 'PeakTflops': 3, 'MeasuredUSec': 400}");
}

static void test_one_device_leaves_the_others(void)
{
        g_autoptr(AldRecord)
                row = merge(NULL, "{'Id': 'a', 'MeasuredUSec': 1}, {'Id': 'b', 'MeasuredUSec': 2}");

        row = merge(row, "{'Id': 'b', 'MeasuredUSec': 3}, {'Id': 'c', 'MeasuredUSec': 4}");
        check(row, "{'Id': 'a', 'MeasuredUSec': 1}, {'Id': 'b', 'MeasuredUSec': 3}, "
                   "{'Id': 'c', 'MeasuredUSec': 4}");
        row = merge(row, "");
        check(row, "{'Id': 'a', 'MeasuredUSec': 1}, {'Id': 'b', 'MeasuredUSec': 3}, "
                   "{'Id': 'c', 'MeasuredUSec': 4}");
}

static void test_who_waits_keeps_the_figures(void)
{
        g_autoptr(AldRecord) row = merge(NULL, "{'Id': 'a', 'WaitingSinceUSec': 5, 'WaitingReason': 'r'}");

        check(row, "{'Id': 'a', 'WaitingSinceUSec': 5, 'WaitingReason': 'r'}");
        row = merge(row, "{'Id': 'a', 'PeakTflops': 1, 'MeasuredUSec': 10}");
        check(row, "{'Id': 'a', 'PeakTflops': 1, 'MeasuredUSec': 10}");
        row = merge(row, "{'Id': 'a', 'WaitingSinceUSec': 20, 'WaitingReason': 's'}");
        check(row, "{'Id': 'a', 'PeakTflops': 1, 'MeasuredUSec': 10, 'WaitingSinceUSec': 20, "
                   "'WaitingReason': 's'}");
        row = merge(row, "{'Id': 'a', 'Failure': 'busy: x', 'FailedUSec': 30, 'WaitingSinceUSec': 20, "
                         "'WaitingReason': 'busy'}");
        check(row, "{'Id': 'a', 'PeakTflops': 1, 'MeasuredUSec': 10, 'WaitingSinceUSec': 20, "
                   "'WaitingReason': 'busy', 'Failure': 'busy: x', 'FailedUSec': 30, 'Failures': 1}");
        row = merge(row, "{'Id': 'a', 'PeakTflops': 2, 'MeasuredUSec': 40}");
        check(row, "{'Id': 'a', 'PeakTflops': 2, 'MeasuredUSec': 40}");
}

/* What somebody measures beside other work is no news of a device that was measured without. */
static void test_busy_figures_replace_no_others(void)
{
        g_autoptr(AldRecord)
                row = merge(NULL, "{'Id': 'a', 'PeakTflops': 1, 'Flags': ['busy'], 'MeasuredUSec': 10}");

        row = merge(row, "{'Id': 'a', 'PeakTflops': 2, 'Flags': ['busy'], 'MeasuredUSec': 20}");
        check(row, "{'Id': 'a', 'PeakTflops': 2, 'Flags': ['busy'], 'MeasuredUSec': 20}");
        /* What one half of a measurement lacks is not taken from them either. */
        row = merge(
                row, "{'Id': 'a', 'GemmTflops': 3, 'MeasuredUSec': 30, 'Failure': 'x', 'FailedUSec': 30}");
        check(row, "{'Id': 'a', 'GemmTflops': 3, 'MeasuredUSec': 30, 'Failure': 'x', 'FailedUSec': 30, "
                   "'Failures': 1}");
        row = merge(row, "{'Id': 'a', 'PeakTflops': 4, 'MeasuredUSec': 40}");
        row = merge(row, "{'Id': 'a', 'PeakTflops': 2, 'Flags': ['busy', 'unstable'], 'MeasuredUSec': 50}");
        check(row, "{'Id': 'a', 'PeakTflops': 4, 'MeasuredUSec': 40}");
}

static AldRecord *prune(AldRecord *record, const char *backends, uint64_t now)
{
        g_autoptr(AldRecord) known = backends ? make(ALD_KIND_BACKENDS, backends) : NULL;

        return ald_compute_result_prune(record, ald_record_as(known, BACKENDS, AldBackends), TTL, now);
}

static void test_devices_that_are_gone(void)
{
        static const char only_a[] = "{'Devices': [{'Id': 'a'}]}";
        g_autoptr(AldRecord) record = merge(NULL,
                "{'Id': 'a', 'MeasuredUSec': 1}, {'Id': 'b', 'MeasuredUSec': 50, 'FailedUSec': 500}, "
                "{'Id': 'c', 'MeasuredUSec': 90000}");
        g_autoptr(AldRecord) some = NULL, none = NULL;

        g_assert_null(prune(NULL, only_a, 5000));
        g_assert_null(prune(record, NULL, 5000));
        g_assert_null(prune(record, "{'Devices': [{'Id': 'a'}, {'Id': 'b'}, {'Id': 'c'}]}", 5000));
        /* That of the future is no younger than any. */
        some = prune(record, only_a, 500 + TTL - 1);
        check(some, "{'Id': 'a', 'MeasuredUSec': 1}, {'Id': 'b', 'MeasuredUSec': 50, 'FailedUSec': 500, "
                    "'Failures': 1}");
        none = prune(record, "{'Devices': []}", 500 + TTL);
        check(none, "");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute-result/failure", test_a_failure_keeps_the_figures);
        g_test_add_func("/compute-result/part", test_what_failed_in_part);
        g_test_add_func("/compute-result/transfers", test_transfers_that_failed);
        g_test_add_func("/compute-result/others", test_one_device_leaves_the_others);
        g_test_add_func("/compute-result/waits", test_who_waits_keeps_the_figures);
        g_test_add_func("/compute-result/busy", test_busy_figures_replace_no_others);
        g_test_add_func("/compute-result/gone", test_devices_that_are_gone);
        return g_test_run();
}
