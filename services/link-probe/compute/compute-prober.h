/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/kinds/probe-kind.h"

/* Measures the compute devices of this machine: one at a time, in a child. */
typedef struct AldComputeProber AldComputeProber;

typedef struct AldComputeHandler {
        void (*progress)(const char *phase, double fraction, void *userdata);
        /* Called once. If the measurement was stopped, the verdict is ALD_PROBE_LATER, and the reason
         * contains how long it took until the device was free. */
        void (*ended)(const AldProbeTarget *target, const AldProbeAnswer *answer, void *userdata);
} AldComputeHandler;

/* `changed` is called when a measurement has begun or ended. */
AldComputeProber *ald_compute_prober_new(void (*changed)(void *userdata), void *userdata);
/* Stops a running measurement without calling back. */
void ald_compute_prober_free(AldComputeProber *prober);

/* Copies the target. -ALD_E_BUSY while a measurement runs; other errors are those of running the program. */
int ald_compute_prober_start(AldComputeProber *prober, const AldProbeTarget *target,
        const AldComputeHandler *handler, void *userdata);

/* Stops a running measurement with all its processes; `ended` is called once all of them are gone. */
void ald_compute_prober_end(AldComputeProber *prober, const char *reason);

/* The device that is measured, or NULL. */
const char *ald_compute_prober_device(const AldComputeProber *prober);

/* How long it took, in µs, until the device was free after a measurement was last stopped; absent if none
 * was. */
uint64_t ald_compute_prober_time_to_free(const AldComputeProber *prober);
