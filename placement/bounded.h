/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * The ring of ald_placement_solve_ring() for more devices than that solves: a good one, and a lower bound on
 * what any solution takes. *ret_lower_nsec equals the solution's nsec if it is proven to be the best.
 *
 * The bound gives each device a price for its hops, which subgradients raise (Held and Karp 1971), and takes
 * the best layers and stages at these prices by dynamic programming. What no better solution can use is ruled
 * out; a search through the rest proves the best one or raises the bound. The work is limited and does not
 * depend on time, so equal problems get equal results: below a second for 1000 devices and 16 stages. Takes
 * 8 · devices · (stages · layers + 2 · devices) bytes, with stages counted to 64.
 *
 * -E2BIG: more than 256 stages are allowed. -EHOSTUNREACH also if paths join the devices, but the limited
 * work did not find how.
 */
int ald_placement_solve_bounded(
        const AldPlacementProblem *problem, AldPlacementSolution *ret, double *ret_lower_nsec);
