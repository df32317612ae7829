/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* Returns an English sentence on what is missing before commands can be exported for a plan that was made
 * with less than they need: without a context, or over assumed paths, which have no addresses. NULL if
 * nothing is missing. Free with g_free(). */
char *ald_plan_export_limits_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps);
