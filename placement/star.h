/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

/*
 * The split with the least time of one step for an engine whose client sends the activations to each device
 * that it uses and receives them back, as llama.cpp does with RPC: the sum over the used devices of
 * layers × layer_nsec + use_nsec, where use_nsec[i] is what using device i at all costs, such as its round
 * trip and the transfers; 0 for a device of the client itself, INFINITY for one that cannot be reached. The
 * order of the stages is that of the devices; hop_nsec of the problem is not read. Exact for any number of
 * devices, by dynamic programming over layers; of equal solutions the one with fewer devices, then the one
 * that uses earlier devices. -ENOSPC also if the layers fit only with devices that cannot be reached. Takes
 * 4 · devices · min(devices, devices_max, layers) · layers bytes, and that times layers in time.
 */
int ald_placement_solve_star(
        const AldPlacementProblem *problem, const double *use_nsec, AldPlacementSolution *ret);
