/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layers/cuts.h"
#include "placement/layers/stage-order.h"

/*
 * The search for an order of devices in which layers that differ in size fit, whatever the time. Of the
 * problem, the devices, their limits and nodes are read, and which hops exist, if there are hops.
 */
typedef struct AldPlanFitting {
        const AldPlanRequest *request;
        const AldPlacementProblem *problem;
        const AldPlanStageCut *cuts; /* [device][role]: layers_max is 0 if it cannot have the role */
        bool may_head_be_first;      /* the first of several stages may have the head */
        uint64_t work_max;           /* limit on the work of an exact search, in steps of some ns */
} AldPlanFitting;

/*
 * Sets ret to an order of devices with room for all layers; its array must have a place for each device of
 * the problem.
 *
 * If work_max suffices, the search is dynamic programming over sets of devices. A set with room for a number
 * of the first layers counts as having room for each smaller number, too, down to one on each device, so only
 * the greatest number must be known. That is too optimistic if a device has no room for some single layer:
 * then not every device of ret gets a layer. Otherwise the search is greedy: it adds the device that leaves
 * the least of its room free, or the one with the most layers.
 *
 * Returns -ENOSPC if there provably is no such order, and -EAGAIN if none was found.
 */
int ald_plan_fit(const AldPlanFitting *fitting, AldStageOrder *ret);
