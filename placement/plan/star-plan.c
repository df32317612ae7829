/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/plan/cost.h"
#include "placement/plan/stage.h"
#include "placement/plan/star-plan.h"
#include "placement/star.h"

/* The candidates that may be used, for one client after the other. */
typedef struct Star {
        const AldPlanCandidates *candidates;
        const AldPlanChoice *choice;
        uint32_t n;
        uint32_t *members; /* candidates */
        AldPlacementDevice *devices;
        double *use_nsec, *result_nsec, *last_nsec;
        uint32_t *last_layers_max;
} Star;

static void star_clear(Star *star)
{
        g_free(star->members);
        g_free(star->devices);
        g_free(star->use_nsec);
        g_free(star->result_nsec);
        g_free(star->last_nsec);
        g_free(star->last_layers_max);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Star, star_clear)

/* The transfers of a step between the client and a device. */
typedef struct Transfers {
        double bytes_to, bytes_from, nsec_to, nsec_from;
} Transfers;

/* The activations go to the device, and they or the result come back; more round trips carry nothing of note.
 * INFINITY if there is no path. */
static Transfers transfers(const Star *star, uint32_t client, uint32_t node, bool has_head)
{
        const AldPlanCandidates *candidates = star->candidates;
        const AldPlanRequest *request = candidates->request;
        double more = request->constants.values[ALD_PLAN_STAR_ROUND_TRIPS] - 1;
        AldPlanPath to, from;
        Transfers made = { 0 };

        if (node == client)
                return made;
        to = ald_plan_path_of(candidates, star->choice, client, node);
        from = ald_plan_path_of(candidates, star->choice, node, client);
        made.bytes_to = ald_plan_star_bytes(&request->constants, request->workload);
        made.bytes_from = has_head ? ald_plan_result_bytes(&request->constants, request->workload)
                                   : candidates->activation_bytes;
        made.nsec_to = ald_plan_path_nsec(&to, made.bytes_to);
        made.nsec_from = ald_plan_path_nsec(&from, made.bytes_from);
        if (isinf(made.nsec_to) || isinf(made.nsec_from)) {
                made.nsec_to = made.nsec_from = INFINITY;
                return made;
        }
        made.nsec_to += more * ald_plan_path_nsec(&to, 0);
        made.nsec_from += more * ald_plan_path_nsec(&from, 0);
        return made;
}

static double use_nsec(const Star *star, uint32_t client, uint32_t node)
{
        Transfers made = transfers(star, client, node, false);

        return made.nsec_to + made.nsec_from;
}

/* What it takes longer, or less time, that the last stage returns the result instead of activations. */
static double result_nsec(const Star *star, uint32_t client, uint32_t node)
{
        Transfers result = transfers(star, client, node, true);
        Transfers activations = transfers(star, client, node, false);

        return isinf(result.nsec_from) ? 0 : result.nsec_from - activations.nsec_from;
}

/* The client's host holds the embedding. */
static uint64_t embedding_beside(const Star *star, uint32_t client, const AldPlanDevice *device)
{
        return device->node == client && device->uses_host_memory
                       ? star->candidates->request->workload->embedding_bytes
                       : 0;
}

static void set_client(Star *star, uint32_t client)
{
        const AldPlanCandidates *candidates = star->candidates;
        uint64_t head = candidates->request->workload->head_bytes;

        for (uint32_t i = 0; i < star->n; i++) {
                const AldPlanDevice *device = ald_plan_candidate_device(candidates, star->members[i]);
                uint64_t beside = embedding_beside(star, client, device);

                star->devices[i].layers_max = ald_plan_stage_layers_max(candidates, star->members[i], beside);
                star->last_layers_max[i] = ald_plan_stage_layers_max(
                        candidates, star->members[i], beside + head);
                star->use_nsec[i] = use_nsec(star, client, device->node);
                star->result_nsec[i] = result_nsec(star, client, device->node);
                star->last_nsec[i] = candidates->head_nsec[star->members[i]] + star->result_nsec[i];
        }
}

static void star_init(Star *star, const AldPlanCandidates *candidates, const AldPlanChoice *choice)
{
        *star = (Star){ .candidates = candidates,
                .choice = choice,
                .members = g_new(uint32_t, candidates->n),
                .devices = g_new0(AldPlacementDevice, candidates->n),
                .use_nsec = g_new(double, candidates->n),
                .result_nsec = g_new(double, candidates->n),
                .last_nsec = g_new(double, candidates->n),
                .last_layers_max = g_new(uint32_t, candidates->n) };
        for (uint32_t i = 0; i < candidates->n; i++) {
                if (!ald_plan_allows(choice, i))
                        continue;
                star->devices[star->n] = ald_plan_stage_device(candidates, choice, i);
                star->members[star->n++] = i;
        }
}

