/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layer-table.h"
#include "placement/tour.h"

/*
 * Looks, by branch and bound, for all rings of several stages of less than below_nsec, and of less than
 * best->nsec, which it sets to the best that it finds, in the core's numbers. Returns whether it could rule
 * out that there are others, within that much work. Needs with_nsec of the core and a table in which no
 * device is required.
 */
bool ald_placement_search(AldPlacementCore *core, AldPlacementTable *table, double below_nsec, uint64_t work,
        AldPlacementTour *best);
