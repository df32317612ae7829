/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * The ring with the least time of one step (ring.h), by the method that suits the problem: exactly, for few
 * devices or few classes of equal ones, else as closely as limited work allows (bounded.h). No solution takes
 * less than *ret_lower_nsec; if that equals the solution's nsec, the solution is proven to be the best. With
 * a limit on nodes that matters and more than 16 devices: the best one of some solutions within it, see
 * nodes-limit.h, and with nodes_even, see even.h. Equal problems have equal results. Errors as listed in
 * problem.h; see bounded.h for what they mean there.
 */
int ald_placement_solve(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec);

/*
 * A first ring soon, of as many devices as are too many for the exact way: as above, with an eighth of the
 * work, and so with a lower bound that may be less close. Where it fails, there may be a solution.
 */
int ald_placement_solve_briefly(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec);
