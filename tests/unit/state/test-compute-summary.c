/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The figures of a node by its devices. */
#include <glib.h>

#include "state/compute/compute-summary.h"
#include "tests/unit/state-maker.h"

#define NONE (-1) /* absent */

typedef struct Case {
        const char *backends, *compute;
        AldComputeOf of;
        double tflops, bandwidth;
        uint64_t tflops_left_out, bandwidth_left_out;
} Case;

#define GPU "{'Id': 'gpu', 'Class': 'gpu', 'OpenClPlatform': 'x'}"
#define NPU "{'Id': 'npu', 'Class': 'accelerator', 'OpenClPlatform': 'x'}"
#define CPU "{'Id': 'cpu', 'Class': 'cpu', 'OpenClPlatform': 'x'}"
#define UNTOLD "{'Id': 'x', 'OpenClPlatform': 'x'}"
#define CPU_FIGURES "{'Id': 'cpu', 'TflopsFp16': 1.5, 'MemoryBandwidthBytesPerSecond': 30}"

static const Case cases[] = {
        { "{'Devices': []}", "{'Devices': []}", ALD_COMPUTE_OF_NONE, NONE, NONE, 0, 0 },
        { "{'Devices': [" GPU ", " CPU "]}", "{}", ALD_COMPUTE_OF_NONE, NONE, NONE, 2, 2 },
        /* A processor counts while no other device was measured, even one that failed. */
        { "{'Devices': [" CPU "]}", "{'Devices': [" CPU_FIGURES "]}", ALD_COMPUTE_OF_PROCESSORS, 1.5, 30, 0,
                0 },
        { "{'Devices': [" GPU ", " CPU "]}",
                "{'Devices': [{'Id': 'gpu', 'Failure': 'busy', 'FailedUSec': 1}, " CPU_FIGURES "]}",
                ALD_COMPUTE_OF_PROCESSORS, 1.5, 30, 1, 1 },
        { "{'Devices': [" GPU ", " CPU "]}",
                "{'Devices': [{'Id': 'gpu', 'TflopsFp16': 20.5, 'GemmTflops': 20.5, "
                "'MemoryBandwidthBytesPerSecond': 900}, " CPU_FIGURES "]}",
                ALD_COMPUTE_OF_GPUS, 20.5, 900, 0, 0 },
        /* One measured GPU, and the others are what is left out. */
        { "{'Devices': [" GPU ", " NPU ", " CPU "]}",
                "{'Devices': [{'Id': 'npu', 'MemoryBandwidthBytesPerSecond': 9}, " CPU_FIGURES "]}",
                ALD_COMPUTE_OF_GPUS, NONE, 9, 2, 1 },
        /* Without FP16 in hardware there is nothing to be left out of; the processors do not step in. */
        { "{'Devices': [" GPU ", " CPU "]}",
                "{'Devices': [{'Id': 'gpu', 'GemmTflops': 5.5, 'Precision': 'fp32'}, " CPU_FIGURES "]}",
                ALD_COMPUTE_OF_GPUS, NONE, NONE, 0, 1 },
        { "{'Devices': [" CPU "]}", "{'Devices': [{'Id': 'cpu', 'GemmTflops': 0.5, 'Precision': 'fp32'}]}",
                ALD_COMPUTE_OF_PROCESSORS, NONE, NONE, 0, 1 },
        /* What was measured of a card before it was split counts no more, but its instances do. */
        { "{'Devices': [" GPU ", {'Id': 'gpu/1-0', 'Class': 'gpu', 'Parent': 'gpu', 'OpenClPlatform': 'x'}]}",
                "{'Devices': [{'Id': 'gpu', 'TflopsFp16': 20.5, 'MemoryBandwidthBytesPerSecond': 900},"
                " {'Id': 'gpu/1-0', 'TflopsFp16': 2.5, 'MemoryBandwidthBytesPerSecond': 90}]}",
                ALD_COMPUTE_OF_GPUS, 2.5, 90, 0, 0 },
        { "{'Devices': [" GPU ", {'Id': 'gpu/1-0', 'Class': 'gpu', 'Parent': 'gpu', 'OpenClPlatform': 'x'}]}",
                "{'Devices': [{'Id': 'gpu', 'TflopsFp16': 20.5, 'MemoryBandwidthBytesPerSecond': 900}]}",
                ALD_COMPUTE_OF_NONE, NONE, NONE, 1, 1 },
        /* What is not known to be of a class, or not known to be there at all, is neither. */
        { "{'Devices': [" UNTOLD ", " CPU "]}",
                "{'Devices': [{'Id': 'x', 'TflopsFp16': 7, 'MemoryBandwidthBytesPerSecond': 7},"
                " {'Id': 'gone', 'TflopsFp16': 7, 'MemoryBandwidthBytesPerSecond': 7}, " CPU_FIGURES "]}",
                ALD_COMPUTE_OF_PROCESSORS, 1.5, 30, 0, 0 },
};

static void check_number(double number, double expected)
{
        if (expected == NONE)
                g_assert_true(isnan(number));
        else
                g_assert_cmpfloat(number, ==, expected);
}

