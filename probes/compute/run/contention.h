/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "probes/compute/clock/clocks.h"

/* Detects other work on the measured device, so that a device in use is not taken for a slow one. */

/* Processor times at one moment, in µs since an arbitrary start. */
typedef struct AldProcessorTimes {
        uint64_t now;
        uint64_t busy;    /* of all processors in our affinity mask, for any reason */
        uint64_t own;     /* of this process */
        uint64_t waiting; /* during which some task waited for a processor; 0 if unknown */
        unsigned n;       /* number of processors; 0 if unknown */
} AldProcessorTimes;

/* Reads the times below the root ("/"). */
void ald_processor_times_read(const char *root, AldProcessorTimes *ret);

/* Returns the number of processors of the set in /proc/stat, and their busy time in ticks; 0 if the text is
 * invalid. Pure. */
unsigned ald_proc_stat_parse(const char *text, const cpu_set_t *set, uint64_t *ret_busy);

/* Returns the share of processor time, 0 to 1, that others used in between; negative if unknown. Pure. */
double ald_contention_share(const AldProcessorTimes *before, const AldProcessorTimes *after);

/* Returns whether that is enough to distort a measurement. Pure. */
bool ald_contention_is_significant(const AldProcessorTimes *before, const AldProcessorTimes *after);

/* Returns whether others use a device, which its load shows, or more processes that compute on it than `own`.
 * Waits up to a second for a device that was used just now. */
bool ald_device_in_use(AldClocks *clocks, int own);

/* Returns the same for the processors, which are observed for as long while this process sleeps. */
bool ald_processors_in_use(const char *root);

/* Detects other work on the device during a measurement. */
typedef struct AldContention {
        const char *root;
        AldClocks *clocks;
        bool cpu;
        int own; /* number of our processes that compute on it */
        AldProcessorTimes before;
        uint64_t looked; /* ns */
        bool seen;
} AldContention;

/* Call it once the device is open. */
void ald_contention_begin(
        AldContention *contention, const char *root, AldClocks *clocks, const AldOpenclTarget *device);

/* Returns whether others use the device now, as far as this can be detected during our own work. Checks a few
 * times per second. */
bool ald_contention_check(AldContention *contention);

/* Returns whether others have used the device since the beginning, or use it after we have stopped. */
bool ald_contention_end(AldContention *contention);
