/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "services/cluster/address.h"
#include "services/cluster/claims.h"
#include "services/cluster/inbox.h"

/*
 * One attempt at a broker, and the connection that comes of it. A thread of its own resolves the name,
 * connects and speaks MQTT through libmosquitto, which no other thread touches; what it learns goes into the
 * inbox, as events of this source and messages of this group. These functions are for the main loop and do
 * not block.
 */
typedef struct AldSession AldSession;

typedef enum AldSessionEvent {
        ALD_SESSION_CONNECTED =
                1, /* number: when the broker's certificate expires, in µs; topic: its common name */
        ALD_SESSION_WARNING, /* topic: what is wrong, though it goes on */
        /* One of these is the last; topic: why. */
        ALD_SESSION_UNREACHABLE,
        ALD_SESSION_REFUSED,
        ALD_SESSION_DUPLICATE, /* number: the number of the session that has this broker */
        ALD_SESSION_LOST,
        ALD_SESSION_ENDED, /* it was stopped */
} AldSessionEvent;

#define ALD_SESSION_CONNECT_USEC                                                      \
        (5 * G_USEC_PER_SEC)    /* for each address, from the first packet to CONNACK \
                                 */
#define ALD_SESSION_KEEPALIVE 5 /* seconds; the least that libmosquitto takes */

typedef struct AldSessionSetup {
        AldInbox *inbox;
        void *source;
        uint64_t number;
        const AldAddress *address;
        const char *client_id;
        const char *will_topic, *will; /* maybe NULL */
        const char *const *filters;    /* maybe NULL */
        AldClaims *claims;
} AldSessionSetup;

/* Takes ownership of the TLS context, even on failure. NULL if no thread can be started. */
AldSession *ald_session_new(const AldSessionSetup *setup, AldTls *tls);

/* Silences the session. If it is connected, its thread disconnects properly. */
void ald_session_leave(AldSession *session);

/* Whether its connection has ended. */
bool ald_session_has_ended(AldSession *session);

/* Leaves it without waiting for the end of its connection. */
void ald_session_free(AldSession *session);

/* Returns -ENOBUFS if the queue is full. */
int ald_session_publish(AldSession *session, const AldTopicMessage *message);

/* Replaces the subscriptions. With `again` also renews those that stay, so that the broker sends all
 * retained messages. */
void ald_session_subscribe(AldSession *session, const char *const *filters, bool again);

/* Makes the broker send its retained messages for this filter again, which an existing subscription must
 * include. False if too many requests are pending. */
bool ald_session_ask_again(AldSession *session, const char *filter);

/* Waits until its connection has ended, but not for the resolution of a name. */
void ald_session_await_end(AldSession *session, gint64 deadline_usec);
