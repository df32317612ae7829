/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Indexes of the times in the first line of /proc/stat, which are in ticks. The times of guests are part of
 * user and nice. */
enum {
        ALD_CPU_USER,
        ALD_CPU_NICE,
        ALD_CPU_SYSTEM,
        ALD_CPU_IDLE,
        ALD_CPU_IOWAIT,
        ALD_CPU_IRQ,
        ALD_CPU_SOFTIRQ,
        ALD_CPU_STEAL,
        ALD_CPU_N_TIMES,
};

typedef struct AldCpuTimes {
        uint64_t ticks[ALD_CPU_N_TIMES];
} AldCpuTimes;

/* Parses that line. Older kernels report fewer times, but at least four. */
bool ald_cpu_times_parse(const char *text, AldCpuTimes *ret);

/* Returns the usage between two samples in percent; absent if no time has passed. */
double ald_cpu_usage(const AldCpuTimes *before, const AldCpuTimes *after);
