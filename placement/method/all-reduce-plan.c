/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "placement/bounded-front.h"
#include "placement/bounded.h"
#include "placement/core.h"
#include "placement/method/ring-cost.h"
#include "placement/plan/cost.h"
#include "placement/plan/find-steps.h"
#include "placement/plan/method.h"
#include "placement/ring-front.h"
#include "placement/ring.h"

/* Each node is a stage with one layer that takes almost no time, so the solver finds the ring whose busiest
 * hop takes the least. */
#define LAYER_NSEC 1e-3
#define FIRST_WORK (ALD_PLACEMENT_WORK / 8) /* for a first ring of many nodes, with short hops in all */

typedef struct Ranks {
        const AldPlanCandidates *candidates;
        const AldPlanChoice *choice;
        uint32_t *members, n; /* candidates, each of which is a rank */
        uint32_t *nodes, n_nodes;
        uint32_t n_used_nodes, n_used_ranks;
        AldPlacementDevice *devices;
        double *hop_nsec; /* of one part of the message */
} Ranks;

static void ranks_clear(Ranks *ranks)
{
        g_free(ranks->members);
        g_free(ranks->nodes);
        g_free(ranks->devices);
        g_free(ranks->hop_nsec);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ranks, ranks_clear)

/* Returns how many parts of the message pass each hop, one after the other. */
static double count_turns(uint32_t ranks)
{
        return 2.0 * (ranks - 1);
}

/* Returns the weight of a candidate in the choice of a vendor; a required one outweighs all others
 * together. */
static uint64_t vendor_weight(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t candidate)
{
        if (!ald_plan_allows(choice, candidate))
                return 0;
        return ald_plan_requires(candidates, choice, candidate) ? (uint64_t) candidates->n + 1 : 1;
}

static const char *choose_vendor(const AldPlanCandidates *candidates, const AldPlanChoice *choice)
{
        const char *best = NULL;
        uint64_t most = 0;

        for (uint32_t i = 0; i < candidates->n; i++) {
                const char *vendor = ald_plan_candidate_device(candidates, i)->vendor;
                uint64_t weight = 0;

                for (uint32_t j = 0; j < candidates->n; j++)
                        weight += ald_plan_has_vendor(candidates, j, vendor)
                                          ? vendor_weight(candidates, choice, j)
                                          : 0;
                if (weight <= most)
                        continue;
                most = weight;
                best = vendor;
        }
        return best;
}

static void add_rank(Ranks *ranks, uint32_t candidate)
{
        uint32_t at = 0, node = ald_plan_candidate_device(ranks->candidates, candidate)->node;

        ranks->members[ranks->n++] = candidate;
        while (at < ranks->n_nodes && ranks->nodes[at] != node)
                at++;
        if (at == ranks->n_nodes) {
                ranks->nodes[ranks->n_nodes++] = node;
                ranks->devices[at] = (AldPlacementDevice){ .layer_nsec = LAYER_NSEC, .layers_max = 1 };
        }
        ranks->devices[at].required |= ald_plan_requires(ranks->candidates, ranks->choice, candidate);
}

static double part_bytes(const Ranks *ranks)
{
        const AldPlanRequest *request = ranks->candidates->request;

        return request->constants.values[ALD_PLAN_TRANSPORT_OVERHEAD] *
               (double) request->workload->message_bytes / ranks->n_used_ranks;
}

static double hop_nsec(const Ranks *ranks, uint32_t source, uint32_t sink)
{
        double bytes = part_bytes(ranks);
        AldPlanPath path = ald_plan_path_of(ranks->candidates, ranks->choice, source, sink, bytes);

        return ald_plan_path_nsec(&path, bytes);
}

