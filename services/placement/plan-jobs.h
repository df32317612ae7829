/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "placement/report/plan-report.h"
#include "services/placement/snapshot.h"

/*
 * The requested plans. Each is made by a thread of its own, which touches only its job. At most one plan of a
 * user is made at a time, and no more plans than there are processors or than ALD_PLANS_AT_ONCE_MAX. Others
 * wait; the next turn goes to the user whose last turn was the longest ago.
 */
#define ALD_PLANS_WAITING_PER_USER_MAX 4u
#define ALD_PLANS_WAITING_MAX 64u
#define ALD_PLANS_AT_ONCE_MAX 4u

typedef struct AldPlanJobs AldPlanJobs;
typedef struct AldPlanJob AldPlanJob;

typedef struct AldPlanJobsHandler {
        /* It is the turn of the job: call ald_plan_job_start() or ald_plan_job_fail(), now or later. */
        void (*turn)(AldPlanJob *job, void *userdata);
        /* Called at intervals while a plan is made, with the completed fraction, 0 to 1. */
        void (*progress)(AldPlanJob *job, double fraction, void *userdata);
        /* The job has ended and is freed afterwards. It has a report, or an error: the one given to
         * ald_plan_job_fail(), -ECANCELED, -ETIMEDOUT, or -EINVAL with a sentence that says what is wrong
         * with the request. */
        void (*ended)(
                AldPlanJob *job, int error, const AldPlanReport *report, const char *problem, void *userdata);
        void (*idle)(void *userdata); /* no job is left */
} AldPlanJobsHandler;

/* The handler is not copied, and must outlive the jobs. */
AldPlanJobs *ald_plan_jobs_new(const AldPlanJobsHandler *handler, void *userdata);
/* Ends all jobs with -ECANCELED. */
void ald_plan_jobs_free(AldPlanJobs *jobs);

/* Adds a job, which may have its turn before this returns. Returns -ALD_E_USER_LIMIT or -ALD_E_COMMON_LIMIT
 * if too many jobs wait. */
int ald_plan_jobs_add(AldPlanJobs *jobs, uid_t uid, void *of);

typedef bool (*AldPlanJobsMatch)(void *of, const void *userdata);

/* Cancels all jobs for which `matches` returns true, or all if it is NULL. */
void ald_plan_jobs_cancel(AldPlanJobs *jobs, AldPlanJobsMatch matches, const void *userdata);

/* Returns the argument `of` of ald_plan_jobs_add(). */
void *ald_plan_job_of(const AldPlanJob *job);

/* Starts the thread of the job and takes ownership of the snapshot. The request is copied with its workload;
 * its strings and the options must remain valid until the job has ended. */
void ald_plan_job_start(AldPlanJob *job, AldPlanSnapshot *snapshot, const AldPlanRequest *request,
        const AldPlanOptions *options);
void ald_plan_job_fail(AldPlanJob *job, int error);
