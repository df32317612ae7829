/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/planner/planner-storage.h"

AldPathState ald_storage_state(const AldId *node, const AldStorageFileSystem *row, uint64_t now_realtime)
{
        const AldAttempts attempts = { row->measured_usec, row->failed_usec, row->failures, false };
        AldPathState state = ald_attempts_state(
                &attempts, ald_path_seed(node, node, row->id), ald_kind_ttl(ALD_KIND_STORAGE), now_realtime);

        if (row->model_files == ALD_ABSENT_UINT64 || row->model_files == 0)
                state.due = false;
        return state;
}

GArray *ald_planner_storage(AldStore *store, const AldPlannerInput *input)
{
        AldNode *node = ald_store_local_node(store);
        const AldStorage *storage = ald_node_as(node, STORAGE, AldStorage);
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

                if (state.due)
                        g_array_append_val(due, probe);
        }
        ald_planner_limit_local(due, input);
        return due;
}
