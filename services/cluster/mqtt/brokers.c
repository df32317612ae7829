/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <mosquitto.h>

#include "services/cluster/mqtt/broker.h"
#include "services/cluster/mqtt/brokers.h"
#include "services/common/timer.h"

static void free_broker(gpointer broker)
{
        ald_broker_free(broker);
}

/* Creates an array that owns its brokers. */
static GPtrArray *broker_list_new(void)
{
        return g_ptr_array_new_with_free_func(free_broker);
}

/* Removes the broker of this address and kind from the old list and returns it, or NULL. */
static AldBroker *steal_broker(GPtrArray *old, const AldBrokerAddress *address, bool discovered)
{
        for (guint i = 0; i < old->len; i++) {
                AldBroker *broker = old->pdata[i];

                if (ald_broker_discovered(broker) == discovered &&
                        ald_broker_address_compare(ald_broker_where(broker), address) == 0)
                        return g_ptr_array_steal_index(old, i);
        }
        return NULL;
}

static bool contains_address(GPtrArray *list, const AldBrokerAddress *address)
{
        for (guint i = 0; i < list->len; i++)
                if (ald_broker_address_compare(ald_broker_where(list->pdata[i]), address) == 0)
                        return true;
        return false;
}

/* Appends the brokers at these addresses (AldBrokerAddress), each once. Keeps those of the old list; creates
 * and starts the others. */
static void broker_list_append(
        GPtrArray *list, GPtrArray *old, const GArray *addresses, bool discovered, AldBrokerCommon *common)
{
        for (guint i = 0; i < addresses->len; i++) {
                const AldBrokerAddress *address = &g_array_index(addresses, AldBrokerAddress, i);
                AldBroker *broker;

                if (contains_address(list, address))
                        continue;
                broker = steal_broker(old, address, discovered);
                if (!broker) {
                        broker = ald_broker_new(address, discovered, common);
                        ald_broker_start(broker);
                }
                g_ptr_array_add(list, broker);
        }
}

/* Appends the discovered brokers of the old list that are connected: Avahi may lose sight of a broker that
 * works, since multicast is the first to suffer on a bad network. */
static void broker_list_append_connected(GPtrArray *list, GPtrArray *old)
{
        for (guint i = 0; i < old->len;) {
                AldBroker *broker = old->pdata[i];

                if (ald_broker_discovered(broker) && ald_broker_connected(broker) &&
                        !contains_address(list, ald_broker_where(broker)))
                        g_ptr_array_add(list, g_ptr_array_steal_index(old, i));
                else
                        i++;
        }
}

#define DISCONNECT_USEC (1500 * 1000)

struct AldBrokers {
        AldBrokerCommon common;

        GPtrArray *list;                 /* the configured ones first */
        GArray *configured, *discovered; /* AldBrokerAddress */
        bool discovering;
        AldTimer *prune; /* removes brokers that are no longer found, after their connection was lost */

        AldBroker *first;
        uint64_t first_conn;
};

int ald_brokers_init(void)
{
        return mosquitto_lib_init() == MOSQ_ERR_SUCCESS ? 0 : -ENOMEM;
}

void ald_brokers_quit(void)
{
        mosquitto_lib_cleanup();
}

static void update_first(AldBrokers *brokers)
{
        AldBroker *first = NULL;
        uint64_t conn;

        for (guint i = 0; i < brokers->list->len && !first; i++)
                if (ald_broker_connected(brokers->list->pdata[i]))
                        first = brokers->list->pdata[i];
        conn = first ? ald_broker_conn(first) : 0;
        if (first == brokers->first && conn == brokers->first_conn)
                return;
        brokers->first = first;
        brokers->first_conn = conn;
        brokers->common.handler->first_changed(first, brokers->common.userdata);
}

static void on_connected(AldBroker *broker, AldBrokers *brokers)
{
        brokers->common.handler->connected(broker, brokers->common.userdata);
        update_first(brokers);
}

