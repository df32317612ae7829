/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "tests/unit/placement/solution-cost.h"

/* Whether each layer is on one device, at least one on each, and on all that are required; memory apart. */
static bool is_complete(const AldPlacementProblem *problem, const AldPlacementSolution *solution)
{
        g_autofree bool *used = g_new0(bool, problem->n_devices);
        uint64_t layers = 0;

        if (problem->devices_max > 0 && solution->n_stages > problem->devices_max)
                return false;
        for (uint32_t i = 0; i < solution->n_stages; i++) {
                const AldPlacementStage *stage = &solution->stages[i];

                if (stage->device >= problem->n_devices || used[stage->device] || stage->layers == 0)
                        return false;
                used[stage->device] = true;
                layers += stage->layers;
        }
        for (uint32_t i = 0; i < problem->n_devices; i++)
                if (problem->devices[i].required && !used[i])
                        return false;
        return layers == problem->layers;
}

static double layers_nsec(const AldPlacementProblem *problem, const AldPlacementStage *stage, uint32_t most)
{
        return stage->layers > most ? INFINITY : stage->layers * problem->devices[stage->device].layer_nsec;
}

static double ring_stage_nsec(
        const AldPlacementProblem *problem, const AldPlacementSolution *solution, uint32_t at)
{
        const AldPlacementStage *stage = &solution->stages[at];
        uint32_t most = problem->devices[stage->device].layers_max;
        bool first = at == 0, last = at + 1 == solution->n_stages;
        const AldPlacementEnds *ends;

        if (!problem->ends)
                return layers_nsec(problem, stage, most);
        ends = &problem->ends[stage->device];
        if (first && last)
                most = MIN(most, ends->layers_max_both);
        else if (first)
                most = MIN(most, ends->layers_max_first);
        else if (last)
                most = MIN(most, ends->layers_max_last);
        return layers_nsec(problem, stage, most) + (first ? ends->first_nsec : 0) +
               (last ? ends->last_nsec : 0);
}

static double hops_nsec(const AldPlacementProblem *problem, const AldPlacementSolution *ring)
{
        double nsec = 0;

        for (uint32_t i = 0; i < ring->n_stages && ring->n_stages > 1; i++) {
                bool closes = i + 1 == ring->n_stages && problem->ends && problem->closing_nsec;

                nsec += (closes ? problem->closing_nsec
                                : problem->hop_nsec)[(size_t) ring->stages[i].device * problem->n_devices +
                                                     ring->stages[(i + 1) % ring->n_stages].device];
        }
        return nsec;
}

double placement_measure_ring(const AldPlacementProblem *problem, const AldPlacementSolution *solution)
{
        double nsec;

        if (!is_complete(problem, solution))
                return INFINITY;
        nsec = hops_nsec(problem, solution);
        for (uint32_t i = 0; i < solution->n_stages; i++)
                nsec += ring_stage_nsec(problem, solution, i);
        return nsec;
}

static AldPlacementRoleCost role_cost_of(
        const AldPlacementProblem *problem, const PlacementStar *star, uint32_t device, bool last)
{
        if (!last || !star->last_nsec)
                return (AldPlacementRoleCost){ .use_nsec = star->use_nsec[device],
                        .layers_max = problem->devices[device].layers_max };
        return (AldPlacementRoleCost){ .use_nsec = star->use_nsec[device] + star->last_nsec[device],
                .layers_max = star->last_layers_max[device] };
}

int placement_solve_star(
        const AldPlacementProblem *problem, const PlacementStar *star, AldPlacementSolution *ret)
{
        g_autofree AldPlacementRoleCost *role_costs = g_new(
                AldPlacementRoleCost, (size_t) problem->n_devices * ALD_PLACEMENT_N_ROLES);
        AldPlacementStarSolution found;
        AldPlacementStage last;
        uint64_t work = 0;
        double lower_nsec;
        int r;

        for (uint32_t i = 0; i < problem->n_devices; i++)
                for (AldPlacementRole role = 0; role < ALD_PLACEMENT_N_ROLES; role++)
                        role_costs[i * ALD_PLACEMENT_N_ROLES + role] = role_cost_of(
                                problem, star, i, role & ALD_PLACEMENT_LAST);
        r = ald_placement_solve_star(problem, role_costs, INFINITY, &work, &found, &lower_nsec);
        if (r < 0)
                return r;
        last = found.stages[found.last];
        found.stages[found.last] = found.stages[found.n_stages - 1];
        found.stages[found.n_stages - 1] = last;
        *ret = (AldPlacementSolution){ found.stages, found.n_stages, found.nsec };
        return 0;
}

double placement_measure_star(
        const AldPlacementProblem *problem, const PlacementStar *star, const AldPlacementSolution *solution)
{
        double nsec = 0;

        if (!is_complete(problem, solution))
                return INFINITY;
        for (uint32_t i = 0; i < solution->n_stages; i++) {
                const AldPlacementStage *stage = &solution->stages[i];
                bool last = star->last_nsec && i + 1 == solution->n_stages;

                nsec += star->use_nsec[stage->device] + (last ? star->last_nsec[stage->device] : 0);
                nsec += layers_nsec(problem, stage,
                        last ? star->last_layers_max[stage->device]
                             : problem->devices[stage->device].layers_max);
        }
        return nsec;
}

double placement_hops_percent(const AldPlacementProblem *problem, const AldPlacementSolution *ring)
{
        return 100 * hops_nsec(problem, ring) / ring->nsec;
}
