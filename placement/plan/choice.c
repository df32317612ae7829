/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/plan/choice.h"
#include "placement/plan/cost.h"
#include "placement/plan/method.h"

/* Returns the lesser of two limits, where 0 means no limit. */
static uint32_t least_limit(uint32_t a, uint32_t b)
{
        return a == 0 ? b : b == 0 ? a : MIN(a, b);
}

AldPlanChoice ald_plan_choice(const AldPlanCandidates *candidates)
{
        const AldPlanRequest *request = candidates->request;

        return (AldPlanChoice){
                .required = ALD_PLAN_NONE,
                .client = request->client ? ald_plan_node_find(candidates->cluster, request->client)
                                          : ALD_PLAN_NONE,
                .devices_max = least_limit(request->devices_max, request->engine->devices_max),
                .nodes_max = request->nodes_max,
                .nodes_even = request->engine->nodes_even,
                .changed = ALD_PLAN_NONE,
                .rate_factor = 1,
                .rtt_factor = 1,
        };
}

void ald_plan_choice_remove_limits(AldPlanChoice *choice, const AldPlanCandidates *candidates)
{
        const AldPlanEngine *engine = candidates->request->engine;

        choice->devices_max = engine->method->has_layers ? 0 : engine->devices_max;
        choice->nodes_max = 0;
}

bool ald_plan_allows(const AldPlanChoice *choice, uint32_t candidate)
{
        return !choice->allowed || choice->allowed[candidate];
}

bool ald_plan_has_vendor(const AldPlanCandidates *candidates, uint32_t candidate, const char *vendor)
{
        return !candidates->request->engine->one_vendor ||
               g_strcmp0(ald_plan_candidate_device(candidates, candidate)->vendor, vendor) == 0;
}

bool ald_plan_requires(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t candidate)
{
        return candidates->required[candidate] || choice->required == candidate ||
               (choice->also_required && choice->also_required[candidate]);
}

uint32_t ald_plan_path_first(const AldPlanCandidates *candidates, uint32_t source, uint32_t sink)
{
        uint32_t from = candidates->places[source], to = candidates->places[sink];

        return from == ALD_PLAN_NONE || to == ALD_PLAN_NONE
                       ? ALD_PLAN_NONE
                       : candidates->first_path[(size_t) from * candidates->n_places + to];
}

AldPlanPath ald_plan_path_changed(const AldPlanChoice *choice, AldPlanPath path)
{
        if (choice->changed == path.source || choice->changed == path.sink) {
                path.rtt_nsec *= choice->rtt_factor;
                path.bits_per_second *= choice->rate_factor;
        }
        return path;
}

/* Nodes with the same host name need addresses, which only a measured path has. */
AldPlanPath ald_plan_path_assumed(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source, uint32_t sink)
{
        const bool *shared = candidates->shares_host_name;
        bool is_named = !shared || (!shared[source] && !shared[sink]);

        return ald_plan_path_changed(
                choice, (AldPlanPath){ .source = source,
                                .sink = sink,
                                .rtt_nsec = is_named ? candidates->request->assumed_rtt_nsec : NAN,
                                .bits_per_second = candidates->request->assumed_bits_per_second,
                                .reverse = ALD_PLAN_NONE });
}

uint32_t ald_plan_path_index(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, double bytes)
{
        uint32_t best = ALD_PLAN_NONE;
        double least = INFINITY;

        for (uint32_t i = ald_plan_path_first(candidates, source, sink); i != ALD_PLAN_NONE;
                i = candidates->next_path[i]) {
                AldPlanPath path = ald_plan_path_changed(choice, candidates->cluster->paths[i]);
                double nsec = ald_plan_path_nsec(&path, bytes);

                if (!(nsec < least))
                        continue;
                best = i;
                least = nsec;
        }
        return best;
}

AldPlanPath ald_plan_path_at(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, uint32_t index)
{
        return index == ALD_PLAN_NONE ? ald_plan_path_assumed(candidates, choice, source, sink)
                                      : ald_plan_path_changed(choice, candidates->cluster->paths[index]);
}

AldPlanPath ald_plan_path_of(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, double bytes)
{
        return ald_plan_path_at(candidates, choice, source, sink,
                ald_plan_path_index(candidates, choice, source, sink, bytes));
}
