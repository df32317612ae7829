/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/topology/owners.h"

typedef struct Claim {
        GPtrArray *nodes; /* each once, in the order of their ids */
        bool is_address;
} Claim;

struct AldOwners {
        GHashTable *by_name; /* of records, in whatever case → Claim */
        bool closed;         /* no other names are of interest */
};

static guint hash_name(gconstpointer key)
{
        guint hash = 5381;

        for (const char *c = key; *c; c++)
                hash = hash * 33 + (guint) g_ascii_tolower(*c);
        return hash;
}

static gboolean equal_names(gconstpointer a, gconstpointer b)
{
        return g_ascii_strcasecmp(a, b) == 0;
}

static void claim_free(gpointer data)
{
        Claim *claim = data;

        g_ptr_array_unref(claim->nodes);
        g_free(claim);
}

/* Devices without a GUID have "0000:0000:0000:0000". */
static bool is_name(const char *name)
{
        return name && strspn(name, "0:-") != strlen(name);
}

/* Each node comes once, with all that it claims. */
static void add(AldOwners *owners, const AldNode *node, const char *name, bool is_address)
{
        Claim *claim;

        if (!is_name(name))
                return;
        claim = g_hash_table_lookup(owners->by_name, name);
        if (!claim) {
                if (owners->closed)
                        return;
                claim = g_new(Claim, 1);
                claim->nodes = g_ptr_array_new();
                claim->is_address = is_address;
                g_hash_table_insert(owners->by_name, (gpointer) name, claim);
        }
        if (claim->nodes->len == 0 || claim->nodes->pdata[claim->nodes->len - 1] != node)
                g_ptr_array_add(claim->nodes, (gpointer) node);
}

static void add_fabric(AldOwners *owners, const AldNode *node, const AldFabric *fabric)
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

static void add_node(AldOwners *owners, const AldNode *node)
{
        const AldFabric *fabric = ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric);
        const AldNetwork *network = ald_record_as(
                ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork);

        if (fabric)
                add_fabric(owners, node, fabric);
        for (size_t i = 0; network && i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                add(owners, node, interface->hardware_address, true);
        }
}

typedef struct Adding {
        AldOwners *owners;
        GHashTable *added; /* nodes */
} Adding;

static gboolean add_other(AldNode *node, void *userdata)
{
        Adding *adding = userdata;

        if (ald_node_counts(node) && !g_hash_table_contains(adding->added, node))
                add_node(adding->owners, node);
        return FALSE;
}

AldOwners *ald_owners_new(AldStore *store, const GPtrArray *nodes)
{
        g_autoptr(GHashTable) added = g_hash_table_new(NULL, NULL);
        AldOwners *owners = g_new(AldOwners, 1);
        Adding adding = { owners, added };

        *owners = (AldOwners){ .by_name = g_hash_table_new_full(hash_name, equal_names, NULL, claim_free) };
        for (guint i = 0; nodes && i < nodes->len; i++) {
                add_node(owners, nodes->pdata[i]);
                g_hash_table_add(added, nodes->pdata[i]);
        }
        owners->closed = nodes;
        ald_store_foreach_node(store, add_other, &adding);
        return owners;
}

void ald_owners_free(AldOwners *owners)
{
        g_hash_table_unref(owners->by_name);
        g_free(owners);
}

/* A machine that was installed anew has its hardware to itself, since its former self is offline. */
static const AldNode *only_counting(const Claim *claim)
{
        const AldNode *found = NULL;

        for (guint i = 0; i < claim->nodes->len; i++) {
                const AldNode *node = claim->nodes->pdata[i];

                if (!ald_node_counts(node))
                        continue;
                if (found)
                        return NULL;
                found = node;
        }
        return found;
}

const AldNode *ald_owners_find(const AldOwners *owners, const char *name)
{
        const Claim *claim = name ? g_hash_table_lookup(owners->by_name, name) : NULL;

        if (!claim)
                return NULL;
        return claim->nodes->len == 1 ? claim->nodes->pdata[0] : only_counting(claim);
}

bool ald_owners_is_uncontested(const AldOwners *owners, const AldNode *node, const char *name)
{
        return !is_name(name) || ald_owners_find(owners, name) == node;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

void ald_owners_foreach_contested(const AldOwners *owners, AldOwnersFunc func, void *userdata)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        GHashTableIter iter;
        gpointer name, value;

        g_hash_table_iter_init(&iter, owners->by_name);
        while (g_hash_table_iter_next(&iter, &name, &value)) {
                const Claim *claim = value;

                if (claim->nodes->len > 1 && !claim->is_address)
                        g_ptr_array_add(names, g_ascii_strdown(name, -1));
        }
        g_ptr_array_sort(names, compare_names);
        for (guint i = 0; i < names->len; i++) {
                const Claim *claim = g_hash_table_lookup(owners->by_name, names->pdata[i]);

                func(names->pdata[i], claim->nodes, userdata);
        }
}
