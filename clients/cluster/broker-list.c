/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include <glib.h>

#include "clients/cluster/addresses.h"
#include "clients/cluster/broker-list.h"

static bool is_on(const char *broker, const char *wanted)
{
        g_autofree char *host = ald_broker_host(broker);

        return g_ascii_strcasecmp(host, wanted) == 0;
}

static bool is_on_any(const char *broker, char **hosts)
{
        for (; *hosts; hosts++)
                if (is_on(broker, *hosts))
                        return true;
        return false;
}

char **ald_broker_list_put(char **brokers, char **known, const char *host)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
        bool there = false;

        for (; *brokers; brokers++) {
                bool same = is_on(*brokers, host);

                if (!same && !is_on_any(*brokers, known))
                        g_ptr_array_add(list, g_strdup(*brokers));
                else if (!there) {
                        /* What names the host already may name a port, too. */
                        g_ptr_array_add(list, same ? g_strdup(*brokers) : ald_broker_from_host(host));
                        there = true;
                }
        }
        if (!there)
                g_ptr_array_add(list, ald_broker_from_host(host));
        g_ptr_array_add(list, NULL);
        return (char **) g_ptr_array_steal(list, NULL);
}

char **ald_broker_list_drop(char **brokers, char **hosts)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);

        for (; *brokers; brokers++)
                if (!is_on_any(*brokers, hosts))
                        g_ptr_array_add(list, g_strdup(*brokers));
        g_ptr_array_add(list, NULL);
        return (char **) g_ptr_array_steal(list, NULL);
}
