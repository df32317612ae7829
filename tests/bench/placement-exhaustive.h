/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "placement/problem.h"
#include "tests/unit/placement/solution-cost.h"

#define PLACEMENT_EXHAUSTIVE_DEVICES_MAX 7u
#define PLACEMENT_EXHAUSTIVE_LAYERS_MAX 40u

typedef struct PlacementExhaustive {
        bool fits;   /* on some choice of devices that is allowed, joined by paths or not */
        double nsec; /* the least of one step; INFINITY: there is no solution */
} PlacementExhaustive;

/*
 * Every order of every choice of devices, each with the best of all splits, which is found layer by layer. Of
 * limits on nodes, it knows nodes_together and nodes_even.
 * Assumes nothing that makes the solvers fast, and shares no code with them.
 */
PlacementExhaustive placement_exhaust_rings(const AldPlacementProblem *problem);
PlacementExhaustive placement_exhaust_stars(const AldPlacementProblem *problem, const PlacementStar *star);
