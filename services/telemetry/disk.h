/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/*
 * Size and free space of paths. A file system may answer late or never (a network mount whose server is
 * gone), so each path is asked in a thread of its own, and not again before it has answered. A path that does
 * not answer in time, or is not there, has no row. An automount point is not triggered. Once a file system
 * was seen mounted at or above a path, the path has no row while nothing is mounted there: what lies below
 * that mount point is something else. A path that never had a mount of its own is on whatever holds it.
 */
typedef struct AldDiskCollector AldDiskCollector;

/* How long an answer may take before the row goes. */
#define ALD_DISK_PATIENCE_MSEC 2000u

/* The record after a round of asking, or after a late answer; valid during the call. */
typedef void (*AldDiskChanged)(const AldDisk *disk, void *userdata);

/*
 * Tells total and available bytes of the file system that holds `path`, below `root`, and how many components
 * of the path lead to where it is mounted: 0 for the file system of the root. Runs in a thread.
 */
typedef int (*AldDiskAsk)(int root, const char *path, AldDiskPath *ret, unsigned *ret_mount_depth);

/* The paths are absolute, and taken below the root. Rows have them without "." and needless slashes, and each
 * once. */
AldDiskCollector *ald_disk_collector_new(
        int root, const char *const *paths, AldDiskAsk ask, AldDiskChanged changed, void *userdata);

/* Threads that still wait end by themselves; what they bring is thrown away. */
void ald_disk_collector_free(AldDiskCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldDiskCollector, ald_disk_collector_free)

/* Takes over what another collector, about to be freed, knows of the mounts of the same paths. */
void ald_disk_collector_inherit(AldDiskCollector *collector, const AldDiskCollector *from);

/* Asks all paths that do not owe an answer. */
void ald_disk_collector_sample(AldDiskCollector *collector);

/* The usual way of asking. -ENODATA where the file system tells no size, -EREMOTE at an automount point. */
int ald_disk_ask(int root, const char *path, AldDiskPath *ret, unsigned *ret_mount_depth);
