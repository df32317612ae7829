/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * A ring (ring.h) of n devices in a given order and one more, put where the step then takes the least time;
 * layers are split anew. That is what the device would cost in this ring, and not always the best ring of
 * these devices. The first and the last of them remain what they are unless the new one takes their place.
 * -EHOSTUNREACH: no paths lead to it and from it at any place. Other errors as listed in problem.h.
 */
int ald_placement_insert(const AldPlacementProblem *problem, const uint32_t *order, uint32_t n,
        uint32_t device, AldPlacementSolution *ret);
