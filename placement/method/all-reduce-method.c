/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/core.h"
#include "placement/method/all-reduce-plan.h"
#include "placement/method/method.h"
#include "placement/method/needless.h"
#include "placement/method/ring-cost.h"
#include "placement/plan/cost.h"

/* Parts of a message whose sum all ranks need pass around a ring of them. */

/* Of nodes, with one layer each. */
static double tables_bytes(const AldPlanCandidates *candidates)
{
        double n = candidates->n_places;

        return ald_ring_tables_bytes(n, fmin(n, ALD_PLACEMENT_STAGES_LIMIT), 10);
}

static uint32_t stages_max(const AldPlanCandidates *candidates)
{
        (void) candidates;
        return UINT32_MAX;
}

static double same_nsec(const AldPlanCandidates *candidates, const AldPlan *plan, const AldPlanChoice *choice)
{
        const AldPlanSteps *best = &plan->best;
        double turns = ald_all_reduce_turns(best->n_stages), slowest = 0;

        for (uint32_t i = 0; i < best->n_stages; i++) {
                const AldPlanStage *stage = &best->stages[i];
                const AldPlanStage *next = &best->stages[(i + 1) % best->n_stages];
                uint32_t source = candidates->cluster->devices[stage->device].node;
                uint32_t sink = candidates->cluster->devices[next->device].node;
                AldPlanPath path = ald_plan_path_at(candidates, choice, source, sink, stage->path_to);

                slowest = fmax(slowest, source == sink
                                                ? stage->hop_nsec
                                                : turns * ald_plan_path_nsec(&path, stage->bytes_to / turns));
        }
        return slowest;
}

static const char *payload(const AldPlanSteps *steps, uint32_t stage, bool back)
{
        (void) steps, (void) stage, (void) back;
        return "sums";
}

/* There is a certain number of ranks, whatever their speed. */
static char *say_needless(const AldPlanVerdict *verdict)
{
        g_autofree char *costs = ald_plan_duration_text(verdict->costs_nsec);

        if (isnan(verdict->costs_nsec))
                return g_strdup("The number of ranks is limited.");
        if (verdict->costs_nsec <= 0)
                return g_strdup(
                        "The number of ranks is limited, and it would not make an all-reduce faster.");
        return g_strdup_printf(
                "The number of ranks is limited, and an all-reduce would take %s longer with it.", costs);
}

const AldPlanMethod ald_all_reduce_method = {
        .waits_for_slowest = true,
        .step = "an all-reduce",
        .find = ald_all_reduce_plan,
        .tables_bytes = tables_bytes,
        .stages_max = stages_max,
        .same_nsec = same_nsec,
        .payload = payload,
        .say_needless = say_needless,
};
