/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/*
 * Publishes the records of this node from its state service: the newest of each key, retained. A deletion is
 * published too, and its topic cleared after the expiry time, so that a node that connects later does not
 * see the deleted record again.
 *
 * Times are CLOCK_MONOTONIC in µs.
 */
typedef struct AldPublisher AldPublisher;

/* Sends a message to the broker; payload NULL clears the topic. */
typedef void (*AldPublish)(const char *topic, const char *payload, int qos, void *userdata);

/* The limit of topics of this node, including deletions. If there are more, this is logged once, and they are
 * not published. */
#define ALD_PUBLISHER_OWN_MAX 20000u
/* The limit of topics of an earlier epoch of this node that are remembered in order to clear them. */
#define ALD_PUBLISHER_STALE_MAX 8192u

AldPublisher *ald_publisher_new(const AldId *node, const char *cluster, AldPublish publish, void *userdata);
void ald_publisher_free(AldPublisher *publisher);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPublisher, ald_publisher_free)

/* Publishes a record if it is newer than what is known; skips kinds that are never published. */
void ald_publisher_put(AldPublisher *publisher, const AldUpdate *update, uint64_t now);

/* Call them before and after all records are put. The second clears the topics of records that were not put
 * in between, unless they were of another epoch than the newest. */
void ald_publisher_begin(AldPublisher *publisher);
void ald_publisher_end(AldPublisher *publisher);

/* Returns whether all records put since ald_publisher_begin() are of an older epoch than the newest known, so
 * that none was accepted: the state service has lost its state, or its clock was set back. */
bool ald_publisher_is_behind(const AldPublisher *publisher);

/* Forgets all records and their stamps, so that older ones are accepted. Topics that are not put again are
 * cleared after the announcement. */
void ald_publisher_accept_older_epoch(AldPublisher *publisher);

/* Publishes everything, to a broker that may have none of it. */
void ald_publisher_publish_all(AldPublisher *publisher, uint64_t now);

/* Takes note of a record of this node that the broker has passed on, as it does to any subscriber. */
void ald_publisher_heard(AldPublisher *publisher, const AldUpdate *update);

/*
 * Returns the names, separated by commas, of kinds of which the broker has passed on nothing, although it has
 * passed on records that were published this much later; NULL if there are none. Its access rules may be
 * those of an earlier version. Free with g_free().
 */
#define ALD_PUBLISHER_UNHEARD_USEC (UINT64_C(5) * 1000 * 1000)
char *ald_publisher_unheard_kinds(const AldPublisher *publisher);

/* Clears the topics of records that were deleted longer than `expiry_usec` ago. */
void ald_publisher_expire(AldPublisher *publisher, uint64_t now, uint64_t expiry_usec);

/* Takes note of a retained topic of this node that was found at a broker, with this epoch. Clears it if this
 * node no longer publishes it and has announced its epoch. */
void ald_publisher_found(AldPublisher *publisher, AldKind kind, const char *key, uint64_t epoch);

/* Takes note that all records of this epoch were published, and clears what is left of earlier ones. */
void ald_publisher_announced(AldPublisher *publisher, uint64_t epoch);

/* Return the epoch and the sequence number of the newest record; 0 if there is none. */
uint64_t ald_publisher_epoch(const AldPublisher *publisher);
uint64_t ald_publisher_seq(const AldPublisher *publisher);
size_t ald_publisher_count(const AldPublisher *publisher);
