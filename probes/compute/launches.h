/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/compute/opencl/session.h"

/*
 * Enqueues one launch, of one kernel or several, on the queue of the session. ret is NULL if the event is not
 * needed. On failure, sets the failure of its provider and returns its negative errno.
 */
typedef int (*AldLaunch)(void *userdata, cl_event *ret);

/*
 * Launches without gaps: the next ones are queued before waiting for the previous ones, so that the device
 * never idles, and time is measured from the end of one to the end of another. So neither queueing nor the
 * time between launches affects the figure.
 */
typedef struct AldLaunches {
        AldOpenclSession *session;
        AldLaunch launch;
        void *userdata;
        AldFailure *failure;
        cl_event pending; /* the last queued one, or NULL */
        unsigned n_pending;
        uint64_t wall_nsec; /* when the previous ones had ended */
        uint64_t event_nsec;
} AldLaunches;

/* The duration of launches. */
typedef struct AldSpan {
        unsigned n;
        double wall;  /* s, by the clock of the host */
        double event; /* s, by the clock of the device; 0 if unknown */
} AldSpan;

/* Runs one launch from queueing to its end, before any other, so that first-time costs are not measured. */
int ald_launches_once(AldLaunches *launches, AldSpan *ret);

/* Queues n more launches and waits for those queued by the previous call; the first call returns an empty
 * span (n is 0). */
int ald_launches_next(AldLaunches *launches, unsigned n, AldSpan *ret);

/* Waits for the remaining launches. Nothing is running afterwards in any case. */
void ald_launches_end(AldLaunches *launches);