static AldPlanStage stage_of(const Star *star, uint32_t client, const AldPlacementStage *stage, bool has_head)
{
        const AldPlanCandidates *candidates = star->candidates;
        uint32_t candidate = star->members[stage->device];
        const AldPlanDevice *device = ald_plan_candidate_device(candidates, candidate);
        AldPlanStage made = ald_plan_stage(
                candidates, candidate, stage->layers, embedding_beside(star, client, device), has_head);
        Transfers moved = transfers(star, client, device->node, has_head);

        if (device->node == client)
                return made;
        made.bytes_to = moved.bytes_to;
        made.bytes_from = moved.bytes_from;
        made.nsec_to = moved.nsec_to;
        made.nsec_from = moved.nsec_from;
        made.hop_nsec = moved.nsec_to + moved.nsec_from;
        made.path_to = ald_plan_path_index(candidates, client, device->node);
        made.path_from = ald_plan_path_index(candidates, device->node, client);
        made.is_assumed = made.path_to == ALD_PLAN_NONE || made.path_from == ALD_PLAN_NONE;
        return made;
}

/* The layers on the client's processor come first, as llama.cpp has them, even if the head is there, too. */
static bool is_first(const Star *star, uint32_t client, const AldPlacementStage *stage)
{
        const AldPlanDevice *device = ald_plan_candidate_device(
                star->candidates, star->members[stage->device]);

        return device->is_processor && device->node == client;
}

static void keep(const Star *star, uint32_t client, const AldPlacementSolution *solution, AldPlanSteps *ret)
{
        uint32_t n = 0;

        ald_plan_steps_clear(ret);
        *ret = (AldPlanSteps){ .stages = g_new(AldPlanStage, solution->n_stages),
                .n_stages = solution->n_stages,
                .client = client,
                .nsec = solution->nsec,
                .in_flight = 1,
                .interval_nsec = solution->nsec,
                .lower_nsec = solution->nsec };
        for (int turn = 1; turn >= 0; turn--)
                for (uint32_t i = 0; i < solution->n_stages; i++)
                        if (is_first(star, client, &solution->stages[i]) == turn)
                                ret->stages[n++] = stage_of(
                                        star, client, &solution->stages[i], i + 1 == solution->n_stages);
        for (uint32_t i = 0; i < n; i++) {
                ret->busiest_nsec = fmax(ret->busiest_nsec, ret->stages[i].nsec);
                ret->hops_nsec += ret->stages[i].hop_nsec;
        }
        ald_plan_stages_number(ret->stages, n);
}

static void try_client(Star *star, uint32_t client, AldPlanSteps *best)
{
        const AldPlacementProblem problem = { .layers = star->candidates->request->workload->layers,
                .n_devices = star->n,
                .devices = star->devices,
                .devices_max = star->choice->devices_max };
        const AldPlacementStar arms = { star->use_nsec, star->last_nsec, star->last_layers_max };
        AldPlacementSolution solution;

        set_client(star, client);
        if (ald_placement_solve_star(&problem, &arms, &solution) < 0)
                return;
        if (!best->stages || solution.nsec < best->nsec)
                keep(star, client, &solution, best);
        ald_placement_solution_clear(&solution);
}

/* A client without one would only add transfers. */
static bool has_candidate(const AldPlanCandidates *candidates, uint32_t node)
{
        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_candidate_device(candidates, i)->node == node)
                        return true;
        return false;
}

int ald_star_plan(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        g_auto(Star) star;
        AldPlanSteps best = {};
        uint32_t n = candidates->cluster->n_nodes;

        star_init(&star, candidates, choice);
        for (uint32_t node = 0; node < n; node++) {
                if (!ald_plan_progress_within(candidates->progress, node, n)) {
                        ald_plan_steps_clear(&best);
                        return -ECANCELED;
                }
                if (choice->client == ALD_PLAN_NONE ? has_candidate(candidates, node)
                                                    : choice->client == node)
                        try_client(&star, node, &best);
        }
        if (!best.stages)
                return -ENOSPC;
        *ret = best;
        return 0;
}
