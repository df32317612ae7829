/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* The limits of a process that measures. */
typedef struct AldLimits {
        uint64_t data_max; /* bytes; 0: unchanged */
        unsigned files_max;
        unsigned cpu_seconds_max; /* for all threads together */
} AldLimits;

/*
 * Limits this process, and disables core dumps and new privileges. signal: sent to it when its parent dies;
 * 0: none. -ESRCH if the parent is already dead.
 */
int ald_limits_take(const AldLimits *limits, int signal, int parent);
