/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/* Sets nodes_max to 0 if it does not restrict anything, or if it is equivalent to a limit on devices, which
 * is lowered instead. */
void ald_placement_drop_nodes_limit(AldPlacementProblem *problem);

/* A solver that ignores nodes. If it fails, *ret_lower_nsec is INFINITY if there is provably no solution,
 * else unchanged. */
typedef int AldPlacementSolver(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec);

/*
 * Solves the problem on at most nodes_max nodes. If that is one, each node is tried. Otherwise the solution
 * on any nodes is taken if it is within the limit already; if not, the best of three: on the nodes with the
 * most layers in that solution, on the nodes with the most room, and on no more devices than nodes are
 * allowed. No solution takes less than *ret_lower_nsec. Returns -EHOSTUNREACH also if there may be a
 * solution, but none of these kinds.
 */
int ald_placement_solve_nodes(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        AldPlacementSolution *ret, double *ret_lower_nsec);
