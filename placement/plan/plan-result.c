/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/plan/plan.h"

#define NSEC_PER_SEC 1e9

void ald_plan_steps_clear(AldPlanSteps *steps)
{
        g_free(steps->stages);
        *steps = (AldPlanSteps){};
}

double ald_plan_goal_nsec(const AldPlanSteps *steps, AldPlanOptionsGoal goal)
{
        return goal == ALD_PLAN_OPTIONS_GOAL_THROUGHPUT ? steps->interval_nsec : steps->nsec;
}

uint32_t ald_plan_steps_in_flight(const AldPlanSteps *steps, AldPlanOptionsGoal goal)
{
        return goal == ALD_PLAN_OPTIONS_GOAL_THROUGHPUT ? steps->in_flight : 1;
}

double ald_plan_tokens_per_second(const AldPlanWorkload *workload, const AldPlanSteps *steps)
{
        if (workload->layers == ALD_ABSENT_UINT64)
                return NAN;
        return workload->parallel / steps->interval_nsec * NSEC_PER_SEC;
}

void ald_plan_free(AldPlan *plan)
{
        if (!plan)
                return;
        ald_plan_steps_clear(&plan->best);
        for (uint32_t i = 0; i < plan->n_alternatives; i++)
                ald_plan_steps_clear(&plan->alternatives[i]);
        g_free(plan->verdicts);
        g_free(plan->sensitivities);
        g_free(plan);
}
