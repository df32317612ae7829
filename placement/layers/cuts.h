/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/*
 * A stage of an order for which the cut of the layers is sought. The solvers decide how many layers each
 * device gets; here it is known which layers these are, and so how large they are.
 */
typedef struct AldPlanStageCut {
        double room; /* bytes that are free for layers */
        double layer_nsec;
        uint32_t layers_max; /* limit besides the room */
        uint32_t layers;     /* result: the layers that it gets, at least 1 */
} AldPlanStageCut;

/* Times count as equal if they differ by less than this share. */
#define ALD_PLAN_TIE 1e-9

/*
 * Finds the cut that takes the least time, exactly, by dynamic programming over the layers. With `level`, of
 * the cuts that take equally long, the one is chosen that leaves the most room, to a MiB, on that one of
 * equally fast stages where it leaves the least, then on the next one, as far as limited work allows. Returns
 * false if the layers do not fit.
 */
bool ald_plan_cut(const AldPlanRequest *request, AldPlanStageCut *stages, uint32_t n, bool level);
