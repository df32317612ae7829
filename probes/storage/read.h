/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/failure.h"
#include "probes/common/probe-progress.h"
#include "probes/storage/find.h"

/* Reads model files of a file system without the page cache, one after the other from a random place. */

#define ALD_STORAGE_BLOCK (UINT64_C(1) << 20)
#define ALD_STORAGE_DEPTH 4u                          /* blocks that are being read at a time */
#define ALD_STORAGE_BYTES_MIN (UINT64_C(32) << 20)    /* with less, the figures mean nothing */
#define ALD_STORAGE_BYTES_DEFAULT UINT64_C(256000000) /* at most; whole blocks */
#define ALD_STORAGE_BYTES_MAX UINT64_C(8000000000)
#define ALD_STORAGE_UNSTABLE_PERCENT 10.0 /* of ReadInterval, above which a figure is unstable */

typedef struct AldStorageReadOptions {
        const char *root;
        uint64_t bytes;
        uint64_t now_realtime; /* µs, the same as for the search */
        bool gives_way;        /* stop if other programs use the disks, rather than measure beside them */
        int stop;              /* file descriptor that becomes readable to stop it */
        AldProgress *progress;
} AldStorageReadOptions;

typedef struct AldStorageMeasure {
        uint64_t attempt_bytes; /* bytes read or requested, also in vain */
        uint64_t bytes;         /* bytes that the figures are computed from */
        double rate;            /* bytes per second, mean; like the next three, NAN if unknown */
        double median;          /* of the windows */
        double interval;        /* half the 95 % interval of their mean, relative to it */
        double spread;          /* their standard deviation, relative to the mean */
        bool busy;              /* other programs used the disks */
} AldStorageMeasure;

/* Measures a file system, which must have no obstacle. On failure, only attempt_bytes is set. */
int ald_storage_measure(const AldModelFileSystem *found, const AldStorageReadOptions *options,
        AldStorageMeasure *ret, AldFailure *failure);

/* Computes rates from times of completion. Pure. */

/* The first part of the data does not count, since the disk or its controller may have to wake up. */
#define ALD_STORAGE_START_PART 8u
#define ALD_STORAGE_WINDOW (UINT64_C(8) << 20) /* bytes */
#define ALD_STORAGE_WINDOWS_MIN 8u             /* with fewer, there are no figures of windows */

typedef struct AldStorageWindows AldStorageWindows;

/* `total` is the number of bytes that are to be read. */
AldStorageWindows *ald_storage_windows_new(uint64_t total);
void ald_storage_windows_free(AldStorageWindows *windows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldStorageWindows, ald_storage_windows_free)

/* Adds a time (ns) and the number of bytes that were read until then. Returns true when a window is
 * complete. */
bool ald_storage_windows_add(AldStorageWindows *windows, uint64_t bytes, uint64_t now);

/* Sets bytes, rate, median, interval and spread. Returns false if nothing was counted. */
bool ald_storage_windows_figures(const AldStorageWindows *windows, AldStorageMeasure *ret);
