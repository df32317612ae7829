/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/meter.h"

/*
 * Launches that follow each other without a gap: the next ones are queued before the ones under way are
 * waited for, so that the device never idles, and time is taken from the end of one to the end of another. So
 * neither what it takes to queue them nor what lies between them is lost to the figure.
 */
typedef struct AldLaunches {
        AldSession *session;
        AldLaunch launch;
        void *userdata;
        AldFailure *failure;
        cl_event pending; /* the last that is queued; NULL: nothing is */
        unsigned n_pending;
        uint64_t wall_nsec; /* when the ones before had ended */
        uint64_t event_nsec;
} AldLaunches;

/* How long launches took. */
typedef struct AldSpan {
        unsigned n;
        double wall;  /* s, by our clock */
        double event; /* s, by that of the device; 0 if unknown */
} AldSpan;

/* Does one launch from queueing to its end, before any other: what it takes the first time counts for
 * nothing. */
int ald_launches_once(AldLaunches *launches, AldSpan *ret);

/* Queues n more and waits for those queued by the call before; the first call leaves nothing in ret (n is 0).
 */
int ald_launches_next(AldLaunches *launches, unsigned n, AldSpan *ret);

/* Waits for what is left. In any case nothing is under way afterwards. */
void ald_launches_end(AldLaunches *launches);
