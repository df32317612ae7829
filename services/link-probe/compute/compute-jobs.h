/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/job/jobs.h"
#include "services/link-probe/probe/prober.h"

/* Jobs that measure devices of this machine, one after another. */
typedef struct AldComputeJobs AldComputeJobs;

typedef struct AldComputeJobsParts {
        AldJobs *jobs;
        AldProber *prober;
        const char *own_id;
        /* Why a device must not be measured now, in words, to be freed; NULL if it may be. */
        char *(*in_the_way)(const AldProbeTarget *target, void *userdata);
        /* Called when the measurement of a device has ended, successful or not. */
        void (*measured)(const AldProbe *probe, const AldProbeAnswer *answer, void *userdata);
        void *userdata;
} AldComputeJobsParts;

AldComputeJobs *ald_compute_jobs_new(const AldComputeJobsParts *parts);
void ald_compute_jobs_free(AldComputeJobs *jobs);

/* Takes ownership of the targets (AldProbeTarget), at least one. Call it only if ald_jobs_room() allows.
 * The job waits until ald_jobs_step(). */
AldJob *ald_compute_jobs_add(AldComputeJobs *jobs, uid_t uid, GArray *targets);
