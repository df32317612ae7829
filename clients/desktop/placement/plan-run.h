/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/actions/host-bus.h"
#include "placement/report/plan-report.h"

/* A plan that the placement service is making, from the call to its end. */
typedef struct AldPlanRun AldPlanRun;

typedef struct AldPlanRunHandler {
        /* Called with a fraction from 0 to 1. */
        void (*progressed)(double fraction, void *userdata);
        /* Called once, after the run is freed. Passes ownership of the report, or NULL and the error. */
        void (*ended)(AldPlanReport *report, const sd_bus_error *error, void *userdata);
} AldPlanRunHandler;

/* The handler is not copied; it is called from the main loop. */
AldPlanRun *ald_plan_run_start(AldHostBus *bus, const AldPlanWorkload *workload,
        const AldPlanOptions *options, const AldPlanRunHandler *handler, void *userdata);

/* Cancels the plan in the service. The handler is not called any more. */
void ald_plan_run_cancel(AldPlanRun *run);

/* Abandons the plan without canceling it in the service. The handler is not called any more. */
void ald_plan_run_free(AldPlanRun *run);
