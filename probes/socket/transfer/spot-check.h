/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A spot check: one connection carries data at full rate for about 10 ms, and its receiver computes the rate
 * of the last part, after slow start and the burst of a shaper. The rate is coarse, but always measured in
 * the same way, so a later spot check shows whether the link has changed.
 */

#define ALD_SPOT_CHECK_RTT_MAX_NS UINT64_C(2000000)  /* beyond, slow start takes all the time */
#define ALD_SPOT_CHECK_NS UINT64_C(9000000)          /* from the first byte on, if the round trip is short */
#define ALD_SPOT_CHECK_LONGEST_NS UINT64_C(60000000) /* the same on a slow link */
#define ALD_SPOT_CHECK_BYTES_MAX UINT64_C(12500000)
#define ALD_SPOT_CHECK_POINTS_MAX 4096u

/* The bytes that had arrived by a time. */
typedef struct AldSpotCheckPoint {
        uint64_t when, bytes;
} AldSpotCheckPoint;

/* Returns whether a spot check is over, given the first and the last point. Pure. */
bool ald_spot_check_is_over(const AldSpotCheckPoint *first, const AldSpotCheckPoint *last, uint64_t rtt);

/* Returns the rate in bits/s; 0 if too little arrived. Pure. */
uint64_t ald_spot_check_rate(const AldSpotCheckPoint *points, size_t n);

/* One side of a spot check, in its own thread. */
typedef struct AldSpotCheck {
        int fd; /* blocking */
        bool sending, running;
        pthread_t thread;
        atomic_bool stop, ended;
        AldSpotCheckPoint *points; /* receiving */
        size_t n;
        uint64_t bytes; /* sent or received */
} AldSpotCheck;

/* Takes ownership of fd, also on failure. */
int ald_spot_check_start(AldSpotCheck *spot, int fd, bool sending);

/* Ends the thread and resets the connection. */
void ald_spot_check_stop(AldSpotCheck *spot);

void ald_spot_check_clear(AldSpotCheck *spot);