static void ranks_init(Ranks *ranks, const AldPlanCandidates *candidates, const AldPlanChoice *choice)
{
        const char *vendor = choose_vendor(candidates, choice);

        *ranks = (Ranks){ .candidates = candidates,
                .choice = choice,
                .members = g_new(uint32_t, candidates->n),
                .nodes = g_new(uint32_t, candidates->n),
                .devices = g_new(AldPlacementDevice, candidates->n) };
        for (uint32_t i = 0; i < candidates->n; i++)
                if (ald_plan_allows(choice, i) && ald_plan_has_vendor(candidates, i, vendor))
                        add_rank(ranks, i);
        ranks->n_used_ranks = choice->devices_max > 0 ? MIN(choice->devices_max, ranks->n) : ranks->n;
        /* Each of these nodes then has one rank; with several, some devices would be left out. */
        if (choice->nodes_max > 0 && choice->nodes_max < ranks->n_nodes)
                ranks->n_used_ranks = MIN(ranks->n_used_ranks, choice->nodes_max);
        ranks->n_used_nodes = MIN(ranks->n_used_ranks, ranks->n_nodes);
        ranks->hop_nsec = g_new(double, (size_t) ranks->n_nodes * ranks->n_nodes);
        for (uint32_t i = 0; i < ranks->n_nodes; i++)
                for (uint32_t j = 0; j < ranks->n_nodes; j++)
                        ranks->hop_nsec[(size_t) i * ranks->n_nodes + j] = hop_nsec(
                                ranks, ranks->nodes[i], ranks->nodes[j]);
}

/* Returns whether a required device is of another vendor, or some devices of a node would be left out. */
static bool is_impossible(const Ranks *ranks)
{
        const AldPlanCandidates *candidates = ranks->candidates;
        uint32_t required = 0, taken = 0;

        for (uint32_t i = 0; i < candidates->n; i++)
                required += ald_plan_requires(candidates, ranks->choice, i);
        for (uint32_t i = 0; i < ranks->n; i++)
                taken += ald_plan_requires(candidates, ranks->choice, ranks->members[i]);
        return ranks->n == 0 || taken < required ||
               (ranks->n > ranks->n_nodes && ranks->n_used_ranks < ranks->n);
}

/* Returns a lower bound on the busiest hop of any ring, from the shortest hop out of each node. */
static double least_busiest(const Ranks *ranks)
{
        g_autofree double *least = g_new(double, ranks->n_nodes);

        if (ranks->n_used_nodes < 2)
                return 0;
        for (uint32_t i = 0; i < ranks->n_nodes; i++) {
                least[i] = INFINITY;
                for (uint32_t j = 0; j < ranks->n_nodes; j++)
                        if (i != j)
                                least[i] = fmin(least[i], ranks->hop_nsec[(size_t) i * ranks->n_nodes + j]);
        }
        qsort(least, ranks->n_nodes, sizeof *least, ald_placement_compare_nsec);
        return least[ranks->n_used_nodes - 1];
}

/* Finds some ring quickly if there is no plan yet; it is the result if time is up before a better one is
 * found. */
static int solve_large(const Ranks *ranks, const AldPlacementProblem *problem, AldPlacementSolution *ret,
        double *ret_lower_nsec)
{
        AldPlanProgress *progress = ranks->candidates->progress;
        AldPlacementSolution quick = { 0 };
        double ignored;
        int r;

        if (!progress->may_stop && ald_placement_solve_bounded(problem, FIRST_WORK, &quick, &ignored) >= 0)
                progress->may_stop = ald_plan_required_nodes_are_ensured(ranks->candidates, ranks->choice);
        r = ald_placement_solve_bounded_busiest(problem, ranks->hop_nsec, ret, ret_lower_nsec);
        if (r < 0 && quick.stages) {
                *ret = quick;
                *ret_lower_nsec = least_busiest(ranks);
                return 0;
        }
        ald_placement_solution_clear(&quick);
        return r;
}

static int solve_order(const Ranks *ranks, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        const AldPlacementProblem problem = { .layers = ranks->n_used_nodes,
                .n_devices = ranks->n_nodes,
                .devices = ranks->devices,
                .hop_nsec = ranks->hop_nsec,
                .proceed = ald_plan_progress_proceed,
                .userdata = ranks->candidates->progress };
        int r;

        if (ranks->n_nodes > ALD_PLACEMENT_RING_MAX)
                return solve_large(ranks, &problem, ret, ret_lower_nsec);
        r = ald_placement_solve_ring_busiest(&problem, ranks->hop_nsec, ret);
        if (r == 0)
                *ret_lower_nsec = ald_placement_busiest(&problem, ranks->hop_nsec, ret);
        return r;
}

/* Sets the hop to the rank of the next stage. */
static void set_hop(const Ranks *ranks, AldPlanStage *stage, const AldPlanStage *next)
{
        const AldPlanDevice *devices = ranks->candidates->cluster->devices;
        uint32_t source = devices[stage->device].node, sink = devices[next->device].node;
        double turns = count_turns(ranks->n_used_ranks);

        stage->bytes_to = turns * part_bytes(ranks);
        stage->hop_nsec = turns * ranks->candidates->request->constants.values[ALD_PLAN_INNER_HOP_NSEC];
        if (source != sink) {
                stage->hop_nsec = turns * hop_nsec(ranks, source, sink);
                stage->path_to = ald_plan_path_index(
                        ranks->candidates, ranks->choice, source, sink, part_bytes(ranks));
        }
        stage->nsec_to = stage->hop_nsec;
}

