/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/cluster/mqtt/broker.h"
#include "services/cluster/mqtt/mqtt-session.h"
#include "services/common/timer.h"

#define PAUSE_MS 100u
#define PAUSE_MAX_MS 10000u
#define HEALTHY_USEC (10 * G_USEC_PER_SEC) /* a connection that lasted this long resets the pause */
#define DUPLICATE_MS 60000u
/* A broker that we reach again this soon was not cut off by the network: so short an interruption ends no
 * connection. */
#define BACK_USEC (2 * G_USEC_PER_SEC)
#define ENDS_MAX 3u
#define ENDS_USEC (600 * G_USEC_PER_SEC)

struct AldBroker {
        AldBrokerCommon *common;
        uint32_t number;
        AldBrokerAddress address;
        char text[ALD_BROKER_ADDRESS_SIZE];
        bool discovered;

        AldMqttSession *session; /* the current attempt or connection; NULL between two */
        uint64_t conn;           /* its number */
        AldTimer *retry;
        unsigned pause_ms;
        bool duplicate;
        bool held;
        gint64 lost; /* when the broker ended the last connection; 0: it did not, or was not reached since */
        gint64 ends[ENDS_MAX]; /* when it accepted us again soon after such an end; the oldest first */

        AldBrokerState state;
        gint64 connected_at;
        char *problem;
        uint64_t expiry;
        char *name; /* the common name in its certificate, or NULL */
};

const char *ald_broker_state_name(AldBrokerState state)
{
        static const char *const names[] = {
                [ALD_BROKER_CONNECTING] = "connecting",
                [ALD_BROKER_CONNECTED] = "connected",
                [ALD_BROKER_UNREACHABLE] = "unreachable",
                [ALD_BROKER_REFUSED] = "refused",
        };

        return names[state];
}

static void set_state(AldBroker *broker, AldBrokerState state, const char *problem)
{
        if (problem && g_strcmp0(problem, broker->problem) != 0)
                g_message("Broker %s: %s", broker->text, problem);
        if (problem != broker->problem) {
                g_free(broker->problem);
                broker->problem = g_strdup(problem);
        }
        broker->state = state;
}

/* Retries up to a quarter sooner, so that not all nodes connect at once. */
static void set_retry(AldBroker *broker, unsigned pause_ms)
{
        int64_t pause = pause_ms - g_random_int_range(0, (gint32) pause_ms / 4 + 1);

        ald_timer_set(broker->retry, g_get_monotonic_time() + pause * 1000);
}

static void set_next_retry(AldBroker *broker)
{
        broker->pause_ms = broker->pause_ms == 0 ? PAUSE_MS : MIN(broker->pause_ms * 2, PAUSE_MAX_MS);
        set_retry(broker, broker->pause_ms);
}

static AldTls *make_tls(AldBroker *broker, char **ret_problem)
{
        /* The scope of an address is a name local to this machine, which no certificate contains. */
        g_autofree char *name = g_strndup(broker->address.host, strcspn(broker->address.host, "%"));

        return broker->common->handler->make_tls(
                broker->discovered ? NULL : name, ret_problem, broker->common->userdata);
}

static void start_attempt(AldBroker *broker)
{
        AldBrokerCommon *common = broker->common;
        g_autofree char *problem = NULL, *will = NULL;
        AldSessionSetup setup = {
                .inbox = common->inbox,
                .source = broker,
                .address = &broker->address,
                .client_id = common->client_id,
                .will_topic = common->will_topic,
                .filters = (const char *const *) common->filters,
                .claims = common->claims,
        };
        AldTls *tls = make_tls(broker, &problem);

        if (!tls) {
                set_state(broker, ALD_BROKER_REFUSED, problem ? problem : "certificates are missing");
                set_next_retry(broker);
                return;
        }
        broker->conn = setup.number = ++common->conn;
        setup.will = will = common->will_topic ? common->handler->make_will(setup.number, common->userdata)
                                               : NULL;
        broker->session = ald_mqtt_session_new(&setup, tls);
        if (!broker->session) {
                set_state(broker, ALD_BROKER_UNREACHABLE, "cannot start a thread");
                set_next_retry(broker);
        }
}

static void on_retry(void *userdata)
{
        AldBroker *broker = userdata;

        start_attempt(broker);
        broker->common->handler->changed(broker->common->userdata);
}

