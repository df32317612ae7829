/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/bounded.h"
#include "placement/groups.h"
#include "placement/nodes.h"
#include "placement/ring.h"
#include "placement/solve.h"

/* With ends, the exact ring of 20 devices takes seconds, which the bounded search mostly saves. */
#define RING_WITH_ENDS_MAX 16u

static int proven(int r, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        if (r == 0)
                *ret_lower_nsec = ret->nsec;
        return r;
}

static int solve_any_nodes(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        AldPlacementSolution close;
        double lower;
        int r;

        if (problem->n_devices <= (problem->ends ? RING_WITH_ENDS_MAX : ALD_PLACEMENT_RING_MAX))
                return proven(ald_placement_solve_ring(problem, ret), ret, ret_lower_nsec);
        r = ald_placement_solve_groups(problem, ret);
        if (r != -E2BIG)
                return proven(r, ret, ret_lower_nsec);
        r = ald_placement_solve_bounded(problem, ALD_PLACEMENT_WORK, &close, &lower);
        if (r < 0 && r != -EHOSTUNREACH)
                return r;
        if (problem->n_devices <= ALD_PLACEMENT_RING_MAX && (r < 0 || lower < close.nsec)) {
                if (r == 0)
                        ald_placement_solution_clear(&close);
                return proven(ald_placement_solve_ring(problem, ret), ret, ret_lower_nsec);
        }
        if (r < 0)
                return r;
        *ret = close;
        *ret_lower_nsec = lower;
        return 0;
}

int ald_placement_solve(const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec)
{
        AldPlacementProblem changed = *problem;

        ald_placement_drop_nodes_limit(&changed);
        if (changed.nodes_max == 0)
                return solve_any_nodes(&changed, ret, ret_lower_nsec);
        if (problem->n_devices <= RING_WITH_ENDS_MAX)
                return proven(ald_placement_solve_ring(problem, ret), ret, ret_lower_nsec);
        return ald_placement_solve_nodes(problem, solve_any_nodes, ret, ret_lower_nsec);
}
