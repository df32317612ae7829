/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/* What passes from stage to stage in a ring, from a node to another one or within a node. INFINITY: there is
 * no path. */
double ald_ring_hop_nsec(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source, uint32_t sink);

/* How long it occupies the path, on which other steps may be on their way meanwhile. */
double ald_ring_occupy_nsec(
        const AldPlanCandidates *candidates, const AldPlanChoice *choice, uint32_t source, uint32_t sink);
