/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/plan/method.h"
#include "placement/plan/must.h"
#include "placement/search/steps.h"

int ald_plan_find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        return ald_plan_progress_next(candidates->progress)
                       ? ald_plan_must_find(candidates, choice, ald_plan_method_of(candidates)->find, ret)
                       : -ECANCELED;
}
