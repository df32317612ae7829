/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* What is missing, in English, before commands can be exported for a plan that was made with less than they
 * need: without a context, or over paths that were assumed and so have no addresses. NULL: nothing is. To be
 * freed with g_free(). */
char *ald_plan_export_limits_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps);
