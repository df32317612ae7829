/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>
#include <openssl/ssl.h>

#include "services/cluster/address.h"
#include "services/cluster/inbox.h"

/*
 * One broker: the connection to it, made again for ever. A thread of its own resolves, connects and speaks
 * MQTT, so nothing here blocks; everything below is for the main loop. The list in brokers.h makes these.
 */
typedef struct AldBroker AldBroker;

typedef enum AldBrokerState {
        ALD_BROKER_CONNECTING,
        ALD_BROKER_CONNECTED,
        ALD_BROKER_UNREACHABLE, /* the last attempt did not reach it; the next follows */
        ALD_BROKER_REFUSED,     /* it was reached, and it or we refused the other */
} AldBrokerState;

/* The word that GetBrokers shows. */
const char *ald_broker_state_name(AldBrokerState state);

/* The text of the address, as it was configured or found; an id among the brokers. */
const char *ald_broker_address(const AldBroker *broker);

AldBrokerState ald_broker_state(const AldBroker *broker);
bool ald_broker_connected(const AldBroker *broker);

/* Whether it was found by Avahi rather than configured. */
bool ald_broker_discovered(const AldBroker *broker);

/* What is wrong, in words; NULL where nothing is known to be. */
const char *ald_broker_problem(const AldBroker *broker);

/* The number of the present connection, which its will carries. Each attempt of this process has one of its
 * own. */
uint64_t ald_broker_conn(const AldBroker *broker);

/* When the certificate that the broker last showed expires, in µs of CLOCK_REALTIME; UINT64_MAX where none
 * was. */
uint64_t ald_broker_certificate_expiry(const AldBroker *broker);

/*
 * Hands a message over to be sent. Of each topic the newest message waits while the broker is slow, so this
 * takes no more memory than the topics have values. -ENOTCONN without a connection, -ENOBUFS where too much
 * waits. A payload of size 0 with `retain` clears the topic.
 */
int ald_broker_publish(
        AldBroker *broker, const char *topic, const void *payload, size_t size, int qos, bool retain);

/* What the list gives to a new broker; the broker copies nothing but the address and keeps the pointer. */
typedef struct AldBrokerSetup {
        const char *client_id;  /* at each attempt */
        const char *will_topic; /* maybe NULL */
        AldInbox *inbox;

        /* Called before each attempt, as in AldBrokersHandler. */
        SSL_CTX *(*make_tls)(const char *name, char **ret_problem, void *userdata);
        char *(*make_will)(uint64_t conn, void *userdata);
        uint64_t *conn; /* counts attempts of all brokers */
        void (*changed)(AldBroker *broker, AldBrokerState before, void *userdata);
        void *userdata;
} AldBrokerSetup;

AldBroker *ald_broker_new(const AldAddress *address, bool discovered, const AldBrokerSetup *setup);

/* Sends what waits (for at most a second), says good-bye, so that no will is published, and frees it. */
void ald_broker_free(AldBroker *broker);

/* Good-bye, and a new attempt at once, with new certificates and a new will. */
void ald_broker_reconnect(AldBroker *broker);

/* Replaces the subscriptions. Those which stay are sent again, so that the broker sends all retained anew. */
void ald_broker_subscribe(AldBroker *broker, const char *const *filters);

/* What it put into the inbox itself: an event. The list calls this for its events. */
void ald_broker_take_event(AldBroker *broker, const AldInboxItem *item);
