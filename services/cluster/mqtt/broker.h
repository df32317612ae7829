/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "record/id.h"
#include "services/cluster/mqtt/broker-address.h"
#include "services/cluster/mqtt/claims.h"
#include "services/cluster/mqtt/inbox.h"
#include "services/cluster/mqtt/received.h"

/*
 * The connection to one broker, which is reestablished whenever it ends. A thread for each attempt resolves
 * the name, connects and speaks MQTT (mqtt-session.h), so nothing here blocks. Brokers are created by
 * brokers.h. All functions are for the main loop only.
 */
typedef struct AldBroker AldBroker;

typedef enum AldBrokerState {
        ALD_BROKER_CONNECTING,
        ALD_BROKER_CONNECTED,
        ALD_BROKER_UNREACHABLE, /* the last attempt did not reach it; another one follows */
        ALD_BROKER_REFUSED,     /* it was reached, but it or this node refused the connection */
} AldBrokerState;

/* Returns the state as GetBrokers shows it. */
const char *ald_broker_state_name(AldBrokerState state);

/* Returns the address as text, as it was configured or found; unique among the brokers. */
const char *ald_broker_address(const AldBroker *broker);

/* Returns a number that is not 0, and unique in this process. */
uint32_t ald_broker_number(const AldBroker *broker);

AldBrokerState ald_broker_state(const AldBroker *broker);
bool ald_broker_connected(const AldBroker *broker);

/* Returns whether it was found by Avahi rather than configured. */
bool ald_broker_discovered(const AldBroker *broker);

/* Describes a problem; NULL if none is known. */
const char *ald_broker_problem(const AldBroker *broker);

/* Returns the number of the current connection, which its will contains. Each attempt of this process has its
 * own number. */
uint64_t ald_broker_conn(const AldBroker *broker);

/* Returns when the certificate that the broker last presented expires, in µs of CLOCK_REALTIME; UINT64_MAX if
 * it has presented none. */
uint64_t ald_broker_certificate_expiry(const AldBroker *broker);

/* Returns whether the certificate that the broker last presented belongs to the broker on this node. */
bool ald_broker_is_of(const AldBroker *broker, const AldId *node);

/*
 * Queues a message. While the broker is slow, only the newest message of each topic waits, which bounds the
 * memory. Returns -ENOTCONN without a connection, -ENOBUFS if the queue is full. A payload of size 0 with
 * `retain` clears the topic.
 */
int ald_broker_publish(
        AldBroker *broker, const char *topic, const void *payload, size_t size, int qos, bool retain);

/* The callbacks of the user of the list; see brokers.h. */
typedef struct AldBrokersHandler {
        /*
         * Returns a new TLS context for an attempt, see ald_tls_new_for_broker(). `name` is its `host`: the
         * host of a configured broker, NULL for a discovered one, which only its certificate identifies. On
         * failure returns NULL with a description in *ret_problem (g_malloc), and is called again for the
         * next attempt.
         */
        AldTls *(*make_tls)(const char *name, char **ret_problem, void *userdata);

        /* Returns the payload (g_malloc) of the will of a connection, which is retained with QoS 1; NULL for
         * none. */
        char *(*make_will)(uint64_t conn, void *userdata);

        /* Called once the subscription was sent; retained messages follow. Runs before first_changed. */
        void (*connected)(AldBroker *broker, void *userdata);

        /* Called once for each connection that `connected` reported, but not by ald_brokers_free(). */
        void (*disconnected)(AldBroker *broker, const char *reason, void *userdata);

        /* Called when this node publishes to another broker from now on, or to none (NULL). Also called after
         * a reconnection to the same broker: it may have lost its retained messages, so everything has to be
         * published again. */
        void (*first_changed)(AldBroker *first, void *userdata);

        /* Passes on a message, which is valid during the call. If the loop is behind, only the newest value
         * of each topic is passed on; live and retained values are kept apart. */
        void (*message)(AldBroker *broker, const AldReceived *received, void *userdata);

        /* Called when something has changed that GetBrokers or Problem shows. */
        void (*changed)(void *userdata);
} AldBrokersHandler;

/* Shared by all brokers of a list. */
typedef struct AldBrokerCommon {
        char *client_id;
        char *will_topic; /* maybe NULL */
        char **filters;   /* maybe NULL */
        AldInbox *inbox;
        AldClaims *claims;
        GPtrArray *leaving; /* connections that are being closed */
        uint64_t conn;      /* counts the attempts at all brokers */
        uint32_t number;    /* counts the brokers */

        const AldBrokersHandler *handler;
        void *userdata; /* of the handler */

        /* The brokers call the list first, and the list calls the handler. */
        struct AldBrokers *list;
        void (*connected)(AldBroker *broker, struct AldBrokers *list);
        void (*disconnected)(AldBroker *broker, const char *reason, struct AldBrokers *list);
        /* Called when the connection with this number already leads to the same broker. */
        void (*duplicate)(AldBroker *broker, uint64_t conn, struct AldBrokers *list);
} AldBrokerCommon;

/* Creates a broker, which does nothing until it is started. */
AldBroker *ald_broker_new(const AldBrokerAddress *address, bool discovered, AldBrokerCommon *common);

/* Ends the connection as ald_broker_stop() does, but without calling back. */
void ald_broker_free(AldBroker *broker);

const AldBrokerAddress *ald_broker_where(const AldBroker *broker);

/* Connects at once, and reconnects until it is stopped. */
void ald_broker_start(AldBroker *broker);

/* Sends pending messages and disconnects properly, in the background, so that no will is published. */
void ald_broker_stop(AldBroker *broker, const char *reason);

/* Creates the array for connections that are being closed. Freeing it waits for them until the deadline, in
 * µs of CLOCK_MONOTONIC. */
GPtrArray *ald_broker_leaving_new(void);
void ald_broker_leaving_free(GPtrArray *leaving, gint64 deadline_usec);

/* Marks this broker as the same as the other one, which is connected, and checks again after a while. */
void ald_broker_set_duplicate(AldBroker *broker, const AldBroker *other);

/* Disconnects properly, and does not reconnect until it is released. */
void ald_broker_hold(AldBroker *broker, const char *reason);
void ald_broker_release(AldBroker *broker);
bool ald_broker_is_held(const AldBroker *broker);

/* Takes note that the broker has stored our will, so it was not restarted. */
void ald_broker_note_will(AldBroker *broker);

/* Returns whether the broker recently closed the connection several times although it could be reached at
 * once: another client with our name may be replacing us. */
bool ald_broker_is_contested(const AldBroker *broker);

/* Ends this connection, to leave the broker to another one. */
void ald_broker_yield(AldBroker *broker, const AldBroker *to);

/* Tries again now, if it was a duplicate. */
void ald_broker_reconsider(AldBroker *broker);

/* Subscribes to the filters of the list; see mqtt-session.h. */
void ald_broker_subscribe(AldBroker *broker, bool again);

/* Makes the broker send its retained messages for this filter again. Returns false if too many such requests
 * are pending. */
bool ald_broker_ask_again(AldBroker *broker, const char *filter);

/* Handles an event that its session put into the inbox. */
void ald_broker_take(AldBroker *broker, const AldTopicMessage *event);
