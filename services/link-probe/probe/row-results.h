/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/kinds/compute-answer.h"

/* The last result or failure of each device since this service started, and whether a measurement waits. The
 * state service merges them with earlier results, and counts failures. */
typedef struct AldComputeResults AldComputeResults;

AldComputeResults *ald_compute_results_new(void);
void ald_compute_results_free(AldComputeResults *results);

/* The callback for each change, or NULL. */
void ald_compute_results_watch(AldComputeResults *results,
        void (*changed)(const AldCompute *fields, void *userdata), void *userdata);

/* CLOCK_REALTIME in µs. An answer that is neither a result nor a failure changes nothing, nor does a result
 * of single metrics, which is for its caller only. */
void ald_compute_results_take(AldComputeResults *results, const AldProbeTarget *target,
        const AldProbeAnswer *answer, uint64_t realtime_usec);

/* Whether the last measurement of the device failed because other work used it. */
bool ald_compute_results_met_other_work(const AldComputeResults *results, const char *device);

/* The row of a device, or NULL. */
const AldComputeDevice *ald_compute_results_find(const AldComputeResults *results, const char *device);

/* Sets since when a measurement of the device waits, and why; absent and NULL if none waits. */
void ald_compute_results_wait(
        AldComputeResults *results, const char *device, uint64_t since_usec, const char *reason);