/* Lets duplicates try again: another address may still lead to the same broker. */
static void on_disconnected(AldBroker *broker, const char *reason, AldBrokers *brokers)
{
        brokers->common.handler->disconnected(broker, reason, brokers->common.userdata);
        update_first(brokers);
        if (ald_broker_discovered(broker))
                ald_timer_set(brokers->prune, g_get_monotonic_time());
        for (guint i = 0; i < brokers->list->len; i++)
                if (brokers->list->pdata[i] != broker)
                        ald_broker_reconsider(brokers->list->pdata[i]);
}

/* Prefers a configured address to a discovered one, since its name is verified. */
static void on_duplicate(AldBroker *broker, uint64_t conn, AldBrokers *brokers)
{
        for (guint i = 0; i < brokers->list->len; i++) {
                AldBroker *holder = brokers->list->pdata[i];

                if (holder == broker || ald_broker_conn(holder) != conn)
                        continue;
                if (ald_broker_discovered(holder) && !ald_broker_discovered(broker))
                        ald_broker_yield(holder, broker);
                else
                        ald_broker_set_duplicate(broker, holder);
                return;
        }
}

static void notify_changed(AldBrokers *brokers)
{
        brokers->common.handler->changed(brokers->common.userdata);
}

static void on_message(const AldTopicMessage *message, void *userdata)
{
        AldBrokers *brokers = userdata;
        AldBroker *broker = message->source;
        const AldReceived received = { ald_broker_number(broker), ald_broker_conn(broker), message->topic,
                message->payload, message->size, message->retained };

        if (message->event != 0)
                ald_broker_take(broker, message);
        else
                brokers->common.handler->message(broker, &received, brokers->common.userdata);
}

/* Rebuilds the list from the addresses. Brokers that are dropped are stopped while they are still in a list,
 * so that their end can be reported. */
static void rebuild_list(AldBrokers *brokers)
{
        GPtrArray *old = brokers->list;

        brokers->list = broker_list_new();
        broker_list_append(brokers->list, old, brokers->configured, false, &brokers->common);
        broker_list_append(brokers->list, old, brokers->discovered, true, &brokers->common);
        if (brokers->discovering)
                broker_list_append_connected(brokers->list, old);
        for (guint i = 0; i < old->len; i++)
                ald_broker_stop(old->pdata[i], "no longer configured or found");
        update_first(brokers);
        g_ptr_array_unref(old);
        notify_changed(brokers);
}

static void on_prune(void *userdata)
{
        rebuild_list(userdata);
}

static void set_addresses(GArray *array, const AldBrokerAddress *addresses, size_t n)
{
        if (n > ALD_BROKERS_MAX)
                g_warning("There are %zu brokers; only the first %u are used", n, ALD_BROKERS_MAX);
        g_array_set_size(array, 0);
        if (n > 0)
                g_array_append_vals(array, addresses, (guint) MIN(n, ALD_BROKERS_MAX));
}

AldBrokers *ald_brokers_new(const AldBrokersHandler *handler, void *userdata)
{
        AldBrokers *brokers = g_new0(AldBrokers, 1);

        brokers->list = broker_list_new();
        brokers->configured = g_array_new(FALSE, FALSE, sizeof(AldBrokerAddress));
        brokers->discovered = g_array_new(FALSE, FALSE, sizeof(AldBrokerAddress));
        brokers->prune = ald_timer_new("brokers", on_prune, brokers);
        brokers->common = (AldBrokerCommon){
                .inbox = ald_inbox_new(ALD_INBOX_BYTES, ALD_INBOX_TOPICS, on_message, brokers),
                .claims = ald_claims_new(),
                .leaving = ald_broker_leaving_new(),
                .handler = handler,
                .userdata = userdata,
                .list = brokers,
                .connected = on_connected,
                .disconnected = on_disconnected,
                .duplicate = on_duplicate,
        };
        if (!brokers->common.inbox) {
                ald_brokers_free(brokers);
                return NULL;
        }
        return brokers;
}

void ald_brokers_free(AldBrokers *brokers)
{
        gint64 deadline = g_get_monotonic_time() + DISCONNECT_USEC;

        if (!brokers)
                return;
        g_ptr_array_unref(brokers->list);
        ald_broker_leaving_free(brokers->common.leaving, deadline);
        ald_inbox_free(brokers->common.inbox);
        ald_claims_unref(brokers->common.claims);
        g_strfreev(brokers->common.filters);
        g_free(brokers->common.client_id);
        g_free(brokers->common.will_topic);
        ald_timer_free(brokers->prune);
        g_array_unref(brokers->configured);
        g_array_unref(brokers->discovered);
        g_free(brokers);
}

