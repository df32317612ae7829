/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/compute-prober.h"

/* What was measured of each device since this service began; whoever keeps results has the rest. */
typedef struct AldComputeResults AldComputeResults;

AldComputeResults *ald_compute_results_new(void);
void ald_compute_results_free(AldComputeResults *results);

/* Whom to tell of each change; NULL: nobody. */
void ald_compute_results_watch(AldComputeResults *results,
        void (*changed)(const AldCompute *fields, void *userdata), void *userdata);

/* CLOCK_REALTIME in µs. What is neither result nor failure changes nothing, nor does what is but some of the
 * metrics: it is for who asked for it. */
void ald_compute_results_take(AldComputeResults *results, const AldComputeTarget *target,
        const AldProbeAnswer *answer, uint64_t realtime_usec);

/* What is known of a device since this service began, or NULL. */
const AldComputeDevice *ald_compute_results_find(const AldComputeResults *results, const char *device);

/* Since when a measurement of the device waits and for what; absent and NULL: none does. */
void ald_compute_results_wait(
        AldComputeResults *results, const char *device, uint64_t since_usec, const char *reason);
