/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/* Says why no steps were found. lower_nsec: what they take at least, INFINITY if there are none for certain.
 */
void ald_plan_describe_shortfall(const AldPlanCandidates *candidates, double lower_nsec, AldPlanRefusal *ret);
