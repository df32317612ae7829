/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/storage/mounts.h"

/* The disks below a file system, read from /sys and /proc, which wakes none of them. */

typedef struct AldStorageDisks {
        char **names;   /* in /sys/block, sorted; NULL if unknown */
        int rotational; /* 1 if any of them is, 0, or ALD_ABSENT_BOOLEAN */
        char *asleep;   /* reason why reading might wake one, such as "sda is suspended"; or NULL */
        bool is_memory; /* a loop device, or a disk in memory: reads may come from memory */
} AldStorageDisks;

/*
 * Finds the disks of a mount. `root` is the directory that is taken for "/". `still` has the names of disks
 * that had no traffic for a while, so that they may stand still if they rotate; it is NULL-terminated, or
 * NULL.
 */
void ald_storage_disks_read(
        const char *root, const AldMount *mount, const char *const *still, AldStorageDisks *ret);
void ald_storage_disks_clear(AldStorageDisks *disks);

/* The traffic of several disks together since the start of the machine. */
typedef struct AldDiskCounters {
        uint64_t read_bytes, written_bytes;
        uint64_t busy_msec; /* with requests under way; the sum over the disks */
        uint64_t in_flight; /* requests that are under way now */
} AldDiskCounters;

/* Adds up these disks from the text of /proc/diskstats. Returns false if one is missing there. */
bool ald_disk_counters_parse(const char *text, const char *const *names, AldDiskCounters *ret);
bool ald_disk_counters_read(const char *root, const char *const *names, AldDiskCounters *ret);

/* Returns whether other programs used the disks in the second between the two. */
bool ald_disk_counters_are_busy(const AldDiskCounters *before, const AldDiskCounters *after);
