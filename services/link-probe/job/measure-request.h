/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/job/jobs.h"
#include "services/link-probe/link/gate.h"
#include "services/link-probe/state/state-query-bus.h"

/* Requests to measure: looks up what there is to measure, and creates a job for it. Owns the jobs. */
typedef struct AldMeasureRequests AldMeasureRequests;

typedef struct AldMeasureRequest {
        uid_t uid;
        /* Of its kind: with an empty address all paths to the peer, over RDMA those of the ports that are
         * given (rdma-pairs.h); without a device all of them that are free or, by force, all. */
        AldProbeTarget target;
} AldMeasureRequest;

/* The job, or an error: those of `resolve` of the kind and of ald_jobs_room(); -ALD_E_NO_SUCH_NODE; those
 * of ald_gate_may(); another error if the state service did not reply. */
typedef void (*AldMeasureRequestAnswer)(int error, AldJob *job, void *userdata);

typedef struct AldMeasureRequestsParts {
        const AldGate *gate; /* asked before and after the targets are looked up */
        AldStateQuery *query;
        const AldResults *results;
        AldJobsParts jobs;
} AldMeasureRequestsParts;

AldMeasureRequests *ald_measure_requests_new(const AldMeasureRequestsParts *parts);
/* Pending requests fail. Free the query first. */
void ald_measure_requests_free(AldMeasureRequests *requests);

AldJobs *ald_measure_requests_jobs(const AldMeasureRequests *requests);

/* Copies the request. Returns the same errors if they are known at once, and -ALD_E_OWN_NODE for links to
 * this machine itself, without calling back. */
int ald_measure_requests_add(AldMeasureRequests *requests, const AldMeasureRequest *request,
        AldMeasureRequestAnswer answered, void *userdata);
