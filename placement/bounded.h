/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

#define ALD_PLACEMENT_WORK UINT64_C(100000000) /* steps of about 5 ns */

/*
 * Solves the problem of ald_placement_solve_ring() for more devices than that can: finds a good ring and a
 * lower bound on the time of any solution. *ret_lower_nsec equals the solution's nsec if it is proven to be
 * the best.
 *
 * The bound gives each device a price for its hops, which subgradients raise (Held and Karp 1971), and takes
 * the best layers and stages at these prices by dynamic programming. What no better solution can use is ruled
 * out; searches through the rest (ring-search.h), each wider than the one before, find better ones and raise
 * the bound until it proves the best one. They stop at a number of steps of work, not at a time, so equal
 * problems get equal results; ALD_PLACEMENT_WORK is less than a second. Takes up to 8 · devices · (stages ·
 * layers + 5 · devices) bytes, counting at most 64 stages, and 100 MB for paths.
 *
 * With nodes_together, the bound is that of all rings. The stages of each node are moved together in the best
 * ring that is found, which may then take more time than another one would.
 *
 * Returns -E2BIG if more than 256 stages are allowed, and -EHOSTUNREACH also if the work did not suffice to
 * find a ring that exists.
 */
int ald_placement_solve_bounded(
        const AldPlacementProblem *problem, uint64_t work, AldPlacementSolution *ret, double *ret_lower_nsec);
