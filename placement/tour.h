/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/core.h"

/* An order of some devices, and what it takes with the best split: an upper bound. */
typedef struct AldPlacementTour {
        uint32_t stages[ALD_PLACEMENT_STAGES_LIMIT]; /* numbers in the core, or in the problem */
        uint32_t n;
        double nsec; /* INFINITY: none; of the core's penalty_nsec or more: one that lacks something */
} AldPlacementTour;

void ald_placement_tour_copy(AldPlacementTour *to, const AldPlacementTour *from);

/* Sets nsec of a tour of a core. With ends the best stage begins, which a tour does not show. May set another
 * value of `enough` or more if that is the least. */
void ald_placement_tour_measure(const AldPlacementCore *core, AldPlacementTour *tour, double enough);

/* The tour of the devices in an order that is found by putting each where it costs least. */
void ald_placement_tour_insert(
        AldPlacementCore *core, const uint32_t *devices, uint32_t n, AldPlacementTour *ret);

/* Takes the best change of one device until there is none, or no work left. */
void ald_placement_tour_improve(AldPlacementCore *core, AldPlacementTour *tour);

/* If the tour of the core is complete and takes less time, makes it the best one, in the problem's numbers.
 */
void ald_placement_tour_keep(
        const AldPlacementCore *core, const AldPlacementTour *tour, AldPlacementTour *best);
