/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/devices.h"
#include "services/common/service.h"
#include "state/compute-result.h"

static AldRecord *own_record(AldStateManager *manager, AldKind kind)
{
        return ald_node_record(ald_store_local_node(ald_state_manager_store(manager)), kind);
}

/* Without devices that are gone; NULL if there are none of these. */
static AldRecord *prune(AldStateManager *manager, AldRecord *record)
{
        AldRecord *backends = own_record(manager, ALD_KIND_BACKENDS);

        return ald_compute_result_prune(record, ald_record_as(backends, BACKENDS, AldBackends),
                ald_planner_ttl(ALD_KIND_COMPUTE), ald_realtime_usec());
}

void ald_devices_take(AldStateManager *manager, AldRecord *reported)
{
        AldRecord *before = own_record(manager, ALD_KIND_COMPUTE), *after;
        g_autoptr(AldRecord) merged = NULL, pruned = NULL;

        if (ald_compute_result_merge(before, reported, &merged) < 0) {
                g_warning("Too many compute devices: the results are not saved");
                return;
        }
        pruned = prune(manager, merged);
        after = pruned ?: merged;
        /* What is said again is no new result. */
        if (!before || before->hash != after->hash)
                ald_state_manager_put_local(manager, ALD_KIND_COMPUTE, "", after);
}

void ald_devices_prune(AldStateManager *manager)
{
        g_autoptr(AldRecord) pruned = prune(manager, own_record(manager, ALD_KIND_COMPUTE));

        if (pruned)
                ald_state_manager_put_local(manager, ALD_KIND_COMPUTE, "", pruned);
}

GArray *ald_devices_due(AldStateManager *manager, AldPlannerInput *input)
{
        input->now_realtime = ald_realtime_usec();
        return ald_planner_devices(ald_state_manager_store(manager), input);
}
