/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * Inserts one more device into a ring (ring.h) of n devices at the place where a step then takes the least
 * time, and splits the layers again. The result shows what the device would cost in this ring; it is not
 * always the best ring of these devices. The first and the last device keep their roles unless the new one
 * takes their place. Returns -EHOSTUNREACH if no place has paths to and from the new device, and the other
 * errors listed in problem.h.
 */
int ald_placement_insert(const AldPlacementProblem *problem, const uint32_t *order, uint32_t n,
        uint32_t device, AldPlacementSolution *ret);
