/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/plan/all-reduce-plan.h"
#include "placement/plan/must.h"
#include "placement/plan/ring-plan.h"
#include "placement/plan/slice-plan.h"
#include "placement/plan/star-plan.h"
#include "placement/plan/steps.h"

static int find(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        switch (candidates->request->engine->topology) {
        case ALD_PLAN_STAR:
                return ald_star_plan(candidates, choice, ret);
        case ALD_PLAN_RING:
                return ald_ring_plan(candidates, choice, ret);
        case ALD_PLAN_SLICES:
                return ald_slice_plan(candidates, choice, ret);
        case ALD_PLAN_ALL_REDUCE:
                return ald_all_reduce_plan(candidates, choice, ret);
        }
        return -EINVAL;
}

int ald_plan_find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret)
{
        return ald_plan_progress_next(candidates->progress)
                       ? ald_plan_must_find(candidates, choice, find, ret)
                       : -ECANCELED;
}
