/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/compute/compute-request.h"
#include "services/link-probe/inhibit/inhibitors.h"
#include "services/link-probe/machine/work.h"
#include "services/link-probe/probe/row-results.h"

/*
 * Measures the compute devices of this machine, when they are due or on request: one at a time, and not while
 * other work uses the device or compute probes are inhibited. The processors are not measured while links
 * are, since the measurements would disturb each other.
 */
typedef struct AldComputeManager AldComputeManager;

typedef struct AldComputeManagerParts {
        AldService *service;
        const char *own_id;
        AldStateQuery *query; /* freed first */
        AldProber *prober;
        AldInhibitors *inhibitors;
        AldWork *work;
        AldJobs *jobs;
        /* Whether links are being measured. */
        bool (*links_are_measured)(void *userdata);
        void *userdata;
} AldComputeManagerParts;

AldComputeManager *ald_compute_manager_new(const AldComputeManagerParts *parts);
void ald_compute_manager_free(AldComputeManager *manager);

/* Whether devices are measured automatically; requests are served in any case. */
void ald_compute_manager_enable(AldComputeManager *manager, bool enabled);

/* Call it when locks or work have changed: stops measurements that are inhibited now or have to yield to
 * work. */
void ald_compute_manager_check_work(AldComputeManager *manager);

AldComputeResults *ald_compute_manager_results(AldComputeManager *manager);

/* The unit of work-units= that keeps devices from being measured, or NULL. */
const char *ald_compute_manager_unit(const AldComputeManager *manager);

AldComputeRequests *ald_compute_manager_requests(AldComputeManager *manager);
