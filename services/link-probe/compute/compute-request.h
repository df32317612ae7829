/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/compute/compute-jobs.h"
#include "services/link-probe/state-query-bus.h"

/* Requests to measure devices: looks up the devices and creates a job for them. */
typedef struct AldComputeRequests AldComputeRequests;

/* The job, or an error: -ALD_E_NO_SUCH_DEVICE if no device of this name can compute; -ENODATA if no device is
 * known; -ALD_E_BUSY if it is in use; the error of `allowed`; those of ald_jobs_room(); another error if the
 * state service did not reply. */
typedef void (*AldComputeRequestAnswer)(int error, AldJob *job, void *userdata);

/* The request: one device, or with NULL all that are free; with force, all of them. */
typedef struct AldComputeRequest {
        const char *device;
        unsigned metrics;
        bool force; /* even if other work is running */
} AldComputeRequest;

typedef struct AldComputeRequestsParts {
        AldStateQuery *nodes;
        const char *own_id;
        AldJobs *all;
        AldComputeJobs *jobs;
        /* Whether anything may be measured now, 0 or an error: called before and after the devices are looked
         * up. */
        int (*allowed)(bool force, void *userdata);
        /* Whether the load of the device is caused by our own measurement. */
        bool (*is_ours)(const char *device, void *userdata);
        void *userdata;
} AldComputeRequestsParts;

AldComputeRequests *ald_compute_requests_new(const AldComputeRequestsParts *parts);
/* Pending requests fail. Free the query first. */
void ald_compute_requests_free(AldComputeRequests *requests);

/* Copies the request. Returns errors that are known at once; answered() is not called then. */
int ald_compute_requests_add(AldComputeRequests *requests, uid_t uid, const AldComputeRequest *request,
        AldComputeRequestAnswer answered, void *userdata);
