/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/bounded.h"
#include "placement/even.h"
#include "placement/groups.h"
#include "placement/nodes-limit.h"
#include "placement/ring.h"
#include "placement/solve.h"

/* With ends, the exact ring of 20 devices takes seconds, so above this the bounded search is tried first. */
#define RING_WITH_ENDS_MAX 16u
#define BRIEF_WORK (ALD_PLACEMENT_WORK / 8)

/* Sets the bound after an exact solver: the solution's own time, or INFINITY if there is no solution. Returns
 * r. */
static int set_proven_bound(int r, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        if (r == 0)
                *ret_lower_nsec = ret->nsec;
        else if (r == -ENOSPC || r == -EHOSTUNREACH)
                *ret_lower_nsec = INFINITY;
        return r;
}

/* Takes the result of a search with limited work, unless it is not proven to be the best and the problem is
 * small enough to be solved exactly. */
static int accept_or_solve_exactly(const AldPlacementProblem *problem, int r, AldPlacementSolution *close,
        double lower, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        uint32_t most = problem->exact_max > 0 ? problem->exact_max : ALD_PLACEMENT_RING_MAX;

        if (r < 0 && r != -EHOSTUNREACH)
                return r;
        if (problem->n_devices <= most && (r < 0 || lower < close->nsec)) {
                if (r == 0)
                        ald_placement_solution_clear(close);
                return set_proven_bound(ald_placement_solve_ring(problem, ret), ret, ret_lower_nsec);
        }
        if (r < 0)
                return r;
        *ret = *close;
        *ret_lower_nsec = lower;
        return 0;
}

static int solve_any_nodes(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        AldPlacementSolution close;
        double lower = 0;
        int r;

        if (problem->n_devices <= (problem->ends ? RING_WITH_ENDS_MAX : ALD_PLACEMENT_RING_MAX))
                return set_proven_bound(ald_placement_solve_ring(problem, ret), ret, ret_lower_nsec);
        r = ald_placement_solve_groups(problem, ret);
        if (r != -E2BIG)
                return set_proven_bound(r, ret, ret_lower_nsec);
        r = ald_placement_solve_bounded(problem, ALD_PLACEMENT_WORK, &close, &lower);
        return accept_or_solve_exactly(problem, r, &close, lower, ret, ret_lower_nsec);
}

int ald_placement_solve(const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        AldPlacementProblem changed = *problem;
        AldPlacementSolution close;
        double lower = 0;
        int r;

        ald_placement_drop_nodes_limit(&changed);
        ald_placement_drop_even(&changed);
        if (changed.nodes_max == 0 && !changed.nodes_even)
                return solve_any_nodes(&changed, ret, ret_lower_nsec);
        if (problem->n_devices <= RING_WITH_ENDS_MAX)
                return set_proven_bound(ald_placement_solve_ring(&changed, ret), ret, ret_lower_nsec);
        if (!changed.nodes_even)
                return ald_placement_solve_nodes(problem, solve_any_nodes, ret, ret_lower_nsec);
        r = ald_placement_solve_even(&changed, solve_any_nodes, &close, &lower);
        return accept_or_solve_exactly(&changed, r, &close, lower, ret, ret_lower_nsec);
}

static int solve_bounded_briefly(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        return ald_placement_solve_bounded(problem, BRIEF_WORK, ret, ret_lower_nsec);
}

int ald_placement_solve_briefly(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        AldPlacementProblem changed = *problem;

        ald_placement_drop_nodes_limit(&changed);
        ald_placement_drop_even(&changed);
        if (changed.nodes_even)
                return ald_placement_solve_even(&changed, solve_bounded_briefly, ret, ret_lower_nsec);
        if (changed.nodes_max > 0)
                return ald_placement_solve_nodes(&changed, solve_bounded_briefly, ret, ret_lower_nsec);
        return solve_bounded_briefly(&changed, ret, ret_lower_nsec);
}
