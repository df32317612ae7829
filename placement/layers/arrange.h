/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layers/cuts.h"
#include "placement/layers/stage-order.h"

/* Returns what the stages of an order that is allowed take beside their layers, in ns; INFINITY: they cannot
 * be used in this order. Sets what a step occupies the busiest path for. */
typedef double AldPlanBeside(const void *topology, const AldStageOrder *order, double *ret_occupy_nsec);

/*
 * Stages whose layers differ in size. The solvers take layers for alike, and so may choose devices on which
 * they do not fit, or more devices than they need. Here the layers are cut exactly, for stages that are near
 * those of a solver: without one of them, with another device beside or instead of one, or in another order,
 * again and again until none of these takes less time. That finds no optimum for certain.
 */
typedef struct AldPlanArrangement {
        const AldPlanRequest *request;
        const AldPlacementProblem *problem;
        const AldPlanCut *cuts; /* [device][role]: what a stage may have, at most the smallest layers */
        AldPlanBeside *beside_nsec;
        const void *topology; /* its argument */
        const double
                *head_nsec; /* [device]: for which the head occupies it; NULL: read if steps is 2 or more */
        uint32_t steps;     /* under way: see ald_placement_overlapped(), which is the time then */
        double occupy_max_nsec;   /* the most that a step may occupy a path for; INFINITY: any time */
        bool may_head_be_first;   /* of several stages */
        double aim_nsec;          /* good enough to look no further */
        double below_nsec;        /* stages that take as long are of no use; INFINITY: any are */
        uint64_t *work, work_max; /* no more is tried; it is raised by the cells of all cuts */
        uint64_t fit_work_max; /* as work_max of AldPlanFitting, if the layers fit on no stages near these */
} AldPlanArrangement;

/* solution: its stages in their order; its layers and nsec, which is of one step, are set. *ret_is_least:
 * each order was tried, so that none takes less than the solution and below_nsec; so it is if they are few.
 * -EAGAIN: it is as it was, as no stages were found that are better than it and below_nsec; -ENOSPC: the
 * same, and it is proven that the layers fit on none. */
int ald_plan_arrange(const AldPlanArrangement *arrangement, AldPlacementSolution *solution,
        bool *head_is_first, bool *ret_is_least);
