/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * The exact ring of ald_placement_solve_ring() where many of the devices are interchangeable, such as 8 hosts
 * with 8 equal GPUs each: it decides how many of each class to use. Of these, k members visited in one go
 * cost k − 1 hops between them, and the hops between classes do not depend on how many are used.
 *
 * Going through each class once is best if, for each class c with several members and all other devices x and
 * y, hop(c, c) + hop(x, y) <= hop(x, c) + hop(c, y): moving a later part of the class behind the first one
 * replaces the hops on the right, which lead into that part and out of it, by those on the left.
 *
 * -E2BIG: if that does not hold, if there are ends, or if the classes, 16 at most, are too many for the work
 * of 2^classes · layers² · devices_max, the last factor only if it is less than devices and layers.
 */
int ald_placement_solve_groups(const AldPlacementProblem *problem, AldPlacementSolution *ret);
