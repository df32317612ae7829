/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/* Devices of which the first and the last one are not known, and so have no ends. */
#define ALD_PLACEMENT_NO_END UINT32_MAX

/* Devices, the fastest first; equally fast ones in the order of their numbers. */
void ald_placement_sort_by_speed(const AldPlacementProblem *problem, uint32_t *devices, uint32_t n);

/* That may be used at once: each takes the fewest layers at least. */
uint32_t ald_placement_stages_max(const AldPlacementProblem *problem);

/* Layers that fit on a device in a solution with these ends. */
uint32_t ald_placement_layers_max(
        const AldPlacementProblem *problem, uint32_t device, uint32_t first, uint32_t last);

/* What the ends take besides layers and hops, in nanoseconds. */
double ald_placement_ends_nsec(const AldPlacementProblem *problem, uint32_t first, uint32_t last);

/*
 * The least time of all layers on exactly these devices, sorted by speed, in nanoseconds; INFINITY if they do
 * not fit. ret_layers, unless NULL: of each of them. The fewest each and the others to the fastest is best
 * whichever the ends are: these only change how many layers fit, and while a faster device has room, moving a
 * layer to it saves time.
 */
double ald_placement_split(const AldPlacementProblem *problem, const uint32_t *devices, uint32_t n,
        uint32_t first, uint32_t last, uint32_t *ret_layers);

/* Sets the layers of stages, whose devices are set, to those of that split. It must exist. */
void ald_placement_set_layers(const AldPlacementProblem *problem, AldPlacementStage *stages, uint32_t n);

/* Whether the layers fit on some choice of devices that is allowed, joined by paths or not. */
bool ald_placement_fits(const AldPlacementProblem *problem);
