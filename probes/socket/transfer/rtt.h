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

/* The side that measures: it sends a few bytes and waits for them to come back, in its own thread. */
typedef struct AldRtt {
        int fd; /* blocking; owned by the caller */
        AldRttMode mode;
        pthread_t thread;
        atomic_bool stop, ended;
        atomic_uint progress;       /* permille */
        atomic_uint_fast64_t every; /* ns between two steady round trips */
        bool failed;                /* nothing came back */
        size_t n;
        AldRttSample samples[ALD_RTT_SAMPLES_MAX];
} AldRtt;

/* Sets the options of a connection for round trips. */
void ald_rtt_prepare(int fd);

int ald_rtt_start(AldRtt *rtt, int fd, AldRttMode mode);

/* Adapts the interval of steady round trips to a transfer that moved these bytes in this time, so that they
 * take only a small share of it. */
void ald_rtt_set_interval(AldRtt *rtt, uint64_t bytes, uint64_t nsec);

/* Waits for the end of the exchange under way. With `now`, it aborts the exchange, and the connection becomes
 * unusable. */
void ald_rtt_finish(AldRtt *rtt, bool now);

/* The other side: it sends back the bytes that it receives. */
typedef struct AldEcho {
        int fd;
        bool running;
        pthread_t thread;
} AldEcho;

/* Takes ownership of fd, also on failure. */
int ald_echo_start(AldEcho *echo, int fd);
void ald_echo_stop(AldEcho *echo);
