/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/* Adds alternatives, verdicts and sensitivities to a plan whose best steps are set. Replaces these by better
 * ones that are found on the way, which happens where the search is not exact. */
void ald_plan_improve(const AldPlanCandidates *candidates, AldPlan *plan);
