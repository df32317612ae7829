/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/job/jobs.h"
#include "services/link-probe/probe/prober.h"

/* Jobs that measure the paths to a node, one after another. */
typedef struct AldLinkJobs AldLinkJobs;

/* Called when the measurement of a path has ended, successful or not. */
typedef void (*AldJobsMeasured)(const AldProbe *probe, const AldProbeAnswer *answer, void *userdata);

AldLinkJobs *ald_link_jobs_new(AldJobs *jobs, AldProber *prober, AldJobsMeasured measured, void *userdata);
void ald_link_jobs_free(AldLinkJobs *links);

AldJobs *ald_link_jobs_all(AldLinkJobs *links);

/* Takes ownership of the targets (AldProbeTarget), which have the same peer and kind. Call it only if
 * ald_jobs_room() allows. The job waits until ald_jobs_step(). */
AldJob *ald_link_jobs_add(AldLinkJobs *links, uid_t uid, GArray *targets);
