/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* How busy the processors are with what is not ours. */
typedef struct AldCpuLoad AldCpuLoad;

/* Reads proc/stat below the root. */
AldCpuLoad *ald_cpu_load_new(int root);
void ald_cpu_load_free(AldCpuLoad *load);

/* CLOCK_MONOTONIC in µs. In percent of all of them since the last reading, or as it was then where that was a
 * moment ago; absent where too little is known. */
double ald_cpu_load_read(AldCpuLoad *load, uint64_t now_usec);

/* What was until now, was ours. */
void ald_cpu_load_restart(AldCpuLoad *load, uint64_t now_usec);
