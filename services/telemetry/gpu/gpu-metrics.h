/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The file in which amdgpu shows a table of its firmware, whose layout depends on its version. */
#define ALD_GPU_METRICS_FILE "gpu_metrics"
#define ALD_GPU_METRICS_MAX 8192u

/* The number of reasons of which some tables count how long they held the clocks down, in cycles of the
 * firmware. */
#define ALD_GPU_RESIDENCIES 5u

/* The values of the table that are used; each may be absent. */
typedef struct AldGpuMetrics {
        uint64_t energy_micro_joules;
        uint64_t memory_clock_hz;
        double video_usage;     /* of the engines that encode and decode, in percent */
        int throttled;          /* 1 or 0 if the table has the reasons, else absent */
        unsigned reasons;       /* AldThrottle */
        unsigned n_residencies; /* ALD_GPU_RESIDENCIES, or 0 for a table without them */
        uint32_t residencies[ALD_GPU_RESIDENCIES];
} AldGpuMetrics;

/* Parses the table. Returns -EOPNOTSUPP for a version that is not known, -EBADMSG if the table is too short.
 */
int ald_gpu_metrics_parse(const void *data, size_t length, AldGpuMetrics *ret);

/* Returns why the clocks were held down between two readings of tables with residencies, as AldThrottle. */
unsigned ald_gpu_metrics_reasons_between(const AldGpuMetrics *before, const AldGpuMetrics *after);
