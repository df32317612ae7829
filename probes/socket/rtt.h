/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "probes/common/statistics.h"

#define ALD_RTT_BYTES 64u
#define ALD_RTT_SAMPLES_MAX 4096u

typedef enum AldRttManner {
        ALD_RTT_THOROUGH, /* bursts over more than a second */
        ALD_RTT_BRIEF,    /* a few within a third of one */
        ALD_RTT_STEADY,   /* one at a time until told to stop */
} AldRttManner;

/* One side sends a few bytes and waits for them to come back, in a thread of its own. */
typedef struct AldRtt {
        int fd; /* blocking; lent */
        AldRttManner manner;
        pthread_t thread;
        atomic_bool stop, ended;
        atomic_uint progress;       /* permille */
        atomic_uint_fast64_t every; /* ns between two that are steady */
        bool failed;                /* nothing came back */
        size_t n;
        AldRttSample samples[ALD_RTT_SAMPLES_MAX];
} AldRtt;

/* Options of such a connection. */
void ald_rtt_prepare(int fd);

int ald_rtt_start(AldRtt *rtt, int fd, AldRttManner manner);

/* Of a transfer that has moved so much in so long, steady round trips take next to nothing from now on. */
void ald_rtt_set_pace(AldRtt *rtt, uint64_t bytes, uint64_t nsec);

/* Waits for the end of the exchange under way; with `now`, not even that, and the connection is of no use any
 * more. */
void ald_rtt_finish(AldRtt *rtt, bool now);

/* The other side, which sends back what comes. */
typedef struct AldEcho {
        int fd;
        bool running;
        pthread_t thread;
} AldEcho;

/* Takes fd, also where it fails. */
int ald_echo_start(AldEcho *echo, int fd);
void ald_echo_stop(AldEcho *echo);
