/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"
#include "tests/unit/placement/solution-cost.h"

#define PLACEMENT_CASE_DEVICES_MAX 10u

/*
 * A few devices of a made-up cluster (tests/unit/placement/clusters.h), with what makes their placement hard:
 * memory that is tight or does not suffice, hops that take much of a step, and in some of them devices that
 * are required, a limit on their number, or ends, with a hop between them that takes less than others. The
 * star's client is the first device. Each seed gives another case.
 */
typedef struct PlacementCase {
        AldPlacementDevice devices[PLACEMENT_CASE_DEVICES_MAX];
        AldPlacementEnds ends[PLACEMENT_CASE_DEVICES_MAX];
        double hop_nsec[PLACEMENT_CASE_DEVICES_MAX * PLACEMENT_CASE_DEVICES_MAX];
        double closing_nsec[PLACEMENT_CASE_DEVICES_MAX * PLACEMENT_CASE_DEVICES_MAX];
        double use_nsec[PLACEMENT_CASE_DEVICES_MAX], last_nsec[PLACEMENT_CASE_DEVICES_MAX];
        uint32_t last_layers_max[PLACEMENT_CASE_DEVICES_MAX];
        AldPlacementProblem problem;
        PlacementStar star;
} PlacementCase;

/* The pointers within the case are to itself. */
void placement_case_make(PlacementCase *ret, uint32_t n_devices, uint32_t seed);
