/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"

#define ALD_PLACEMENT_RING_MAX 20u

/*
 * The devices, their order and the split with the least time of one step for an engine that passes it from
 * stage to stage and its result back to the first, as pipelines of vLLM, SGLang and torch do: the sum of
 * layers × layer_nsec over the stages, of hop_nsec from each stage to the next, and of what the hop from the
 * last to the first takes; no hops for a single stage. With ends, also first_nsec of the first stage and
 * last_nsec of the last.
 *
 * Exact, to ALD_PLACEMENT_RING_MAX devices: as layers are alike, a hop costs the same wherever the cut is, so
 * that for a set of devices the split (fastest first, up to its memory, one layer at least each) and the
 * order (the cheapest ring, Held and Karp 1962, by dynamic programming over subsets) are independent. Of
 * equal solutions the one whose set comes first by the binary number that has bit i for device i. For n
 * devices it takes 8 · 2ⁿ⁻¹ · (n − 1) bytes, 80 MB for 20. With ends, the order begins in turn at each device
 * that may be first, which takes n times as long; nodes_together then only leaves paths out, and nodes_even
 * sets.
 */
int ald_placement_solve_ring(const AldPlacementProblem *problem, AldPlacementSolution *ret);
