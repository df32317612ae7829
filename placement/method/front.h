/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/*
 * Sets the alternatives to those that give more tokens per second, in longer steps, spread over those that
 * were found, and how many steps in flight give the most tokens per second with the best steps and with each
 * alternative. The last one is the best for throughput.
 */
void ald_plan_find_front(const AldPlanCandidates *candidates, AldPlan *plan);
