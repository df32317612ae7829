/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "state/totals.h"
#include "tests/unit/state-maker.h"

#define GPU "{'Id': '0000:01:00.0', 'Class': 'gpu', 'Unified': false, 'MemoryTotalBytes': 80}"
#define SECOND_GPU "{'Id': '0000:02:00.0', 'Class': 'gpu', 'Unified': false, 'MemoryTotalBytes': 20}"
#define UNIFIED "{'Id': 'soc', 'Class': 'gpu', 'Unified': true, 'MemoryTotalBytes': 128}"
#define NPU "{'Id': 'npu', 'Class': 'accelerator', 'Unified': false, 'MemoryTotalBytes': 1}"
#define CPU "{'Id': 'cpu', 'Class': 'cpu', 'Unified': false, 'MemoryTotalBytes': 64}"
#define UNTOLD "{'Id': 'x', 'MemoryTotalBytes': 7, 'Unified': false}"

static AldTotals compute(AldStore *store)
{
        AldTotals totals;

        ald_totals_compute(store, &totals);
        return totals;
}

static void check_bandwidth(const AldTotals *totals, uint64_t bandwidth, const char *of)
{
        g_assert_cmpuint(totals->memory_bandwidth_bytes_per_second, ==, bandwidth);
        g_assert_cmpstr(totals->memory_bandwidth_of, ==, of);
}

static void test_nothing_known(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals = compute(store);

        g_assert_true(isnan(totals.tflops_fp16));
        g_assert_cmpuint(totals.tflops_fp16_left_out, ==, 0);
        check_bandwidth(&totals, ALD_ABSENT_UINT64, "");
        g_assert_cmpuint(totals.memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(totals.device_memory_total_bytes, ==, ALD_ABSENT_UINT64);
        /* Records that tell nothing add nothing. */
        state_put(store, 2, ALD_KIND_MEMORY, "{}");
        state_put(store, 2, ALD_KIND_BACKENDS, "{}");
        state_put(store, 2, ALD_KIND_COMPUTE, "{}");
        totals = compute(store);
        g_assert_true(isnan(totals.tflops_fp16));
        g_assert_cmpuint(totals.memory_total_bytes, ==, ALD_ABSENT_UINT64);
}

static void test_host_memory(void)
{
        g_autoptr(AldStore) store = state_make();

        state_put(store, 1, ALD_KIND_MEMORY, "{'TotalBytes': 5}");
        state_put(store, 2, ALD_KIND_MEMORY, "{'TotalBytes': 7, 'AvailableBytes': 3}");
        state_put(store, 3, ALD_KIND_MEMORY, "{'AvailableBytes': 100}");
        g_assert_cmpuint(compute(store).memory_total_bytes, ==, 12);
}

static void test_sums_end_at_the_limit(void)
{
        g_autoptr(AldStore) store = state_make();

        for (unsigned node = 1; node < 4000; node++)
                state_put(store, node, ALD_KIND_MEMORY, "{'TotalBytes': 9007199254740992}");
        g_assert_cmpuint(compute(store).memory_total_bytes, ==, (uint64_t) ALD_INTEGER_MAX);
}

static void test_device_memory_is_that_of_discrete_devices(void)
{
        g_autoptr(AldStore) store = state_make();

        state_put(store, 1, ALD_KIND_BACKENDS, "{'Devices': [" UNIFIED ", " CPU ", " UNTOLD "]}");
        g_assert_cmpuint(compute(store).device_memory_total_bytes, ==, ALD_ABSENT_UINT64);
        state_put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" GPU ", " SECOND_GPU ", " NPU "]}");
        g_assert_cmpuint(compute(store).device_memory_total_bytes, ==, 101);
        state_put(store, 3, ALD_KIND_BACKENDS,
                "{'Devices': [{'Id': 'a', 'Class': 'gpu', 'MemoryTotalBytes': 5}]}");
        g_assert_cmpuint(compute(store).device_memory_total_bytes, ==, 101);
}

