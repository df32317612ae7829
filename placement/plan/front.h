/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/candidates.h"

/* Whether the alternatives are to be those that give more tokens per second, in longer steps. */
bool ald_plan_has_front(const AldPlanRequest *request);

/*
 * Sets them, spread over those that were found, and how many steps in flight give the most tokens per second
 * with the best steps and with each alternative. The last one is the best for throughput.
 */
void ald_plan_find_front(const AldPlanCandidates *candidates, AldPlan *plan);
