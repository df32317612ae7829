/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/kinds/compute-answer.h"

/* Measures the compute devices of this machine: one at a time, in a child. */
typedef struct AldComputeProber AldComputeProber;

typedef struct AldComputeTarget {
        char *device;
        char *driver_version; /* maybe NULL */
        unsigned metrics;     /* AldComputeMetric */
        bool host_memory;     /* it uses host memory, so copies are not measured */
        bool force;           /* measures and sets a flag if other work is running, instead of stopping */
} AldComputeTarget;

AldComputeTarget ald_compute_target(const AldBackend *backend, unsigned metrics, bool force);
/* Whether all metrics that apply to the device are measured. */
bool ald_compute_target_is_whole(const AldComputeTarget *target);
void ald_compute_target_clear(AldComputeTarget *target);

typedef struct AldComputeHandler {
        void (*progress)(const char *phase, double fraction, void *userdata);
        /* Called once. If the measurement was stopped, the verdict is ALD_PROBE_LATER, and the reason
         * contains how long it took until the device was free. */
        void (*ended)(const AldComputeTarget *target, const AldProbeAnswer *answer, void *userdata);
} AldComputeHandler;

/* `changed` is called when a measurement has begun or ended. */
AldComputeProber *ald_compute_prober_new(
        const char *program, void (*changed)(void *userdata), void *userdata);
/* Stops a running measurement without calling back. */
void ald_compute_prober_free(AldComputeProber *prober);

/* Copies the target. -ALD_E_BUSY while a measurement runs; other errors are those of running the program. */
int ald_compute_prober_start(AldComputeProber *prober, const AldComputeTarget *target,
        const AldComputeHandler *handler, void *userdata);

/* Stops a running measurement with all its processes; `ended` is called once all of them are gone. */
void ald_compute_prober_end(AldComputeProber *prober, const char *reason);

/* The device that is measured, or NULL. */
const char *ald_compute_prober_device(const AldComputeProber *prober);

/* How long it took, in µs, until the device was free after a measurement was last stopped; absent if none
 * was. */
uint64_t ald_compute_prober_time_to_free(const AldComputeProber *prober);
