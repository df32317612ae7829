/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A spot check: one connection carries data at full rate for some 10 ms, and its receiver takes the rate of
 * the last part, when slow start is over and the burst of a shaper has passed. Coarse, but always taken the
 * same way, so that a later one shows whether the link has changed.
 */

#define ALD_SPOT_RTT_MAX_NS UINT64_C(2000000)  /* of longer ones slow start takes up the time */
#define ALD_SPOT_NS UINT64_C(9000000)          /* from the first byte on, where the round trip is short */
#define ALD_SPOT_LONGEST_NS UINT64_C(60000000) /* the same where the link is slow */
#define ALD_SPOT_BYTES_MAX UINT64_C(12500000)
#define ALD_SPOT_POINTS_MAX 4096u

/* What had arrived by then. */
typedef struct AldSpotPoint {
        uint64_t when, bytes;
} AldSpotPoint;

/* The end of a spot check, by what its receiver has. Pure. */
bool ald_spot_is_over(const AldSpotPoint *first, const AldSpotPoint *last, uint64_t rtt);

/* Bits per second; 0 where too little arrived to tell. Pure. */
uint64_t ald_spot_rate(const AldSpotPoint *points, size_t n);

/* One side of it, in a thread of its own. */
typedef struct AldSpot {
        int fd; /* blocking */
        bool sending, running;
        pthread_t thread;
        atomic_bool stop, ended;
        AldSpotPoint *points; /* receiving */
        size_t n;
        uint64_t bytes; /* sent or received */
} AldSpot;

/* Takes fd, also where it fails. */
int ald_spot_start(AldSpot *spot, int fd, bool sending);

/* Ends the thread and resets the connection. */
void ald_spot_stop(AldSpot *spot);

void ald_spot_clear(AldSpot *spot);
