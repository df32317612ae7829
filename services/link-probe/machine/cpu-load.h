/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* The load of the processors that is not caused by our own measurements. */
typedef struct AldCpuLoad AldCpuLoad;

/* Reads proc/stat below the root. */
AldCpuLoad *ald_cpu_load_new(int root);
void ald_cpu_load_free(AldCpuLoad *load);

/* Returns the load since the last reading, in percent of all processors, or the last value if that reading
 * was less than a second ago; absent if too little is known. `now_usec` is CLOCK_MONOTONIC in µs. */
double ald_cpu_load_read(AldCpuLoad *load, uint64_t now_usec);

/* Discards the load until now, which was our own. */
void ald_cpu_load_restart(AldCpuLoad *load, uint64_t now_usec);
