/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/id.h"
#include "record/schema.h"

/*
 * Decides whether another node is present from the messages that brokers deliver. A live message is one that
 * its publisher has just sent; a message that a broker had stored (retained) does not show that its publisher
 * is alive. A node is online if it was heard recently; stale if it has been silent for a while, or only
 * retained messages of it were seen; offline if it, or its broker, said so, or it has been silent for long.
 * While this machine has no broker, no node becomes offline; being without one for a moment changes nothing.
 * A node is a duplicate if it says so through each broker through which it is heard, since a single broker
 * may have forged that.
 *
 * Times are arguments: "now" is CLOCK_MONOTONIC in µs and never 0, real times are CLOCK_REALTIME in µs.
 */
#define ALD_PRESENCE_STALE_USEC (UINT64_C(3) * 1000 * 1000)
#define ALD_PRESENCE_OFFLINE_USEC (UINT64_C(30) * 1000 * 1000)
#define ALD_PRESENCE_OFFSETS 16u

/* Each node publishes its status again within this time, for nodes that subscribe to nothing else. They
 * trust a status until two of these may have been lost, since a broker that died together with a node
 * keeps its "online" forever. */
#define ALD_PRESENCE_REPEAT_USEC (UINT64_C(4) * 3600 * 1000 * 1000)
#define ALD_PRESENCE_TRUSTED_USEC (3 * ALD_PRESENCE_REPEAT_USEC)

/* The number of brokers that are distinguished for one node; beyond that, the one heard longest ago is
 * dropped. */
#define ALD_PRESENCE_VIAS 4u

/* The messages of one node that came through one broker. */
typedef struct AldPresenceVia {
        uint32_t broker;     /* its number; 0 is none */
        uint64_t heard;      /* the last live message; 0: none since that connection ended */
        uint64_t connection; /* the newest known connection of the instance */
        bool duplicate;      /* it reported so there, and no instance has come back since */
} AldPresenceVia;

typedef struct AldNodePresence {
        AldPresenceState state;
        uint64_t since; /* real time */
        uint64_t heard; /* the last live message; 0: none yet */
        bool ended;     /* a connection of it was reported to have ended, with no live message since */
        uint64_t spoke; /* the last live message through a connection that ended like this */
        uint64_t ended_connection; /* the newest of these connections */
        bool has_instance;
        AldId instance;
        uint64_t epoch;
        AldPresenceVia vias[ALD_PRESENCE_VIAS];
        int64_t offsets[ALD_PRESENCE_OFFSETS]; /* their clock minus ours, at each heartbeat */
        uint8_t n_offsets, next_offset;
} AldNodePresence;

/* The conditions under which other nodes could be heard. */
typedef struct AldPresenceView {
        uint64_t
                connected_since; /* since when a broker has been connected without interruption; 0: none is */
        bool by_status;          /* only statuses are subscribed to, no heartbeats */
} AldPresenceView;

/* Initializes a node of which only retained messages were seen: stale. */
void ald_presence_init(AldNodePresence *presence, uint64_t real);

/* Takes note of a live message of any kind. */
void ald_presence_note_heard(AldNodePresence *presence, uint32_t broker, uint64_t now);

/* Forgets when the node was heard through a broker to which our own connection has ended. */
void ald_presence_forget_broker(AldNodePresence *presence, uint32_t broker);

/* Returns whether this is the state that a node, or its broker, has published. */
bool ald_status_is(const AldNodeStatus *status, AldNodeStatusState state);

/* Takes a status, live or retained; a live "online" is also heard. Returns false if it is older than what is
 * known; nothing is changed then. If only statuses are subscribed to, pass retained ones as live. */
bool ald_presence_take_status(
        AldNodePresence *presence, const AldNodeStatus *status, bool retained, uint32_t broker, uint64_t now);

/* Takes the time of a heartbeat, and ours when it arrived. */
void ald_presence_take_clock(AldNodePresence *presence, uint64_t theirs, uint64_t real);

/* Adjusts times and offsets after our own clock was set and moved by this much. */
void ald_presence_shift_clock(AldNodePresence *presence, int64_t moved);

/* Returns their clock minus ours: the greatest of the last values, which belongs to the fastest message;
 * INT64_MIN if none is known. */
int64_t ald_presence_clock_offset(const AldNodePresence *presence);

/* Returns how much slower the last heartbeat was than the fastest of the recent ones; UINT64_MAX if there was
 * none. */
uint64_t ald_presence_lag(const AldNodePresence *presence);

/* Computes the state again. Returns true if it has changed. */
bool ald_presence_update(AldNodePresence *presence, const AldPresenceView *view, uint64_t now, uint64_t real);

/* Returns when the state can change merely because time passes; UINT64_MAX for never. */
uint64_t ald_presence_due(const AldNodePresence *presence, const AldPresenceView *view);
