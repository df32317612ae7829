/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/* A transfer from a stage of a ring to the next one, on another node or the same: of activations, or, from
 * the last stage to the first, of the tokens that were chosen. */
typedef struct AldRingHop {
        uint32_t path;      /* index in the cluster; ALD_PLAN_NONE if assumed, or within a node */
        double nsec;        /* INFINITY if there is no path */
        double occupy_nsec; /* how long it occupies the path, which is without its latency */
} AldRingHop;

double ald_ring_hop_bytes(const AldPlanCandidates *candidates, bool closes);

/* Returns the bytes that the tables of a ring of n devices take: `pairs` tables over all pairs (the hops, how
 * long they occupy paths, those within a limit, those of bounded.h), and the limits, in an array that doubles
 * as it grows. */
double ald_ring_tables_bytes(double n, double layers, double pairs);

/* Returns the hop on the path with this index. */
AldRingHop ald_ring_hop_on(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source,
        uint32_t sink, bool closes, uint32_t index);

/* Returns the hop on the path with the least time. */
AldRingHop ald_ring_hop(const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source,
        uint32_t sink, bool closes);

/* Returns the hop on the path that it occupies for the least time. */
AldRingHop ald_ring_hop_wide(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t source, uint32_t sink, bool closes);
