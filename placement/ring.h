/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

#define ALD_PLACEMENT_RING_MAX 20u

/*
 * Finds the devices, their order and the split with the least time of one step, for an engine that passes it
 * from stage to stage and its result back to the first, as pipelines of vLLM, SGLang and torch do. That time
 * is the sum of layers × layer_nsec over the stages, of hop_nsec from each stage to the next, and of the hop
 * from the last to the first; a single stage has no hops. With ends, first_nsec of the first stage and
 * last_nsec of the last are added.
 *
 * Exact, for up to ALD_PLACEMENT_RING_MAX devices: since layers are alike, a hop costs the same wherever the
 * cut is, so for a set of devices the split (fastest first, each up to its memory and with at least one
 * layer) and the order (the cheapest ring, Held and Karp 1962, by dynamic programming over subsets) are
 * independent. Of equal solutions, the one is taken whose set is the least binary number, with bit i for
 * device i. For n devices it takes 8 · 2ⁿ⁻¹ · (n − 1) bytes, 80 MB for 20. With ends, each device is tried as
 * the first one, which takes n times as long; nodes_together then only excludes paths, and nodes_even sets.
 */
int ald_placement_solve_ring(const AldPlacementProblem *problem, AldPlacementSolution *ret);
