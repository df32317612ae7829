/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Solves the problem of ald_placement_solve_ring() exactly if many devices are interchangeable, such as 8
 * hosts with 8 equal GPUs each, by deciding how many of each class to use. k members of a class that are
 * visited in one go cost k − 1 hops between them, and the hops between classes do not depend on k.
 *
 * Visiting each class once is best if, for each class c with several members and all other devices x and y,
 * hop(c, c) + hop(x, y) <= hop(x, c) + hop(c, y): moving a later part of the class next to the first one
 * replaces the hops on the right, which lead into that part and out of it, by those on the left.
 *
 * Returns -E2BIG if that does not hold, if there are ends, if there are more than 16 classes, or if the work
 * of 2^classes · layers² · devices_max is too much. The last factor counts only if it is less than both
 * devices and layers.
 */
int ald_placement_solve_groups(const AldPlacementProblem *problem, AldPlacementSolution *ret);
