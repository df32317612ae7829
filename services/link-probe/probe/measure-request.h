/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/results.h"
#include "services/link-probe/probe/probe-jobs.h"
#include "services/link-probe/state-query-bus.h"

/* Requests to probe a node: looks up the paths to the node and creates a job for them. */
typedef struct AldLinkRequests AldLinkRequests;

typedef struct AldLinkRequest {
        uid_t uid;
        /* With an empty address: all paths to the node; see rdma-pairs.h for RDMA. */
        AldProbeTarget target;
} AldLinkRequest;

/* The job, or an error: -ALD_E_NO_SUCH_NODE; -ALD_E_NO_SUCH_ADDRESS if the node does not have this address,
 * or there is no path to it; -ALD_E_NO_SUCH_DEVICE if there are no such RDMA ports, or none are active; those
 * of ald_jobs_room(); the error of AldLinkRequestAllowed; another error if the state service did not reply.
 */
typedef void (*AldLinkRequestAnswer)(int error, AldJob *job, void *userdata);

/* Whether anything may be measured now, 0 or an error for the request: called before and after the node is
 * looked up. */
typedef int (*AldLinkRequestAllowed)(const AldProbeKind *kind, void *userdata);

typedef struct AldLinkRequestsParts {
        const char *own_id;
        AldStateQuery *nodes;
        AldLinkJobs *jobs;
        const AldResults *results;
        AldLinkRequestAllowed allowed;
        void *userdata;
} AldLinkRequestsParts;

AldLinkRequests *ald_link_requests_new(const AldLinkRequestsParts *parts);
/* Pending requests fail. Free the query first. */
void ald_link_requests_free(AldLinkRequests *requests);

/* `own` is the Node1.Network of this machine, or NULL to look it up. Returns the same errors if they are
 * known at once, and -ALD_E_OWN_NODE for this machine itself, without calling back. */
int ald_link_requests_add(AldLinkRequests *requests, const AldLinkRequest *request, AldRecord *own,
        AldLinkRequestAnswer answered, void *userdata);
