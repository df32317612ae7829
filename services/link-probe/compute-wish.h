/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/compute-jobs.h"
#include "services/link-probe/state-query-bus.h"

/* Measurements that somebody wishes: the devices are looked up, and a job made of them. */
typedef struct AldComputeWishes AldComputeWishes;

/* The job, or an error: -ENODEV no device of this name can compute; -ENODATA none is known; -EADDRINUSE it is
 * in use; that of `allowed`; -ENOSPC too many jobs of the user, -EUSERS in all; another where the
 * state service did not answer. */
typedef void (*AldComputeWishAnswer)(int error, AldJob *job, void *userdata);

/* What is asked for: one device, or with NULL all that are free; with force all of them. */
typedef struct AldComputeRequest {
        const char *device;
        unsigned metrics;
        bool force; /* in spite of other work */
} AldComputeRequest;

typedef struct AldComputeWishParts {
        AldStateQuery *nodes;
        const char *own_id;
        AldJobs *all;
        AldComputeJobs *jobs;
        /* Whether anything may be measured now, 0 or an error: asked before the devices are looked up and
         * after it. */
        int (*allowed)(bool force, void *userdata);
        /* Whether the load of the device comes from our own measurement. */
        bool (*is_ours)(const char *device, void *userdata);
        void *userdata;
} AldComputeWishParts;

AldComputeWishes *ald_compute_wishes_new(const AldComputeWishParts *parts);
/* Whoever waits is told that nothing comes of it. The query goes first. */
void ald_compute_wishes_free(AldComputeWishes *wishes);

/* Copies the request. Errors that are known at once are returned, and answered() is not called then. */
int ald_compute_wishes_add(AldComputeWishes *wishes, uid_t uid, const AldComputeRequest *request,
        AldComputeWishAnswer answered, void *userdata);
