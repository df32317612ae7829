/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "placement/plan/plan.h"

#define PLAN_CASE_NODES 40u

/* A cluster with one device on each node, and a request, with constants that are easy to reckon with: all
 * rates are reached, nothing is kept free, and messages have no overhead. */
typedef struct PlanCase {
        char ids[PLAN_CASE_NODES][8];
        AldPlanNode nodes[PLAN_CASE_NODES];
        AldPlanDevice devices[PLAN_CASE_NODES];
        AldPlanPath paths[PLAN_CASE_NODES * PLAN_CASE_NODES];
        AldPlanCluster cluster;
        AldPlanWorkload workload;
        AldPlanRequest request;
} PlanCase;

/* Nodes n0, n1 and so on, with the GPU gpu or the processor cpu, of 20 GB that are read at 100 GB/s, not
 * joined; six layers of 1 GB. */
void plan_case_init(PlanCase *made, const char *engine, uint32_t n_nodes);

/* plan_case_path() tells only the first path in each direction. */
void plan_case_join(PlanCase *made, uint32_t source, uint32_t sink, double rtt_nsec, double bits_per_second);

/* Figures of devices and paths at random; a path is missing with this probability. */
void plan_case_randomize(PlanCase *made, double missing);

/* Beside each path, one of other figures at random. */
void plan_case_double_paths(PlanCase *made);

/* The first one; NULL: there is none. */
const AldPlanPath *plan_case_path(const PlanCase *made, uint32_t source, uint32_t sink);

/* The plan, which there must be. */
AldPlan *plan_case_plan(const PlanCase *made);

/* NULL: it is refused. */
AldPlan *plan_case_try(const PlanCase *made, AldPlanRefusal *ret_refusal);
void plan_case_assert_refused(const PlanCase *made, AldPlanRefusalKind kind, const char *text);
