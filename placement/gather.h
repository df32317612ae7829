/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Reorders the stages of a ring so that those of each node follow each other from the first stage on: nodes
 * in the order in which they are first met, from any of them on, whichever takes the least time, with any of
 * a node's devices at either end of the ring. Splits the layers anew. False: none of these orders has room
 * and paths; the solution is as it was. A ring that has such an order already is left as it is.
 */
bool ald_placement_gather(const AldPlacementProblem *problem, AldPlacementSolution *solution);

/* The same for a ring on several nodes whose layers were not split yet, whatever its order is. */
bool ald_placement_arrange(const AldPlacementProblem *problem, AldPlacementSolution *solution);
