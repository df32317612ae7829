/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"
#include "placement/star.h"

/* A star without a first stage: what using each device costs, and what the last stage does besides, and how
 * many layers fit there; both NULL: nothing. */
typedef struct PlacementStar {
        const double *use_nsec;
        const double *last_nsec;
        const uint32_t *last_layers_max;
} PlacementStar;

/* By ald_placement_solve_star(), with the last stage at the end. */
int placement_solve_star(
        const AldPlacementProblem *problem, const PlacementStar *star, AldPlacementSolution *ret);

/* What a solution takes, by its definition and without the code of the solvers; INFINITY if it is not
 * allowed. */
double placement_measure_ring(const AldPlacementProblem *problem, const AldPlacementSolution *solution);
double placement_measure_star(
        const AldPlacementProblem *problem, const PlacementStar *star, const AldPlacementSolution *solution);

/* What the hops of a ring take of its time. */
double placement_hops_percent(const AldPlacementProblem *problem, const AldPlacementSolution *ring);
