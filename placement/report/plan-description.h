/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"
#include "placement/report/plan-report.h"

/* Whether a report says so. Other refusals say what is wrong with the request itself. */
bool ald_plan_is_reported(const AldPlanRefusal *refusal);

/*
 * The report of a plan, or of a refusal if `plan` is NULL. `options` are those that the request was made of.
 * `revision` is that of the graph that the cluster was made of. The report refers to nothing of the others.
 */
AldPlanReport *ald_plan_describe(const AldPlanCluster *cluster, const AldPlanRequest *request,
        const AldPlanOptions *options, uint64_t revision, const AldPlan *plan, const AldPlanRefusal *refusal);
