/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/actions/host-bus.h"
#include "placement/report/plan-report.h"

/* A plan that is being made by the placement service, from the call to its end. */
typedef struct AldPlanRun AldPlanRun;

typedef struct AldPlanRunHandler {
        /* A fraction from 0 to 1. */
        void (*progressed)(double fraction, void *userdata);
        /* Called once; the run is freed before. The report, which the callee takes, or else the error. */
        void (*ended)(AldPlanReport *report, const sd_bus_error *error, void *userdata);
} AldPlanRunHandler;

/* The handler is kept, not copied; it is called from the main loop. */
AldPlanRun *ald_plan_run_start(AldHostBus *bus, const AldPlanWorkload *workload,
        const AldPlanOptions *options, const AldPlanRunHandler *handler, void *userdata);

/* The service gives the plan up; the handler is not called any more. */
void ald_plan_run_cancel(AldPlanRun *run);

/* The same without telling the service, whose answer is not wanted. */
void ald_plan_run_free(AldPlanRun *run);
