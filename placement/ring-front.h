/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Throughput around a ring. While several steps are under way, the busiest stage or path decides how many of
 * them end in a second: the greatest of layers × layer_nsec over the stages, with first_nsec and last_nsec
 * for the ends, and of occupy_nsec over the paths from stage to stage. occupy_nsec[i * n_devices + j] is how
 * long the data of one step occupies the path from device i to device j; the latency of a path, a part of
 * hop_nsec, does not occupy it. With ends, closing_occupy_nsec of the problem is how long the path from the
 * last stage to the first is occupied. Exact, to ALD_PLACEMENT_RING_MAX devices; errors as of
 * ald_placement_solve_ring().
 */
double ald_placement_busiest(
        const AldPlacementProblem *problem, const double *occupy_nsec, const AldPlacementSolution *solution);

/* Of the solutions whose busiest part takes no longer than that, the one with the least time of a step. */
int ald_placement_solve_ring_within(const AldPlacementProblem *problem, const double *occupy_nsec,
        double busiest_nsec, AldPlacementSolution *ret);

/* Of the solutions whose busiest part takes the least time, the one with the least time of a step. */
int ald_placement_solve_ring_busiest(
        const AldPlacementProblem *problem, const double *occupy_nsec, AldPlacementSolution *ret);
