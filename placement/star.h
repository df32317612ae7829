/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/* What using device i costs beside its layers. All arrays have an element for each device of the problem. */
typedef struct AldPlacementStar {
        /* What using it at all costs, such as its round trip and the transfers; 0 for a device of the client
         * itself, INFINITY for one that cannot be reached. */
        const double *use_nsec;
        /* If the last stage does more than the others, such as the product with the head of a model: how long
         * that takes on it, and how many layers still fit there. Both NULL: it does not. */
        const double *last_nsec;
        const uint32_t *last_layers_max;
} AldPlacementStar;

/*
 * The split with the least time of one step for an engine whose client sends the activations to each device
 * that it uses and receives them back, as llama.cpp does with RPC: the sum over the used devices of
 * layers × layer_nsec + use_nsec, and last_nsec of the last one. The stages are in the order of the devices,
 * as any order takes the same time, but for the last stage; hop_nsec and ends of the problem are not read.
 * Exact for any number of devices, by dynamic programming over layers; of equal solutions the one with fewer
 * devices, then the one that uses earlier devices. -ENOSPC also if the layers fit only with devices that
 * cannot be reached. Takes 8 · devices · min(devices, devices_max, layers) · layers bytes, and that times
 * layers in time.
 */
int ald_placement_solve_star(
        const AldPlacementProblem *problem, const AldPlacementStar *star, AldPlacementSolution *ret);
