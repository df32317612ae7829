/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Throughput around a ring with a number of steps under way: each of them ends once in the time of a step, or
 * in the time that all of them occupy the busiest part (ring-front.h), whichever is longer. The devices,
 * order and split for which that is least, among those with as many stages as steps at least. The work is
 * limited: no solution takes less than *ret_lower_nsec, which is always set; if that is what the solution
 * takes, it is proven to be the best. Solutions that take enough_nsec or more are not looked for. Errors as
 * listed in problem.h; -ENOSPC also if none takes less than that or has as many stages.
 */
int ald_placement_solve_overlapped(const AldPlacementProblem *problem, const double *occupy_nsec,
        uint32_t steps, double enough_nsec, AldPlacementSolution *ret, double *ret_lower_nsec);

/* What a solution takes in this sense. */
double ald_placement_overlapped(const AldPlacementProblem *problem, const double *occupy_nsec, uint32_t steps,
        const AldPlacementSolution *solution);
