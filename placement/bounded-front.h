/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Optimizes throughput (ring-front.h) for more devices than ald_placement_solve_ring_busiest() can solve:
 * finds a solution whose busiest part takes little time, and a lower bound on that time, *ret_lower_nsec.
 * Below that time the layers do not fit even if all devices that have paths to and from others are joined;
 * the solution is the best only if its busiest part takes just as long. It tries limits from there on; each
 * takes about a tenth of a second for 1000 devices. Errors are those of ald_placement_solve_bounded().
 */
int ald_placement_solve_bounded_busiest(const AldPlacementProblem *problem, const double *occupy_nsec,
        AldPlacementSolution *ret, double *ret_lower_nsec);
