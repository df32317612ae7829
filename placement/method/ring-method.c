/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/layers/stage.h"
#include "placement/method/group.h"
#include "placement/method/ring-cost.h"
#include "placement/method/ring-plan.h"
#include "placement/plan/method.h"

#define EXACT_STAGES 16u

/* Returns how many candidates may be in one ring. */
static uint32_t count_together(const AldPlanCandidates *candidates)
{
        g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
        uint32_t most = 0;

        if (!candidates->request->engine->one_vendor)
                return candidates->n;
        for (uint32_t i = 0; i < candidates->n; i++) {
                const char *vendor = ald_plan_candidate_device(candidates, i)->vendor;
                const char *key = vendor ? vendor : "";
                uint32_t n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key)) + 1;

                g_hash_table_insert(counts, (gpointer) key, GUINT_TO_POINTER(n));
                most = MAX(most, n);
        }
        return most;
}

/* Returns the size of the tables; closing hops need three more: their times, these within a limit, and how
 * long they occupy paths. */
static double tables_bytes(const AldPlanCandidates *candidates)
{
        return ald_ring_tables_bytes(
                count_together(candidates), (double) candidates->request->workload->layers, 13);
}

static double same_nsec(const AldPlanCandidates *candidates, const AldPlan *plan, const AldPlanChoice *choice)
{
        const AldPlanChoice as_it_is = ald_plan_choice(candidates);
        const AldPlanSteps *best = &plan->best;
        double nsec = best->nsec, busiest = 0;
        uint32_t steps = ald_plan_steps_in_flight(best, candidates->request->goal);
        g_auto(AldPlanGroup) group = { 0 };

        ald_plan_group_init(&group, candidates, steps);
        for (uint32_t i = 0; i < best->n_stages; i++) {
                const AldPlanStage *stage = &best->stages[i];
                const AldPlanStage *next = &best->stages[(i + 1) % best->n_stages];
                uint32_t source = candidates->cluster->devices[stage->device].node;
                uint32_t sink = candidates->cluster->devices[next->device].node;
                bool closes = i + 1 == best->n_stages;
                AldRingHop hop = ald_ring_hop_on(
                        &group.candidates, choice, source, sink, closes, stage->path_to);

                nsec += hop.nsec -
                        ald_ring_hop_on(&group.candidates, &as_it_is, source, sink, closes, stage->path_to)
                                .nsec;
                busiest = fmax(busiest, fmax(stage->nsec, hop.occupy_nsec));
        }
        return steps > 1 ? fmax(nsec, steps * busiest) : nsec;
}

/* Activations pass from stage to stage, and tokens from the last stage back to the first. */
const AldPlanMethod ald_ring_method = {
        .has_layers = true,
        .spreads_layers = true,
        .has_ends = true,
        .has_front = true,
        .exact_max = EXACT_STAGES,
        .judge_work_max = INFINITY,
        .step = "a token",
        .least_part = "One layer",
        .none_fits = "Not one layer fits on any",
        .payload = "activations",
        .result = "tokens",
        .find = ald_ring_plan,
        .tables_bytes = tables_bytes,
        .least_bytes = ald_plan_layer_least_bytes,
        .stages_max = ald_plan_layers_stages_max,
        .same_nsec = same_nsec,
};
