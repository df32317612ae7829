/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Throughput (ring-front.h) of more devices than ald_placement_solve_ring_busiest() solves: a solution whose
 * busiest part takes little time, and *ret_lower_nsec, below which no busiest part can be. Below that time
 * the layers do not fit even if all devices that have paths to and from others are joined; the solution is
 * the best only if its busiest part takes just as long. Tries limits from there on, of which
 * each takes a tenth of a second or so for 1000 devices. Errors as of ald_placement_solve_bounded().
 */
int ald_placement_solve_bounded_busiest(const AldPlacementProblem *problem, const double *occupy_nsec,
        AldPlacementSolution *ret, double *ret_lower_nsec);
