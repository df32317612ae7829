/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "services/cluster/mqtt/broker-address.h"
#include "services/cluster/mqtt/claims.h"
#include "services/cluster/mqtt/inbox.h"

/*
 * One attempt to connect to a broker, and the resulting connection. Its own thread resolves the name,
 * connects and speaks MQTT through libmosquitto, which no other thread calls. It puts events of this source
 * and messages of this group into the inbox. These functions are for the main loop and do not block.
 */
typedef struct AldMqttSession AldMqttSession;

typedef enum AldSessionEvent {
        ALD_SESSION_CONNECTED =
                1, /* number: when the broker's certificate expires, in µs; topic: its common name */
        ALD_SESSION_WARNING, /* topic: description of a problem that does not end the connection */
        /* One of the following is the last event; topic: the reason. */
        ALD_SESSION_UNREACHABLE,
        ALD_SESSION_REFUSED,
        ALD_SESSION_DUPLICATE, /* number: of the session that holds this broker */
        ALD_SESSION_LOST,
        ALD_SESSION_ENDED, /* the session was stopped */
} AldSessionEvent;

/* Time limit for each address, from the first packet to CONNACK. */
#define ALD_SESSION_CONNECT_USEC (5 * G_USEC_PER_SEC)
#define ALD_SESSION_KEEPALIVE 5 /* seconds; the least that libmosquitto accepts */

typedef struct AldSessionSetup {
        AldInbox *inbox;
        void *source;
        uint64_t number;
        const AldBrokerAddress *address;
        const char *client_id;
        const char *will_topic, *will; /* maybe NULL */
        const char *const *filters;    /* maybe NULL */
        AldClaims *claims;
} AldSessionSetup;

/* Starts an attempt. Takes ownership of the TLS context, even on failure. Returns NULL if no thread can be
 * started. */
AldMqttSession *ald_mqtt_session_new(const AldSessionSetup *setup, AldTls *tls);

/* Silences the session, which puts nothing into the inbox any more. If it is connected, its thread
 * disconnects properly. */
void ald_mqtt_session_leave(AldMqttSession *session);

/* Returns whether its connection has ended. */
bool ald_mqtt_session_has_ended(AldMqttSession *session);

/* Leaves the session without waiting for the end of its connection. */
void ald_mqtt_session_free(AldMqttSession *session);

/* Queues a message. Returns -ENOBUFS if the queue is full. */
int ald_mqtt_session_publish(AldMqttSession *session, const AldTopicMessage *message);

/* Replaces the subscriptions. `again` also renews those that stay, so that the broker sends all retained
 * messages. */
void ald_mqtt_session_subscribe(AldMqttSession *session, const char *const *filters, bool again);

/* Makes the broker send its retained messages for this filter again, which an existing subscription must
 * include. Returns false if too many requests are pending. */
bool ald_mqtt_session_ask_again(AldMqttSession *session, const char *filter);

/* Waits until its connection has ended or the deadline has passed. Does not wait for the resolution of a
 * name. */
void ald_mqtt_session_await_end(AldMqttSession *session, gint64 deadline_usec);
