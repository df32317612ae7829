/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/compute-results.h"
#include "services/link-probe/compute-wish.h"
#include "services/link-probe/inhibitors.h"
#include "services/link-probe/work.h"

/*
 * Measures the compute devices of this machine: those that are due, and what is asked for. One at a time;
 * none that others use, or while computing is held off; the processors not while links are measured, since
 * each would disturb the other.
 */
typedef struct AldComputing AldComputing;

typedef struct AldComputingParts {
        AldService *service;
        const char *own_id;
        AldStateQuery *query; /* freed first */
        AldInhibitors *inhibitors;
        AldWork *work;
        AldJobs *jobs;
        /* Whether links are measured now. */
        bool (*links_are_measured)(void *userdata);
        /* What clients see has changed, and maybe ald_computing_uses_cpu(). */
        void (*changed)(void *userdata);
        void *userdata;
} AldComputingParts;

AldComputing *ald_computing_new(const AldComputingParts *parts);
void ald_computing_free(AldComputing *computing);

/* Whether devices are measured by themselves; what somebody asks for is measured all the same. */
void ald_computing_enable(AldComputing *computing, bool enabled);

/* To be called when locks or work have changed: ends what is held off now, and what work ends. */
void ald_computing_check_work(AldComputing *computing);

/* Whether the processors are measured, so that nothing else is to be now. */
bool ald_computing_uses_cpu(const AldComputing *computing);

/* The device that is measured now, or "". */
const char *ald_computing_device(const AldComputing *computing);
uint64_t ald_computing_time_to_free(const AldComputing *computing);

AldComputeResults *ald_computing_results(AldComputing *computing);

/* The unit of work-units= that keeps devices from being measured, or NULL. */
const char *ald_computing_unit(const AldComputing *computing);

AldComputeWishes *ald_computing_wishes(AldComputing *computing);
