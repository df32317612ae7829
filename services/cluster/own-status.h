/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/payload.h"

/*
 * What this node says of itself under its topic "status", and what comes back on it: that tells whether our
 * publications are let through at all, and whether another machine speaks under our id.
 *
 * Times are CLOCK_MONOTONIC in µs.
 */
typedef struct AldOwnStatus AldOwnStatus;

/* Every source sends again within 30 s, so by then all of an epoch was published. */
#define ALD_ANNOUNCE_USEC (UINT64_C(35) * 1000 * 1000)
/* A broker acknowledges what its rules forbid, and then passes it to no one, so it does not come back. */
#define ALD_ECHO_USEC (UINT64_C(5) * 1000 * 1000)
/* So long after we connected, brokers that bridge have told each other what a former instance said. */
#define ALD_SETTLED_USEC (UINT64_C(10) * 1000 * 1000)

AldOwnStatus *ald_own_status_new(const AldId *instance, const AldId *boot);
void ald_own_status_free(AldOwnStatus *own);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOwnStatus, ald_own_status_free)

/* 32 hexadecimal digits; valid until it is renewed. */
const char *ald_own_status_instance(const AldOwnStatus *own);

/* Speaks as this instance from now on: what others said of the former ones, and in their name, is void. */
void ald_own_status_renew(AldOwnStatus *own, const AldId *instance);

/* The payload for a connection; free with g_free(). */
char *ald_own_status_write(AldOwnStatus *own, AldNodeStatusState state, uint64_t connection);

/* The epoch as the state service has it. True where it is another one. */
bool ald_own_status_set_epoch(AldOwnStatus *own, uint64_t epoch, uint64_t now);
uint64_t ald_own_status_epoch(const AldOwnStatus *own);

/* The state service has an older epoch now: the next one that is set counts, and nothing is announced. */
void ald_own_status_go_back(AldOwnStatus *own);

/* True once, when all of the present epoch was published and that is to be said. */
bool ald_own_status_announce(AldOwnStatus *own, uint64_t now);

/* Some brokers end the connection of who publishes what their rules forbid, again and again. */
#define ALD_ENDS_MAX 3u

/* The status was published through this connection of a broker; that has ended. */
void ald_own_status_published(AldOwnStatus *own, uint32_t broker, uint64_t conn, uint64_t now);
void ald_own_status_disconnected(AldOwnStatus *own, uint64_t conn);
/* Whether it should have come back from the broker by now, and has not. */
bool ald_own_status_is_lost(const AldOwnStatus *own, uint32_t broker, uint64_t now);

/* When one of the two above can change by the passing of time; UINT64_MAX for never. */
uint64_t ald_own_status_due(const AldOwnStatus *own, uint64_t now);

typedef enum AldOwnFinding {
        ALD_OWN_ALONE,
        /* Another instance seems to speak, or to have connected again. It may be a former one of this
         * service, of which brokers that bridge tell each other late: our status is to be said again, which
         * names it from now on, and so heals theirs. */
        ALD_OWN_DOUBTFUL,
        /* Another instance names ours, so both live at this broker, unless the broker made it up: what it
         * keeps from a former time names a former instance. */
        ALD_OWN_DUPLICATE,
        ALD_OWN_FORGED, /* our instance, as it never spoke: others believe it until we are another instance */
} AldOwnFinding;

/* Takes what came under our own topic through a connection of a broker. */
AldOwnFinding ald_own_status_take(AldOwnStatus *own, const AldNodeStatus *status, uint32_t broker,
        uint64_t conn, bool retained, uint64_t now);

/* A record under our own id, of this epoch, came just now: notes whether somebody else must have said it. */
void ald_own_status_take_record(
        AldOwnStatus *own, uint64_t epoch, uint32_t broker, uint64_t conn, uint64_t now);
/* Somebody else surely spoke under our id. */
void ald_own_status_note_forged(AldOwnStatus *own, uint64_t now);

/* Whether somebody else was seen to speak under our id of late. */
#define ALD_CONTESTED_USEC (UINT64_C(600) * 1000 * 1000)
bool ald_own_status_is_contested(const AldOwnStatus *own, uint64_t now);
