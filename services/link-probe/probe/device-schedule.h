/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/gate.h"
#include "services/link-probe/job/jobs.h"
#include "services/link-probe/link/sessions.h"
#include "services/link-probe/probe/row-results.h"
#include "services/link-probe/state-query-bus.h"

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
        const AldSessions *sessions;
        const AldGate *gate;
        AldWork *work;
        AldJobs *jobs;
} AldComputeManagerParts;

AldComputeManager *ald_compute_manager_new(const AldComputeManagerParts *parts);
void ald_compute_manager_free(AldComputeManager *manager);

/* Whether devices are measured automatically; requests are served in any case. */
void ald_compute_manager_enable(AldComputeManager *manager, bool enabled);

/* Call it when locks or work have changed: stops measurements that are inhibited now or have to yield to
 * work. */
void ald_compute_manager_check_work(AldComputeManager *manager);

AldComputeResults *ald_compute_manager_results(AldComputeManager *manager);

/* Returns in words why a device must not be measured now, to be freed; NULL if it may be. */
char *ald_compute_manager_obstacle(AldComputeManager *manager, const AldProbeTarget *target);

/* Keeps the answer of any probe of a device, due or requested. */
void ald_compute_manager_take(
        AldComputeManager *manager, const AldProbe *probe, const AldProbeAnswer *answer);

/* Returns whether the load of the device is, or was until just now, caused by our own measurement. */
bool ald_compute_manager_caused(const AldComputeManager *manager, const char *device);
