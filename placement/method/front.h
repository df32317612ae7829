/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/*
 * Sets the alternatives to plans that yield more tokens per second, with longer steps, chosen evenly from
 * those that are found. Also sets, for the best steps and each alternative, how many steps in flight yield
 * the most tokens per second. The last alternative is the best for throughput.
 */
void ald_plan_find_front(const AldPlanCandidates *candidates, AldPlan *plan);
