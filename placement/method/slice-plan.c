/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/method/mesh-search.h"
#include "placement/method/slice-cost.h"
#include "placement/plan/cost.h"
#include "placement/plan/find-steps.h"
#include "placement/plan/method.h"

#define JUDGE_WORK 1e5

static double nsec_to_beat(const AldPlanSteps *best)
{
        return best->stages ? best->nsec : INFINITY;
}

/* Sets the paths and transfers between a stage and the root. */
static void set_transfers(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        const AldSliceMesh *mesh, const AldSliceSet *set, uint32_t member, AldPlanStage *stage)
{
        const AldSliceTransfers *transfers = &mesh->transfers;
        size_t to = (size_t) set->root * mesh->n + member, from = (size_t) member * mesh->n + set->root;
        uint32_t node = ald_plan_candidate_device(candidates, mesh->members[member])->node;
        uint32_t root = ald_plan_candidate_device(candidates, mesh->members[set->root])->node;

        if (member == set->root)
                return;
        stage->path_to = ald_plan_path_index(candidates, choice, root, node, transfers->exchange_bytes);
        stage->path_from = ald_plan_path_index(candidates, choice, node, root, transfers->exchange_bytes);
        stage->bytes_to = transfers->exchanges * transfers->exchange_bytes +
                          transfers->turns * transfers->start_bytes;
        stage->bytes_from = transfers->exchanges * transfers->exchange_bytes +
                            transfers->turns * transfers->end_bytes;
        stage->nsec_to = (transfers->exchanges + transfers->turns) * mesh->half_nsec[to] +
                         stage->bytes_to * mesh->byte_nsec[to];
        stage->nsec_from = (transfers->exchanges + transfers->turns) * mesh->half_nsec[from] +
                           stage->bytes_from * mesh->byte_nsec[from];
}

static AldPlanStage stage_of(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        const AldSliceMesh *mesh, const AldSliceSet *set, uint32_t member)
{
        const AldPlanRequest *request = candidates->request;
        uint32_t candidate = mesh->members[member];
        AldPlanStage made = { .device = candidates->devices[candidate],
                .layers = (uint32_t) request->workload->layers,
                .slices = mesh->slices,
                .has_head = true,
                .bytes = ald_slices_bytes(request, ald_plan_candidate_device(candidates, candidate),
                        mesh->slices, member == set->root ? request->workload->embedding_bytes : 0),
                .nsec = mesh->nsec[member],
                .is_computing = ald_plan_is_computing_longer(&request->constants,
                        ald_plan_candidate_device(candidates, candidate), request->workload),
                .path_to = ALD_PLAN_NONE,
                .path_from = ALD_PLAN_NONE };

        if (mesh->slices == 1)
                return made;
        made.hop_nsec = ald_slice_mesh_share_nsec(mesh, set->members, mesh->slices, set->root, member);
        set_transfers(candidates, choice, mesh, set, member, &made);
        return made;
}

static void keep_set(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        const AldSliceMesh *mesh, const AldSliceSet *set, AldPlanSteps *best)
{
        uint32_t n = 1;

        g_free(best->stages);
        best->stages = g_new(AldPlanStage, mesh->slices);
        best->n_stages = mesh->slices;
        best->client = ald_plan_candidate_device(candidates, mesh->members[set->root])->node;
        best->nsec = best->interval_nsec = set->nsec;
        best->busiest_nsec = 0;
        best->stages[0] = stage_of(candidates, choice, mesh, set, set->root);
        for (uint32_t i = 0; i < mesh->slices; i++)
                if (set->members[i] != set->root)
                        best->stages[n++] = stage_of(candidates, choice, mesh, set, set->members[i]);
        for (uint32_t i = 0; i < n; i++)
                best->busiest_nsec = fmax(best->busiest_nsec, best->stages[i].nsec);
        best->hops_nsec = best->nsec - best->busiest_nsec;
}

static void try_slices(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t slices, AldPlanSteps *best)
{
        g_auto(AldSliceMesh) mesh = { 0 };
        AldSliceSet set = { 0 };
        double lower_nsec;

        ald_slice_mesh_init(&mesh, candidates, choice, slices);
        if (ald_slice_mesh_search(&mesh, nsec_to_beat(best), &set, &lower_nsec) >= 0)
                keep_set(candidates, choice, &mesh, &set, best);
        g_free(set.members);
        if (ald_slice_mesh_relax(&mesh, candidates, choice)) {
                AldSliceSet relaxed = { 0 };

                ald_slice_mesh_search(&mesh, nsec_to_beat(best), &relaxed, &lower_nsec);
                g_free(relaxed.members);
        }
        best->lower_nsec = fmin(best->lower_nsec, lower_nsec);
}

