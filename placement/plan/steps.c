/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/plan/ring-plan.h"
#include "placement/plan/star-plan.h"
#include "placement/plan/steps.h"

int ald_plan_find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        if (!ald_plan_progress_next(candidates->progress))
                return -ECANCELED;
        return candidates->request->engine->topology == ALD_PLAN_STAR
                       ? ald_star_plan(candidates, choice, ret)
                       : ald_ring_plan(candidates, choice, ret);
}
