/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Optimizes throughput around a ring with a number of steps under way. Each of them ends once in the time of
 * a step, or in the time that all of them occupy the busiest part (ring-front.h), whichever is longer. Finds
 * the devices, order and split with the least such time, among those with at least as many stages as steps.
 * The work is limited: no solution takes less than *ret_lower_nsec, which is always set; if the solution
 * takes just that, it is proven to be the best. Solutions that take enough_nsec or more are not searched.
 * Returns the errors listed in problem.h; -ENOSPC also if no solution takes less than enough_nsec or has
 * enough stages.
 */
int ald_placement_solve_overlapped(const AldPlacementProblem *problem, const double *occupy_nsec,
        uint32_t steps, double enough_nsec, AldPlacementSolution *ret, double *ret_lower_nsec);

/* Returns the time of a solution in this sense. */
double ald_placement_overlapped(const AldPlacementProblem *problem, const double *occupy_nsec, uint32_t steps,
        const AldPlacementSolution *solution);
