/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/core.h"

/* An order of some devices and its time with the best split, which is an upper bound. */
typedef struct AldPlacementTour {
        uint32_t stages[ALD_PLACEMENT_STAGES_LIMIT]; /* numbers in the core, or in the problem */
        uint32_t n;
        double nsec; /* INFINITY if there is none; penalty_nsec of the core or more if a hop or room is
                        missing */
} AldPlacementTour;

void ald_placement_tour_copy(AldPlacementTour *to, const AldPlacementTour *from);

/* Sets nsec of a tour of a core. With ends, the ring is taken to begin at its best stage, which the tour does
 * not record. If the time is `enough` or more, nsec may be any value of at least `enough`. */
void ald_placement_tour_measure(const AldPlacementCore *core, AldPlacementTour *tour, double enough);

/* Builds a tour of the devices by inserting each where it costs least. */
void ald_placement_tour_insert(
        AldPlacementCore *core, const uint32_t *devices, uint32_t n, AldPlacementTour *ret);

/* Adds, removes or replaces one device at a time, whichever improves the tour most, until nothing does or no
 * work is left. */
void ald_placement_tour_improve(AldPlacementCore *core, AldPlacementTour *tour);

/* Copies the tour of the core to *best, with the numbers of the problem, if it is complete and takes less
 * time. */
void ald_placement_tour_keep(
        const AldPlacementCore *core, const AldPlacementTour *tour, AldPlacementTour *best);
