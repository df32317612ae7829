/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "services/cluster/mqtt/found-service.h"

bool ald_found_same_service(const AldFoundService *a, const AldFoundService *b)
{
        return g_str_equal(a->name, b->name) && g_str_equal(a->domain, b->domain);
}

static int rank_address(const AldFoundService *service)
{
        if (!strchr(service->address.host, ':'))
                return 0;
        return strchr(service->address.host, '%') ? 2 : 1;
}

static int compare_services(gconstpointer a, gconstpointer b)
{
        const AldFoundService *x = *(const AldFoundService *const *) a;
        const AldFoundService *y = *(const AldFoundService *const *) b;
        int order = strcmp(x->name, y->name);

        if (order == 0)
                order = strcmp(x->domain, y->domain);
        if (order == 0)
                order = rank_address(x) - rank_address(y);
        return order != 0 ? order : ald_broker_address_compare(&x->address, &y->address);
}

static bool contains_address(const AldBrokerAddress *addresses, size_t n, const AldBrokerAddress *address)
{
        for (size_t i = 0; i < n; i++)
                if (ald_broker_address_compare(&addresses[i], address) == 0)
                        return true;
        return false;
}

size_t ald_found_choose(GPtrArray *services, AldBrokerAddress ret[], size_t max)
{
        const AldFoundService *last = NULL;
        size_t n = 0;

        g_ptr_array_sort(services, compare_services);
        for (guint i = 0; i < services->len && n < max; i++) {
                const AldFoundService *service = services->pdata[i];

                if (!service->ours || (last && ald_found_same_service(last, service)))
                        continue;
                last = service;
                if (!contains_address(ret, n, &service->address))
                        ret[n++] = service->address;
        }
        return n;
}

int ald_found_read_address(int32_t interface, const char *host, uint16_t port, AldBrokerAddress *ret)
{
        bool link_local = g_ascii_strncasecmp(host, "fe80:", 5) == 0;
        g_autofree char *text = NULL;
        char name[IF_NAMESIZE];
        AldBrokerAddress address;

        if (link_local && !if_indextoname((unsigned) interface, name))
                return -ENODEV;
        text = link_local ? g_strdup_printf("[%s%%%s]", host, name) : g_strdup(host);
        if (port == 0 || ald_broker_address_parse(text, &address, NULL) < 0 ||
                !ald_broker_address_is_numeric(&address))
                return -EINVAL;
        address.port = port;
        *ret = address;
        return 0;
}
