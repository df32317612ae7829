/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/* The candidates while several steps are under way, each with a part of the parallel requests: a step costs
 * less, but needs as much memory as before. */
typedef struct AldPlanGroup {
        AldPlanCandidates candidates;
        AldPlanRequest request;
        AldPlanWorkload workload;
} AldPlanGroup;

/* Initializes the group; `all` must outlive it. */
void ald_plan_group_init(AldPlanGroup *group, const AldPlanCandidates *all, uint32_t in_flight);
void ald_plan_group_clear(AldPlanGroup *group);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlanGroup, ald_plan_group_clear)

/* Returns the number of requests in each of in_flight steps; the last step may have fewer. */
uint64_t ald_plan_group_requests(const AldPlanCandidates *candidates, uint32_t in_flight);
