/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layers/cuts.h"
#include "placement/layers/stage-order.h"

/*
 * An order of devices in which the layers of a model fit that differ in size, whatever time it takes. Of the
 * problem, the devices, the limits on them and their nodes are read, and if there are hops, which of them
 * there are.
 */
typedef struct AldPlanFitting {
        const AldPlanRequest *request;
        const AldPlacementProblem *problem;
        const AldPlanCut *cuts; /* [device][role]: layers_max is 0 if it cannot have the role */
        bool may_head_be_first; /* of several stages */
        uint64_t work_max;      /* steps of some ns; no exact search takes more */
} AldPlanFitting;

/*
 * Sets ret, whose devices have room for all of the problem. By dynamic programming over sets of devices, if
 * work_max suffices: if a set has room for a number of the first layers, it counts as having room for each
 * smaller number of them, too, down to one on each device, so that the most are all that is to be known of
 * it. That counts too much where a device has room for none of some layers: then not each device of ret gets
 * one. Else by always adding the device that leaves the least of its room, or has the most layers. -ENOSPC:
 * it is proven that there is no such order; -EAGAIN: none was found.
 */
int ald_plan_fit(const AldPlanFitting *fitting, AldStageOrder *ret);
