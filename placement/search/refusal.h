/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/* Sets the refusal to the reason why no steps were found. lower_nsec is the lower bound on them, INFINITY if
 * there provably are none. */
void ald_plan_find_refusal(const AldPlanCandidates *candidates, double lower_nsec, AldPlanRefusal *ret);
