/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/compute-answer.h"

/* Measures the compute devices of this machine: one at a time, in a child. */
typedef struct AldComputeProber AldComputeProber;

typedef struct AldComputeTarget {
        char *device;
        char *driver_version; /* maybe NULL */
        unsigned metrics;     /* AldComputeMetric */
        bool force;           /* measures beside other work, and says so, rather than stop for it */
} AldComputeTarget;

AldComputeTarget ald_compute_target(const AldBackend *backend, unsigned metrics, bool force);
void ald_compute_target_clear(AldComputeTarget *target);

typedef struct AldComputeHandler {
        void (*progress)(const char *phase, double fraction, void *userdata);
        /* Once. Where it was ended, the verdict is that it is for later, and the reason tells after how long
         * the device was free. */
        void (*ended)(const AldComputeTarget *target, const AldProbeAnswer *answer, void *userdata);
} AldComputeHandler;

/* `changed` is called when one has begun or ended. */
AldComputeProber *ald_compute_prober_new(
        const char *program, void (*changed)(void *userdata), void *userdata);
/* Ends what runs, of which nobody is told. */
void ald_compute_prober_free(AldComputeProber *prober);

/* Copies the target. -EBUSY while one runs; other errors are those of running the program. */
int ald_compute_prober_start(AldComputeProber *prober, const AldComputeTarget *target,
        const AldComputeHandler *handler, void *userdata);

/* Ends what runs, if anything, with all that it has started: `ended` follows once all of that is gone. */
void ald_compute_prober_end(AldComputeProber *prober, const char *reason);

/* The device that is measured, or NULL. */
const char *ald_compute_prober_device(const AldComputeProber *prober);

/* How long it took, in µs, from when a measurement was last to end until its device was free; absent where
 * none was. */
uint64_t ald_compute_prober_time_to_free(const AldComputeProber *prober);
