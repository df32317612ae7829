/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/method/group.h"
#include "placement/plan/cost.h"

uint64_t ald_plan_group_requests(const AldPlanCandidates *candidates, uint32_t in_flight)
{
        return (candidates->request->workload->parallel + in_flight - 1) / in_flight;
}

void ald_plan_group_init(AldPlanGroup *group, const AldPlanCandidates *all, uint32_t in_flight)
{
        AldPlanCandidates *candidates = &group->candidates;

        group->workload = *all->request->workload;
        group->workload.parallel = ald_plan_group_requests(all, in_flight);
        group->request = *all->request;
        group->request.workload = &group->workload;
        *candidates = *all;
        candidates->request = &group->request;
        candidates->activation_bytes = ald_plan_activation_bytes(&group->request.constants, &group->workload);
        candidates->layer_nsec = g_new(double, candidates->n);
        candidates->head_nsec = g_new(double, candidates->n);
        for (uint32_t i = 0; i < candidates->n; i++) {
                const AldPlanDevice *device = ald_plan_candidate_device(candidates, i);

                candidates->layer_nsec[i] = ald_plan_layer_nsec(
                        &group->request.constants, device, &group->workload);
                candidates->head_nsec[i] = ald_plan_head_nsec(
                        &group->request.constants, device, &group->workload);
        }
}

void ald_plan_group_clear(AldPlanGroup *group)
{
        g_free(group->candidates.layer_nsec);
        g_free(group->candidates.head_nsec);
}
