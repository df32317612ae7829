/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

/*
 * The records of this node, as its state service gives them, and what of them lies on the broker: the newest
 * of each key, retained. A deletion is published too, and its topic cleared after the expiry time, so that
 * who comes later does not see it rise again.
 *
 * Times are CLOCK_MONOTONIC in µs.
 */
typedef struct AldPublisher AldPublisher;

/* Hands a message to the broker; payload NULL clears the topic. */
typedef void (*AldPublish)(const char *topic, const char *payload, int qos, void *userdata);

/* The most topics of this node, deletions among them, whatever the state service has; what is beyond is told
 * once and not published. */
#define ALD_PUBLISHER_OWN_MAX 20000u
/* The most topics left by an earlier epoch of this node that are remembered, to be cleared. */
#define ALD_PUBLISHER_STALE_MAX 8192u

AldPublisher *ald_publisher_new(const AldId *node, const char *cluster, AldPublish publish, void *userdata);
void ald_publisher_free(AldPublisher *publisher);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPublisher, ald_publisher_free)

/* Takes a record and publishes it where it is newer than what is known; kinds that never travel are left out.
 */
void ald_publisher_put(AldPublisher *publisher, const AldUpdate *update, uint64_t now);

/* Around a reading of all records: what was not put in between is gone, and its topic cleared, unless the
 * reading was of another epoch than the newest. */
void ald_publisher_begin(AldPublisher *publisher);
void ald_publisher_end(AldPublisher *publisher);

/* Whether all that was put since the reading began is of an older epoch than the newest known, so that
 * nothing of it is taken: the state service has lost its state, or its clock was set back. */
bool ald_publisher_is_behind(const AldPublisher *publisher);

/* Forgets all records and their stamps, so that older ones are taken; what is not put again is cleared once
 * all is announced. */
void ald_publisher_go_back(AldPublisher *publisher);

/* Publishes all, to a broker that may have nothing of it. */
void ald_publisher_publish_all(AldPublisher *publisher, uint64_t now);

/* A record under our own id that the broker has just passed on: it sends us what we publish, like all others.
 */
void ald_publisher_heard(AldPublisher *publisher, const AldUpdate *update);

/* The names of kinds of which the broker passes nothing on, although it has passed on what was published so
 * much later; separated by commas, or NULL. It may be an older one, whose rights do not name them. Free with
 * g_free(). */
#define ALD_PUBLISHER_UNHEARD_USEC (UINT64_C(5) * 1000 * 1000)
char *ald_publisher_unheard_kinds(const AldPublisher *publisher);

/* Clears the topics of what was deleted so long ago. */
void ald_publisher_expire(AldPublisher *publisher, uint64_t now, uint64_t expiry_usec);

/* A topic of this node that a broker had kept, with the epoch of what it carries. It is cleared where it is
 * not ours any more and we have said that all of ours is published. */
void ald_publisher_found(AldPublisher *publisher, AldKind kind, const char *key, uint64_t epoch);

/* All of this epoch was published. */
void ald_publisher_announced(AldPublisher *publisher, uint64_t epoch);

/* Epoch and number of the newest record; 0 while there is none. */
uint64_t ald_publisher_epoch(const AldPublisher *publisher);
uint64_t ald_publisher_seq(const AldPublisher *publisher);
size_t ald_publisher_count(const AldPublisher *publisher);
