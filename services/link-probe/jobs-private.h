/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "services/link-probe/jobs.h"
#include "services/link-probe/probe-answer.h"

/* Known to the files of jobs only. */

/* How jobs of a kind measure. */
typedef struct AldJobTask {
        AldKind kind;
        /* Begins to measure target job->next, sets job->running, and tells by ald_job_tell_progress() and
         * ald_job_ended(). -EBUSY where it is not its turn, with the reason (to be freed) where there is one
         * to tell of; any other error, with the reason, where it cannot be measured. */
        int (*start)(AldJob *job, char **ret_reason);
        /* Ends what is running: ald_job_ended() follows. */
        void (*end)(AldJob *job, const char *reason);
        /* Describes target job->next in a row of Paths, which borrows from job->targets; NULL: there are no
         * such rows. */
        void (*describe)(const AldJob *job, AldJobPathRow *row);
        unsigned retries_max; /* of one target, while it is not its turn */
        /* Whether a job that is made to fail waits for that, since it tells more. */
        bool fails_at_end;
} AldJobTask;

struct AldJob {
        AldJobs *jobs;
        const AldJobTask *task;
        void *context; /* of the task */
        unsigned number;
        uid_t uid;
        char *node, *address, *device; /* what is measured now, or was last; maybe NULL */
        GArray *targets;               /* of the task */
        unsigned next;                 /* target that is measured, or is the next to be */
        unsigned retries, queued;      /* how often it was not its turn: at the peer, and at this machine */
        AldJobState state;
        void *running; /* what measures; NULL: nothing */
        bool stopped;  /* and fails when that has ended */
        bool in_queue; /* it waits for another probe of this machine */
        guint timer;   /* until the next attempt, or until it is forgotten */
        char *phase, *error;
        double fraction;   /* of the target that is measured */
        AldRecord *result; /* of the last target that was measured; NULL: of none yet */
        GArray *paths;     /* AldJobPath: what became of each address */
};

struct AldJobs {
        const AldJobsHandler *handler; /* NULL: nobody is told */
        void *userdata;
        unsigned last;
        GPtrArray *list; /* by age */
};

/* Takes over the targets and the name of the node. There is room. It waits until ald_jobs_step(). */
AldJob *ald_job_new(
        AldJobs *jobs, const AldJobTask *task, void *context, uid_t uid, char *node, GArray *targets);

void ald_job_tell_progress(AldJob *job, const char *phase, double fraction);

/* What was running is gone. */
void ald_job_ended(AldJob *job, const AldProbeAnswer *answer);