static void make_stages(const Ranks *ranks, const AldPlacementSolution *solution, AldPlanSteps *ret)
{
        const AldPlanCandidates *candidates = ranks->candidates;
        uint32_t n = 0;

        ret->stages = g_new0(AldPlanStage, ranks->n_used_ranks);
        for (uint32_t i = 0; i < solution->n_stages; i++) {
                uint32_t node = ranks->nodes[solution->stages[i].device];

                for (uint32_t j = 0; j < ranks->n; j++)
                        if (ald_plan_candidate_device(candidates, ranks->members[j])->node == node)
                                ret->stages[n++] = (AldPlanStage){
                                        .device = candidates->devices[ranks->members[j]],
                                        .path_to = ALD_PLAN_NONE,
                                        .path_from = ALD_PLAN_NONE
                                };
        }
        ret->n_stages = n;
        for (uint32_t i = 0; n > 1 && i < n; i++) {
                set_hop(ranks, &ret->stages[i], &ret->stages[(i + 1) % n]);
                ret->nsec = fmax(ret->nsec, ret->stages[i].hop_nsec);
        }
}

/*
 * Finds the order of nodes in which a ring all-reduce of a message takes the least time. Each of n ranks cuts
 * the message into n parts and passes one to the next rank 2 (n - 1) times; each turn takes as long as the
 * slowest hop: half of its round trip, and the part. Of equal orders, the one is taken whose hops take the
 * least in all.
 *
 * All candidates are ranks. If fewer devices or nodes are allowed than there are nodes, the best nodes are
 * used with one rank each. Several devices of a node follow each other, and must all be allowed. If all GPUs
 * must be of one vendor, it is the vendor of required GPUs, or the one with the most GPUs.
 *
 * Exact for up to 20 nodes; for more, lower_nsec is a lower bound on every order. Returns -ENOSPC if paths
 * join no such ring, and -E2BIG if it would have more than 256 nodes.
 */
static int find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        g_auto(Ranks) ranks = { 0 };
        AldPlanSteps made = { .client = ALD_PLAN_NONE, .in_flight = 1 };
        AldPlacementSolution solution;
        double lower_nsec;
        int r;

        ranks_init(&ranks, candidates, choice);
        r = is_impossible(&ranks) ? -ENOSPC : solve_order(&ranks, &solution, &lower_nsec);
        if (r < 0) {
                /* There may be a ring of more nodes that was not found. */
                *ret = (AldPlanSteps){
                        .lower_nsec = r == -ENOSPC || ranks.n_nodes <= ALD_PLACEMENT_RING_MAX ? INFINITY : 0
                };
                return r == -E2BIG || r == -ECANCELED ? r : -ENOSPC;
        }
        make_stages(&ranks, &solution, &made);
        ald_placement_solution_clear(&solution);
        made.hops_nsec = made.busiest_nsec = made.interval_nsec = made.lower_nsec = made.nsec;
        if (ranks.n_nodes > ALD_PLACEMENT_RING_MAX)
                made.lower_nsec = fmin(made.nsec, count_turns(ranks.n_used_ranks) * lower_nsec);
        *ret = made;
        return 0;
}

/* Returns the size of the tables, in which each node is a stage with one layer. */
static double tables_bytes(const AldPlanCandidates *candidates)
{
        double n = candidates->n_places;

        return ald_ring_tables_bytes(n, fmin(n, ALD_PLACEMENT_STAGES_LIMIT), 10);
}

static double same_nsec(const AldPlanCandidates *candidates, const AldPlan *plan, const AldPlanChoice *choice)
{
        const AldPlanSteps *best = &plan->best;
        double turns = count_turns(best->n_stages), slowest = 0;

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

/* Ranks form a ring, around which parts of a message pass until all ranks have the sum. */
const AldPlanMethod ald_all_reduce_method = {
        .step = "an all-reduce",
        .payload = "sums",
        .find = find_steps,
        .tables_bytes = tables_bytes,
        .same_nsec = same_nsec,
};
