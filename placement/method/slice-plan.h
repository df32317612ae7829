/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * The steps that take the least time for an engine that cuts each layer into equal slices, one for each node
 * (slice-cost.h): the slowest slice, and the transfers between the nodes. The first stage is the root, which
 * has the embedding; its node is the client. -ENOSPC: no number of slices fits on nodes that are all joined
 * to each other. The result is to be cleared with ald_plan_steps_clear().
 */
int ald_slice_plan(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);
