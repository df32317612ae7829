/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/planner/planner-device.h"
#include "state/planner/probed-kinds.h"
#include "state/results/compute-result.h"

/* Returns the record without devices that are gone; NULL if none are. */
static AldRecord *without_gone(AldStore *store, const AldPlannerInput *input, AldRecord *record)
{
        AldRecord *backends = ald_node_record(ald_store_local_node(store), ALD_KIND_BACKENDS);

        return ald_compute_result_prune(record, ald_record_as(backends, BACKENDS, AldBackends),
                ald_kind_ttl(ALD_KIND_COMPUTE), input->now_realtime);
}

static AldRecord *compute_merge(
        AldStore *store, const AldPlannerInput *input, AldRecord *before, AldRecord *reported)
{
        g_autoptr(AldRecord) merged = NULL;

        if (ald_compute_result_merge(before, reported, &merged) < 0) {
                g_warning("Too many compute devices: the results are not saved");
                return NULL;
        }
        return without_gone(store, input, merged) ?: g_steal_pointer(&merged);
}

static void compute_prune(AldStore *store, const AldPlannerInput *input, uint64_t expiry_usec)
{
        AldRecord *record = ald_node_record(ald_store_local_node(store), ALD_KIND_COMPUTE);
        g_autoptr(AldRecord) kept = without_gone(store, input, record);

        if (kept &&
                ald_store_put_local(store, ALD_KIND_COMPUTE, "", kept, kept->updated_usec, input->now) < 0)
                g_warning("Cannot remove the results of compute devices that are gone");
}

const AldProbedKind ald_probed_compute = {
        .kinds = { [ALD_KIND_COMPUTE] = true },
        .due = ald_planner_devices,
        .merge = compute_merge,
        .prune = compute_prune,
};
