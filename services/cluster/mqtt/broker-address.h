/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* The address at which a broker listens. */
#define ALD_BROKER_PORT 8883u /* MQTT over TLS */
#define ALD_BROKER_HOST_MAX 253u
#define ALD_BROKER_ADDRESS_SIZE (ALD_BROKER_HOST_MAX + 9u) /* with brackets, port and terminator */

typedef struct AldBrokerAddress {
        char host[ALD_BROKER_HOST_MAX +
                  1]; /* lower case; an IPv6 address without brackets, maybe with %scope */
        uint16_t port;
} AldBrokerAddress;

/*
 * Reads "host", which may end in a dot, "host:port", "192.0.2.1:port", "[2001:db8::1]", "[fe80::1%eth0]:port"
 * or a bare IPv6 address. The port defaults to ALD_BROKER_PORT. Returns -EINVAL for anything else, with the
 * reason in *ret_reason (may be NULL).
 */
int ald_broker_address_parse(const char *text, AldBrokerAddress *ret, const char **ret_reason);

/* Returns why a text is not an address, or NULL if it is one. */
const char *ald_broker_address_refuse(const char *text);

/* Writes the text that ald_broker_address_parse() reads, without the port if it is the default one. */
void ald_broker_address_format(const AldBrokerAddress *address, char ret[static ALD_BROKER_ADDRESS_SIZE]);

/* Returns whether the host is an IPv4 or IPv6 address rather than a name. */
bool ald_broker_address_is_numeric(const AldBrokerAddress *address);

/* Returns 0 if they are equal, otherwise a negative or positive number by their order. */
int ald_broker_address_compare(const AldBrokerAddress *a, const AldBrokerAddress *b);
