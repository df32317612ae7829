/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "placement/report/plan-report.h"

/* The timeout of Plan() of org.alidade.Placement1: long enough for five plans of one user, the most that a
 * user can request at once, which are made one after the other in at most a minute each. It can take longer
 * if other users request plans, too. */
#define ALD_PLAN_CALL_USEC (UINT64_C(360) * 1000 * 1000)

/* Makes a call of Plan(). Negative errno of sd-bus. */
int ald_plan_call_new(
        sd_bus *bus, const AldPlanWorkload *workload, const AldPlanOptions *options, sd_bus_message **ret);

/* Reads the report from the reply. Returns -EBADMSG if the reply has another shape. */
int ald_plan_call_read(sd_bus_message *reply, AldPlanReport **ret);
