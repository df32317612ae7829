/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "record/field.h"
#include "services/telemetry/gpu/gpu-metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The table of amdgpu's firmware, of any length and version. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AldGpuMetrics metrics;

        if (ald_gpu_metrics_parse(data, size, &metrics) < 0)
                return 0;
        g_assert_true(metrics.energy_micro_joules == ALD_ABSENT_UINT64 ||
                      metrics.energy_micro_joules <= ALD_INTEGER_MAX);
        g_assert_true(isnan(metrics.video_usage) || (metrics.video_usage >= 0 && metrics.video_usage <= 100));
        g_assert_cmpuint(ald_gpu_metrics_reasons_between(&metrics, &metrics), ==, 0);
        return 0;
}
