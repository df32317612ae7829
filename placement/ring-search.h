/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layer-table.h"
#include "placement/tour.h"

/*
 * A beam search: extends paths stage by stage and keeps the `width` paths of each length with the lowest
 * bounds. Of several paths with the same ends through the same devices only the shortest is kept. With ends,
 * paths begin at the first stage of a ring, else at its fastest device. Sets best, in the core's numbers, to
 * the best ring of several stages that is found, improved by small changes, if it takes less than best->nsec.
 * Returns a lower bound on all other rings: best->nsec if they are ruled out, else the least bound of the
 * paths that were not kept, or not extended because the work was spent. Needs with_nsec of the core and a
 * table in which no device is required.
 */
double ald_placement_search(AldPlacementCore *core, AldPlacementTable *table, uint32_t width, uint64_t work,
        AldPlacementTour *best);
