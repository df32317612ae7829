/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A spot check: one connection carries data at full rate for about 10 ms, and its receiver computes the rate
 * of the last part, after slow start and the burst of a shaper. Coarse, but always measured in the same way,
 * so that a later one shows whether the link has changed.
 */

#define ALD_SPOT_CHECK_RTT_MAX_NS UINT64_C(2000000)  /* with a longer one, slow start takes all the time */
#define ALD_SPOT_CHECK_NS UINT64_C(9000000)          /* from the first byte on, if the round trip is short */
#define ALD_SPOT_CHECK_LONGEST_NS UINT64_C(60000000) /* the same on a slow link */
#define ALD_SPOT_CHECK_BYTES_MAX UINT64_C(12500000)
#define ALD_SPOT_CHECK_POINTS_MAX 4096u

/* What had arrived by then. */
typedef struct AldSpotCheckPoint {
        uint64_t when, bytes;
} AldSpotCheckPoint;

/* Whether a spot check is over, by what has arrived. Pure. */
bool ald_spot_check_is_over(const AldSpotCheckPoint *first, const AldSpotCheckPoint *last, uint64_t rtt);

/* Bits per second; 0 if too little arrived. Pure. */
uint64_t ald_spot_check_rate(const AldSpotCheckPoint *points, size_t n);

/* One side of it, in a thread of its own. */
typedef struct AldSpotCheck {
        int fd; /* blocking */
        bool sending, running;
        pthread_t thread;
        atomic_bool stop, ended;
        AldSpotCheckPoint *points; /* receiving */
        size_t n;
        uint64_t bytes; /* sent or received */
} AldSpotCheck;

/* Takes fd, also on failure. */
int ald_spot_check_start(AldSpotCheck *spot, int fd, bool sending);

/* Ends the thread and resets the connection. */
void ald_spot_check_stop(AldSpotCheck *spot);

void ald_spot_check_clear(AldSpotCheck *spot);
