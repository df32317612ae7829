/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <netinet/in.h>
#include <string.h>

#include <glib.h>

#include "clients/exporter/http-prefix.h"

uint64_t ald_http_prefix(const struct sockaddr *address)
{
        const struct in6_addr *six;
        uint64_t prefix;

        if (address && address->sa_family == AF_INET)
                return ntohl(((const struct sockaddr_in *) (const void *) address)->sin_addr.s_addr);
        if (!address || address->sa_family != AF_INET6)
                return 0;
        six = &((const struct sockaddr_in6 *) (const void *) address)->sin6_addr;
        /* The last 32 bits of a mapped address are the IPv4 address; those of ::1 are a number that no host
         * has as its IPv4 address. */
        if (IN6_IS_ADDR_V4MAPPED(six) || IN6_IS_ADDR_LOOPBACK(six))
                return (uint64_t) six->s6_addr[12] << 24 | (uint64_t) six->s6_addr[13] << 16 |
                       (uint64_t) six->s6_addr[14] << 8 | six->s6_addr[15];
        memcpy(&prefix, six->s6_addr, sizeof prefix);
        return GUINT64_FROM_BE(prefix);
}
