/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/plan/choice.h"

AldPlanChoice ald_plan_choice(const AldPlanCandidates *candidates)
{
        const AldPlanRequest *request = candidates->request;

        return (AldPlanChoice){
                .required = ALD_PLAN_NONE,
                .client = request->client ? ald_plan_node_find(candidates->cluster, request->client)
                                          : ALD_PLAN_NONE,
                .devices_max = request->devices_max,
                .changed = ALD_PLAN_NONE,
                .rate_factor = 1,
                .rtt_factor = 1,
        };
}
