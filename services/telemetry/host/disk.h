/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/*
 * Size and free space of paths. A file system may respond late or never (a network mount whose server is
 * gone), so each path is queried in its own thread, and not again before that has returned. A path that does
 * not respond in time, or does not exist, has no row. An automount point is not triggered. Once a file system
 * was mounted at or above a path, the path has no row while nothing is mounted there, since the directory
 * below the mount point is on another file system. A path that never had a mount of its own is reported with
 * the file system that contains it.
 */
typedef struct AldDiskCollector AldDiskCollector;

/* A path whose query takes longer than this loses its row. */
#define ALD_DISK_TIMEOUT_MSEC 2000u

/* Receives the record after a round of queries, or after a late result. It is valid during the call. */
typedef void (*AldDiskChanged)(const AldDisk *disk, void *userdata);

/*
 * Returns the total and available bytes of the file system that holds `path`, below `root`, and the number of
 * components of the path up to its mount point: 0 for the file system of the root. Runs in a thread.
 */
typedef int (*AldDiskAsk)(int root, const char *path, AldDiskPath *ret, unsigned *ret_mount_depth);

/* Creates a collector. The paths are absolute, and looked up below the root. Rows show each path once,
 * without "." and redundant slashes. */
AldDiskCollector *ald_disk_collector_new(
        int root, const char *const *paths, AldDiskAsk ask, AldDiskChanged changed, void *userdata);

/* Threads that are still blocked end by themselves; their results are discarded. */
void ald_disk_collector_free(AldDiskCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldDiskCollector, ald_disk_collector_free)

/* Adopts what another collector, which is about to be freed, knows about the mounts of the same paths. */
void ald_disk_collector_inherit(AldDiskCollector *collector, const AldDiskCollector *from);

/* Queries all paths without a pending query. */
void ald_disk_collector_sample(AldDiskCollector *collector);

/* The default query. Returns -ENODATA if the file system reports no size, -EREMOTE at an automount point. */
int ald_disk_ask(int root, const char *path, AldDiskPath *ret, unsigned *ret_mount_depth);
