/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Finds the ring with the least time of one step (ring.h) by the method that suits the problem: exactly for
 * few devices or few classes of equal ones, else as closely as limited work allows (bounded.h). No solution
 * takes less than *ret_lower_nsec; if that equals the solution's nsec, the solution is proven to be the best.
 * For more than 16 devices, nodes-limit.h describes how a limit on nodes is obeyed, and even.h how nodes_even
 * is. Equal problems have equal results. Returns the errors listed in problem.h, with the additions of
 * bounded.h.
 */
int ald_placement_solve(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec);

/*
 * Finds a first ring soon for more devices than can be solved exactly: as above with an eighth of the work,
 * so the lower bound may be less tight. If it fails, there may still be a solution.
 */
int ald_placement_solve_briefly(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec);
