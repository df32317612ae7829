/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/local/local-kind.h"

/*
 * The file systems of this machine that hold models, as alidade-probe-storage lists them in a process of its
 * own, which a file system that does not respond may keep from ending: then there is no other list until it
 * has. Also knows which disks may be asleep, and what may still be read today. Each list is put among the
 * results of the schedule.
 */
typedef struct AldStorageTargets AldStorageTargets;

AldStorageTargets *ald_storage_targets_new(const AldDeviceScheduleParts *parts);
void ald_storage_targets_free(AldStorageTargets *targets);

/* Looks at the traffic of the disks, and lists again if it is time. Call it every 15 s. */
void ald_storage_targets_tick(AldStorageTargets *targets, AldDeviceSchedule *schedule);

/* Takes the records of this machine: where to look by default, and what was read before. */
void ald_storage_targets_take(AldStorageTargets *targets, const AldNodeRecords *own);

/* The rows of the last list, of AldStorageFigures; NULL if there is none yet. */
const AldRows *ald_storage_targets_rows(const AldStorageTargets *targets);

/* The rows of the state service, or NULL; valid until the records of this machine are taken again. */
const AldStorage *ald_storage_targets_all(const AldStorageTargets *targets);

/* The row of the state service, or NULL. It is valid until the records of this machine are taken again. */
const AldStorageFileSystem *ald_storage_targets_stored(const AldStorageTargets *targets, const char *id);

/* Returns in words why a file system cannot be measured at all now, to be freed; NULL if it can be. With
 * force the limit of a day does not count. */
char *ald_storage_targets_hindrance(const AldStorageTargets *targets, const char *id, bool force);

/* Returns how many bytes of one may still be read today by a measurement. */
uint64_t ald_storage_targets_left(const AldStorageTargets *targets, const char *id);

/* The target for one that can be measured: it may read what is left of the day. */
AldProbeTarget ald_storage_targets_make(const AldStorageTargets *targets, const char *id, bool force);

/* Has the file systems listed again soon: after an attempt failed, they may be others. */
void ald_storage_targets_refresh(AldStorageTargets *targets);

/* Returns how many bytes a target may read. */
uint64_t ald_storage_target_bytes(const AldProbeTarget *target);
