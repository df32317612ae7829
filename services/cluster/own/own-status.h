/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/peers/payload.h"

/*
 * The status that this node publishes, and what it receives on that topic, which shows whether brokers
 * deliver our messages at all, and whether another machine uses our id.
 *
 * Times are CLOCK_MONOTONIC in µs.
 */
typedef struct AldOwnStatus AldOwnStatus;

/* Every source sends its values again within 30 s, so by then all records of an epoch were published. */
#define ALD_ANNOUNCE_USEC (UINT64_C(35) * 1000 * 1000)
/* A broker acknowledges a message that its access rules forbid, but does not deliver it, not even to its
 * sender. */
#define ALD_ECHO_USEC (UINT64_C(5) * 1000 * 1000)
/* After this time bridged brokers have exchanged what a former instance published. */
#define ALD_SETTLED_USEC (UINT64_C(10) * 1000 * 1000)

/* Makes a random id for an instance. */
int ald_own_status_make_instance(AldId *ret);

AldOwnStatus *ald_own_status_new(const AldId *instance, const AldId *boot);
void ald_own_status_free(AldOwnStatus *own);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldOwnStatus, ald_own_status_free)

/* Returns 32 hexadecimal digits, valid until the instance is renewed. */
const char *ald_own_status_instance(const AldOwnStatus *own);

/* Becomes this instance. Messages about former instances, or under their name, no longer count. */
void ald_own_status_renew(AldOwnStatus *own, const AldId *instance);

/* Formats the payload for a connection; free with g_free(). */
char *ald_own_status_write(AldOwnStatus *own, AldNodeStatusState state, uint64_t connection);

/* Sets the epoch of the state service. Returns true if it has changed. */
bool ald_own_status_set_epoch(AldOwnStatus *own, uint64_t epoch, uint64_t now);
uint64_t ald_own_status_epoch(const AldOwnStatus *own);

/* Accepts the next epoch that is set, even if it is older, and withdraws the announcement. */
void ald_own_status_accept_older_epoch(AldOwnStatus *own);

/* Returns true once for each epoch, when all its records were published, which is to be announced now. */
bool ald_own_status_announce(AldOwnStatus *own, uint64_t now);

/* A broker may close the connection of a client each time the client publishes what its access rules forbid.
 * After this many in a row, the status counts as lost. */
#define ALD_ENDS_MAX 3u

/* Take note that the status was published through this connection to a broker, and that the connection has
 * ended. */
void ald_own_status_published(AldOwnStatus *own, uint32_t broker, uint64_t conn, uint64_t now);
void ald_own_status_disconnected(AldOwnStatus *own, uint64_t conn);
/* Returns whether the broker should have delivered the status back by now, but has not. */
bool ald_own_status_is_lost(const AldOwnStatus *own, uint32_t broker, uint64_t now);

/* Returns when the announcement, or the loss of a status, may be due next; UINT64_MAX for never. */
uint64_t ald_own_status_due(const AldOwnStatus *own, uint64_t now);

typedef enum AldOwnFinding {
        ALD_OWN_ALONE,
        /* Another instance seems to be alive, or to have connected again. It may be a former one of this
         * service, whose status bridged brokers exchange late. Publish our status again: from now on it
         * names that instance, and replaces the old status. */
        ALD_OWN_DOUBTFUL,
        /* Another instance names ours, so both are alive at this broker, unless the broker forged it:
         * messages stored earlier name a former instance. */
        ALD_OWN_DUPLICATE,
        ALD_OWN_FORGED, /* our instance, with values that it never sent; other nodes believe it until we
                           change our instance */
} AldOwnFinding;

/* Takes a status that arrived on our own topic, through this connection to a broker. */
AldOwnFinding ald_own_status_take(AldOwnStatus *own, const AldNodeStatus *status, uint32_t broker,
        uint64_t conn, bool retained, uint64_t now);

/* Takes a live record of this epoch under our own id, and notes whether someone else must have sent it. */
void ald_own_status_take_record(
        AldOwnStatus *own, uint64_t epoch, uint32_t broker, uint64_t conn, uint64_t now);
/* Notes that someone else has certainly used our id. */
void ald_own_status_note_forged(AldOwnStatus *own, uint64_t now);

/* Returns whether someone else has used our id within this time. */
#define ALD_CONTESTED_USEC (UINT64_C(600) * 1000 * 1000)
bool ald_own_status_is_contested(const AldOwnStatus *own, uint64_t now);
