/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* Which builds of the engine the nodes of a plan need, in English, if these differ; NULL: they do not. To be
 * freed with g_free(). */
char *ald_plan_builds_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps);
