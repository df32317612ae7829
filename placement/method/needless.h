/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* Of a device that could be added to a plan: what that would cost and save. To be freed with g_free(). */
char *ald_plan_say_needless(const AldPlanVerdict *verdict);

/* A number of ns as sentences have it; what a change saves may be negative. To be freed with g_free(). */
char *ald_plan_duration_text(double nsec);
