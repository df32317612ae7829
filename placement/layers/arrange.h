/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/layers/cuts.h"
#include "placement/layers/stage-order.h"

/* Returns the time that the stages of an allowed order take beside their layers, in ns; INFINITY if they
 * cannot be used in this order. Sets for how long a step occupies the busiest path. */
typedef double AldPlanBeside(const void *topology, const AldStageOrder *order, double *ret_occupy_nsec);

/*
 * A local search over stages whose layers differ in size. The solvers assume that layers are alike, and so
 * may choose devices on which they do not fit, or more devices than they need. Here the layers are cut
 * exactly, for stages near those of a solver: without one of them, with another device beside or instead of
 * one, or in another order, until no such change takes less time. The result need not be the optimum.
 */
typedef struct AldPlanArrangement {
        const AldPlanRequest *request;
        const AldPlacementProblem *problem;
        const AldPlanStageCut *cuts; /* [device][role]: what a stage may have, at most the smallest layers */
        AldPlanBeside *beside_nsec;
        const void *topology;    /* its argument */
        const double *head_nsec; /* [device]: how long the head occupies it; only read if steps is 2 or more,
                                    else it may be NULL */
        uint32_t steps; /* steps under way; with several, the time is that of ald_placement_overlapped() */
        double occupy_max_nsec;   /* how long a step may occupy a path; INFINITY: any time */
        bool may_head_be_first;   /* the first of several stages may have the head */
        double ideal_nsec;        /* a time that is good enough to stop */
        double below_nsec;        /* stages must take less; INFINITY: any time */
        uint64_t *work, work_max; /* work done and its limit, in cells of cuts */
        uint64_t fit_work_max; /* as work_max of AldPlanFitting, if the layers fit on no stages near these */
} AldPlanArrangement;

/* Improves a solution, whose stages are read in their order; sets its stages, layers and nsec, which is that
 * of one step. *ret_is_least: all orders were tried, which is done if they are few, so none takes less than
 * the solution and below_nsec. Returns -EAGAIN, with the solution unchanged, if no stages were found that
 * take less than it and below_nsec; -ENOSPC likewise if the layers provably fit on no stages. */
int ald_plan_arrange(const AldPlanArrangement *arrangement, AldPlacementSolution *solution,
        bool *head_is_first, bool *ret_is_least);
