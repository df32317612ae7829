/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-candidates.h"

/* Completes a plan whose best steps are set: adds the alternatives, the verdicts and the sensitivities. */
void ald_plan_explain(const AldPlanCandidates *candidates, AldPlan *plan);
