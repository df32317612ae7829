/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/method/ring-cost.h"
#include "placement/layer-table.h"
#include "placement/plan/cost.h"

double ald_ring_tables_bytes(double n, double layers, double pairs)
{
        return sizeof(double) * n * (pairs * n + layers * (ALD_PLACEMENT_COUNTED_MAX + 8));
}

double ald_ring_hop_bytes(const AldPlanCandidates *candidates, bool closes)
{
        const AldPlanRequest *request = candidates->request;

        return closes ? ald_plan_token_bytes(&request->constants, request->workload)
                      : candidates->activation_bytes;
}

AldRingHop ald_ring_hop_on(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source,
        uint32_t sink, bool closes, uint32_t index)
{
        double bytes = ald_ring_hop_bytes(candidates, closes);
        AldRingHop hop = { .path = index };
        AldPlanPath path;

        if (source == sink) {
                /* How much of this is latency is unknown. */
                hop.nsec = hop.occupy_nsec = candidates->request->constants.values[ALD_PLAN_INNER_HOP_NSEC];
                return hop;
        }
        path = ald_plan_path_at(candidates, choice, source, sink, index);
        hop.nsec = ald_plan_path_nsec(&path, bytes);
        path.rtt_nsec = 0;
        hop.occupy_nsec = ald_plan_path_nsec(&path, bytes);
        return hop;
}

AldRingHop ald_ring_hop(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source,
        uint32_t sink, bool closes)
{
        return ald_ring_hop_on(candidates, choice, source, sink, closes,
                source == sink ? ALD_PLAN_NONE
                               : ald_plan_path_index(candidates, choice, source, sink,
                                         ald_ring_hop_bytes(candidates, closes)));
}

AldRingHop ald_ring_hop_wide(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, bool closes)
{
        AldRingHop best = ald_ring_hop(candidates, choice, source, sink, closes);

        if (source == sink)
                return best;
        for (uint32_t i = ald_plan_path_first(candidates, source, sink); i != ALD_PLAN_NONE;
                i = candidates->next_path[i]) {
                AldRingHop hop = ald_ring_hop_on(candidates, choice, source, sink, closes, i);

                if (hop.occupy_nsec < best.occupy_nsec)
                        best = hop;
        }
        return best;
}
