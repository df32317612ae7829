/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/subscriptions.h"
#include "state/link/link-ttl.h"
#include "state/link/peer-sample.h"

char *ald_subscription_to(const char *cluster, const AldId *node)
{
        char id[ALD_ID_STRING_SIZE];

        return g_strdup_printf("alidade/1/%s/%s/#", cluster, ald_id_format(node, id));
}

char **ald_subscriptions_to_all(const char *cluster)
{
        char **filters = g_new0(char *, 2);

        filters[0] = g_strdup_printf("alidade/1/%s/#", cluster);
        return filters;
}

/* `node` is an id, or "+". */
static void add_peer_records(GPtrArray *filters, const char *cluster, const char *node)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                if (ald_kinds[kind].for_peers)
                        g_ptr_array_add(filters,
                                g_strdup_printf("alidade/1/%s/%s/%s", cluster, node, ald_kinds[kind].name));
}

static gboolean add_online_id(AldClusterNode *node, void *userdata)
{
        if (node->presence.state == ALD_PRESENCE_STATE_ONLINE)
                g_array_append_val((GArray *) userdata, node->id);
        return FALSE;
}

static gint compare_ids(gconstpointer a, gconstpointer b)
{
        return ald_id_compare(a, b);
}

static void add_sample(GPtrArray *filters, const char *cluster, const GArray *ids, size_t own, uint64_t real)
{
        uint64_t period = real / ald_kind_ttl(ALD_KIND_LINK_SOCKET);

        for (unsigned next = 0; next < 2; next++) {
                g_autoptr(GArray) places = ald_peer_sample_pick(ids->len, own, period + next);

                for (guint i = 0; i < places->len; i++) {
                        char id[ALD_ID_STRING_SIZE];

                        add_peer_records(filters, cluster,
                                ald_id_format(
                                        &g_array_index(ids, AldId, g_array_index(places, size_t, i)), id));
                }
        }
}

static void add_peers(
        GPtrArray *filters, const char *cluster, const AldId *own, AldNodes *nodes, uint64_t real)
{
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(AldId));
        guint place = 0;

        g_array_append_val(ids, *own);
        ald_nodes_foreach(nodes, add_online_id, ids);
        g_array_sort(ids, compare_ids);
        (void) g_array_binary_search(ids, own, compare_ids, &place);
        g_ptr_array_add(filters, g_strdup_printf("alidade/1/%s/+/status", cluster));
        if (ids->len >= ALD_PEER_SAMPLE_FROM)
                add_sample(filters, cluster, ids, place, real);
        else if (ids->len > 1)
                add_peer_records(filters, cluster, "+");
}

char **ald_subscriptions_to_peers(const char *cluster, const AldId *own, AldNodes *nodes, uint64_t real)
{
        g_autoptr(GPtrArray) filters = g_ptr_array_new();

        g_ptr_array_add(filters, ald_subscription_to(cluster, own));
        g_ptr_array_add(filters, g_strdup_printf("alidade/1/%s/+/crl", cluster));
        if (nodes)
                add_peers(filters, cluster, own, nodes, real);
        g_ptr_array_add(filters, NULL);
        return (char **) g_ptr_array_free(g_steal_pointer(&filters), FALSE);
}
