/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/planner/planner-storage.h"

static bool is_avoided(const AldPlannerInput *input, const char *id)
{
        for (size_t i = 0; i < input->n_avoid_devices; i++)
                if (strcmp(input->avoid_devices[i], id) == 0)
                        return true;
        return false;
}

/* File systems that were never measured come first, then those that have waited longest. */
static int compare_due(gconstpointer a, gconstpointer b)
{
        const AldDueProbe *left = a, *right = b;
        uint64_t x = left->since == ALD_ABSENT_UINT64 ? 0 : left->since;
        uint64_t y = right->since == ALD_ABSENT_UINT64 ? 0 : right->since;

        if (x != y)
                return x < y ? -1 : 1;
        return strcmp(left->device, right->device);
}

AldPathState ald_storage_state(const AldId *node, const AldStorageFileSystem *row, uint64_t now_realtime)
{
        const AldAttempts attempts = { row->measured_usec, row->failed_usec, row->failures, false };
        AldPathState state = ald_attempts_state(&attempts, ald_path_seed(node, node, row->id),
                ald_planner_ttl(ALD_KIND_STORAGE), now_realtime);

        if (row->model_files == ALD_ABSENT_UINT64 || row->model_files == 0)
                state.due = false;
        return state;
}

GArray *ald_planner_storage(AldStore *store, const AldPlannerInput *input)
{
        AldNode *node = ald_store_local_node(store);
        const AldStorage *storage = ald_record_as(
                ald_node_record(node, ALD_KIND_STORAGE), STORAGE, AldStorage);
        GArray *due = g_array_new(FALSE, FALSE, sizeof(AldDueProbe));

        for (size_t i = 0; storage && i < storage->file_systems.n; i++) {
                const AldStorageFileSystem *row = ald_rows_at(&storage->file_systems, i);
                AldPathState state = ald_storage_state(&node->id, row, input->now_realtime);
                const AldDueProbe probe = {
                        .kind = ALD_KIND_STORAGE,
                        .peer = node->id,
                        .device = row->id,
                        .reason = state.reason,
                        .since = state.since,
                };

                if (state.due && !is_avoided(input, row->id))
                        g_array_append_val(due, probe);
        }
        g_array_sort(due, compare_due);
        g_array_set_size(due, (guint) MIN(due->len, input->max));
        return due;
}
