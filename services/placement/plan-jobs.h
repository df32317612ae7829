/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "placement/report/plan-report.h"
#include "services/placement/snapshot.h"

/*
 * The plans that were asked for. Each is made by a thread of its own, which touches nothing but its job; of a
 * user one at a time, of all users no more than there are processors, and at most ALD_PLANS_AT_ONCE_MAX. The
 * others wait; the user who has waited longest since his last turn is next.
 */
#define ALD_PLANS_WAITING_PER_USER_MAX 4u
#define ALD_PLANS_WAITING_MAX 64u
#define ALD_PLANS_AT_ONCE_MAX 4u

typedef struct AldPlanJobs AldPlanJobs;
typedef struct AldPlanJob AldPlanJob;

typedef struct AldPlanJobsHandler {
        /* It is the job's turn: ald_plan_job_start() or ald_plan_job_fail() is to be called, now or later. */
        void (*turn)(AldPlanJob *job, void *userdata);
        /* At intervals while a plan is made: how much is done, from 0 to 1. */
        void (*progress)(AldPlanJob *job, double fraction, void *userdata);
        /* The job has ended and is freed after this: with a report, or with an error, as given to
         * ald_plan_job_fail(): -ECANCELED, -ETIMEDOUT, or -EINVAL with the sentence that says what is wrong
         * with the request. */
        void (*ended)(
                AldPlanJob *job, int error, const AldPlanReport *report, const char *problem, void *userdata);
        void (*idle)(void *userdata); /* no job is left */
} AldPlanJobsHandler;

/* The handler is kept, not copied. */
AldPlanJobs *ald_plan_jobs_new(const AldPlanJobsHandler *handler, void *userdata);
/* Ends all jobs with -ECANCELED. */
void ald_plan_jobs_free(AldPlanJobs *jobs);

/* -ALD_E_USER_LIMIT, -ALD_E_COMMON_LIMIT. The job may have its turn before this returns. */
int ald_plan_jobs_add(AldPlanJobs *jobs, uid_t uid, void *of);

typedef bool (*AldPlanJobsMatch)(void *of, const void *userdata);

/* Ends all for which `matches` returns true; NULL: all. */
void ald_plan_jobs_cancel(AldPlanJobs *jobs, AldPlanJobsMatch matches, const void *userdata);

/* What was given to ald_plan_jobs_add(). */
void *ald_plan_job_of(const AldPlanJob *job);

/* Takes the snapshot. The options, and the strings of the request, must remain until the job has ended; the
 * request itself is copied, with its workload. */
void ald_plan_job_start(AldPlanJob *job, AldPlanSnapshot *snapshot, const AldPlanRequest *request,
        const AldPlanOptions *options);
void ald_plan_job_fail(AldPlanJob *job, int error);
