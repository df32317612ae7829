/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/* Fills in all of a plan but its best steps, which are there: what else was possible, and why it is not
 * better. */
void ald_plan_explain(const AldPlanCandidates *candidates, AldPlan *plan);
