/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/broker.h"

/*
 * The brokers of the cluster: first the configured ones in their order, then those that Avahi found. This
 * node connects and subscribes to all of them, and publishes to the first that is connected; if an earlier
 * one comes back, it publishes to that one again. Everything runs in the main loop, and nothing blocks. Two
 * addresses of the same broker (by its certificate and port) share one connection. The handler may call any
 * function here except those that change the list: ald_brokers_configure(), _discover() and _free().
 *
 * Call ald_brokers_init() once before starting any thread, and ald_brokers_quit() at the end.
 */
typedef struct AldBrokers AldBrokers;

#define ALD_BROKERS_MAX 32u /* of the configured ones, and of the discovered ones */

int ald_brokers_init(void);
void ald_brokers_quit(void);

/* The handler is kept, not copied. */
AldBrokers *ald_brokers_new(const AldBrokersHandler *handler, void *userdata);
void ald_brokers_free(AldBrokers *brokers); /* disconnects properly; blocks for about a second at most */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldBrokers, ald_brokers_free)

/*
 * Sets the client id, and the topic of the will (may be NULL). Call it before the first
 * ald_brokers_configure(); a later change reconnects to all brokers.
 */
void ald_brokers_set_identity(AldBrokers *brokers, const char *client_id, const char *will_topic);

/* Sets the configured addresses, in their order. Brokers that stay keep their connection; for those
 * without one, a new attempt starts at once. */
void ald_brokers_configure(AldBrokers *brokers, const AldBrokerAddress *addresses, size_t n);

/* Sets the addresses that discovery has found. They are only hints; the certificate decides. Configured ones
 * are ignored. A broker that is no longer found stays as long as it is connected. NULL means that discovery
 * is off, and removes all of them. */
void ald_brokers_discover(AldBrokers *brokers, const AldBrokerAddress *addresses, size_t n);

/* Reconnects to all brokers, after new certificates or a new CRL. */
void ald_brokers_reconnect(AldBrokers *brokers);

/*
 * Disconnects from a broker at which another machine uses our id. Pending messages are sent first, and no
 * will is published. ald_brokers_release() ends this for all brokers.
 */
void ald_brokers_hold(AldBrokers *brokers, AldBroker *broker, const char *reason);
void ald_brokers_release(AldBrokers *brokers);
size_t ald_brokers_count_held(AldBrokers *brokers);

/*
 * Sets the subscriptions at all brokers (see mqtt-session.h), now and after each connection, with QoS 0. The
 * NULL-terminated list is copied. With `again` the brokers send all retained messages again.
 */
void ald_brokers_subscribe(AldBrokers *brokers, const char *const *filters, bool again);

/* Makes all brokers send their retained messages for this filter again, which an existing subscription must
 * include. Returns false if too many such requests are pending at a broker. */
bool ald_brokers_request_again(AldBrokers *brokers, const char *filter);

/* Publishes to the first broker; see ald_broker_publish(). */
int ald_brokers_publish(
        AldBrokers *brokers, const char *topic, const void *payload, size_t size, int qos, bool retain);

/* Returns the broker that this node publishes to, or NULL. */
AldBroker *ald_brokers_first(AldBrokers *brokers);

size_t ald_brokers_count(AldBrokers *brokers);
size_t ald_brokers_count_connected(AldBrokers *brokers);

/* Returns the broker with this number, or NULL. */
AldBroker *ald_brokers_find(AldBrokers *brokers, uint32_t number);

/* Returns a broker by its place in the list; valid until the list is configured again or discovery changes
 * it. */
AldBroker *ald_brokers_get(AldBrokers *brokers, size_t index);

/* Returns how many messages were dropped because the main loop did not keep up. */
uint64_t ald_brokers_dropped(AldBrokers *brokers);
