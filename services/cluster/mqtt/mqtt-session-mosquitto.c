/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/mqtt/mqtt-session-private.h"

/* The most that libmosquitto may have in flight. The rest waits in our own queue, which keeps only the newest
 * message of each topic. */
#define WINDOW_MESSAGES 64u
#define WINDOW_BYTES (1024u * 1024u)

#define READ_BYTES (64u * 1024) /* at a time */

/* One byte more than any payload may have, so that the receiver sees that a payload is too large. Our own
 * brokers limit payloads to less; others may not. */
#define PAYLOAD_MAX (1024u * 1024u + 1u)

void ald_wire_report(AldWire *wire, AldSessionEvent event, const char *words, uint64_t number)
{
        AldTopicMessage message = { .event = (int) event, .topic = words, .number = number };

        ald_mqtt_session_put(wire->session, &message);
}

static void on_connect(struct mosquitto *mosq, void *userdata, int code)
{
        AldWire *wire = userdata;
        char **filters;
        bool again;

        /* A broker that repeats CONNACK would fill the inbox with events. */
        if (wire->phase != ALD_WIRE_HELLO)
                return;
        wire->connack = code;
        if (code != 0)
                return;
        wire->phase = ALD_WIRE_UP;
        mosquitto_log_callback_set(mosq, NULL); /* it would write a line for each message */
        ald_wire_report(wire, ALD_SESSION_CONNECTED, wire->name, wire->expiry);
        filters = ald_mqtt_session_take_filters(wire->session, &again);
        if (filters)
                ald_wire_subscribe(wire, filters, again);
}

static void on_message(struct mosquitto *mosq, void *userdata, const struct mosquitto_message *received)
{
        AldWire *wire = userdata;
        AldTopicMessage message = {
                .retained = received->retain,
                .qos = received->qos,
                .topic = received->topic,
                .payload = received->payload,
                .size = MIN((size_t) received->payloadlen, PAYLOAD_MAX),
        };

        ald_mqtt_session_put(wire->session, &message);
}

static void on_subscribe(struct mosquitto *mosq, void *userdata, int mid, int n, const int *granted)
{
        AldWire *wire = userdata;

        if (mid != wire->subscribe_mid)
                return;
        wire->subscribe_mid = 0; /* a repeated answer is ignored */
        for (int i = 0; i < n && i < (int) wire->awaited->len; i++)
                if (granted[i] >= 128) {
                        g_autofree char *words = g_strdup_printf("the broker refuses the subscription to %s",
                                (const char *) wire->awaited->pdata[i]);

                        ald_wire_report(wire, ALD_SESSION_WARNING, words, 0);
                }
}

/* Called with QoS 0 when the message was sent, with QoS 1 when the broker has received it. */
static void on_publish(struct mosquitto *mosq, void *userdata, int mid)
{
        AldWire *wire = userdata;
        gpointer size;

        if (g_hash_table_steal_extended(wire->in_flight, GINT_TO_POINTER(mid), NULL, &size))
                wire->in_flight_bytes -= GPOINTER_TO_SIZE(size);
}

/* libmosquitto reports errors of OpenSSL only here: "OpenSSL Error[0]: error:0A000416:…::reason". */
static void on_log(struct mosquitto *mosq, void *userdata, int level, const char *text)
{
        AldWire *wire = userdata;
        const char *reason = strrchr(text, ':');

        if (level != MOSQ_LOG_ERR || !g_str_has_prefix(text, "OpenSSL Error") || !reason || wire->openssl)
                return;
        wire->openssl = g_strstrip(g_strdup(reason + 1));
}

static int set_options(AldWire *wire)
{
        AldMqttSession *session = wire->session;
        struct mosquitto *mosq = wire->mosq;
        int rc;

        mosquitto_threaded_set(mosq, true); /* publishing only queues; this thread writes */
        mosquitto_connect_callback_set(mosq, on_connect);
        mosquitto_message_callback_set(mosq, on_message);
        mosquitto_subscribe_callback_set(mosq, on_subscribe);
        mosquitto_publish_callback_set(mosq, on_publish);
        mosquitto_log_callback_set(mosq, on_log);
        mosquitto_int_option(mosq, MOSQ_OPT_TCP_NODELAY, 1);
        mosquitto_int_option(mosq, MOSQ_OPT_SEND_MAXIMUM, WINDOW_MESSAGES);
        mosquitto_int_option(mosq, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0);
        /* By default OpenSSL calls the kernel twice for each message. */
        SSL_CTX_set_read_ahead(ald_tls_context(session->tls), 1);
        SSL_CTX_set_default_read_buffer_len(ald_tls_context(session->tls), READ_BYTES);
        rc = mosquitto_void_option(mosq, MOSQ_OPT_SSL_CTX, ald_tls_context(session->tls));
        if (rc == MOSQ_ERR_SUCCESS && session->will_topic && session->will)
                rc = mosquitto_will_set(
                        mosq, session->will_topic, (int) strlen(session->will), session->will, 1, true);
        return rc;
}

