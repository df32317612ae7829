/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * Finds the best steps for the goal of the request, of which "both" counts as latency, for an engine that
 * passes them around a ring. Stages are in the order of the ring: the first one has the embedding, the last
 * one the head. The hop back to the first stage carries tokens, the others activations. If all GPUs must be
 * of one vendor, the vendor is chosen whose ring takes the least. If the result is not proven to be the best,
 * lower_nsec is a lower bound on every plan of at most 256 stages. For throughput, not all numbers of steps
 * in flight are tried. Returns -ENOSPC if the layers fit on no choice of devices that paths join, or none was
 * found; lower_nsec is INFINITY if there provably is none. Clear the result with ald_plan_steps_clear().
 */
int ald_ring_plan(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);

/* Finds the steps with the least time among those that occupy no stage or path for longer than this. */
int ald_ring_plan_within(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        double busiest_nsec, AldPlanSteps *ret);
