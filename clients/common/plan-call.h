/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "placement/report/plan-report.h"

/* How long to wait for Plan() of org.alidade.Placement1: for five plans of one user, who can have so many
 * made one after the other, each in a minute. It can take longer if other users have plans made, too. */
#define ALD_PLAN_CALL_USEC (UINT64_C(360) * 1000 * 1000)

/* A call of it. Negative errno of sd-bus. */
int ald_plan_call_new(
        sd_bus *bus, const AldPlanWorkload *workload, const AldPlanOptions *options, sd_bus_message **ret);

/* The report in its reply. -EBADMSG: it has another shape. */
int ald_plan_call_read(sd_bus_message *reply, AldPlanReport **ret);
