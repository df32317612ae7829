/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/plan/cost.h"
#include "placement/plan/ring-plan.h"
#include "placement/plan/stage.h"
#include "placement/ring.h"
#include "placement/solve.h"

/* The candidates of one vendor. */
typedef struct Ring {
        const AldPlanCandidates *candidates;
        const AldPlanChoice *choice;
        uint32_t n;
        uint32_t *members; /* candidates */
        AldPlacementDevice *devices;
        AldPlacementEnds *ends;
        double *hop_nsec;
} Ring;

static void ring_clear(Ring *ring)
{
        g_free(ring->members);
        g_free(ring->devices);
        g_free(ring->ends);
        g_free(ring->hop_nsec);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ring, ring_clear)

static uint32_t node_of(const Ring *ring, uint32_t member)
{
        return ald_plan_candidate_device(ring->candidates, ring->members[member])->node;
}

static double hop_nsec(const Ring *ring, uint32_t from, uint32_t to)
{
        const AldPlanCandidates *candidates = ring->candidates;
        uint32_t source = node_of(ring, from), sink = node_of(ring, to);
        AldPlanPath path;

        if (source == sink)
                return candidates->request->constants.values[ALD_PLAN_INNER_HOP_NSEC];
        path = ald_plan_path_of(candidates, ring->choice, source, sink);
        return ald_plan_path_nsec(&path, candidates->activation_bytes);
}

static void add(Ring *ring, uint32_t candidate)
{
        const AldPlanCandidates *candidates = ring->candidates;
        uint64_t embedding = candidates->request->workload->embedding_bytes;
        uint64_t head = candidates->request->workload->head_bytes;

        ring->devices[ring->n] = ald_plan_stage_device(candidates, ring->choice, candidate);
        ring->ends[ring->n] = (AldPlacementEnds){ .last_nsec = candidates->head_nsec[candidate],
                .layers_max_first = ald_plan_stage_layers_max(candidates, candidate, embedding),
                .layers_max_last = ald_plan_stage_layers_max(candidates, candidate, head),
                .layers_max_both = ald_plan_stage_layers_max(candidates, candidate, embedding + head) };
        ring->members[ring->n++] = candidate;
}

static bool is_of_vendor(const AldPlanCandidates *candidates, uint32_t candidate, const char *vendor)
{
        return !candidates->request->engine->one_vendor ||
               g_strcmp0(ald_plan_candidate_device(candidates, candidate)->vendor, vendor) == 0;
}

static void ring_init(
        Ring *ring, const AldPlanCandidates *candidates, const AldPlanChoice *choice, const char *vendor)
{
        *ring = (Ring){ .candidates = candidates,
                .choice = choice,
                .members = g_new(uint32_t, candidates->n),
                .devices = g_new(AldPlacementDevice, candidates->n),
                .ends = g_new(AldPlacementEnds, candidates->n) };
        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_allows(choice, i) && is_of_vendor(candidates, i, vendor))
                        add(ring, i);
        ring->hop_nsec = g_new(double, (size_t) ring->n * ring->n);
        for (uint32_t i = 0; i < ring->n; i++)
                for (uint32_t j = 0; j < ring->n; j++)
                        ring->hop_nsec[(size_t) i * ring->n + j] = hop_nsec(ring, i, j);
}

static AldPlanStage stage_of(const Ring *ring, const AldPlacementSolution *solution, uint32_t i)
{
        const AldPlanCandidates *candidates = ring->candidates;
        const AldPlacementStage *stage = &solution->stages[i];
        uint32_t next = solution->stages[(i + 1) % solution->n_stages].device;
        uint32_t source = node_of(ring, stage->device), sink = node_of(ring, next);
        uint64_t beside = i == 0 ? candidates->request->workload->embedding_bytes : 0;
        AldPlanStage made = ald_plan_stage(
                candidates, ring->members[stage->device], stage->layers, beside, i + 1 == solution->n_stages);

        if (solution->n_stages > 1) {
                made.hop_nsec = made.nsec_to = ring->hop_nsec[(size_t) stage->device * ring->n + next];
                made.bytes_to = candidates->activation_bytes;
        }
        if (source == sink)
                return made;
        made.path_to = ald_plan_path_index(candidates, source, sink);
        made.is_assumed = made.path_to == ALD_PLAN_NONE;
        return made;
}

static void keep(const Ring *ring, const AldPlacementSolution *solution, AldPlanSteps *ret)
{
        g_free(ret->stages);
        ret->stages = g_new(AldPlanStage, solution->n_stages);
        ret->n_stages = solution->n_stages;
        ret->nsec = solution->nsec;
        for (uint32_t i = 0; i < solution->n_stages; i++)
                ret->stages[i] = stage_of(ring, solution, i);
        ald_plan_stages_number(ret->stages, ret->n_stages);
}

static void try_vendor(const AldPlanCandidates *candidates, const AldPlanChoice *choice, const char *vendor,
        AldPlanSteps *best)
{
        g_auto(Ring) ring;
        AldPlacementProblem problem;
        AldPlacementSolution solution;
        double lower_nsec;
        int r;

        ring_init(&ring, candidates, choice, vendor);
        problem = (AldPlacementProblem){ .layers = candidates->request->workload->layers,
                .n_devices = ring.n,
                .devices = ring.devices,
                .hop_nsec = ring.hop_nsec,
                .devices_max = choice->devices_max,
                .ends = ring.ends };
        r = ald_placement_solve(&problem, &solution, &lower_nsec);
        if (r < 0) {
                /* Beyond exact size one may exist that was not found. */
                if (r != -ENOSPC && ring.n > ALD_PLACEMENT_RING_MAX)
                        best->lower_nsec = 0;
                return;
        }
        if (!best->stages || solution.nsec < best->nsec)
                keep(&ring, &solution, best);
        best->lower_nsec = fmin(best->lower_nsec, lower_nsec);
        ald_placement_solution_clear(&solution);
}

static bool is_first_of_vendor(const AldPlanCandidates *candidates, uint32_t candidate)
{
        const char *vendor = ald_plan_candidate_device(candidates, candidate)->vendor;

        for (uint32_t i = 0; i < candidate; i++)
                if (is_of_vendor(candidates, i, vendor))
                        return false;
        return true;
}

/* Then no ring of that vendor is a plan. */
static bool lacks_required(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, const char *vendor)
{
        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_requires(candidates, choice, i) && !is_of_vendor(candidates, i, vendor))
                        return true;
        return false;
}

int ald_ring_plan(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        AldPlanSteps best = { .client = ALD_PLAN_NONE, .lower_nsec = INFINITY };

        for (uint32_t i = 0; i < candidates->n; i++) {
                const char *vendor = ald_plan_candidate_device(candidates, i)->vendor;

                if (is_first_of_vendor(candidates, i) && !lacks_required(candidates, choice, vendor))
                        try_vendor(candidates, choice, vendor, &best);
        }
        if (!best.stages)
                return -ENOSPC;
        *ret = best;
        return 0;
}