AldBroker *ald_broker_new(const AldBrokerAddress *address, bool discovered, AldBrokerCommon *common)
{
        AldBroker *broker = g_new0(AldBroker, 1);

        broker->common = common;
        broker->number = ++common->number;
        broker->address = *address;
        ald_broker_address_format(address, broker->text);
        broker->discovered = discovered;
        broker->expiry = UINT64_MAX;
        broker->retry = ald_timer_new("broker", on_retry, broker);
        return broker;
}

void ald_broker_start(AldBroker *broker)
{
        if (broker->session || broker->held)
                return;
        broker->pause_ms = 0;
        ald_timer_set(broker->retry, g_get_monotonic_time());
}

/* Silences the session and puts it aside until its connection has ended, for which only ald_brokers_free()
 * waits. Also frees the earlier ones that have ended. */
static void leave_session(AldBroker *broker)
{
        GPtrArray *leaving = broker->common->leaving;

        for (guint i = leaving->len; i > 0; i--)
                if (ald_mqtt_session_has_ended(leaving->pdata[i - 1]))
                        g_ptr_array_remove_index_fast(leaving, i - 1);
        if (!broker->session)
                return;
        ald_mqtt_session_leave(broker->session);
        g_ptr_array_add(leaving, g_steal_pointer(&broker->session));
}

void ald_broker_free(AldBroker *broker)
{
        if (!broker)
                return;
        leave_session(broker);
        ald_timer_free(broker->retry);
        g_free(broker->problem);
        g_free(broker->name);
        g_free(broker);
}

/* Ends the connection or attempt. Afterwards there is no session, and the inbox contains nothing of it. */
static void end_session(AldBroker *broker, AldBrokerState state, const char *reason)
{
        bool connected = ald_broker_connected(broker);

        leave_session(broker);
        ald_timer_set(broker->retry, ALD_TIMER_NEVER);
        set_state(broker, state, reason);
        if (connected)
                broker->common->disconnected(broker, reason, broker->common->list);
}

void ald_broker_stop(AldBroker *broker, const char *reason)
{
        if (broker->held)
                return;
        broker->duplicate = false;
        end_session(broker, ALD_BROKER_CONNECTING, reason);
}

static void free_session(gpointer session)
{
        ald_mqtt_session_free(session);
}

GPtrArray *ald_broker_leaving_new(void)
{
        return g_ptr_array_new_with_free_func(free_session);
}

void ald_broker_leaving_free(GPtrArray *leaving, gint64 deadline_usec)
{
        for (guint i = 0; i < leaving->len; i++)
                ald_mqtt_session_await_end(leaving->pdata[i], deadline_usec);
        g_ptr_array_unref(leaving);
}

void ald_broker_set_duplicate(AldBroker *broker, const AldBroker *other)
{
        g_autofree char *problem = g_strdup_printf("same broker as %s, which is connected", other->text);

        broker->duplicate = true;
        set_state(broker, ALD_BROKER_REFUSED, problem);
        set_retry(broker, DUPLICATE_MS);
}

void ald_broker_yield(AldBroker *broker, const AldBroker *to)
{
        g_autofree char *reason = g_strdup_printf("same broker as %s", to->text);

        broker->duplicate = true;
        end_session(broker, ALD_BROKER_REFUSED, reason);
        set_retry(broker, DUPLICATE_MS);
}

void ald_broker_hold(AldBroker *broker, const char *reason)
{
        broker->held = true;
        broker->duplicate = false;
        end_session(broker, ALD_BROKER_REFUSED, reason);
}

void ald_broker_release(AldBroker *broker)
{
        if (!broker->held)
                return;
        broker->held = false;
        ald_broker_start(broker);
}

bool ald_broker_is_held(const AldBroker *broker)
{
        return broker->held;
}

bool ald_broker_is_contested(const AldBroker *broker)
{
        return broker->ends[0] != 0 && g_get_monotonic_time() - broker->ends[0] < ENDS_USEC;
}

void ald_broker_reconsider(AldBroker *broker)
{
        if (broker->duplicate && !broker->session)
                ald_broker_start(broker);
}

void ald_broker_subscribe(AldBroker *broker, bool again)
{
        if (broker->session)
                ald_mqtt_session_subscribe(
                        broker->session, (const char *const *) broker->common->filters, again);
}

bool ald_broker_ask_again(AldBroker *broker, const char *filter)
{
        return !broker->session || ald_mqtt_session_ask_again(broker->session, filter);
}

