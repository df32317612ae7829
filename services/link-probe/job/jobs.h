/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include <glib.h>

#include "services/link-probe/local/device-schedule.h"
#include "services/link-probe/schedule/schedule.h"

/* Requested probes. Each job measures its targets one after the other, each as soon as no other probe is in
 * the way. */
typedef struct AldJobs AldJobs;
typedef struct AldJob AldJob;

#define ALD_JOBS_MAX 64u /* unfinished jobs */
#define ALD_JOBS_PER_USER_MAX 8u
#define ALD_JOBS_ENDED_MAX 64u /* ended jobs kept in addition; the oldest is removed first */
#define ALD_JOB_KEPT_SECONDS 60u

typedef enum AldJobState {
        ALD_JOB_WAITING,
        ALD_JOB_RUNNING,
        ALD_JOB_DONE,
        ALD_JOB_FAILED,
        ALD_JOB_CANCELED,
} AldJobState;

const char *ald_job_state_name(AldJobState state);

/* A removed job still exists during the call. */
typedef enum AldJobNews {
        ALD_JOB_NEWS_ADDED,
        ALD_JOB_NEWS_CHANGED,
        ALD_JOB_NEWS_REMOVED,
} AldJobNews;

typedef void (*AldJobChanged)(AldJob *job, AldJobNews news, void *userdata);

typedef struct AldJobsParts {
        const char *own_id;
        AldProber *prober;
        /* The schedules, which keep the results. */
        AldSchedule *schedule;               /* of links */
        AldDeviceSchedule *const *schedules; /* of local kinds, by AldKind */
} AldJobsParts;

AldJobs *ald_jobs_new(const AldJobsParts *parts);
void ald_jobs_free(AldJobs *jobs);

/* Sets the callback, or NULL for none. Changes of a job within a short time are reported together. */
void ald_jobs_watch(AldJobs *jobs, AldJobChanged changed, void *userdata);

/* Returns 0 if another job may be added, -ALD_E_USER_LIMIT if the user has too many, -ALD_E_COMMON_LIMIT if
 * there are too many in total. */
int ald_jobs_room(const AldJobs *jobs, uid_t uid);

/* Adds a job, which waits until ald_jobs_step(). Takes ownership of the targets (AldProbeTarget): at least
 * one, all of the same kind and peer. Call it only if ald_jobs_room() allows it. */
AldJob *ald_jobs_add(AldJobs *jobs, uid_t uid, GArray *targets);

/* Starts the waiting jobs that can be started. Call it when something has ended, and from time to time. */
void ald_jobs_step(AldJobs *jobs);

/* Starts jobs that wait for other probes of this machine, one of which has ended, before automatic probes. */
void ald_jobs_wake(AldJobs *jobs);

void ald_job_cancel(AldJob *job);
/* Makes all unfinished jobs of this kind fail. */
void ald_jobs_fail_all(AldJobs *jobs, AldKind kind, const char *reason);

unsigned ald_jobs_count(const AldJobs *jobs);
AldJob *ald_jobs_at(const AldJobs *jobs, unsigned i);

unsigned ald_job_number(const AldJob *job);
uid_t ald_job_uid(const AldJob *job);
AldKind ald_job_kind(const AldJob *job);
AldJobState ald_job_state(const AldJob *job);
const char *ald_job_node(const AldJob *job);
const char *ald_job_address(const AldJob *job);
const char *ald_job_device(const AldJob *job);
const char *ald_job_phase(const AldJob *job);
const char *ald_job_error(const AldJob *job);
double ald_job_progress(const AldJob *job);
/* Returns NULL unless the job is done. */
const AldRecord *ald_job_result(const AldJob *job);

/* An address of which the measurement has ended. */
typedef struct AldJobPath {
        AldJobPathRow row;
        AldRecord *result; /* NULL if it failed; see row.error */
        char *error;
} AldJobPath;

unsigned ald_job_count_paths(const AldJob *job);
const AldJobPath *ald_job_path_at(const AldJob *job, unsigned i);
