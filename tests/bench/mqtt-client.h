/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pki/types.h"

/*
 * The least of an MQTT 3.1.1 client over TLS that never blocks, for thousands of them in one process: one
 * descriptor and no thread each (libmosquitto takes three, and locks).
 */
typedef struct MqttClient MqttClient;

typedef struct MqttWill {
        const char *topic;
        const char *payload;
} MqttWill;

/* The descriptor is a connected, non-blocking socket, and becomes the client's. */
MqttClient *mqtt_client_new(SSL_CTX *context, int fd, X509 *certificate, EVP_PKEY *key);
void mqtt_client_free(MqttClient *client);

/* What to send once TLS is up: CONNECT with the will, retained; `will` may be NULL. */
void mqtt_client_connect(MqttClient *client, const char *id, const MqttWill *will, uint16_t keepalive);
void mqtt_client_subscribe(MqttClient *client, const char *filter, uint8_t qos);
void mqtt_client_publish(MqttClient *client, const char *topic, const char *payload, int qos, bool retain);

/* Reads and writes what can be. Returns whether it waits for room to write; dies where the connection ends.
 */
bool mqtt_client_turn(MqttClient *client);

int mqtt_client_fd(const MqttClient *client);
/* Whether the broker has taken it in. */
bool mqtt_client_ready(const MqttClient *client);
/* How many retained messages came. */
unsigned mqtt_client_retained(const MqttClient *client);
