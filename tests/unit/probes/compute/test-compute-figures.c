/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/compute/figures.h"

static const AldComputeMeasure peak = {
        .best = 1000,
        .method = "peak-mma",
        .precision = "fp16",
        .accumulator = "fp32",
};

static AldRecord *record_of(const AldComputeMeasure *measure)
{
        AldRecord *record = NULL;

        g_assert_cmpint(ald_record_new(ALD_KIND_COMPUTE_MEASURE, measure, &record), ==, 0);
        return record;
}

/* The flags of a product of this many operations a second, beside that peak. */
static unsigned checked_flags(
        const AldComputeMeasure *bound, const char *method, const char *precision, double rate)
{
        static const char *const flags[] = { "unstable", NULL };
        const AldComputeMeasure gemm = {
                .best = rate,
                .method = method,
                .precision = precision,
                .accumulator = "fp32",
                .flags = flags,
        };
        g_auto(AldFigures) figures = {};

        figures.answers[ALD_METRIC_GEMM] = record_of(&gemm);
        if (bound)
                figures.answers[ALD_METRIC_PEAK] = record_of(bound);
        ald_figures_check(&figures);
        return ald_figures_flags(&figures, ALD_METRIC_GEMM);
}

static void test_above_registers(void)
{
        g_assert_cmpuint(checked_flags(&peak, "nvidia-mma", "fp16", 900), ==, ALD_FLAG_UNSTABLE);
        g_assert_cmpuint(checked_flags(&peak, "nvidia-mma", "fp16", 1040), ==, ALD_FLAG_UNSTABLE);
        g_assert_cmpuint(
                checked_flags(&peak, "nvidia-mma", "fp16", 1060), ==, ALD_FLAG_UNSTABLE | ALD_FLAG_SUSPECT);
        g_assert_cmpuint(checked_flags(NULL, "nvidia-mma", "fp16", 1060), ==, ALD_FLAG_UNSTABLE);
}

static void test_of_another_kind(void)
{
        AldComputeMeasure hopper = peak;

        g_assert_cmpuint(checked_flags(&peak, "tiled-fp32", "fp32", 2000), ==, ALD_FLAG_UNSTABLE);
        g_assert_cmpuint(checked_flags(&peak, "nvidia-wgmma", "fp16", 2000), ==, ALD_FLAG_UNSTABLE);
        hopper.method = "peak-wgmma";
        g_assert_cmpuint(checked_flags(&hopper, "nvidia-wgmma", "fp16", 2000), ==,
                ALD_FLAG_UNSTABLE | ALD_FLAG_SUSPECT);
}

static void test_beside_a_doubtful_peak(void)
{
        static const char *const doubts[][2] = { { "busy", NULL }, { "unstable", NULL } };

        for (size_t i = 0; i < G_N_ELEMENTS(doubts); i++) {
                AldComputeMeasure doubtful = peak;

                doubtful.flags = doubts[i];
                g_assert_cmpuint(checked_flags(&doubtful, "nvidia-mma", "fp16", 2000), ==, ALD_FLAG_UNSTABLE);
        }
}

/* No process is started for a metric that does not apply. */
static void check_transfers(const AldOpenclTarget *device)
{
        static const AldMetric transfers[] = { ALD_METRIC_TO_DEVICE, ALD_METRIC_TO_HOST };
        const AldComputeOptions options = { .metrics = 1u << ALD_METRIC_TO_DEVICE |
                                                       1u << ALD_METRIC_TO_HOST };
        AldProgress progress = { .fd = -1 };
        g_auto(AldFigures) figures = {};

        ald_figures_measure(NULL, &options, device, &progress, &figures);
        g_assert_false(ald_figures_any(&figures));
        for (size_t i = 0; i < G_N_ELEMENTS(transfers); i++) {
                g_assert_false(ald_metric_applies(transfers[i], device));
                g_assert_cmpstr(ald_failure_name(&figures.failures[transfers[i]]), ==, "no-device-memory");
                g_assert_cmpstr(
                        figures.failures[transfers[i]].message, ==, "the device computes in host memory");
        }
}

static void test_in_host_memory(void)
{
        AldOpenclTarget device = { .type = ALD_LISTED_DEVICE_TYPE_CPU, .listed.unified = false };

        check_transfers(&device);
        g_assert_true(ald_metric_applies(ALD_METRIC_COPY, &device));
        device.type = ALD_LISTED_DEVICE_TYPE_GPU;
        g_assert_true(ald_metric_applies(ALD_METRIC_TO_DEVICE, &device));
        device.listed.unified = ALD_ABSENT_BOOLEAN;
        g_assert_true(ald_metric_applies(ALD_METRIC_TO_HOST, &device));
        device.listed.unified = true;
        check_transfers(&device);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute-figures/above-registers", test_above_registers);
        g_test_add_func("/compute-figures/of-another-kind", test_of_another_kind);
        g_test_add_func("/compute-figures/beside-a-doubtful-peak", test_beside_a_doubtful_peak);
        g_test_add_func("/compute-figures/in-host-memory", test_in_host_memory);
        return g_test_run();
}
