/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/owners.h"

typedef struct Claim {
        GPtrArray *nodes; /* each once, in the order of their ids */
        bool is_address;
} Claim;

struct AldOwners {
        GHashTable *by_name; /* in lower case → Claim */
};

bool ald_node_counts(const AldNode *node)
{
        const AldPresence *presence = ald_record_as(
                ald_node_record(node, ALD_KIND_PRESENCE), PRESENCE, AldPresence);

        return node->local || ald_node_is_online(node) ||
               (presence && g_strcmp0(presence->state,
                                    ald_presence_state_to_string(ALD_PRESENCE_STATE_STALE)) == 0);
}

static void claim_free(gpointer data)
{
        Claim *claim = data;

        g_ptr_array_unref(claim->nodes);
        g_free(claim);
}

/* "0000:0000:0000:0000" is what devices have that were given none. */
static bool is_name(const char *name)
{
        return name && strspn(name, "0:-") != strlen(name);
}

/* Nodes come in the order of their ids, each with all that it claims. */
static void add(AldOwners *owners, AldNode *node, const char *name, bool is_address)
{
        g_autofree char *lower = NULL;
        Claim *claim;

        if (!is_name(name))
                return;
        lower = g_ascii_strdown(name, -1);
        claim = g_hash_table_lookup(owners->by_name, lower);
        if (!claim) {
                claim = g_new(Claim, 1);
                claim->nodes = g_ptr_array_new();
                claim->is_address = is_address;
                g_hash_table_insert(owners->by_name, g_steal_pointer(&lower), claim);
        }
        if (claim->nodes->len == 0 || claim->nodes->pdata[claim->nodes->len - 1] != node)
                g_ptr_array_add(claim->nodes, node);
}

static void add_fabric(AldOwners *owners, AldNode *node, const AldFabric *fabric)
{
        for (size_t i = 0; i < fabric->rdma_ports.n; i++) {
                const AldRdmaPort *port = ald_rows_at(&fabric->rdma_ports, i);

                add(owners, node, port->node_guid, false);
                add(owners, node, port->port_guid, false);
        }
        for (size_t i = 0; i < fabric->thunderbolt_domains.n; i++) {
                const AldThunderboltDomain *domain = ald_rows_at(&fabric->thunderbolt_domains, i);

                add(owners, node, domain->domain_id, false);
        }
        for (size_t i = 0; i < fabric->thunderbolt_ports.n; i++) {
                const AldThunderboltPort *port = ald_rows_at(&fabric->thunderbolt_ports, i);

                add(owners, node, port->domain_id, false);
        }
}

static gboolean add_node(AldNode *node, void *userdata)
{
        const AldFabric *fabric = ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric);
        const AldNetwork *network = ald_record_as(
                ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork);

        if (!ald_node_counts(node))
                return FALSE;
        if (fabric)
                add_fabric(userdata, node, fabric);
        for (size_t i = 0; network && i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                add(userdata, node, interface->hardware_address, true);
        }
        return FALSE;
}

AldOwners *ald_owners_new(AldStore *store)
{
        AldOwners *owners = g_new(AldOwners, 1);

        owners->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, claim_free);
        ald_store_foreach_node(store, add_node, owners);
        return owners;
}

void ald_owners_free(AldOwners *owners)
{
        g_hash_table_unref(owners->by_name);
        g_free(owners);
}

const AldNode *ald_owners_find(const AldOwners *owners, const char *name)
{
        g_autofree char *lower = name ? g_ascii_strdown(name, -1) : NULL;
        const Claim *claim = lower ? g_hash_table_lookup(owners->by_name, lower) : NULL;

        return claim && claim->nodes->len == 1 ? claim->nodes->pdata[0] : NULL;
}

bool ald_owners_believed(const AldOwners *owners, const AldNode *node, const char *name)
{
        return !is_name(name) || ald_owners_find(owners, name) == node;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

void ald_owners_foreach_contested(const AldOwners *owners, AldOwnersFunc func, void *userdata)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        GHashTableIter iter;
        gpointer name, value;

        g_hash_table_iter_init(&iter, owners->by_name);
        while (g_hash_table_iter_next(&iter, &name, &value)) {
                const Claim *claim = value;

                if (claim->nodes->len > 1 && !claim->is_address)
                        g_ptr_array_add(names, name);
        }
        g_ptr_array_sort(names, compare_names);
        for (guint i = 0; i < names->len; i++) {
                const Claim *claim = g_hash_table_lookup(owners->by_name, names->pdata[i]);

                func(names->pdata[i], claim->nodes, userdata);
        }
}