/* The host is numeric, so nothing blocks here. */
int ald_wire_open(AldWire *wire, const char *host)
{
        int rc;

        wire->in_flight = g_hash_table_new(NULL, NULL);
        wire->awaited = g_ptr_array_new_with_free_func(g_free);
        wire->mosq = mosquitto_new(wire->session->client_id, true, wire);
        if (!wire->mosq)
                return MOSQ_ERR_NOMEM;
        rc = set_options(wire);
        if (rc != MOSQ_ERR_SUCCESS)
                return rc;
        return mosquitto_connect_async(wire->mosq, host, wire->session->address.port, ALD_SESSION_KEEPALIVE);
}

void ald_wire_close(AldWire *wire)
{
        mosquitto_destroy(wire->mosq);
        if (wire->claim)
                ald_claims_drop(wire->session->claims, wire->claim, wire->session->number);
        g_free(wire->claim);
        g_free(wire->name);
        g_free(wire->openssl);
        g_strfreev(wire->subscribed);
        g_ptr_array_unref(wire->awaited);
        g_hash_table_unref(wire->in_flight);
}

/* Subscribes with QoS 0: the broker sends lost values again on the next connection, and acknowledging each of
 * thousands of values makes a start take six times as long. */
static void subscribe_to_awaited(AldWire *wire)
{
        char **filters = (char **) wire->awaited->pdata;
        g_autofree char *words = NULL;
        int rc;

        if (wire->awaited->len == 0)
                return;
        rc = mosquitto_subscribe_multiple(
                wire->mosq, &wire->subscribe_mid, (int) wire->awaited->len, filters, 0, 0, NULL);
        if (rc == MOSQ_ERR_SUCCESS)
                return;
        words = g_strdup_printf("cannot send the subscription to %s: %s", filters[0], mosquitto_strerror(rc));
        ald_wire_report(wire, ALD_SESSION_WARNING, words, 0);
}

static bool contains_filter(char **filters, const char *filter)
{
        return filters && g_strv_contains((const char *const *) filters, filter);
}

/* Subscribes to new filters before it ends old subscriptions, so that nothing is missed in between. */
void ald_wire_subscribe(AldWire *wire, char **filters, bool again)
{
        g_ptr_array_set_size(wire->awaited, 0);
        for (char **filter = filters; *filter; filter++)
                if (again || !contains_filter(wire->subscribed, *filter))
                        g_ptr_array_add(wire->awaited, g_strdup(*filter));
        subscribe_to_awaited(wire);
        for (char **old = wire->subscribed; old && *old; old++)
                if (!contains_filter(filters, *old))
                        (void) mosquitto_unsubscribe(wire->mosq, NULL, *old);
        g_strfreev(wire->subscribed);
        wire->subscribed = filters;
}

/* Subscribes once more, since a broker sends its retained messages to each new subscription. If the filter is
 * only part of a wider subscription, ends the new one again, since live messages would arrive twice. */
void ald_wire_ask_again(AldWire *wire, char **filters)
{
        for (; *filters; filters++) {
                (void) mosquitto_subscribe(wire->mosq, NULL, *filters, 0);
                if (!contains_filter(wire->subscribed, *filters))
                        (void) mosquitto_unsubscribe(wire->mosq, NULL, *filters);
        }
}

static void send_message(AldWire *wire, const AldTopicMessage *message)
{
        int mid, rc;

        rc = mosquitto_publish(wire->mosq, &mid, message->topic, (int) message->size, message->payload,
                message->qos, message->retain);
        if (rc == MOSQ_ERR_SUCCESS) {
                g_hash_table_insert(wire->in_flight, GINT_TO_POINTER(mid), GSIZE_TO_POINTER(message->size));
                wire->in_flight_bytes += message->size;
        } else {
                g_autofree char *words = g_strdup_printf(
                        "cannot send a message on %s: %s", message->topic, mosquitto_strerror(rc));

                ald_wire_report(wire, ALD_SESSION_WARNING, words, 0);
        }
}

static bool is_window_open(const AldWire *wire)
{
        return g_hash_table_size(wire->in_flight) < WINDOW_MESSAGES && wire->in_flight_bytes < WINDOW_BYTES;
}

bool ald_wire_may_fill(const AldWire *wire)
{
        return is_window_open(wire) && ald_mqtt_session_has_message(wire->session);
}

void ald_wire_fill(AldWire *wire)
{
        while (is_window_open(wire)) {
                g_autoptr(AldTopicMessage) message = ald_mqtt_session_take_message(wire->session);

                if (!message)
                        break;
                send_message(wire, message);
        }
}

/* Call it after ald_wire_fill(), which has passed all queued messages to libmosquitto unless the window is
 * full. */
bool ald_wire_is_drained(AldWire *wire)
{
        return g_hash_table_size(wire->in_flight) == 0;
}
