/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"
#include "placement/star.h"

/* What a solution takes, by its definition and without the code of the solvers; INFINITY if it is not
 * allowed. */
double placement_measure_ring(const AldPlacementProblem *problem, const AldPlacementSolution *solution);
double placement_measure_star(const AldPlacementProblem *problem, const AldPlacementStar *star,
        const AldPlacementSolution *solution);

/* What the hops of a ring take of its time. */
double placement_hops_percent(const AldPlacementProblem *problem, const AldPlacementSolution *ring);
