/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/results/storage-result.h"
#include "state/results/row-result.h"

uint64_t ald_storage_used(const AldStorageFileSystem *row, uint64_t now_realtime)
{
        uint64_t since = row->attempted_usec;

        if (row->used_bytes == ALD_ABSENT_UINT64 || since == ALD_ABSENT_UINT64)
                return 0;
        return since <= now_realtime && now_realtime - since >= ALD_STORAGE_DAY_USEC ? 0 : row->used_bytes;
}

static bool is_busy(const void *row)
{
        return ald_row_flags_are_busy(((const AldStorageFileSystem *) row)->flags);
}

static bool is_worse(const void *reported, const void *before)
{
        return is_busy(reported) && !is_busy(before);
}

/* The time at which an attempt ended identifies it, so that one that is reported again counts once. */
static void add_attempt(AldStorageFileSystem *merged, const AldStorageFileSystem *before,
        const AldStorageFileSystem *reported)
{
        bool is_new = reported->attempted_usec != ALD_ABSENT_UINT64 &&
                      (!before || reported->attempted_usec != before->attempted_usec);
        uint64_t read = reported->attempt_bytes == ALD_ABSENT_UINT64 ? 0 : reported->attempt_bytes;

        merged->attempt_bytes = is_new || !before ? reported->attempt_bytes : before->attempt_bytes;
        merged->attempted_usec = is_new || !before ? reported->attempted_usec : before->attempted_usec;
        merged->used_bytes = before ? before->used_bytes : ALD_ABSENT_UINT64;
        if (is_new)
                merged->used_bytes = MIN(
                        (before ? ald_storage_used(before, reported->attempted_usec) : 0) + read,
                        (uint64_t) ALD_INTEGER_MAX);
}

static void settle_file_system(void *merged_row, const void *before_row, const void *reported_row)
{
        const AldStorageFileSystem *before = before_row, *reported = reported_row;
        AldStorageFileSystem *merged = merged_row;
        /* A failure may be reported without the description. */
        const AldStorageFileSystem *place = before && !reported->file_system_type ? before : reported;
        bool listed = !before || reported->model_files != ALD_ABSENT_UINT64;

        merged->file_system_type = place->file_system_type;
        merged->disks = place->disks;
        merged->network = place->network;
        merged->rotational = place->rotational;
        /* While the disk sleeps, its contents are not reported and stay as they were. */
        merged->model_files = listed ? reported->model_files : before->model_files;
        merged->model_bytes = listed ? reported->model_bytes : before->model_bytes;
        add_attempt(merged, before, reported);
}

static const AldRowResult file_systems = {
        .kind = ALD_KIND_STORAGE,
        .is_worse = is_worse,
        .settle = settle_file_system,
};

int ald_storage_result_merge(AldRecord *before, AldRecord *reported, uint64_t now_realtime, AldRecord **ret)
{
        const AldRows *existing = &ald_record_as(reported, STORAGE, AldStorage)->file_systems;
        g_autoptr(AldRecord) merged = NULL;
        AldRecord *pruned;
        int r = ald_row_result_merge(&file_systems, before, reported, &merged);

        if (r < 0)
                return r;
        pruned = ald_row_result_prune(&file_systems, merged, existing, ALD_STORAGE_KEPT_USEC, now_realtime);
        *ret = pruned ?: g_steal_pointer(&merged);
        return 0;
}

AldRecord *ald_storage_result_prune(AldRecord *record, uint64_t now_realtime)
{
        bool is_live = record && (record->updated_usec > now_realtime ||
                                         now_realtime - record->updated_usec < ALD_STORAGE_KEPT_USEC);

        return record && !is_live ? ald_row_result_prune(
                                            &file_systems, record, NULL, ALD_STORAGE_KEPT_USEC, now_realtime)
                                  : NULL;
}
