/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/plan/ring-cost.h"
#include "placement/plan/cost.h"

AldRingHop ald_ring_hop_on(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source,
        uint32_t sink, uint32_t index)
{
        AldRingHop hop = { .path = index };
        AldPlanPath path;

        if (source == sink) {
                /* How much of it is latency is not known. */
                hop.nsec = hop.occupy_nsec = candidates->request->constants.values[ALD_PLAN_INNER_HOP_NSEC];
                return hop;
        }
        path = ald_plan_path_at(candidates, choice, source, sink, index);
        hop.nsec = ald_plan_path_nsec(&path, candidates->activation_bytes);
        path.rtt_nsec = 0;
        hop.occupy_nsec = ald_plan_path_nsec(&path, candidates->activation_bytes);
        return hop;
}

AldRingHop ald_ring_hop(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source, uint32_t sink)
{
        return ald_ring_hop_on(candidates, choice, source, sink,
                source == sink ? ALD_PLAN_NONE
                               : ald_plan_path_index(
                                         candidates, choice, source, sink, candidates->activation_bytes));
}

AldRingHop ald_ring_hop_wide(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source, uint32_t sink)
{
        AldRingHop best = ald_ring_hop(candidates, choice, source, sink);

        if (source == sink)
                return best;
        for (uint32_t i = ald_plan_path_first(candidates, source, sink); i != ALD_PLAN_NONE;
                i = candidates->next_path[i]) {
                AldRingHop hop = ald_ring_hop_on(candidates, choice, source, sink, i);

                if (hop.occupy_nsec < best.occupy_nsec)
                        best = hop;
        }
        return best;
}
