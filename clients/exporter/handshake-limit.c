/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <netinet/in.h>
#include <string.h>

#include "clients/exporter/handshake-limit.h"

typedef struct AldHandshakeSource {
        uint8_t prefix[8]; /* of the address as one of IPv6, or for one of IPv4 this address in the end */
        gint64 at;
        double left; /* connections that are allowed at once */
} AldHandshakeSource;

struct AldHandshakeLimit {
        AldHandshakeSource sources[ALD_HANDSHAKES_ADDRESSES];
        unsigned n;
        uint64_t refused;
};

AldHandshakeLimit *ald_handshake_limit_new(void)
{
        return g_new0(AldHandshakeLimit, 1);
}

void ald_handshake_limit_free(AldHandshakeLimit *limit)
{
        g_free(limit);
}

static void set_prefix(uint8_t prefix[static 8], const struct sockaddr *address)
{
        const struct in6_addr *six = &((const struct sockaddr_in6 *) (const void *) address)->sin6_addr;

        memset(prefix, 0, 8);
        if (address->sa_family == AF_INET)
                memcpy(prefix + 4, &((const struct sockaddr_in *) (const void *) address)->sin_addr, 4);
        else if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(six))
                memcpy(prefix + 4, six->s6_addr + 12, 4);
        else if (address->sa_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(six))
                memcpy(prefix, six->s6_addr, 8);
}

/* Finds the source with this prefix, or makes one in place of the source that was seen longest ago. */
static AldHandshakeSource *find_source(AldHandshakeLimit *limit, const uint8_t prefix[static 8], gint64 now)
{
        AldHandshakeSource *oldest = &limit->sources[0];

        for (unsigned i = 0; i < limit->n; i++) {
                AldHandshakeSource *source = &limit->sources[i];

                if (memcmp(source->prefix, prefix, 8) == 0)
                        return source;
                if (source->at < oldest->at)
                        oldest = source;
        }
        if (limit->n < ALD_HANDSHAKES_ADDRESSES)
                oldest = &limit->sources[limit->n++];
        *oldest = (AldHandshakeSource){ .at = now, .left = ALD_HANDSHAKES_AT_ONCE };
        memcpy(oldest->prefix, prefix, 8);
        return oldest;
}

bool ald_handshake_limit_allows(AldHandshakeLimit *limit, const struct sockaddr *address, gint64 now)
{
        uint8_t prefix[8];
        AldHandshakeSource *source;

        set_prefix(prefix, address);
        source = find_source(limit, prefix, now);
        source->left += (double) (now - source->at) / G_USEC_PER_SEC * ALD_HANDSHAKES_PER_SECOND;
        source->left = MIN(source->left, ALD_HANDSHAKES_AT_ONCE);
        source->at = now;
        if (source->left < 1) {
                limit->refused++;
                return false;
        }
        source->left--;
        return true;
}

uint64_t ald_handshake_limit_refused(const AldHandshakeLimit *limit)
{
        return limit->refused;
}
