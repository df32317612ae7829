/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/nodes-limit.h"

/* Sets nodes_even to false if no node has several devices. */
void ald_placement_drop_even(AldPlacementProblem *problem);

/*
 * A ring that uses as many devices of each node as of the others, for more devices than
 * ald_placement_solve_ring() solves; those of a node follow each other (nodes_together). For each number of
 * devices that a node may give, a node is one stage of another problem, which `solve` solves: it computes as
 * fast as its fastest device, has the room of those with the most, and its hops include those between its
 * devices. So no ring takes less than what is found, which is the ring itself where the devices of each node
 * are alike. Else it gives its fastest devices or those with the most room, whichever take less. Rings on a
 * single node are looked for apart. nodes_max is obeyed. Errors as listed in problem.h; -EHOSTUNREACH also if
 * there may be a ring that was not found.
 */
int ald_placement_solve_even(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        AldPlacementSolution *ret, double *ret_lower_nsec);
