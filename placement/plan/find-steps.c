/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/plan/find-steps.h"
#include "placement/plan/method.h"
#include "placement/plan/required-nodes.h"

int ald_plan_find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        if (!ald_plan_progress_next(candidates->progress))
                return -ECANCELED;
        return ald_plan_find_with_required_nodes(
                candidates, choice, ald_plan_method_of(candidates)->find, ret);
}
