/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"
#include "placement/report/plan-report.h"

/* Returns whether the refusal is reported as the result of a plan. Others are errors of the request
 * itself. */
bool ald_plan_is_reported(const AldPlanRefusal *refusal);

/*
 * Makes the report of a plan, or of a refusal if `plan` is NULL. `options` are those of the request, and
 * `revision` is that of the graph of the cluster. The report owns copies of everything.
 */
AldPlanReport *ald_plan_describe(const AldPlanCluster *cluster, const AldPlanRequest *request,
        const AldPlanOptions *options, uint64_t revision, const AldPlan *plan, const AldPlanRefusal *refusal);
