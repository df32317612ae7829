/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The times of the first line of /proc/stat in ticks, in its order. The times of guests are part of user and
 * nice. */
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

/* Parses that line; older kernels report fewer times, but at least four. */
bool ald_cpu_times_parse(const char *text, AldCpuTimes *ret);

/* The usage between two samples; absent if no time has passed. */
double ald_cpu_usage(const AldCpuTimes *before, const AldCpuTimes *after);
