/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pki/types.h"
#include "services/cluster/mqtt/broker-address.h"

static bool is_ipv4(const char *host)
{
        struct in_addr address;

        return inet_pton(AF_INET, host, &address) == 1;
}

/* Accepts a scope, which is the name or number of an interface. The interface need not exist now. */
static bool is_ipv6(const char *host)
{
        const char *scope = strchr(host, '%');
        g_autofree char *bare = scope ? g_strndup(host, (gsize) (scope - host)) : g_strdup(host);
        struct in6_addr address;

        if (scope && (scope[1] == '\0' || strlen(scope + 1) >= IF_NAMESIZE))
                return false;
        for (const char *c = scope ? scope + 1 : ""; *c; c++)
                if (!g_ascii_isgraph(*c) || strchr("%[]/", *c))
                        return false;
        return inet_pton(AF_INET6, bare, &address) == 1;
}

bool ald_broker_address_is_numeric(const AldBrokerAddress *address)
{
        return is_ipv4(address->host) || is_ipv6(address->host);
}

static int set_reason(const char **ret_reason, const char *reason)
{
        if (ret_reason)
                *ret_reason = reason;
        return -EINVAL;
}

static int parse_port(const char *text, uint16_t *ret)
{
        guint64 port;

        if (!g_ascii_string_to_unsigned(text, 10, 1, UINT16_MAX, &port, NULL))
                return -EINVAL;
        *ret = (uint16_t) port;
        return 0;
}

/* Splits a text into its host and the text of its port; *ret_port is NULL if there is none. */
static int split_host_and_port(const char *text, char **ret_host, const char **ret_port)
{
        const char *end;

        if (text[0] == '[') {
                end = strchr(text, ']');
                if (!end || (end[1] != '\0' && end[1] != ':'))
                        return -EINVAL;
                *ret_host = g_strndup(text + 1, (gsize) (end - text) - 1);
                *ret_port = end[1] == ':' ? end + 2 : NULL;
                return 0;
        }
        end = strchr(text, ':');
        if (end && strchr(end + 1, ':'))
                end = NULL; /* several colons make it a bare IPv6 address */
        *ret_host = end ? g_strndup(text, (gsize) (end - text)) : g_strdup(text);
        *ret_port = end ? end + 1 : NULL;
        return 0;
}

/* Copies a host in lower case, except for its scope: names of interfaces are case-sensitive. */
static void copy_host(const char *host, char *ret)
{
        bool scope = false;

        for (; *host; host++) {
                scope = scope || *host == '%';
                *ret++ = scope ? *host : g_ascii_tolower(*host);
        }
        *ret = '\0';
}

int ald_broker_address_parse(const char *text, AldBrokerAddress *ret, const char **ret_reason)
{
        g_autofree char *written = NULL, *host = NULL;
        const char *port_text = NULL;
        uint16_t port = ALD_BROKER_PORT;

        if (split_host_and_port(text, &written, &port_text) < 0)
                return set_reason(
                        ret_reason, "brackets may only enclose an IPv6 address, with a port after them");
        host = ald_pki_host_without_dot(written);
        if (port_text && parse_port(port_text, &port) < 0)
                return set_reason(ret_reason, "the port is not a number from 1 to 65535");
        if (strlen(host) > ALD_BROKER_HOST_MAX)
                return set_reason(ret_reason, "the name is too long");
        if (text[0] == '[' && !is_ipv6(host))
                return set_reason(ret_reason, "the brackets do not enclose an IPv6 address");
        if (strchr(host, ':') && !is_ipv6(host))
                return set_reason(ret_reason, "not a valid IPv6 address");
        if (!strchr(host, ':') && !is_ipv4(host) && !ald_pki_is_host_name(host))
                return set_reason(ret_reason, "not a valid host name or address");
        copy_host(host, ret->host);
        ret->port = port;
        return 0;
}

const char *ald_broker_address_refuse(const char *text)
{
        const char *reason = NULL;
        AldBrokerAddress address;

        (void) ald_broker_address_parse(text, &address, &reason);
        return reason;
}

void ald_broker_address_format(const AldBrokerAddress *address, char ret[static ALD_BROKER_ADDRESS_SIZE])
{
        const char *open = strchr(address->host, ':') ? "[" : "", *close = *open ? "]" : "";

        if (address->port == ALD_BROKER_PORT)
                snprintf(ret, ALD_BROKER_ADDRESS_SIZE, "%s%s%s", open, address->host, close);
        else
                snprintf(
                        ret, ALD_BROKER_ADDRESS_SIZE, "%s%s%s:%u", open, address->host, close, address->port);
}

int ald_broker_address_compare(const AldBrokerAddress *a, const AldBrokerAddress *b)
{
        int order = strcmp(a->host, b->host);

        return order != 0 ? order : (int) a->port - (int) b->port;
}
