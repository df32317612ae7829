/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* The progress of making a plan, and whether it continues. */
typedef struct AldPlanProgress {
        const AldPlanRequest *request;
        double from, to; /* fractions at the beginning and the end of the current part */
        double part;     /* fraction of each part */
        double reported;
        bool given_up;
        bool may_stop; /* is_late() may stop the work: a plan exists, or only the reason for having none is
                          still sought */
        bool stopped;  /* is_late() has stopped the work */
} AldPlanProgress;

/* Divides what follows, until this fraction, into parts of about equal work. */
void ald_plan_progress_divide(AldPlanProgress *progress, double until, uint32_t parts);

/* Begins the next part. Returns false if the plan is given up or stopped, which it then remains. */
bool ald_plan_progress_next(AldPlanProgress *progress);

/* Checks within the current part whether to continue; returns false as above. */
bool ald_plan_progress_may_continue(AldPlanProgress *progress);
/* The same, as proceed() of an AldPlacementProblem whose userdata is the progress. */
bool ald_plan_progress_proceed(void *progress);

/* Reports that `done` of `all` pieces of the current part are done; returns false as above. */
bool ald_plan_progress_within(AldPlanProgress *progress, uint32_t done, uint32_t all);
