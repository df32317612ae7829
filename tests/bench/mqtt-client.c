/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>

#include "tests/bench/mqtt-client.h"

enum {
        CONNECT = 0x10,
        CONNACK = 0x20,
        PUBLISH = 0x30,
        PUBACK = 0x40,
        SUBSCRIBE = 0x82,
};

struct MqttClient {
        SSL *ssl;
        int fd;
        bool secure;
        bool ready;
        uint16_t packet_id;
        unsigned retained;
        GByteArray *out; /* not yet taken by TLS; NULL where nothing waits */
        GByteArray *in;  /* the beginning of a packet; NULL where there is none */
};

static void die(const char *what)
{
        fprintf(stderr, "bench-cluster: %s\n", what);
        ERR_print_errors_fp(stderr);
        exit(EXIT_FAILURE);
}

MqttClient *mqtt_client_new(SSL_CTX *context, int fd, X509 *certificate, EVP_PKEY *key)
{
        MqttClient *client = g_new0(MqttClient, 1);

        client->fd = fd;
        client->ssl = SSL_new(context);
        if (!client->ssl || SSL_use_certificate(client->ssl, certificate) != 1 ||
                SSL_use_PrivateKey(client->ssl, key) != 1 || SSL_set_fd(client->ssl, fd) != 1)
                die("TLS");
        SSL_set_connect_state(client->ssl);
        return client;
}

void mqtt_client_free(MqttClient *client)
{
        SSL_free(client->ssl);
        close(client->fd);
        g_clear_pointer(&client->out, g_byte_array_unref);
        g_clear_pointer(&client->in, g_byte_array_unref);
        g_free(client);
}

/* Whether TLS waits only for the other end, so that it goes on later. */
static bool must_wait(MqttClient *client, int result)
{
        int reason = SSL_get_error(client->ssl, result);

        if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE)
                die("The broker has ended a connection");
        return true;
}

static void flush(MqttClient *client)
{
        while (client->secure && client->out) {
                int n = SSL_write(client->ssl, client->out->data, (int) client->out->len);

                if (n <= 0 && must_wait(client, n))
                        return;
                g_byte_array_remove_range(client->out, 0, (guint) n);
                if (client->out->len == 0)
                        g_clear_pointer(&client->out, g_byte_array_unref);
        }
}

static void append_string(GByteArray *to, const char *text)
{
        uint16_t n = GUINT16_TO_BE((uint16_t) strlen(text));

        g_byte_array_append(to, (const guint8 *) &n, sizeof n);
        g_byte_array_append(to, (const guint8 *) text, (guint) strlen(text));
}

static void append_u16(GByteArray *to, uint16_t value)
{
        uint16_t swapped = GUINT16_TO_BE(value);

        g_byte_array_append(to, (const guint8 *) &swapped, sizeof swapped);
}

static void send_packet(MqttClient *client, uint8_t type, const GByteArray *body)
{
        uint32_t rest = body->len;

        if (!client->out)
                client->out = g_byte_array_sized_new(body->len + 5);
        g_byte_array_append(client->out, &type, 1);
        do {
                uint8_t digit = (uint8_t) (rest % 128 + (rest >= 128 ? 128 : 0));

                g_byte_array_append(client->out, &digit, 1);
                rest /= 128;
        } while (rest > 0);
        g_byte_array_append(client->out, body->data, body->len);
        flush(client);
}

void mqtt_client_connect(MqttClient *client, const char *id, const MqttWill *will, uint16_t keepalive)
{
        /* Clean; with a will, that it is retained, at QoS 1. */
        const uint8_t protocol[] = { 0, 4, 'M', 'Q', 'T', 'T', 4, will ? 0x2e : 0x02 };
        g_autoptr(GByteArray) body = g_byte_array_new();

        g_byte_array_append(body, protocol, sizeof protocol);
        append_u16(body, keepalive);
        append_string(body, id);
        if (will) {
                append_string(body, will->topic);
                append_string(body, will->payload);
        }
        send_packet(client, CONNECT, body);
}

