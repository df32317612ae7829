/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/mqtt/broker-list.h"

static void free_broker(gpointer broker)
{
        ald_broker_free(broker);
}

GPtrArray *ald_broker_list_new(void)
{
        return g_ptr_array_new_with_free_func(free_broker);
}

/* The broker of this address and kind, out of the old list, or NULL. */
static AldBroker *steal(GPtrArray *old, const AldBrokerAddress *address, bool discovered)
{
        for (guint i = 0; i < old->len; i++) {
                AldBroker *broker = old->pdata[i];

                if (ald_broker_discovered(broker) == discovered &&
                        ald_broker_address_compare(ald_broker_where(broker), address) == 0)
                        return g_ptr_array_steal_index(old, i);
        }
        return NULL;
}

static bool contains(GPtrArray *list, const AldBrokerAddress *address)
{
        for (guint i = 0; i < list->len; i++)
                if (ald_broker_address_compare(ald_broker_where(list->pdata[i]), address) == 0)
                        return true;
        return false;
}

void ald_broker_list_append(
        GPtrArray *list, GPtrArray *old, const GArray *addresses, bool discovered, AldBrokerCommon *common)
{
        for (guint i = 0; i < addresses->len; i++) {
                const AldBrokerAddress *address = &g_array_index(addresses, AldBrokerAddress, i);
                AldBroker *broker;

                if (contains(list, address))
                        continue;
                broker = steal(old, address, discovered);
                if (!broker) {
                        broker = ald_broker_new(address, discovered, common);
                        ald_broker_start(broker);
                }
                g_ptr_array_add(list, broker);
        }
}

/* Avahi may lose sight of a broker that works: multicast is the first to suffer on a bad network. */
void ald_broker_list_append_connected(GPtrArray *list, GPtrArray *old)
{
        for (guint i = 0; i < old->len;) {
                AldBroker *broker = old->pdata[i];

                if (ald_broker_discovered(broker) && ald_broker_connected(broker) &&
                        !contains(list, ald_broker_where(broker)))
                        g_ptr_array_add(list, g_ptr_array_steal_index(old, i));
                else
                        i++;
        }
}
