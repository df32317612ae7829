/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* What a process that measures can take. */
typedef struct AldLimits {
        uint64_t data_max; /* bytes; 0: as it is */
        unsigned files_max;
        unsigned cpu_seconds_max; /* of all threads together */
} AldLimits;

/*
 * Limits this process, with no core and no new privileges. signal: it gets this one when its parent dies;
 * 0: none. -ESRCH where it is an orphan already.
 */
int ald_limits_take(const AldLimits *limits, int signal, int parent);