static void start_all(AldBrokers *brokers)
{
        for (guint i = 0; i < brokers->list->len; i++)
                ald_broker_start(brokers->list->pdata[i]);
}

void ald_brokers_reconnect(AldBrokers *brokers)
{
        for (guint i = 0; i < brokers->list->len; i++)
                ald_broker_stop(brokers->list->pdata[i], "connecting anew");
        notify_changed(brokers);
        start_all(brokers);
}

void ald_brokers_hold(AldBrokers *brokers, AldBroker *broker, const char *reason)
{
        ald_broker_hold(broker, reason);
        notify_changed(brokers);
}

void ald_brokers_release(AldBrokers *brokers)
{
        for (guint i = 0; i < brokers->list->len; i++)
                ald_broker_release(brokers->list->pdata[i]);
        notify_changed(brokers);
}

size_t ald_brokers_count_held(AldBrokers *brokers)
{
        size_t n = 0;

        for (guint i = 0; i < brokers->list->len; i++)
                n += ald_broker_is_held(brokers->list->pdata[i]);
        return n;
}

void ald_brokers_set_identity(AldBrokers *brokers, const char *client_id, const char *will_topic)
{
        AldBrokerCommon *common = &brokers->common;

        if (g_strcmp0(client_id, common->client_id) == 0 && g_strcmp0(will_topic, common->will_topic) == 0)
                return;
        g_free(common->client_id);
        common->client_id = g_strdup(client_id);
        g_free(common->will_topic);
        common->will_topic = g_strdup(will_topic);
        ald_brokers_reconnect(brokers);
}

void ald_brokers_configure(AldBrokers *brokers, const AldBrokerAddress *addresses, size_t n)
{
        set_addresses(brokers->configured, addresses, n);
        rebuild_list(brokers);
        /* An administrator who reloads may have just repaired something. */
        start_all(brokers);
}

void ald_brokers_discover(AldBrokers *brokers, const AldBrokerAddress *addresses, size_t n)
{
        brokers->discovering = addresses;
        set_addresses(brokers->discovered, addresses, n);
        rebuild_list(brokers);
}

void ald_brokers_subscribe(AldBrokers *brokers, const char *const *filters, bool again)
{
        char **old = brokers->common.filters;

        brokers->common.filters = g_strdupv((char **) filters);
        g_strfreev(old);
        for (guint i = 0; i < brokers->list->len; i++)
                ald_broker_subscribe(brokers->list->pdata[i], again);
}

bool ald_brokers_request_again(AldBrokers *brokers, const char *filter)
{
        bool put = true;

        for (guint i = 0; i < brokers->list->len; i++)
                put = ald_broker_ask_again(brokers->list->pdata[i], filter) && put;
        return put;
}

int ald_brokers_publish(
        AldBrokers *brokers, const char *topic, const void *payload, size_t size, int qos, bool retain)
{
        if (!brokers->first)
                return -ENOTCONN;
        return ald_broker_publish(brokers->first, topic, payload, size, qos, retain);
}

AldBroker *ald_brokers_first(AldBrokers *brokers)
{
        return brokers->first;
}

size_t ald_brokers_count(AldBrokers *brokers)
{
        return brokers->list->len;
}

size_t ald_brokers_count_connected(AldBrokers *brokers)
{
        size_t n = 0;

        for (guint i = 0; i < brokers->list->len; i++)
                n += ald_broker_connected(brokers->list->pdata[i]);
        return n;
}

AldBroker *ald_brokers_find(AldBrokers *brokers, uint32_t number)
{
        for (guint i = 0; i < brokers->list->len; i++)
                if (ald_broker_number(brokers->list->pdata[i]) == number)
                        return brokers->list->pdata[i];
        return NULL;
}

AldBroker *ald_brokers_get(AldBrokers *brokers, size_t index)
{
        return brokers->list->pdata[index];
}

uint64_t ald_brokers_dropped(AldBrokers *brokers)
{
        return ald_inbox_dropped(brokers->common.inbox);
}
