/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "record/id.h"
#include "services/cluster/address.h"
#include "services/cluster/claims.h"
#include "services/cluster/inbox.h"

/*
 * One broker: the connection to it, made again for ever. A thread for each attempt resolves, connects and
 * speaks MQTT (session.h), so nothing here blocks. The list in brokers.h makes these; all is for the main
 * loop.
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

/* Not 0, and of no other broker of this process. */
uint32_t ald_broker_number(const AldBroker *broker);

AldBrokerState ald_broker_state(const AldBroker *broker);
bool ald_broker_connected(const AldBroker *broker);

/* Whether it was found by Avahi rather than configured. */
bool ald_broker_discovered(const AldBroker *broker);

/* What is wrong, in words; NULL where nothing is known to be. */
const char *ald_broker_problem(const AldBroker *broker);

/* The number of the present connection, which its will carries. Each attempt of this process has its own. */
uint64_t ald_broker_conn(const AldBroker *broker);

/* When the certificate that the broker last showed expires, in µs of CLOCK_REALTIME; UINT64_MAX where none
 * was. */
uint64_t ald_broker_certificate_expiry(const AldBroker *broker);

/* Whether the certificate that the broker last showed is that of the broker on this node. */
bool ald_broker_is_of(const AldBroker *broker, const AldId *node);

/*
 * Hands a message over to be sent. Of each topic the newest message waits while the broker is slow, so this
 * takes no more memory than the topics have values. -ENOTCONN without a connection, -ENOBUFS where too much
 * waits. A payload of size 0 with `retain` clears the topic.
 */
int ald_broker_publish(
        AldBroker *broker, const char *topic, const void *payload, size_t size, int qos, bool retain);

/* What all brokers of a list have in common, and what they tell it; see brokers.h. */
typedef struct AldBrokerCommon {
        char *client_id;
        char *will_topic; /* maybe NULL */
        char **filters;   /* maybe NULL */
        AldInbox *inbox;
        AldClaims *claims;
        GPtrArray *leaving; /* connections that say good-bye */
        uint64_t conn;      /* counts the attempts of all */
        uint32_t number;    /* counts the brokers */

        AldTls *(*make_tls)(const char *name, char **ret_problem, void *userdata);
        char *(*make_will)(uint64_t conn, void *userdata);
        void (*connected)(AldBroker *broker, void *userdata);
        void (*disconnected)(AldBroker *broker, const char *reason, void *userdata);
        /* The broker proved to be one that the connection of this number is to. */
        void (*duplicate)(AldBroker *broker, uint64_t conn, void *userdata);
        void (*changed)(void *userdata);
        void *userdata;
} AldBrokerCommon;

/* It does nothing before it is started. */
AldBroker *ald_broker_new(const AldAddress *address, bool discovered, AldBrokerCommon *common);

/* Ends the connection as ald_broker_stop() does, but tells nobody. */
void ald_broker_free(AldBroker *broker);

const AldAddress *ald_broker_where(const AldBroker *broker);

/* Makes an attempt at once, and others until it is stopped. */
void ald_broker_start(AldBroker *broker);

/* Sends what waits and says good-bye, so that no will is published; in the background. */
void ald_broker_stop(AldBroker *broker, const char *reason);

/* The connections that are saying good-bye; to free them is to wait for that, in µs of CLOCK_MONOTONIC. */
GPtrArray *ald_broker_leaving_new(void);
void ald_broker_leaving_free(GPtrArray *leaving, gint64 deadline_usec);

/* It is the same broker as the other, which is connected: looks again after a while. */
void ald_broker_set_duplicate(AldBroker *broker, const AldBroker *other);

/* Ends the connection in order, and makes none until it is released. */
void ald_broker_hold(AldBroker *broker, const char *reason);
void ald_broker_release(AldBroker *broker);
bool ald_broker_is_held(const AldBroker *broker);

/* Whether it ended the connection again and again of late although it could be reached at once: another
 * client of our name may have taken our place. */
void ald_broker_note_will(AldBroker *broker); /* it keeps our will, so it was not restarted */
bool ald_broker_is_contested(const AldBroker *broker);

/* Lets another connection have the broker. */
void ald_broker_yield(AldBroker *broker, const AldBroker *to);

/* Looks again now, where it was a duplicate. */
void ald_broker_reconsider(AldBroker *broker);

/* Subscribes to the filters of the list; see session.h. */
void ald_broker_subscribe(AldBroker *broker, bool again);

/* False where too much was asked for so, and waits. */
bool ald_broker_ask_again(AldBroker *broker, const char *filter);

/* Takes an event that its session put into the inbox. */
void ald_broker_take(AldBroker *broker, const AldTopicMessage *event);
