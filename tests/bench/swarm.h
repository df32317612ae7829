/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdatomic.h>

#include "tests/bench/fixture.h"

/*
 * So many nodes of the fixture, each an MQTT client with a certificate of its own, with the topics, payloads
 * and rates of the cluster service: memory every 0.5 s, system every second, all else every 30 s, `alive` in
 * seconds without a message and every 10 s at least. Each reads its own topics.
 */
typedef struct Swarm Swarm;

typedef struct SwarmSettings {
        const char *address; /* IPv4 */
        uint16_t port;
        const char *cluster;
        const char *ca, *ca_key; /* paths */
        unsigned nodes;
        unsigned divisor; /* of the rates of memory and system; 30 must be a multiple */
} SwarmSettings;

/* Makes the certificates, connects all, and publishes each record once. */
Swarm *swarm_start(const SwarmSettings *settings);

/* Publishes on schedule until the time (CLOCK_MONOTONIC, µs; 0 is never), or until the descriptor is readable
 * (-1 is none). */
void swarm_run(Swarm *swarm, uint64_t until, int fd);

/* Publishes nothing for so long, yet answers the broker. */
void swarm_rest(Swarm *swarm, uint64_t usec);

/* How many records were published since the last call. */
uint64_t swarm_take_published(Swarm *swarm);

/* How many of all values are not what the node published last: rows are told by swarm_check(). */
void swarm_check(
        Swarm *swarm, const char *node, const char *kind, const char *key, uint64_t seq, bool deleted);
unsigned swarm_missing(Swarm *swarm);

uint64_t swarm_now(void); /* CLOCK_MONOTONIC, µs */