static void test_tflops_and_who_is_left_out(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals;

        state_put(store, 1, ALD_KIND_BACKENDS, "{'Devices': [" GPU ", " SECOND_GPU ", " CPU "]}");
        totals = compute(store);
        g_assert_true(isnan(totals.tflops_fp16));
        g_assert_cmpuint(totals.tflops_fp16_left_out, ==, 3);

        state_put(store, 1, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': '0000:01:00.0', 'TflopsFp16': 20.5}, {'Id': '0000:02:00.0', "
                "'GemmTflops': 5}]}");
        totals = compute(store);
        g_assert_cmpfloat(totals.tflops_fp16, ==, 20.5);
        g_assert_cmpuint(totals.tflops_fp16_left_out, ==, 2);

        /* A processor that has the figure counts; a device that Backends does not know yet, too. */
        state_put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" CPU "]}");
        state_put(store, 2, ALD_KIND_COMPUTE, "{'Devices': [{'Id': 'cpu', 'TflopsFp16': 1.25}]}");
        state_put(store, 3, ALD_KIND_COMPUTE, "{'Devices': [{'Id': 'a', 'TflopsFp16': 0.25}, {'Id': 'b'}]}");
        totals = compute(store);
        g_assert_cmpfloat(totals.tflops_fp16, ==, 22);
        g_assert_cmpuint(totals.tflops_fp16_left_out, ==, 3);

        /* One that was taken out of its node does not, neither way. */
        state_put(store, 3, ALD_KIND_BACKENDS, "{'Devices': [" CPU "]}");
        totals = compute(store);
        g_assert_cmpfloat(totals.tflops_fp16, ==, 21.75);
        g_assert_cmpuint(totals.tflops_fp16_left_out, ==, 3);
}

static void test_bandwidth_of_gpus_before_that_of_processors(void)
{
        g_autoptr(AldStore) store = state_make();
        AldTotals totals;

        state_put(store, 1, ALD_KIND_BACKENDS, "{'Devices': [" CPU "]}");
        state_put(store, 2, ALD_KIND_BACKENDS, "{'Devices': [" CPU "]}");
        totals = compute(store);
        check_bandwidth(&totals, ALD_ABSENT_UINT64, "");

        state_put(store, 1, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': 'cpu', 'MemoryBandwidthBytesPerSecond': 30}]}");
        state_put(store, 2, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': 'cpu', 'MemoryBandwidthBytesPerSecond': 40}]}");
        totals = compute(store);
        check_bandwidth(&totals, 70, "cpu");

        /* One GPU anywhere, and processors no longer count: not even while it is not measured. */
        state_put(store, 3, ALD_KIND_BACKENDS, "{'Devices': [" GPU ", " CPU "]}");
        totals = compute(store);
        check_bandwidth(&totals, ALD_ABSENT_UINT64, "");
        state_put(store, 3, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': '0000:01:00.0', 'MemoryBandwidthBytesPerSecond': 900},"
                " {'Id': 'cpu', 'MemoryBandwidthBytesPerSecond': 50},"
                " {'Id': 'untold', 'MemoryBandwidthBytesPerSecond': 5}]}");
        totals = compute(store);
        check_bandwidth(&totals, 900, "gpu");

        state_put(store, 4, ALD_KIND_BACKENDS, "{'Devices': [" NPU ", " UNIFIED "]}");
        state_put(store, 4, ALD_KIND_COMPUTE,
                "{'Devices': [{'Id': 'npu', 'MemoryBandwidthBytesPerSecond': 10},"
                " {'Id': 'soc', 'MemoryBandwidthBytesPerSecond': 200}]}");
        totals = compute(store);
        check_bandwidth(&totals, 1110, "gpu");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/totals/nothing-known", test_nothing_known);
        g_test_add_func("/totals/host-memory", test_host_memory);
        g_test_add_func("/totals/sums-end-at-the-limit", test_sums_end_at_the_limit);
        g_test_add_func("/totals/device-memory-is-that-of-discrete-devices",
                test_device_memory_is_that_of_discrete_devices);
        g_test_add_func("/totals/tflops-and-who-is-left-out", test_tflops_and_who_is_left_out);
        g_test_add_func("/totals/bandwidth-of-gpus-before-that-of-processors",
                test_bandwidth_of_gpus_before_that_of_processors);
        return g_test_run();
}
