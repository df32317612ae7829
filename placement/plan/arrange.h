/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/cuts.h"
#include "placement/star.h"

/*
 * Stages of a star whose layers differ in size. The solver takes layers for alike, and so may choose devices
 * on which they do not fit, or more devices than they need. Here the layers are cut exactly, for stages that
 * are near those of the solver: without one of them, with another device beside or instead of one, or in
 * another order, again and again until none of these takes less time. That finds no optimum for certain.
 */
typedef struct AldPlanArrangement {
        const AldPlanRequest *request;
        const AldPlacementProblem *problem;
        const AldPlacementArm *arms; /* [device][role] */
        const AldPlanCut *cuts;      /* [device][role]: what a stage may have, at most the smallest layers */
        double aim_nsec;             /* good enough to look no further */
        double below_nsec;           /* stages that take as long are of no use; INFINITY: any are */
        uint64_t *work, work_max;    /* no more is tried; it is raised by the cells of all cuts */
} AldPlanArrangement;

/* solution: its stages in their order, of which `last` is the last one or the first; its layers and nsec are
 * set. False: it is as it was, as no stages were found that are better than it and below_nsec. */
bool ald_plan_arrange(const AldPlanArrangement *arrangement, AldPlacementStarSolution *solution);
