/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/local/local-kind.h"

/*
 * The file systems of this machine that hold models, as alidade-probe-storage lists them. It runs in a
 * process of its own: if a file system does not respond, only that process hangs, and there is no other list
 * until it has ended. Also tracks which disks may be asleep and how much may still be read today. Each list
 * is stored in the results of the schedule.
 */
typedef struct AldStorageTargets AldStorageTargets;

AldStorageTargets *ald_storage_targets_new(const AldDeviceScheduleParts *parts);
void ald_storage_targets_free(AldStorageTargets *targets);

/* Reads the traffic of the disks, and lists again if it is time. Call it every 15 s. */
void ald_storage_targets_tick(AldStorageTargets *targets, AldDeviceSchedule *schedule);

/* Takes the records of this machine: the default paths, and what was read before. */
void ald_storage_targets_take(AldStorageTargets *targets, const AldNodeRecords *own);

/* Returns the rows of the last list (AldStorageFigures); NULL if there is none yet. */
const AldRows *ald_storage_targets_rows(const AldStorageTargets *targets);

/* Returns the record of the state service, or NULL; valid until the records of this machine are taken
 * again. */
const AldStorage *ald_storage_targets_all(const AldStorageTargets *targets);

/* Returns a row of that record, or NULL; valid as long as the record. */
const AldStorageFileSystem *ald_storage_targets_stored(const AldStorageTargets *targets, const char *id);

/* Describes why a file system cannot be measured at all now, to be freed; NULL if it can be. With force, the
 * daily limit does not count. */
char *ald_storage_targets_hindrance(const AldStorageTargets *targets, const char *id, bool force);

/* Returns how many bytes of a file system a measurement may still read today. */
uint64_t ald_storage_targets_left(const AldStorageTargets *targets, const char *id);

/* Returns the target for a file system that can be measured; it may read the rest of the daily limit. */
AldProbeTarget ald_storage_targets_make(const AldStorageTargets *targets, const char *id, bool force);

/* Lists the file systems again soon, since they may have changed if an attempt failed. */
void ald_storage_targets_refresh(AldStorageTargets *targets);

/* Returns how many bytes a target may read. */
uint64_t ald_storage_target_bytes(const AldProbeTarget *target);
