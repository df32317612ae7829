/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

#define ALD_PLACEMENT_WORK UINT64_C(100000000) /* steps of about 5 ns */

/*
 * The ring of ald_placement_solve_ring() for more devices than that solves: a good one, and a lower bound on
 * what any solution takes. *ret_lower_nsec equals the solution's nsec if it is proven to be the best.
 *
 * The bound gives each device a price for its hops, which subgradients raise (Held and Karp 1971), and takes
 * the best layers and stages at these prices by dynamic programming. What no better solution can use is ruled
 * out; searches through the rest (ring-search.h), each wider than the one before, find better ones and raise
 * the bound until it proves the best one. They stop at a number of steps of work, not at a time, so equal
 * problems get equal results; ALD_PLACEMENT_WORK is less than a second. Takes up to
 * 8 · devices · (stages · layers + 5 · devices) bytes, with stages counted to 64, and 100 MB for paths.
 *
 * With nodes_together, that is a bound on all rings; the stages of each node are moved together in the best
 * one that is found, which may then take more than another one would.
 *
 * -E2BIG: more than 256 stages are allowed. -EHOSTUNREACH also if paths join the devices, but the work did
 * not suffice to find how.
 */
int ald_placement_solve_bounded(
        const AldPlacementProblem *problem, uint64_t work, AldPlacementSolution *ret, double *ret_lower_nsec);
