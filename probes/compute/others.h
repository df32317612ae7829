/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "probes/compute/clocks.h"

/* Whether others are at work on what is measured: a machine in use is not a slow one. */

/* What is known of the processors at one moment, in µs since some start. */
typedef struct AldProcessorTimes {
        uint64_t now;
        uint64_t busy;    /* of all processors that we may run on, for any reason */
        uint64_t own;     /* what this process took */
        uint64_t waiting; /* that some task waited for a processor; 0 if unknown */
        unsigned n;       /* processors; 0: not known */
} AldProcessorTimes;

/* Below the root ("/"). */
void ald_processor_times_read(const char *root, AldProcessorTimes *ret);

/* The times in /proc/stat when the processors of the set were busy, in ticks, and how many they are; 0: it
 * makes no sense. Pure. */
unsigned ald_proc_stat_parse(const char *text, const cpu_set_t *set, uint64_t *ret_busy);

/* The part of the processors' time, 0 to 1, that others took in between; negative: not known. Pure. */
double ald_others_share(const AldProcessorTimes *before, const AldProcessorTimes *after);

/* Whether that is enough to spoil a measurement. Pure. */
bool ald_others_spoil(const AldProcessorTimes *before, const AldProcessorTimes *after);

/* Whether a device is in use by others: by load, or by more processes than ours that
 * compute on it. One that was used just now is given a second to come to rest. */
bool ald_device_in_use(AldClocks *clocks, int own);

/* The same of the processors, which are looked at for as long while we do nothing. */
bool ald_processors_in_use(const char *root);

/* Others on the device while it is measured. */
typedef struct AldSharing {
        const char *root;
        AldClocks *clocks;
        bool cpu;
        int own; /* processes of ours that compute on it */
        AldProcessorTimes before;
        uint64_t looked; /* ns */
        bool seen;
} AldSharing;

/* To be called once the device is open. */
void ald_sharing_begin(
        AldSharing *sharing, const char *root, AldClocks *clocks, const AldOpenclTarget *device);

/* Whether others are at work on it now, as far as it can be seen while we are; looks a few times a second. */
bool ald_sharing_look(AldSharing *sharing);

/* Whether others were at work on it since the beginning, or are once we have stopped. */
bool ald_sharing_end(AldSharing *sharing);
