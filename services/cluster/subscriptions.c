/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/cluster/subscriptions.h"

char **ald_subscriptions(const char *cluster, const AldId *own, bool mirroring)
{
        static const char *const of_each[] = { "status", "alive", "crl", "forget/#" };
        g_autoptr(GPtrArray) filters = g_ptr_array_new();
        char id[ALD_ID_STRING_SIZE];

        if (mirroring) {
                g_ptr_array_add(filters, g_strdup_printf("alidade/1/%s/#", cluster));
        } else {
                g_ptr_array_add(
                        filters, g_strdup_printf("alidade/1/%s/%s/#", cluster, ald_id_format(own, id)));
                for (unsigned i = 0; i < G_N_ELEMENTS(of_each); i++)
                        g_ptr_array_add(filters, g_strdup_printf("alidade/1/%s/+/%s", cluster, of_each[i]));
        }
        g_ptr_array_add(filters, NULL);
        return (char **) g_ptr_array_free(g_steal_pointer(&filters), FALSE);
}
