/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/* Stands for both ends if the first and the last device are not known; no device is an end then. */
#define ALD_PLACEMENT_NO_END UINT32_MAX

/* Sorts devices, the fastest first; equally fast ones are in the order of their numbers. */
void ald_placement_sort_by_speed(const AldPlacementProblem *problem, uint32_t *devices, uint32_t n);

/* Returns how many devices may be used at once, since each takes at least the fewest layers allowed. */
uint32_t ald_placement_stages_max(const AldPlacementProblem *problem);

/* Returns how many layers fit on a device in a solution with these ends. */
uint32_t ald_placement_layers_max(
        const AldPlacementProblem *problem, uint32_t device, uint32_t first, uint32_t last);

/* Returns what the ends take besides layers and hops, in nanoseconds. */
double ald_placement_ends_nsec(const AldPlacementProblem *problem, uint32_t first, uint32_t last);

/*
 * Returns the least time of all layers on exactly these devices, which are sorted by speed, in nanoseconds;
 * INFINITY if they do not fit. ret_layers, which may be NULL, receives the layers of each device. It is best
 * to give each device the fewest layers allowed and the remaining ones to the fastest, whichever the ends
 * are: the ends only change how many layers fit, and while a faster device has room, moving a layer to it
 * saves time.
 */
double ald_placement_split(const AldPlacementProblem *problem, const uint32_t *devices, uint32_t n,
        uint32_t first, uint32_t last, uint32_t *ret_layers);

/* Sets the layers of stages, whose devices are already set, by that split, which must exist. */
void ald_placement_set_layers(const AldPlacementProblem *problem, AldPlacementStage *stages, uint32_t n);

/* Returns whether the layers fit on some allowed choice of devices, joined by paths or not. */
bool ald_placement_fits(const AldPlacementProblem *problem);
