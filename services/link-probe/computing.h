/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/compute-results.h"
#include "services/link-probe/compute-wish.h"
#include "services/link-probe/inhibitors.h"
#include "services/link-probe/work.h"

/*
 * Measures the compute devices of this machine, when they are due or on request: one at a time, and not while
 * other work uses the device or compute probes are inhibited. The processors are not measured while links
 * are, since the measurements would disturb each other.
 */
typedef struct AldComputing AldComputing;

typedef struct AldComputingParts {
        AldService *service;
        const char *own_id;
        AldStateQuery *query; /* freed first */
        AldInhibitors *inhibitors;
        AldWork *work;
        AldJobs *jobs;
        /* Whether links are being measured. */
        bool (*links_are_measured)(void *userdata);
        /* Something that clients see has changed, possibly also ald_computing_uses_cpu(). */
        void (*changed)(void *userdata);
        void *userdata;
} AldComputingParts;

AldComputing *ald_computing_new(const AldComputingParts *parts);
void ald_computing_free(AldComputing *computing);

/* Whether devices are measured automatically; requests are served in any case. */
void ald_computing_enable(AldComputing *computing, bool enabled);

/* Call it when locks or work have changed: stops measurements that are inhibited now or have to yield to
 * work. */
void ald_computing_check_work(AldComputing *computing);

/* Whether the processors are being measured, so that nothing else may be measured. */
bool ald_computing_uses_cpu(const AldComputing *computing);

/* The device that is being measured, or "". */
const char *ald_computing_device(const AldComputing *computing);
uint64_t ald_computing_time_to_free(const AldComputing *computing);

AldComputeResults *ald_computing_results(AldComputing *computing);

/* The unit of work-units= that keeps devices from being measured, or NULL. */
const char *ald_computing_unit(const AldComputing *computing);

AldComputeWishes *ald_computing_wishes(AldComputing *computing);
