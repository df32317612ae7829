/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/*
 * The steps that take the least time for an engine with a client, which is exact unless the work for all
 * clients is too much: then lower_nsec is what every plan takes at least. -ENOSPC: the layers fit on no
 * choice of devices that a client reaches, or none was found; lower_nsec is INFINITY if there is none;
 * -E2BIG: there are too many devices and layers. The result is to be cleared with ald_plan_steps_clear().
 */
int ald_star_plan(const AldPlanCandidates *candidates, const AldPlanChoice *choice, AldPlanSteps *ret);
