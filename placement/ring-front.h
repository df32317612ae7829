/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Returns the time of the busiest part of a ring, which decides the throughput while several steps are under
 * way: the greatest of layers × layer_nsec over the stages, with first_nsec and last_nsec for the ends, and
 * of occupy_nsec over the paths from stage to stage. occupy_nsec[i * n_devices + j] is how long the data of
 * one step occupies the path from device i to device j; the latency of a path is part of hop_nsec, but does
 * not occupy it. With ends, closing_occupy_nsec of the problem is how long the path from the last stage to
 * the first is occupied.
 */
double ald_placement_busiest(
        const AldPlacementProblem *problem, const double *occupy_nsec, const AldPlacementSolution *solution);

/* Finds, among the solutions whose busiest part takes the least time, the one with the least time of a step.
 * Exact, for up to ALD_PLACEMENT_RING_MAX devices. Errors are those of ald_placement_solve_ring(). */
int ald_placement_solve_ring_busiest(
        const AldPlacementProblem *problem, const double *occupy_nsec, AldPlacementSolution *ret);
