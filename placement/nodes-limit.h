/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/* Sets nodes_max to 0 if it is no limit, or the same as one on devices, which is lowered then. */
void ald_placement_drop_nodes_limit(AldPlacementProblem *problem);

/* A solver that does not know of nodes. If it fails, *ret_lower_nsec is INFINITY where it is proven that
 * there is no solution, else as it was. */
typedef int AldPlacementSolver(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec);

/*
 * On at most nodes_max nodes. If that is one: on the best of all nodes. Else the solution on any nodes if it
 * is within the limit already, or the best one of three: on the nodes that have the most layers there, on
 * those with the most room, and on no more devices than nodes are allowed. No solution takes less than
 * *ret_lower_nsec. -EHOSTUNREACH also if there may be one, but not of these kinds.
 */
int ald_placement_solve_nodes(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        AldPlacementSolution *ret, double *ret_lower_nsec);
