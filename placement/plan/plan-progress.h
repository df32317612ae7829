/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"

/* How far a plan is, and whether it goes on. */
typedef struct AldPlanProgress {
        const AldPlanRequest *request;
        double from, to; /* fractions at the begin and the end of the current part */
        double part;     /* fraction of each part */
        double reported;
        bool given_up;
        bool may_stop; /* time may be up: a plan can be returned, or why there is none is looked for */
        bool stopped;  /* it is: what is not found yet is not looked for */
} AldPlanProgress;

/* What comes next, until this fraction, consists of that many parts of about equal work. */
void ald_plan_progress_divide(AldPlanProgress *progress, double until, uint32_t parts);

/* The next part begins. False: the plan is given up or stopped, which it then remains. */
bool ald_plan_progress_next(AldPlanProgress *progress);

/* The current part is not done yet. False: as above. */
bool ald_plan_progress_goes_on(AldPlanProgress *progress);
/* The same as proceed() of an AldPlacementProblem whose userdata it is. */
bool ald_plan_progress_proceed(void *progress);

/* That many of the current part, which consists of `all`, are done. False: as above. */
bool ald_plan_progress_within(AldPlanProgress *progress, uint32_t done, uint32_t all);
