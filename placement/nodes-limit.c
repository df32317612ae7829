/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <math.h>

#include "placement/nodes-limit.h"

void ald_placement_drop_nodes_limit(AldPlacementProblem *problem)
{
        g_autofree uint32_t *devices = g_new(uint32_t, problem->n_devices);
        uint32_t nodes;

        if (problem->nodes_max == 0)
                return;
        for (uint32_t i = 0; i < problem->n_devices; i++)
                devices[i] = i;
        nodes = ald_placement_count_nodes(problem, devices, problem->n_devices);
        if (nodes == problem->n_devices)
                problem->devices_max = problem->devices_max > 0
                                               ? MIN(problem->devices_max, problem->nodes_max)
                                               : problem->nodes_max;
        if (nodes == problem->n_devices || nodes <= problem->nodes_max)
                problem->nodes_max = 0;
}

static bool is_within_nodes_max(const AldPlacementProblem *problem, const AldPlacementSolution *solution)
{
        g_autofree uint32_t *devices = g_new(uint32_t, solution->n_stages);

        for (uint32_t i = 0; i < solution->n_stages; i++)
                devices[i] = solution->stages[i].device;
        return ald_placement_count_nodes(problem, devices, solution->n_stages) <= problem->nodes_max;
}

/* The problem restricted to some of its devices. */
typedef struct NodesPart {
        AldPlacementProblem problem;
        uint32_t *numbers; /* numbers of its devices in the whole problem */
        uint32_t *nodes;
        AldPlacementDevice *devices;
        AldPlacementEnds *ends;
        double *hop_nsec, *closing_nsec;
} NodesPart;

/* Returns the times between the devices of the part, or NULL if `nsec` is NULL. */
static double *part_of_hops(
        const NodesPart *part, const AldPlacementProblem *all, const double *nsec, size_t n)
{
        double *kept = nsec ? g_new(double, n *n) : NULL;

        for (size_t i = 0; nsec && i < n; i++)
                for (size_t j = 0; j < n; j++)
                        kept[i * n + j] = nsec[(size_t) part->numbers[i] * all->n_devices + part->numbers[j]];
        return kept;
}

static void part_init(NodesPart *part, const AldPlacementProblem *all, const bool *kept)
{
        size_t n = 0;

        *part = (NodesPart){ .problem = *all, .numbers = g_new(uint32_t, all->n_devices) };
        for (uint32_t i = 0; i < all->n_devices; i++)
                if (kept[i])
                        part->numbers[n++] = i;
        part->nodes = g_new(uint32_t, n);
        part->devices = g_new(AldPlacementDevice, n);
        part->ends = all->ends ? g_new(AldPlacementEnds, n) : NULL;
        part->hop_nsec = part_of_hops(part, all, all->hop_nsec, n);
        part->closing_nsec = part_of_hops(part, all, all->closing_nsec, n);
        for (size_t i = 0; i < n; i++) {
                part->nodes[i] = all->nodes[part->numbers[i]];
                part->devices[i] = all->devices[part->numbers[i]];
                if (all->ends)
                        part->ends[i] = all->ends[part->numbers[i]];
        }
        part->problem.n_devices = (uint32_t) n;
        part->problem.devices = part->devices;
        part->problem.ends = part->ends;
        part->problem.hop_nsec = part->hop_nsec;
        part->problem.closing_nsec = part->closing_nsec;
        part->problem.closing_occupy_nsec = NULL;
        part->problem.nodes = part->nodes;
        part->problem.nodes_max = 0;
}

static void part_clear(NodesPart *part)
{
        g_free(part->numbers);
        g_free(part->nodes);
        g_free(part->devices);
        g_free(part->ends);
        g_free(part->hop_nsec);
        g_free(part->closing_nsec);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NodesPart, part_clear)

static bool lacks_required(const AldPlacementProblem *problem, const bool *kept)
{
        for (uint32_t i = 0; i < problem->n_devices; i++)
                if (problem->devices[i].required && !kept[i])
                        return true;
        return false;
}

/* Solves the problem on these devices only and keeps a better solution. Returns a lower bound on their
 * solutions, INFINITY if there are none. */
static double try_part(const AldPlacementProblem *problem, AldPlacementSolver *solve, const bool *kept,
        AldPlacementSolution *best)
{
        g_auto(NodesPart) part = { 0 };
        AldPlacementSolution found;
        double lower_nsec;
        int r;

        if (lacks_required(problem, kept))
                return INFINITY;
        part_init(&part, problem, kept);
        r = solve(&part.problem, &found, &lower_nsec);
        if (r < 0)
                return r == -ENOSPC ? INFINITY : 0;
        for (uint32_t i = 0; i < found.n_stages; i++)
                found.stages[i].device = part.numbers[found.stages[i].device];
        ald_placement_solution_keep(&found, best);
        return lower_nsec;
}