void mqtt_client_subscribe(MqttClient *client, const char *filter, uint8_t qos)
{
        g_autoptr(GByteArray) body = g_byte_array_new();

        append_u16(body, ++client->packet_id);
        append_string(body, filter);
        g_byte_array_append(body, &qos, 1);
        send_packet(client, SUBSCRIBE, body);
}

void mqtt_client_publish(MqttClient *client, const char *topic, const char *payload, int qos, bool retain)
{
        g_autoptr(GByteArray) body = g_byte_array_new();

        append_string(body, topic);
        if (qos > 0) {
                client->packet_id = (uint16_t) MAX(client->packet_id + 1, 1);
                append_u16(body, client->packet_id);
        }
        g_byte_array_append(body, (const guint8 *) payload, (guint) strlen(payload));
        send_packet(client, (uint8_t) (PUBLISH | qos << 1 | retain), body);
}

/* Our own messages come back to us; the broker wants to know that they did. */
static void acknowledge(MqttClient *client, uint8_t type, const uint8_t *body, size_t n)
{
        g_autoptr(GByteArray) reply = NULL;
        size_t topic;

        if ((type >> 1 & 3) == 0 || n < 2)
                return;
        topic = 2 + (size_t) (body[0] << 8 | body[1]);
        if (n < topic + 2)
                return;
        reply = g_byte_array_new();
        g_byte_array_append(reply, body + topic, 2);
        send_packet(client, PUBACK, reply);
}

/* Returns the size of the first packet, 0 where it is not all there. */
static size_t take_packet(MqttClient *client, const uint8_t *bytes, size_t n)
{
        size_t rest = 0, header = 1;
        unsigned shift = 0;

        do {
                if (header >= n)
                        return 0;
                rest |= (size_t) (bytes[header] & 127) << shift;
                shift += 7;
        } while (bytes[header++] & 128);
        if (header + rest > n)
                return 0;
        if (bytes[0] == CONNACK) {
                if (rest != 2 || bytes[header + 1] != 0)
                        die("The broker refuses a node");
                client->ready = true;
        } else if ((bytes[0] & 0xf0) == PUBLISH) {
                client->retained += bytes[0] & 1;
                acknowledge(client, bytes[0], bytes + header, rest);
        }
        return header + rest;
}

static void take(MqttClient *client, const uint8_t *bytes, size_t n)
{
        size_t taken, done = 0;

        if (client->in) {
                g_byte_array_append(client->in, bytes, (guint) n);
                bytes = client->in->data;
                n = client->in->len;
        }
        while ((taken = take_packet(client, bytes + done, n - done)) > 0)
                done += taken;
        if (client->in)
                g_byte_array_remove_range(client->in, 0, (guint) done);
        else if (done < n) {
                client->in = g_byte_array_new();
                g_byte_array_append(client->in, bytes + done, (guint) (n - done));
        }
        if (client->in && client->in->len == 0)
                g_clear_pointer(&client->in, g_byte_array_unref);
}

bool mqtt_client_turn(MqttClient *client)
{
        uint8_t buffer[16384];
        int n;

        ERR_clear_error();
        if (!client->secure) {
                n = SSL_do_handshake(client->ssl);
                if (n != 1 && must_wait(client, n))
                        return SSL_want_write(client->ssl);
                client->secure = true;
        }
        flush(client);
        while ((n = SSL_read(client->ssl, buffer, sizeof buffer)) > 0)
                take(client, buffer, (size_t) n);
        must_wait(client, n);
        return client->out != NULL;
}

int mqtt_client_fd(const MqttClient *client)
{
        return client->fd;
}

bool mqtt_client_ready(const MqttClient *client)
{
        return client->ready;
}

unsigned mqtt_client_retained(const MqttClient *client)
{
        return client->retained;
}
