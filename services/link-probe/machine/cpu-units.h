/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Tracks whether a single unit uses half of the processors: a service, a scope, all that a user has started,
 * a container or a job of Slurm, by the control groups of version 2. Without these, none is known to.
 * Services of Alidade do not count.
 */
typedef struct AldCpuUnits AldCpuUnits;

/* The shortest time between two readings, and the number of them by which a unit is judged: the use of more
 * than 60 s counts. */
#define ALD_CPU_UNITS_STEP_USEC (UINT64_C(15) * 1000 * 1000)
#define ALD_CPU_UNITS_SAMPLES 5u

/* A unit begins to count at the first share, in percent of all processors, and ends to below the second. */
#define ALD_CPU_UNITS_PERCENT 50.0
#define ALD_CPU_UNITS_PERCENT_LEAST 40.0

/* An interruption shorter than this does not end the time since when the processors are used. */
#define ALD_CPU_UNITS_PAUSE_USEC (UINT64_C(600) * 1000 * 1000)

#define ALD_CPU_UNITS_GROUPS_MAX 2000u

/* Finds the processor time of a group in its cpu.stat: the line "usage_usec N". */
bool ald_cpu_units_parse(const char *text, uint64_t *ret_usec);

/* Reads below the root. `processors` is the number of processors that may be used. */
AldCpuUnits *ald_cpu_units_new(int root, unsigned processors);
void ald_cpu_units_free(AldCpuUnits *units);

/* Sets whether the reason names the unit, which it does not at first. */
void ald_cpu_units_set_named(AldCpuUnits *units, bool are_named);

/* Reads the times anew, unless that was done a moment ago. Returns whether ald_cpu_units_reason() has
 * changed. `now_usec` is CLOCK_MONOTONIC, `now_realtime` CLOCK_REALTIME, both in µs. */
bool ald_cpu_units_read(AldCpuUnits *units, uint64_t now_usec, uint64_t now_realtime);

/* Describes the unit, such as "one unit uses 62 % of the processors", or with its name "ollama.service uses
 * 62 % of the processors"; NULL if there is none. */
const char *ald_cpu_units_reason(const AldCpuUnits *units);

/* Returns since when there has been such a unit, not always the same one, in CLOCK_REALTIME; absent if there
 * is none. */
uint64_t ald_cpu_units_since(const AldCpuUnits *units);
