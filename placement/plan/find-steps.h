/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * Finds the steps that take the least time for the engine; clear them with ald_plan_steps_clear(). Returns
 * -ENOSPC if the layers fit on no choice of devices that paths join, or none was found; then only lower_nsec
 * is set, to INFINITY if there provably is none. Returns -E2BIG if there are too many devices to plan with,
 * and -ECANCELED if the plan is given up.
 */
int ald_plan_find_steps(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);
