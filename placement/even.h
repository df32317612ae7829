/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/nodes-limit.h"

/* Sets nodes_even to false if no node has several devices. */
void ald_placement_drop_even(AldPlacementProblem *problem);

/*
 * Finds a ring that uses equally many devices of each of its nodes, for more devices than
 * ald_placement_solve_ring() can solve; the devices of a node follow each other (nodes_together). For each
 * number of devices per node, `solve` is given a problem in which a node is one stage: it computes as fast as
 * its fastest device, has the room of its roomiest devices, and its hops include those between its devices.
 * The solution of that problem is thus a lower bound, and the ring itself if the devices of each node are
 * alike. Otherwise each node contributes its fastest devices or its roomiest ones, whichever take less time.
 * Rings on a single node are searched separately. nodes_max is obeyed. Returns the errors listed in
 * problem.h; -EHOSTUNREACH also if there may be a ring that was not found.
 */
int ald_placement_solve_even(const AldPlacementProblem *problem, AldPlacementSolver *solve,
        AldPlacementSolution *ret, double *ret_lower_nsec);
