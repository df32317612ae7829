/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/planner/planner-storage.h"
#include "state/planner/probed-kinds.h"
#include "state/results/storage-result.h"

static AldRecord *storage_merge(
        AldStore *store, const AldPlannerInput *input, AldRecord *before, AldRecord *reported)
{
        AldRecord *merged = NULL;

        if (ald_storage_result_merge(before, reported, input->now_realtime, &merged) < 0)
                g_warning("Too many file systems: the results are not saved");
        return merged;
}

static void storage_prune(AldStore *store, const AldPlannerInput *input, uint64_t expiry_usec)
{
        AldRecord *record = ald_node_record(ald_store_local_node(store), ALD_KIND_STORAGE);
        g_autoptr(AldRecord) kept = ald_storage_result_prune(record, input->now_realtime);

        if (kept &&
                ald_store_put_local(store, ALD_KIND_STORAGE, "", kept, kept->updated_usec, input->now) < 0)
                g_warning("Cannot remove the results of file systems that are gone");
}

const AldProbedKind ald_probed_storage = {
        .kinds = { [ALD_KIND_STORAGE] = true },
        .due = ald_planner_storage,
        .merge = storage_merge,
        .prune = storage_prune,
};
