/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* Returns an English sentence on which builds of the engine the nodes of a plan need; NULL if all need the
 * same. Free with g_free(). */
char *ald_plan_builds_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps);
