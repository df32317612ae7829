/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/broker.h"

/*
 * The brokers of the cluster: those that are configured, in their order, then those that Avahi found. All are
 * connected and subscribed to; the first that is connected is published to. When one before it comes back,
 * publishing returns to that. Everything runs in the main loop, and nothing blocks. Two addresses that lead
 * to one broker (by its certificate and port) make one connection. The handler may call anything here but
 * what changes the list: ald_brokers_configure(), _discover() and _free().
 *
 * Call ald_brokers_init() once in main(), before any thread, and ald_brokers_quit() at the end.
 */
typedef struct AldBrokers AldBrokers;

#define ALD_BROKERS_MAX 32u /* configured ones, and again so many discovered ones */

typedef struct AldBrokerMessage {
        const char *topic;
        const void *payload; /* a NUL follows; valid during the call */
        size_t size;
        bool retained; /* the broker had kept it; never a sign of life */
} AldBrokerMessage;

typedef struct AldBrokersHandler {
        /*
         * A new TLS context for an attempt, by ald_tls_new_for_broker(); `name` is its `host`: that of a
         * configured broker, NULL for a discovered one, which is known by its certificate only. NULL and
         * *ret_problem (g_malloc) in clear words where there is none; it is asked again at the next attempt.
         */
        AldTls *(*make_tls)(const char *name, char **ret_problem, void *userdata);

        /* The payload (g_malloc) of the will of a connection; NULL for none. Retained, QoS 1. */
        char *(*make_will)(uint64_t conn, void *userdata);

        /* The subscription is on its way, and retained messages will follow. Called before first_changed. */
        void (*connected)(AldBroker *broker, void *userdata);

        /* Called once for each connection that was told by `connected`, but not by ald_brokers_free(). The
         * reason is in words. */
        void (*disconnected)(AldBroker *broker, const char *reason, void *userdata);

        /* Another broker is published to from now on, or none (NULL). Also called when the same one was
         * connected anew: it may have lost what it kept, so all is to be published again. */
        void (*first_changed)(AldBroker *first, void *userdata);

        /* Of each topic the newest value, when the loop is behind; a live value is never told as a retained
         * one, nor the reverse. */
        void (*message)(AldBroker *broker, const AldBrokerMessage *message, void *userdata);

        /* Something that GetBrokers or Problem shows has changed. May be NULL. */
        void (*changed)(void *userdata);
} AldBrokersHandler;

int ald_brokers_init(void);
void ald_brokers_quit(void);

/* The handler is kept, not copied. */
AldBrokers *ald_brokers_new(const AldBrokersHandler *handler, void *userdata);
void ald_brokers_free(AldBrokers *brokers); /* with good-byes; blocks for at most about a second */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldBrokers, ald_brokers_free)

/*
 * Who we are: the client id, and the topic of the will (maybe NULL). Call it before the first
 * ald_brokers_configure(); to change it later ends all connections and makes them anew.
 */
void ald_brokers_set_identity(AldBrokers *brokers, const char *client_id, const char *will_topic);

/* The configured addresses, in their order. Those that stay keep their connection; where there is none, it is
 * tried for anew at once. */
void ald_brokers_configure(AldBrokers *brokers, const AldAddress *addresses, size_t n);

/* What discovery finds now: a hint only, the certificate decides. Those that are configured too are left out.
 * One that is found no more stays as long as it is connected. NULL where nothing is looked for: then all go.
 */
void ald_brokers_discover(AldBrokers *brokers, const AldAddress *addresses, size_t n);

/* Ends all connections and makes them anew: after new certificates or a new CRL. */
void ald_brokers_reconnect(AldBrokers *brokers);

/*
 * Where another machine speaks under our id: ends the connection to that broker. What was published before is
 * sent first, and no will is published. Released are all of them at once.
 */
void ald_brokers_hold(AldBrokers *brokers, AldBroker *broker, const char *reason);
void ald_brokers_release(AldBrokers *brokers);
size_t ald_brokers_count_held(AldBrokers *brokers);

/*
 * What is subscribed to at all brokers (see session.h), now and after each connect, with QoS 0; a
 * NULL-terminated list, copied. `again`: the brokers are to send all retained messages anew.
 */
void ald_brokers_subscribe(AldBrokers *brokers, const char *const *filters, bool again);

/* Has all brokers send once more what they keep of this filter, which is within those that are subscribed to.
 * False where a broker has too many of these to do. */
bool ald_brokers_ask_again(AldBrokers *brokers, const char *filter);

/* To the first broker; see ald_broker_publish(). */
int ald_brokers_publish(
        AldBrokers *brokers, const char *topic, const void *payload, size_t size, int qos, bool retain);

/* The one that is published to, or NULL. */
AldBroker *ald_brokers_first(AldBrokers *brokers);

size_t ald_brokers_count(AldBrokers *brokers);
size_t ald_brokers_count_connected(AldBrokers *brokers);

/* That of this number, or NULL. */
AldBroker *ald_brokers_find(AldBrokers *brokers, uint32_t number);

/* In their order; valid until the list is configured again or discovery changes it. */
AldBroker *ald_brokers_get(AldBrokers *brokers, size_t index);

/* Messages dropped because the main loop did not keep up. */
uint64_t ald_brokers_dropped(AldBrokers *brokers);
