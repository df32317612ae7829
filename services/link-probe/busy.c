/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include "services/link-probe/busy.h"
#include "state/network.h"
#include "state/record.h"

#define SHARE 10u

static uint64_t capacity_of(const AldResults *results, const AldNetwork *network, const char *interface)
{
        const AldInterface *row = network ? ald_rows_find(&network->interfaces, interface) : NULL;

        if (row && row->speed_bits_per_second != ALD_ABSENT_UINT64)
                return row->speed_bits_per_second;
        return ald_results_rate(results, interface);
}

char *ald_busy_reason(const AldCounters *counters, const AldResults *results, const AldNetwork *network,
        const char *interface)
{
        uint64_t rate = ald_counters_rate(counters, interface), capacity;

        if (rate == ALD_ABSENT_UINT64)
                return NULL;
        capacity = capacity_of(results, network, interface);
        if (capacity == ALD_ABSENT_UINT64 || rate <= capacity / SHARE)
                return NULL;
        return g_strdup_printf("%s is in use, with %" G_GUINT64_FORMAT " Mb/s", interface, rate / 1000000);
}

const char *ald_busy_interface(
        const AldNetwork *network, const struct sockaddr_storage *local, char buffer[static 16])
{
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *) local;
        const struct sockaddr_in *v4 = (const struct sockaddr_in *) local;
        char text[INET6_ADDRSTRLEN] = "";
        const AldInterface *row;

        if (local->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
                return if_indextoname(v6->sin6_scope_id, buffer) ?: "";
        if (local->ss_family == AF_INET)
                inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
        else if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
                inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, text, sizeof text);
        else
                inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
        row = network ? ald_network_find_address(network, text) : NULL;
        g_strlcpy(buffer, row ? row->id : "", 16);
        return buffer;
}
