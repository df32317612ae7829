/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/id.h"
#include "record/schema.h"

/*
 * Whether one other node is heard of, judged from what brokers deliver. A live message is one that its
 * publisher sent just now; what a broker had kept (retained) is never a sign of life.
 * Online is who was heard of late; stale who is silent for a while, or of whom nothing but retained messages
 * was seen; offline who said so, or its broker did, or who is silent for long. While we have no broker
 * ourselves nobody becomes offline; to be without one for a moment only changes nothing. A duplicate is who
 * said so through each broker by which it is heard: one broker alone may have made it up.
 *
 * Times are arguments: "now" is CLOCK_MONOTONIC in µs and never 0, real times are CLOCK_REALTIME in µs.
 */
#define ALD_PRESENCE_STALE_USEC (UINT64_C(3) * 1000 * 1000)
#define ALD_PRESENCE_OFFLINE_USEC (UINT64_C(30) * 1000 * 1000)
#define ALD_PRESENCE_OFFSETS 16u

/* Each node says its status again within so long, for those that listen to nothing else; they believe one for
 * as long as two of these may have been lost. A broker that died together with a node keeps that "online",
 * and has nobody to take it back. */
#define ALD_PRESENCE_REPEAT_USEC (UINT64_C(4) * 3600 * 1000 * 1000)
#define ALD_PRESENCE_BELIEVED_USEC (3 * ALD_PRESENCE_REPEAT_USEC)

/* How many brokers are told apart for one node; beyond, the one heard longest ago gives way. */
#define ALD_PRESENCE_VIAS 4u

/* What came through one broker. */
typedef struct AldPresenceVia {
        uint32_t broker;     /* its number; 0 is none */
        uint64_t heard;      /* the last live message; 0: none since that connection ended */
        uint64_t connection; /* the newest connection of the instance that was told of */
        bool duplicate;      /* it said so there, and no instance of it is back since */
} AldPresenceVia;

typedef struct AldNodePresence {
        AldPresenceState state;
        uint64_t since; /* real time */
        uint64_t heard; /* the last live message; 0: none yet */
        bool ended;     /* a connection of it was said to have ended, and no live message came since */
        uint64_t spoke; /* when the last live message came through one that has ended so */
        uint64_t ended_connection; /* the newest of these */
        bool has_instance;
        AldId instance;
        uint64_t epoch;
        AldPresenceVia vias[ALD_PRESENCE_VIAS];
        int64_t offsets[ALD_PRESENCE_OFFSETS]; /* their clock minus ours, at each heartbeat */
        uint8_t n_offsets, next_offset;
} AldNodePresence;

/* How well we could have heard it. */
typedef struct AldPresenceView {
        uint64_t connected_since; /* since when some broker is connected without a break; 0: none is */
        bool by_status;           /* no heartbeats are listened to, but what nodes say now and then */
} AldPresenceView;

/* A node of which only retained messages were seen: stale. */
void ald_presence_init(AldNodePresence *presence, uint64_t real);

/* A live message, whatever it says. */
void ald_presence_heard(AldNodePresence *presence, uint32_t broker, uint64_t now);

/* Our own connection to that broker has ended, by which the node may have spoken. */
void ald_presence_lose(AldNodePresence *presence, uint32_t broker);

/* Whether this is the state that a node, or its broker, publishes. */
bool ald_status_is(const AldNodeStatus *status, AldNodeStatusState state);

/* Takes a status, live or retained; a live "online" is also heard. False if it is older than what is known;
 * nothing is changed then. If only statuses are subscribed to, pass retained ones as live. */
bool ald_presence_take_status(
        AldNodePresence *presence, const AldNodeStatus *status, bool retained, uint32_t broker, uint64_t now);

/* The clock of a heartbeat, and ours when it came. */
void ald_presence_take_clock(AldNodePresence *presence, uint64_t theirs, uint64_t real);

/* Our own clock was moved by so much. */
void ald_presence_shift_clock(AldNodePresence *presence, int64_t moved);

/* The greatest of the last, which is that of the promptest message: their clock minus ours. INT64_MIN where
 * none is known. */
int64_t ald_presence_clock_offset(const AldNodePresence *presence);

/* How much later than the promptest of the last heartbeats the last one came; UINT64_MAX where none did. */
uint64_t ald_presence_lag(const AldNodePresence *presence);

/* Judges anew; true where the state has changed. */
bool ald_presence_judge(AldNodePresence *presence, const AldPresenceView *view, uint64_t now, uint64_t real);

/* When the judgement can change by the mere passing of time; UINT64_MAX for never. */
uint64_t ald_presence_due(const AldNodePresence *presence, const AldPresenceView *view);
