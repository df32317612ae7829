/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "probes/common/statistics.h"

#define ALD_RTT_BYTES 64u
#define ALD_RTT_SAMPLES_MAX 4096u

typedef enum AldRttMode {
        ALD_RTT_THOROUGH, /* bursts over more than a second */
        ALD_RTT_BRIEF,    /* a few within a third of a second */
        ALD_RTT_STEADY,   /* one at a time until stopped */
} AldRttMode;

/* One side sends a few bytes and waits for them to come back, in a thread of its own. */
typedef struct AldRtt {
        int fd; /* blocking; owned by the caller */
        AldRttMode mode;
        pthread_t thread;
        atomic_bool stop, ended;
        atomic_uint progress;       /* permille */
        atomic_uint_fast64_t every; /* ns between two steady ones */
        bool failed;                /* nothing came back */
        size_t n;
        AldRttSample samples[ALD_RTT_SAMPLES_MAX];
} AldRtt;

/* Options of such a connection. */
void ald_rtt_prepare(int fd);

int ald_rtt_start(AldRtt *rtt, int fd, AldRttMode mode);

/* Adapts the interval of steady round trips to a transfer that moved these bytes in this time, so that they
 * take only a small share of it. */
void ald_rtt_set_interval(AldRtt *rtt, uint64_t bytes, uint64_t nsec);

/* Waits for the end of the exchange under way. With `now` it does not wait, and the connection becomes
 * unusable. */
void ald_rtt_finish(AldRtt *rtt, bool now);

/* The other side, which sends back what it receives. */
typedef struct AldEcho {
        int fd;
        bool running;
        pthread_t thread;
} AldEcho;

/* Takes fd, also on failure. */
int ald_echo_start(AldEcho *echo, int fd);
void ald_echo_stop(AldEcho *echo);
