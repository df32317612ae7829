/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/topology/owners.h"

/*
 * Names are as in the records and are compared without case. Each name has its nodes (GPtrArray), each once
 * and in the order of their ids. Addresses are kept apart, so that no node can turn a name of a device into
 * one by listing it as an address.
 */
struct AldOwners {
        GHashTable *devices, *addresses;
        GHashTable *contests; /* AldNode → number of its devices' names that others claim; NULL: no name is
                                 contested */
        bool closed;          /* no other names are of interest */
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

/* Devices without a GUID have "0000:0000:0000:0000". */
static bool is_name(const char *name)
{
        return name && strspn(name, "0:-") != strlen(name);
}

/* Adds a claim. Those of one node are added in succession, so only the last node has to be compared. */
static void add_claim(const AldOwners *owners, GHashTable *claims, const AldNode *node, const char *name)
{
        GPtrArray *nodes;

        if (!is_name(name))
                return;
        nodes = g_hash_table_lookup(claims, name);
        if (!nodes) {
                if (owners->closed)
                        return;
                nodes = g_ptr_array_new();
                g_hash_table_insert(claims, (gpointer) name, nodes);
        }
        if (nodes->len == 0 || nodes->pdata[nodes->len - 1] != node)
                g_ptr_array_add(nodes, (gpointer) node);
}

static void add_fabric(AldOwners *owners, const AldNode *node, const AldFabric *fabric)
{
        for (size_t i = 0; i < fabric->rdma_ports.n; i++) {
                const AldRdmaPort *port = ald_rows_at(&fabric->rdma_ports, i);

                add_claim(owners, owners->devices, node, port->node_guid);
                add_claim(owners, owners->devices, node, port->port_guid);
        }
        for (size_t i = 0; i < fabric->thunderbolt_domains.n; i++) {
                const AldThunderboltDomain *domain = ald_rows_at(&fabric->thunderbolt_domains, i);

                add_claim(owners, owners->devices, node, domain->domain_id);
        }
        for (size_t i = 0; i < fabric->thunderbolt_ports.n; i++) {
                const AldThunderboltPort *port = ald_rows_at(&fabric->thunderbolt_ports, i);

                add_claim(owners, owners->devices, node, port->domain_id);
        }
}

static void add_node(AldOwners *owners, const AldNode *node)
{
        const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);

        if (fabric)
                add_fabric(owners, node, fabric);
        for (size_t i = 0; network && i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                add_claim(owners, owners->addresses, node, interface->hardware_address);
        }
}

typedef struct ClaimAddition {
        AldOwners *owners;
        GHashTable *added; /* nodes */
} ClaimAddition;

static gboolean add_other(AldNode *node, void *userdata)
{
        ClaimAddition *addition = userdata;

        if (ald_node_counts(node) && !g_hash_table_contains(addition->added, node))
                add_node(addition->owners, node);
        return FALSE;
}

static bool is_contested(const GPtrArray *nodes)
{
        return nodes->len > 1;
}

static bool any_device_is_contested(const AldOwners *owners)
{
        GHashTableIter iter;
        gpointer nodes;

        g_hash_table_iter_init(&iter, owners->devices);
        while (g_hash_table_iter_next(&iter, NULL, &nodes))
                if (is_contested(nodes))
                        return true;
        return false;
}

static GHashTable *count_contests(const AldOwners *owners)
{
        GHashTable *contests = g_hash_table_new(NULL, NULL);
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, owners->devices);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const GPtrArray *nodes = value;

                for (guint i = 0; is_contested(nodes) && i < nodes->len; i++) {
                        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(contests, nodes->pdata[i]));

                        g_hash_table_insert(contests, nodes->pdata[i], GUINT_TO_POINTER(n + 1));
                }
        }
        return contests;
}

static AldOwners *owners_of(AldStore *store, const GPtrArray *nodes)
{
        g_autoptr(GHashTable) added = g_hash_table_new(NULL, NULL);
        AldOwners *owners = g_new0(AldOwners, 1);
        ClaimAddition addition = { owners, added };

        owners->devices = g_hash_table_new_full(
                hash_name, equal_names, NULL, (GDestroyNotify) g_ptr_array_unref);
        owners->addresses = g_hash_table_new_full(
                hash_name, equal_names, NULL, (GDestroyNotify) g_ptr_array_unref);
        for (guint i = 0; nodes && i < nodes->len; i++) {
                add_node(owners, nodes->pdata[i]);
                g_hash_table_add(added, nodes->pdata[i]);
        }
        owners->closed = nodes;
        ald_store_foreach_node(store, add_other, &addition);
        return owners;
}

AldOwners *ald_owners_new(AldStore *store, const GPtrArray *nodes)
{
        AldOwners *owners = owners_of(store, nodes);

        /* They are counted over all nodes, so that each choice of nodes, and each machine, finds the same
         * owner. */
        if (any_device_is_contested(owners)) {
                g_autoptr(AldOwners) all = owners_of(store, NULL);

                owners->contests = count_contests(all);
        }
        return owners;
}

void ald_owners_free(AldOwners *owners)
{
        g_clear_pointer(&owners->contests, g_hash_table_unref);
        g_hash_table_unref(owners->devices);
        g_hash_table_unref(owners->addresses);
        g_free(owners);
}

/* Returns the node whose names are contested least, or NULL if several are alike. A machine that was
 * installed anew has its hardware to itself, since its former self is offline. Without `contests` all nodes
 * are alike. */
static const AldNode *least_contested(const GPtrArray *nodes, GHashTable *contests)
{
        const AldNode *found = NULL;
        guint fewest = G_MAXUINT;

        for (guint i = 0; i < nodes->len; i++) {
                const AldNode *node = nodes->pdata[i];
                guint n;

                if (!ald_node_counts(node))
                        continue;
                n = contests ? GPOINTER_TO_UINT(g_hash_table_lookup(contests, node)) : 0;
                if (n <= fewest)
                        found = n < fewest ? node : NULL;
                fewest = MIN(fewest, n);
        }
        return found;
}

static const AldNode *find_owner(GHashTable *claims, GHashTable *contests, const char *name)
{
        const GPtrArray *nodes = name ? g_hash_table_lookup(claims, name) : NULL;

        if (!nodes)
                return NULL;
        return is_contested(nodes) ? least_contested(nodes, contests) : nodes->pdata[0];
}

const AldNode *ald_owners_find(const AldOwners *owners, const char *name)
{
        return find_owner(owners->devices, owners->contests, name);
}

const AldNode *ald_owners_find_address(const AldOwners *owners, const char *address)
{
        return find_owner(owners->addresses, NULL, address);
}

bool ald_owners_has(const AldOwners *owners, const AldNode *node, const char *name)
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
        gpointer name, nodes;

        g_hash_table_iter_init(&iter, owners->devices);
        while (g_hash_table_iter_next(&iter, &name, &nodes))
                if (is_contested(nodes))
                        g_ptr_array_add(names, g_ascii_strdown(name, -1));
        g_ptr_array_sort(names, compare_names);
        for (guint i = 0; i < names->len; i++)
                func(names->pdata[i], g_hash_table_lookup(owners->devices, names->pdata[i]), userdata);
}
