/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/place/place-order.h"
#include "placement/report/plan-report.h"

/* Appends a plan, or why there is none, as styled text. The order says what is placed. */
void ald_plan_write_text(GString *out, const AldPlanReport *report, const AldPlaceOrder *order,
        unsigned columns, double now_usec);
