/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

#include "record/figure-text.h"
#include "record/record.h"
#include "services/link-probe/link/busy.h"

#define SHARE 10u

typedef struct TrafficView {
        const AldCounters *counters;
        const AldResults *results;
        const AldNetwork *network;
} TrafficView;

static uint64_t find_capacity(const TrafficView *view, const char *name)
{
        const AldPortCounters *port = ald_counters_find_port(view->counters, name);
        const AldInterface *row = view->network ? ald_rows_find(&view->network->interfaces, name) : NULL;

        if (port)
                return port->bits_per_second;
        return MIN(
                row ? row->speed_bits_per_second : ALD_ABSENT_UINT64, ald_results_rate(view->results, name));
}

static char *describe_traffic(const TrafficView *view, const char *name)
{
        uint64_t rate = ald_counters_rate(view->counters, name), capacity;
        g_autofree char *text = NULL;

        if (rate == ALD_ABSENT_UINT64)
                return NULL;
        capacity = find_capacity(view, name);
        if (capacity == ALD_ABSENT_UINT64 || rate <= capacity / SHARE)
                return NULL;
        text = ald_format_figure(&ald_unit_bits_per_second, (double) rate);
        return g_strdup_printf("%s is in use, with %s", name, text);
}

char *ald_busy_reason(
        const AldCounters *counters, const AldResults *results, const AldNetwork *network, const char *name)
{
        const TrafficView view = { counters, results, network };
        char *reason = describe_traffic(&view, name);

        for (unsigned i = 0; !reason && i < ald_counters_ports(counters); i++) {
                const AldPortCounters *port = ald_counters_port(counters, i);

                if (g_str_equal(port->name, name) && *port->interface)
                        reason = describe_traffic(&view, port->interface);
                else if (g_str_equal(port->interface, name))
                        reason = describe_traffic(&view, port->name);
        }
        return reason;
}

static const struct in6_addr *in6_of(const void *address)
{
        return &((const struct sockaddr_in6 *) address)->sin6_addr;
}

static const struct in_addr *in_of(const void *address)
{
        return &((const struct sockaddr_in *) address)->sin_addr;
}

/* Returns whether `known` is the local address of a connection. An IPv6 socket may have accepted a connection
 * over IPv4. */
static bool is_address_of(const struct sockaddr *known, const struct sockaddr_storage *local)
{
        if (known->sa_family == AF_INET6 && local->ss_family == AF_INET6)
                return IN6_ARE_ADDR_EQUAL(in6_of(known), in6_of(local));
        if (known->sa_family == AF_INET && local->ss_family == AF_INET)
                return in_of(known)->s_addr == in_of(local)->s_addr;
        return known->sa_family == AF_INET && local->ss_family == AF_INET6 &&
               IN6_IS_ADDR_V4MAPPED(in6_of(local)) &&
               memcmp(in6_of(local)->s6_addr + 12, in_of(known), sizeof(struct in_addr)) == 0;
}

const char *ald_busy_interface(const struct sockaddr_storage *local, char buffer[static IFNAMSIZ])
{
        struct ifaddrs *list = NULL;

        if (local->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(in6_of(local)))
                return if_indextoname(((const struct sockaddr_in6 *) local)->sin6_scope_id, buffer) ?: "";
        *buffer = '\0';
        if (getifaddrs(&list) < 0)
                return buffer;
        for (const struct ifaddrs *entry = list; entry; entry = entry->ifa_next)
                if (entry->ifa_addr && is_address_of(entry->ifa_addr, local))
                        g_strlcpy(buffer, entry->ifa_name, IFNAMSIZ);
        freeifaddrs(list);
        return buffer;
}
