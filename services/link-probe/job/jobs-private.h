/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/link-probe/job/jobs.h"
#include "services/link-probe/kinds/probe-kind.h"

/* For the files of jobs only. */

/* How jobs measure. */
typedef struct AldJobTask {
        /* Starts to measure target job->next, sets job->running, and reports with ald_job_report_progress()
         * and ald_job_ended(). -ALD_E_BUSY if the job has to wait, with the reason (to be freed) if there is
         * one to report; any other error, with the reason, if the target cannot be measured. */
        int (*start)(AldJob *job, char **ret_reason);
        /* Stops what is running; ald_job_ended() follows. */
        void (*end)(AldJob *job, const char *reason);
        /* Describes target job->next in a row of Paths, which borrows from job->targets; NULL if such jobs
         * have no rows. */
        void (*describe)(const AldJob *job, AldJobPathRow *row);
} AldJobTask;

struct AldJob {
        AldJobs *jobs;
        const AldProbeKind *kind;
        const AldJobTask *task;
        void *context; /* owned by the task */
        unsigned number;
        uid_t uid;
        char *node, *address, *device; /* what is measured now, or was last; may be NULL */
        GArray *targets;               /* owned by the task */
        unsigned next;                 /* index of the target that is or will be measured */
        unsigned retries, queued;      /* how often it had to wait: for the peer, and for this machine */
        AldJobState state;
        void *running; /* the running measurement, or NULL */
        bool stopped;  /* fails when the running measurement has ended */
        bool in_queue; /* waits for another probe of this machine */
        guint timer;   /* until the next attempt, or until the job is removed */
        char *phase, *error;
        double fraction;   /* of the target that is measured */
        AldRecord *result; /* of the last target that was measured, or NULL */
        GArray *paths;     /* AldJobPath: the outcome for each address */
};

struct AldJobs {
        const AldJobsHandler *handler; /* may be NULL */
        void *userdata;
        unsigned last;
        GPtrArray *list; /* oldest first */
};

/* Takes ownership of the targets, at least one and all of the same kind, and of the name of the node. Call it
 * only if ald_jobs_room() allows. The job waits until ald_jobs_step(). */
AldJob *ald_job_new(
        AldJobs *jobs, const AldJobTask *task, void *context, uid_t uid, char *node, GArray *targets);

void ald_job_report_progress(AldJob *job, const char *phase, double fraction);

/* The running measurement has ended. */
void ald_job_ended(AldJob *job, const AldProbeAnswer *answer);
