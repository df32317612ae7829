/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/plan/ring-cost.h"
#include "placement/plan/cost.h"

double ald_ring_hop_nsec(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source, uint32_t sink)
{
        AldPlanPath path;

        if (source == sink)
                return candidates->request->constants.values[ALD_PLAN_INNER_HOP_NSEC];
        path = ald_plan_path_of(candidates, choice, source, sink);
        return ald_plan_path_nsec(&path, candidates->activation_bytes);
}

double ald_ring_occupy_nsec(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source, uint32_t sink)
{
        AldPlanPath path;

        /* How much of it is latency is not known. */
        if (source == sink)
                return ald_ring_hop_nsec(candidates, choice, source, sink);
        path = ald_plan_path_of(candidates, choice, source, sink);
        path.rtt_nsec = 0;
        return ald_plan_path_nsec(&path, candidates->activation_bytes);
}