/* Returns, for each device, the sum of the layers on all devices of its node. A required device adds more
 * than any layers can, so that its node comes first. */
static uint32_t *sum_nodes(const AldPlacementProblem *problem, const uint32_t *layers)
{
        uint32_t *sums = g_new0(uint32_t, problem->n_devices);

        for (uint32_t i = 0; i < problem->n_devices; i++)
                for (uint32_t j = 0; j < problem->n_devices; j++)
                        if (problem->nodes[j] == problem->nodes[i])
                                sums[i] += layers[j] + (problem->devices[j].required
                                                                       ? problem->n_devices * problem->layers
                                                                       : 0);
        return sums;
}

/* Tries the nodes with the most of these layers. */
static void try_nodes_with_most(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        const uint32_t *layers, AldPlacementSolution *best)
{
        g_autofree uint32_t *sums = sum_nodes(problem, layers);
        g_autofree bool *kept = g_new0(bool, problem->n_devices);

        for (uint32_t n = 0; n < problem->nodes_max; n++) {
                uint32_t most = 0;

                for (uint32_t i = 1; i < problem->n_devices; i++)
                        if (sums[i] > sums[most])
                                most = i;
                if (sums[most] == 0)
                        break;
                for (uint32_t i = 0; i < problem->n_devices; i++)
                        if (problem->nodes[i] == problem->nodes[most]) {
                                kept[i] = true;
                                sums[i] = 0;
                        }
        }
        try_part(problem, solve, kept, best);
}

static void try_candidates(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        const AldPlacementSolution *any, AldPlacementSolution *best)
{
        g_autofree uint32_t *layers = g_new0(uint32_t, problem->n_devices);
        AldPlacementProblem changed = *problem;
        AldPlacementSolution found;
        double lower_nsec;

        for (uint32_t i = 0; i < any->n_stages; i++)
                layers[any->stages[i].device] = any->stages[i].layers;
        try_nodes_with_most(problem, solve, layers, best);
        for (uint32_t i = 0; i < problem->n_devices; i++)
                layers[i] = MIN(problem->devices[i].layers_max, problem->layers);
        try_nodes_with_most(problem, solve, layers, best);
        changed.nodes_max = 0;
        changed.devices_max = problem->devices_max > 0 ? MIN(problem->devices_max, problem->nodes_max)
                                                       : problem->nodes_max;
        if (solve(&changed, &found, &lower_nsec) >= 0)
                ald_placement_solution_keep(&found, best);
}

/* Solves the problem on each node alone and returns the best solution. */
static int solve_single_nodes(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        AldPlacementSolution *ret, double *ret_lower_nsec)
{
        g_autofree bool *done = g_new0(bool, problem->n_devices), *kept = g_new(bool, problem->n_devices);
        AldPlacementSolution best = { 0 };

        *ret_lower_nsec = INFINITY;
        for (uint32_t i = 0; i < problem->n_devices; i++) {
                if (done[i])
                        continue;
                for (uint32_t j = 0; j < problem->n_devices; j++) {
                        kept[j] = problem->nodes[j] == problem->nodes[i];
                        done[j] |= kept[j];
                }
                *ret_lower_nsec = fmin(*ret_lower_nsec, try_part(problem, solve, kept, &best));
        }
        if (!best.stages)
                return isinf(*ret_lower_nsec) ? -ENOSPC : -EHOSTUNREACH;
        *ret = best;
        return 0;
}

int ald_placement_solve_nodes(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        AldPlacementSolution *ret, double *ret_lower_nsec)
{
        AldPlacementProblem changed = *problem;
        AldPlacementSolution any, best = { 0 };
        int r;

        if (problem->nodes_max == 1)
                return solve_single_nodes(problem, solve, ret, ret_lower_nsec);
        changed.nodes_max = 0;
        r = solve(&changed, &any, ret_lower_nsec);
        if (r < 0)
                return r;
        if (is_within_nodes_max(problem, &any)) {
                *ret = any;
                return 0;
        }
        try_candidates(problem, solve, &any, &best);
        ald_placement_solution_clear(&any);
        if (!best.stages)
                return -EHOSTUNREACH;
        *ret = best;
        return 0;
}
