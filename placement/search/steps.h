/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * The steps that take the least time for the engine. -ENOSPC: the layers fit on no choice of devices that
 * paths join, or none was found; then only lower_nsec is set, which is INFINITY if there are none; -E2BIG:
 * there are more devices than a plan is made with; -ECANCELED: the plan is given up. The result is to be
 * cleared with ald_plan_steps_clear().
 */
int ald_plan_find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);
