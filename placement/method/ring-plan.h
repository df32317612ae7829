/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * The steps that are best for the goal of the request, of which "both" counts as latency, for an engine that
 * passes them around a ring, in the order of the ring: the first stage has the embedding, the last one the
 * head. The hop back to the first stage carries tokens, the others activations. Where all GPUs must be of one
 * vendor, that of the vendor whose ring takes the least. If that is not proven to be the least, lower_nsec is
 * what every plan of at most 256 stages takes at least. For throughput, not all numbers of steps in flight
 * are tried. -ENOSPC: the layers fit on no choice of devices that paths join, or none was found; lower_nsec
 * is INFINITY if there is none. The result is to be cleared with ald_plan_steps_clear().
 */
int ald_ring_plan(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);

/* The steps that take the least time of those by which no stage or path is occupied for longer. */
int ald_ring_plan_within(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        double busiest_nsec, AldPlanSteps *ret);