/* Returns whether the mesh leaves out a required candidate, for lack of room or because it is not allowed. */
static bool lacks_required(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t slices)
{
        const AldPlanRequest *request = candidates->request;

        for (uint32_t i = 0; i < candidates->n; i++) {
                const AldPlanDevice *device = ald_plan_candidate_device(candidates, i);

                if (ald_plan_requires(candidates, choice, i) &&
                        (!ald_plan_allows(choice, i) ||
                                ald_slices_bytes(request, device, slices, 0) > device->free_bytes))
                        return true;
        }
        return false;
}

/* Returns the time of one of this many slices on the fastest device, which is a lower bound. */
static double least_of_slices(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t slices)
{
        const AldPlanRequest *request = candidates->request;
        double least = INFINITY;

        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_allows(choice, i))
                        least = fmin(least,
                                ald_slices_nsec(&request->constants, ald_plan_candidate_device(candidates, i),
                                        request->workload, slices));
        return least;
}

/*
 * Finds the steps that take the least time for an engine that cuts each layer into equal slices, one for each
 * node (slice-cost.h). That time is the slowest slice plus the transfers between the nodes. The first stage
 * is the root, which has the embedding; its node is the client. Returns -ENOSPC if no number of slices fits
 * on nodes that are all joined to each other.
 */
static int find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        AldPlanSteps best = { .in_flight = 1, .lower_nsec = INFINITY };
        uint32_t most = choice->devices_max > 0 ? MIN(choice->devices_max, candidates->n) : candidates->n;

        /* Each node has one device. */
        most = choice->nodes_max > 0 ? MIN(choice->nodes_max, most) : most;
        for (uint32_t n = 1; n <= ald_slices_max(candidates->request->workload, most); n *= 2) {
                if (!ald_plan_progress_within(candidates->progress, n, 2 * most) &&
                        candidates->progress->given_up) {
                        ald_plan_steps_clear(&best);
                        break;
                }
                if (candidates->progress->stopped) {
                        best.lower_nsec = fmin(best.lower_nsec, least_of_slices(candidates, choice, n));
                        continue;
                }
                if (choice->stages > 0 && choice->stages != n)
                        continue;
                if (!lacks_required(candidates, choice, n))
                        try_slices(candidates, choice, n, &best);
                candidates->progress->may_stop |= best.stages &&
                                                  ald_plan_required_nodes_are_ensured(candidates, choice);
        }
        if (best.stages)
                best.lower_nsec = fmin(best.lower_nsec, best.nsec);
        *ret = best;
        if (!best.stages)
                return candidates->progress->given_up || candidates->progress->stopped ? -ECANCELED : -ENOSPC;
        return 0;
}

static double tables_bytes(const AldPlanCandidates *candidates)
{
        return 2.0 * sizeof(double) * candidates->n * candidates->n;
}

/* Returns the bytes that the root needs with the smallest slice. */
static uint64_t root_bytes(const AldPlanCandidates *candidates, const AldPlanDevice *device)
{
        const AldPlanRequest *request = candidates->request;

        return ald_slices_bytes(request, device, ald_slices_max(request->workload, candidates->n),
                request->workload->embedding_bytes);
}

/* Names the node that lacks the least. `alone` makes no difference, since the root always has a slice. */
static bool refuse_client(const AldPlanCandidates *candidates, bool alone, AldPlanRefusal *ret_refusal)
{
        const AldPlanChoice choice = ald_plan_choice(candidates);
        const AldPlanDevice *best = NULL;
        uint64_t least = UINT64_MAX;

        for (uint32_t i = 0; i < candidates->n; i++) {
                const AldPlanDevice *device = ald_plan_candidate_device(candidates, i);
                uint64_t needs = root_bytes(candidates, device);

                if (choice.client != ALD_PLAN_NONE && choice.client != device->node)
                        continue;
                if (needs <= device->free_bytes)
                        return false;
                if (needs - device->free_bytes >= least)
                        continue;
                least = needs - device->free_bytes;
                best = device;
        }
        if (!best)
                return false;
        *ret_refusal = (AldPlanRefusal){ .kind = ALD_PLAN_CLIENT_TOO_SMALL,
                .text = candidates->cluster->nodes[best->node].id,
                .needs_bytes = root_bytes(candidates, best),
                .free_bytes = best->free_bytes };
        return true;
}

/* All nodes compute at once, each with an equal slice of each layer, and exchange their parts of the
 * activations. One of them, the root, has the embedding, too. */
const AldPlanMethod ald_slice_method = {
        .has_layers = true,
        .keeps_count = true,
        .judge_work_max = JUDGE_WORK,
        .step = "a token",
        .client = "root",
        .client_holds = "its slice",
        .least_part = "The smallest slice",
        .none_fits = "The smallest slice fits on none",
        .find = find_steps,
        .tables_bytes = tables_bytes,
        .least_bytes = ald_slices_least_bytes,
        .stages_max = ald_slices_max,
        .refuse_client = refuse_client,
};
