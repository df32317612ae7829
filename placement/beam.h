/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layer-table.h"
#include "placement/tour.h"

/*
 * Extends paths from the most promising devices by the most promising of the next devices, keeps as many as
 * the width says, with the lowest bounds, of each length, and improves the best ring that they close: finds
 * rings where hops are few. Needs with_nsec of the core and a table in which no device is required. Sets
 * best, in the core's numbers, if it finds one of less than best->nsec.
 */
void ald_placement_beam(AldPlacementCore *core, AldPlacementTable *table, uint32_t width, uint32_t n_starts,
        AldPlacementTour *best);
