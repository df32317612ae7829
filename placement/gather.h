/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Reorders the stages of a ring so that those of each node follow each other from the first stage on, and
 * splits the layers again. Nodes keep the order in which they first occur. Of all rotations, and all choices
 * of devices of the outer nodes for the two ends, the one with the least time is taken. Returns false, with
 * the solution unchanged, if none of these orders has room and paths. A ring that is already in such an order
 * is left alone.
 */
bool ald_placement_gather(const AldPlacementProblem *problem, AldPlacementSolution *solution);

/* Does the same for a ring on several nodes whose layers are not split yet, whatever its order. */
bool ald_placement_order_by_node(const AldPlacementProblem *problem, AldPlacementSolution *solution);
