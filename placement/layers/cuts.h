/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * Where the layers are cut between stages whose devices and order are known. The solvers know how many layers
 * each device gets; here it is known which ones these are, and so what they take.
 */
typedef struct AldPlanCut {
        double room; /* bytes for layers */
        double layer_nsec;
        uint32_t layers_max; /* whatever the room is */
        uint32_t layers;     /* set: that it gets, 1 at least */
} AldPlanCut;

/* Times that differ by less than this share of them are taken for equal. */
#define ALD_PLAN_TIE 1e-9

/*
 * The cut that takes the least time, exactly, by dynamic programming over the layers. If they are to be
 * level, of the cuts that take as long the one that leaves the most room, to a MiB, on that stage of equally
 * fast ones where it leaves the least, then on the next one: as far as limited work allows. False: the layers
 * do not fit.
 */
bool ald_plan_cut(const AldPlanRequest *request, AldPlanCut *stages, uint32_t n, bool level);
