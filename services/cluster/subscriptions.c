/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/cluster/subscriptions.h"

char *ald_subscription_to(const char *cluster, const AldId *node)
{
        char id[ALD_ID_STRING_SIZE];

        return g_strdup_printf("alidade/1/%s/%s/#", cluster, ald_id_format(node, id));
}

char **ald_subscriptions(const char *cluster, const AldId *own, bool mirroring)
{
        g_autoptr(GPtrArray) filters = g_ptr_array_new();

        if (mirroring) {
                g_ptr_array_add(filters, g_strdup_printf("alidade/1/%s/#", cluster));
        } else {
                g_ptr_array_add(filters, ald_subscription_to(cluster, own));
                g_ptr_array_add(filters, g_strdup_printf("alidade/1/%s/+/crl", cluster));
        }
        g_ptr_array_add(filters, NULL);
        return (char **) g_ptr_array_free(g_steal_pointer(&filters), FALSE);
}