static uint64_t sum(const uint64_t *left_out)
{
        uint64_t all = 0;

        for (unsigned reason = 0; reason < ALD_LEFT_OUT_N; reason++)
                all += left_out[reason];
        return all;
}

static AldComputeSummary summarize(const Case *c)
{
        g_autoptr(AldStore) store = state_make();
        AldNode *node = ald_store_local_node(store);
        AldComputeSummary summary;

        state_put(store, 1, ALD_KIND_BACKENDS, c->backends);
        state_put(store, 1, ALD_KIND_COMPUTE, c->compute);
        ald_compute_summary(ald_node_as(node, BACKENDS, AldBackends), ald_node_as(node, COMPUTE, AldCompute),
                NULL, &summary);
        return summary;
}

static void test_devices_that_count(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldComputeSummary summary = summarize(&cases[i]);

                g_assert_cmpint(summary.of, ==, cases[i].of);
                check_number(summary.tflops_fp16, cases[i].tflops);
                g_assert_cmpuint(summary.memory_bandwidth_bytes_per_second, ==,
                        cases[i].bandwidth == NONE ? ALD_ABSENT_UINT64 : (uint64_t) cases[i].bandwidth);
                g_assert_cmpuint(sum(summary.tflops_fp16_left_out), ==, cases[i].tflops_left_out);
                g_assert_cmpuint(sum(summary.memory_bandwidth_left_out), ==, cases[i].bandwidth_left_out);
        }
}

/* Products in FP32 count only of devices without a figure of FP16, among those that count at all, and are in
 * no sum of FP16. */
static void test_fp32_is_apart(void)
{
        static const struct {
                const char *compute;
                double fp16, fp32;
                uint64_t devices;
        } of[] = {
                { "{'Devices': [{'Id': 'cpu', 'GemmTflops': 0.5, 'Precision': 'fp32'}]}", NONE, 0.5, 1 },
                { "{'Devices': [" CPU_FIGURES "]}", 1.5, NONE, 0 },
                { "{'Devices': [{'Id': 'cpu', 'GemmTflops': 1.5, 'Precision': 'fp16', 'TflopsFp16': 1.5}]}",
                        1.5, NONE, 0 },
                { "{'Devices': [{'Id': 'cpu', 'GemmTflops': 0.5, 'Precision': 'bf16'}]}", NONE, NONE, 0 },
                { "{'Devices': [{'Id': 'cpu', 'GemmTflops': -1.0, 'Precision': 'fp32'}]}", NONE, NONE, 0 },
                { "{'Devices': [{'Id': 'cpu', 'GemmTflops': 0.5, 'Precision': 'fp32'}, "
                  "{'Id': 'gpu', 'GemmTflops': 5.5, 'Precision': 'fp32'}]}",
                        NONE, 5.5, 1 },
                { "{'Devices': [{'Id': 'gpu', 'GemmTflops': 5.5, 'Precision': 'fp32'}, "
                  "{'Id': 'npu', 'GemmTflops': 9.0, 'Precision': 'fp16', 'TflopsFp16': 9.0}]}",
                        9, 5.5, 1 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(of); i++) {
                const Case c = { .backends = "{'Devices': [" GPU ", " NPU ", " CPU "]}",
                        .compute = of[i].compute };
                AldComputeSummary summary = summarize(&c);

                check_number(summary.tflops_fp16, of[i].fp16);
                check_number(summary.tflops_fp32, of[i].fp32);
                g_assert_cmpuint(summary.fp32_devices, ==, of[i].devices);
        }
}

/* A device that was measured counts in a sum, or is counted as left out of it. */
static void test_other_precision(void)
{
        static const Case c = { .backends = "{'Devices': [" GPU ", " NPU "]}",
                .compute = "{'Devices': [{'Id': 'gpu', 'GemmTflops': 5.5, 'Precision': 'bf16'}, "
                           "{'Id': 'npu', 'GemmTflops': 9.0, 'Precision': 'fp16', 'TflopsFp16': 9.0}]}" };
        AldComputeSummary summary = summarize(&c);

        check_number(summary.tflops_fp16, 9);
        check_number(summary.tflops_fp32, NONE);
        g_assert_cmpuint(sum(summary.tflops_fp16_left_out), ==, 1);
        g_assert_cmpuint(summary.tflops_fp16_left_out[ALD_LEFT_OUT_OTHER_PRECISION], ==, 1);
}

static void test_nothing_known(void)
{
        AldComputeSummary summary;

        ald_compute_summary(NULL, NULL, NULL, &summary);
        g_assert_cmpint(summary.of, ==, ALD_COMPUTE_OF_NONE);
        g_assert_true(isnan(summary.tflops_fp16));
        g_assert_cmpuint(sum(summary.tflops_fp16_left_out), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute-summary/devices-that-count", test_devices_that_count);
        g_test_add_func("/compute-summary/fp32-is-apart", test_fp32_is_apart);
        g_test_add_func("/compute-summary/other-precision", test_other_precision);
        g_test_add_func("/compute-summary/nothing-known", test_nothing_known);
        return g_test_run();
}
