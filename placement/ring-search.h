/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layer-table.h"
#include "placement/tour.h"

/*
 * Extends paths stage by stage, with ends from the first stage of each ring, else from its fastest device,
 * and keeps `width` of each length, those with the lowest bounds; of several between the same devices through
 * the same ones, only the shortest. Sets best, in the core's numbers, to the best ring of several stages that
 * it finds, improved by small changes, if that takes less than best->nsec. Returns what no other ring takes
 * less than: best->nsec if all others are ruled out, else the least bound of the paths that were not kept, or
 * not extended as that much work was spent. Needs with_nsec of the core and a table in which no device is
 * required.
 */
double ald_placement_search(AldPlacementCore *core, AldPlacementTable *table, uint32_t width, uint64_t work,
        AldPlacementTour *best);
