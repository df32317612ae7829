/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>

#include "placement/nodes.h"

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

static bool is_within(const AldPlacementProblem *problem, const AldPlacementSolution *solution)
{
        g_autofree uint32_t *devices = g_new(uint32_t, solution->n_stages);

        for (uint32_t i = 0; i < solution->n_stages; i++)
                devices[i] = solution->stages[i].device;
        return ald_placement_count_nodes(problem, devices, solution->n_stages) <= problem->nodes_max;
}

/* Layers on the node of each device; more than all for nodes of which a device is required. */
static uint32_t *count_layers(const AldPlacementProblem *problem, const AldPlacementSolution *solution)
{
        uint32_t *layers = g_new0(uint32_t, problem->n_devices);

        for (uint32_t i = 0; i < problem->n_devices; i++) {
                for (uint32_t j = 0; j < solution->n_stages; j++)
                        if (problem->nodes[solution->stages[j].device] == problem->nodes[i])
                                layers[i] += solution->stages[j].layers;
                for (uint32_t j = 0; j < problem->n_devices; j++)
                        if (problem->devices[j].required && problem->nodes[j] == problem->nodes[i])
                                layers[i] += problem->layers;
        }
        return layers;
}

/* Leaves room only on the nodes with the most layers. */
static void keep_nodes(const AldPlacementProblem *problem, uint32_t *layers, AldPlacementDevice *devices)
{
        g_autofree bool *kept = g_new0(bool, problem->n_devices);

        for (uint32_t n = 0; n < problem->nodes_max; n++) {
                uint32_t best = 0;

                for (uint32_t i = 1; i < problem->n_devices; i++)
                        if (layers[i] > layers[best])
                                best = i;
                for (uint32_t i = 0; i < problem->n_devices; i++)
                        if (layers[best] > 0 && i != best && problem->nodes[i] == problem->nodes[best]) {
                                kept[i] = true;
                                layers[i] = 0;
                        }
                kept[best] |= layers[best] > 0;
                layers[best] = 0;
        }
        for (uint32_t i = 0; i < problem->n_devices; i++)
                if (!kept[i])
                        devices[i].layers_max = 0;
}

/* Takes the solution that it finds if that takes less. */
static void try_problem(
        const AldPlacementProblem *problem, AldPlacementSolver *solve, AldPlacementSolution *best)
{
        AldPlacementSolution found;
        double lower_nsec;

        if (solve(problem, &found, &lower_nsec) < 0)
                return;
        if (best->stages && best->nsec <= found.nsec) {
                ald_placement_solution_clear(&found);
                return;
        }
        ald_placement_solution_clear(best);
        *best = found;
}

int ald_placement_solve_nodes(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        AldPlacementSolution *ret, double *ret_lower_nsec)
{
        AldPlacementProblem changed = *problem;
        AldPlacementSolution any, best = { 0 };
        g_autofree AldPlacementDevice *devices = g_memdup2(
                problem->devices, problem->n_devices * sizeof *problem->devices);
        g_autofree uint32_t *layers = NULL;
        int r;

        changed.nodes_max = 0;
        r = solve(&changed, &any, ret_lower_nsec);
        if (r < 0)
                return r;
        if (is_within(problem, &any)) {
                *ret = any;
                return 0;
        }
        layers = count_layers(problem, &any);
        ald_placement_solution_clear(&any);
        keep_nodes(problem, layers, devices);
        changed.devices = devices;
        try_problem(&changed, solve, &best);
        changed.devices = problem->devices;
        changed.devices_max = changed.devices_max > 0 ? MIN(changed.devices_max, problem->nodes_max)
                                                      : problem->nodes_max;
        try_problem(&changed, solve, &best);
        if (!best.stages)
                return -EHOSTUNREACH;
        *ret = best;
        return 0;
}