void ald_broker_note_will(AldBroker *broker)
{
        if (broker->lost == 0 || !ald_broker_connected(broker) ||
                broker->connected_at - broker->lost >= BACK_USEC)
                return;
        broker->lost = 0;
        memmove(broker->ends, broker->ends + 1, sizeof broker->ends - sizeof broker->ends[0]);
        broker->ends[ENDS_MAX - 1] = broker->connected_at;
}

static void handle_connected(AldBroker *broker, const AldTopicMessage *event)
{
        g_message("Connected to broker %s", broker->text);
        broker->expiry = event->number;
        g_free(broker->name);
        broker->name = g_strdup(event->topic);
        broker->connected_at = g_get_monotonic_time();
        broker->duplicate = false;
        set_state(broker, ALD_BROKER_CONNECTED, NULL);
        broker->common->connected(broker, broker->common->list);
}

/* Handles the end of a connection or attempt. The pause is reset only after a long connection, so that a
 * broker that keeps disconnecting us, as if for another client of our name, is retried ever more rarely. */
static void handle_end(AldBroker *broker, AldBrokerState state, const char *reason)
{
        gint64 now = g_get_monotonic_time();

        if (ald_broker_connected(broker) && now - broker->connected_at >= HEALTHY_USEC)
                broker->pause_ms = 0;
        broker->lost = ald_broker_connected(broker) && state == ALD_BROKER_CONNECTING ? now : 0;
        broker->duplicate = false;
        end_session(broker, state, reason);
        set_next_retry(broker);
}

static void handle_duplicate(AldBroker *broker, uint64_t conn)
{
        leave_session(broker);
        broker->duplicate = false;
        broker->common->duplicate(broker, conn, broker->common->list);
        if (!broker->duplicate)
                set_next_retry(broker); /* the connection that holds the claim is being closed */
}

void ald_broker_take(AldBroker *broker, const AldTopicMessage *event)
{
        switch ((AldSessionEvent) event->event) {
        case ALD_SESSION_CONNECTED:
                handle_connected(broker, event);
                break;
        case ALD_SESSION_WARNING:
                set_state(broker, broker->state, event->topic);
                break;
        case ALD_SESSION_REFUSED:
                handle_end(broker, ALD_BROKER_REFUSED, event->topic);
                break;
        case ALD_SESSION_DUPLICATE:
                handle_duplicate(broker, event->number);
                break;
        case ALD_SESSION_UNREACHABLE:
                handle_end(broker, ALD_BROKER_UNREACHABLE, event->topic);
                break;
        case ALD_SESSION_LOST:
        case ALD_SESSION_ENDED: /* the next attempt shows whether it can still be reached */
                handle_end(broker, ALD_BROKER_CONNECTING, event->topic);
                break;
        }
        broker->common->handler->changed(broker->common->userdata);
}

int ald_broker_publish(
        AldBroker *broker, const char *topic, const void *payload, size_t size, int qos, bool retain)
{
        AldTopicMessage message = {
                .retain = retain, .qos = qos, .topic = topic, .payload = payload, .size = size
        };

        if (!ald_broker_connected(broker))
                return -ENOTCONN;
        return ald_mqtt_session_publish(broker->session, &message);
}

const char *ald_broker_address(const AldBroker *broker)
{
        return broker->text;
}

uint32_t ald_broker_number(const AldBroker *broker)
{
        return broker->number;
}

const AldBrokerAddress *ald_broker_where(const AldBroker *broker)
{
        return &broker->address;
}

AldBrokerState ald_broker_state(const AldBroker *broker)
{
        return broker->state;
}

bool ald_broker_connected(const AldBroker *broker)
{
        return broker->state == ALD_BROKER_CONNECTED;
}

bool ald_broker_discovered(const AldBroker *broker)
{
        return broker->discovered;
}

const char *ald_broker_problem(const AldBroker *broker)
{
        return broker->problem;
}

uint64_t ald_broker_conn(const AldBroker *broker)
{
        return broker->conn;
}

uint64_t ald_broker_certificate_expiry(const AldBroker *broker)
{
        return broker->expiry;
}

bool ald_broker_is_of(const AldBroker *broker, const AldId *node)
{
        char id[ALD_ID_STRING_SIZE];

        return broker->name && g_str_has_prefix(broker->name, ALD_PKI_BROKER_PREFIX) &&
               g_str_equal(broker->name + strlen(ALD_PKI_BROKER_PREFIX), ald_id_format(node, id));
}
