/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/job/jobs.h"
#include "services/link-probe/link/gate.h"
#include "services/link-probe/state/state-query-bus.h"

/* Handles requests to measure: looks up their targets and creates a job for each request. Owns the jobs. */
typedef struct AldMeasureRequests AldMeasureRequests;

typedef struct AldMeasureRequest {
        uid_t uid;
        /* A target of its kind: with an empty address, all paths to the peer; over RDMA, all pairs of the
         * given ports (rdma-pairs.h); without a device, all devices that are free or, with force, all
         * devices. */
        AldProbeTarget target;
} AldMeasureRequest;

/* Receives the job, or an error: those of `resolve` of the kind, of ald_jobs_room() and of ald_gate_check();
 * -ALD_E_NO_SUCH_NODE; another one if the state service did not reply. */
typedef void (*AldMeasureRequestAnswer)(int error, AldJob *job, void *userdata);

typedef struct AldMeasureRequestsParts {
        const AldGate *gate; /* checked before and after the targets are looked up */
        AldStateQuery *query;
        const AldResults *results;
        AldJobsParts jobs;
} AldMeasureRequestsParts;

AldMeasureRequests *ald_measure_requests_new(const AldMeasureRequestsParts *parts);
/* Fails pending requests with -ECANCELED. Free the query first. */
void ald_measure_requests_free(AldMeasureRequests *requests);

AldJobs *ald_measure_requests_jobs(const AldMeasureRequests *requests);

/* Adds a copy of the request. Errors that are known at once are returned without calling back, as is
 * -ALD_E_OWN_NODE for links to this machine itself. */
int ald_measure_requests_add(AldMeasureRequests *requests, const AldMeasureRequest *request,
        AldMeasureRequestAnswer answered, void *userdata);
