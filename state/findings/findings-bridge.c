/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings/findings-report.h"

/*
 * Finds bridges that Thunderbolt cables join to a ring: a frame that one of them floods circulates forever,
 * unless they speak STP. Leaves of the graph of bridges and cables are pruned until only rings, and paths
 * between rings, are left.
 */

typedef struct Bridge {
        AldId node;
        const char *name;
        guint cables;    /* cables that are not pruned */
        guint cable_xor; /* XOR of their indices; of a single cable its index */
        guint parent;    /* towards the first bridge of the same ring */
} Bridge;

/* A Thunderbolt port within a bridge. */
typedef struct Port {
        const char *domain;
        const char *peer;
        guint bridge;
} Port;

typedef struct Cable {
        guint ends[2];
        bool pruned;
} Cable;

typedef struct Graph {
        GArray *bridges;
        GArray *ports;
        GArray *cables;
} Graph;

static Bridge *bridge_at(const Graph *graph, guint i)
{
        return &g_array_index(graph->bridges, Bridge, i);
}

static const char *bridge_of(const AldNetwork *network, const char *interface)
{
        const char *type = ald_interface_type_to_string(ALD_INTERFACE_TYPE_BRIDGE);

        for (size_t i = 0; i < network->interfaces.n; i++) {
                const AldInterface *bridge = ald_rows_at(&network->interfaces, i);

                if (bridge->type && bridge->ports && strcmp(bridge->type, type) == 0 &&
                        g_strv_contains(bridge->ports, interface))
                        return bridge->id;
        }
        return NULL;
}

/* Finds or adds a bridge. All bridges of one node are at the end, from `first` on. */
static guint find_or_add_bridge(Graph *graph, guint first, const AldId *node, const char *name)
{
        const Bridge bridge = { .node = *node, .name = name };

        for (guint i = first; i < graph->bridges->len; i++)
                if (strcmp(bridge_at(graph, i)->name, name) == 0)
                        return i;
        g_array_append_val(graph->bridges, bridge);
        return graph->bridges->len - 1;
}

static gboolean collect_ports(AldNode *node, void *userdata)
{
        Graph *graph = userdata;
        const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);
        guint first = graph->bridges->len;

        if (!ald_node_counts(node))
                return FALSE;
        for (size_t i = 0; fabric && network && i < fabric->thunderbolt_ports.n; i++) {
                const AldThunderboltPort *row = ald_rows_at(&fabric->thunderbolt_ports, i);
                const char *bridge = row->interface ? bridge_of(network, row->interface) : NULL;
                Port port = { .domain = row->domain_id, .peer = row->peer_domain_id };

                if (!bridge || !port.domain || !port.peer || strcmp(port.domain, port.peer) == 0)
                        continue;
                port.bridge = find_or_add_bridge(graph, first, &node->id, bridge);
                g_array_append_val(graph->ports, port);
        }
        return FALSE;
}

static bool is_lower_end(const Port *port)
{
        return strcmp(port->domain, port->peer) < 0;
}

/* Compares by the pair of domains only, so that both ends of a cable are equal. */
static int compare_pairs(const Port *a, const Port *b)
{
        int r = strcmp(is_lower_end(a) ? a->domain : a->peer, is_lower_end(b) ? b->domain : b->peer);

        return r != 0 ? r
                      : strcmp(is_lower_end(a) ? a->peer : a->domain, is_lower_end(b) ? b->peer : b->domain);
}

static int compare_ports(gconstpointer a, gconstpointer b)
{
        int r = compare_pairs(a, b);

        return r != 0 ? r : (int) is_lower_end(b) - (int) is_lower_end(a);
}

static void add_cable(Graph *graph, const Port *a, const Port *b)
{
        const Cable cable = { .ends = { a->bridge, b->bridge } };

        for (unsigned end = 0; end < 2; end++) {
                Bridge *bridge = bridge_at(graph, cable.ends[end]);

                bridge->cables++;
                bridge->cable_xor ^= graph->cables->len;
        }
        g_array_append_val(graph->cables, cable);
}

/* Joins the ports by cables. There may be several between two hosts; which end belongs to which does not
 * matter for rings. */
static void join_ports(Graph *graph)
{
        const Port *ports = (const Port *) (void *) graph->ports->data;
        guint n = graph->ports->len, upper, next;

        g_array_sort(graph->ports, compare_ports);
        for (guint at = 0; at < n; at = next) {
                for (upper = at; upper < n && compare_ports(&ports[at], &ports[upper]) == 0; upper++)
                        ;
                for (next = upper; next < n && compare_pairs(&ports[at], &ports[next]) == 0; next++)
                        ;
                for (guint i = 0; is_lower_end(&ports[at]) && i < MIN(upper - at, next - upper); i++)
                        add_cable(graph, &ports[at + i], &ports[upper + i]);
        }
}

static void prune_leaves(Graph *graph)
{
        for (guint i = 0; i < graph->bridges->len; i++) {
                guint at = i;

                while (bridge_at(graph, at)->cables == 1) {
                        guint index = bridge_at(graph, at)->cable_xor;
                        Cable *cable = &g_array_index(graph->cables, Cable, index);
                        guint other = cable->ends[0] == at ? cable->ends[1] : cable->ends[0];

                        cable->pruned = true;
                        bridge_at(graph, at)->cables = 0;
                        bridge_at(graph, other)->cables--;
                        bridge_at(graph, other)->cable_xor ^= index;
                        at = other;
                }
        }
}

static guint root_of(Graph *graph, guint i)
{
        while (bridge_at(graph, i)->parent != i) {
                bridge_at(graph, i)->parent = bridge_at(graph, bridge_at(graph, i)->parent)->parent;
                i = bridge_at(graph, i)->parent;
        }
        return i;
}

static void unite_rings(Graph *graph)
{
        for (guint i = 0; i < graph->bridges->len; i++)
                bridge_at(graph, i)->parent = i;
        for (guint i = 0; i < graph->cables->len; i++) {
                const Cable *cable = &g_array_index(graph->cables, Cable, i);
                guint a = root_of(graph, cable->ends[0]), b = root_of(graph, cable->ends[1]);

                if (!cable->pruned)
                        bridge_at(graph, MAX(a, b))->parent = MIN(a, b);
        }
}

/* Reports each ring. Bridges are in the order of their nodes, so that those of one node are neighbours in
 * each ring. */
static void report_rings(AldReport *report, Graph *graph)
{
        g_autoptr(GPtrArray) rings = g_ptr_array_new_with_free_func((GDestroyNotify) g_array_unref);
        g_autoptr(GHashTable) by_first = g_hash_table_new(NULL, NULL);

        for (guint i = 0; i < graph->bridges->len; i++) {
                const Bridge *bridge = bridge_at(graph, i);
                gpointer first = GUINT_TO_POINTER(root_of(graph, i));
                GArray *nodes = g_hash_table_lookup(by_first, first);

                if (bridge->cables == 0)
                        continue;
                if (!nodes) {
                        nodes = g_array_new(FALSE, FALSE, sizeof(AldId));
                        g_ptr_array_add(rings, nodes);
                        g_hash_table_insert(by_first, first, nodes);
                }
                if (nodes->len == 0 ||
                        !ald_id_equal(&g_array_index(nodes, AldId, nodes->len - 1), &bridge->node))
                        g_array_append_val(nodes, bridge->node);
        }
        for (guint i = 0; i < rings->len; i++) {
                const GArray *ring = rings->pdata[i];
                const AldId *nodes = (const AldId *) (void *) ring->data;

                if (!ald_report_full(report, ALD_FINDING_ROW_SEVERITY_WARNING, ALD_FINDING_ROW_ID_BRIDGE_LOOP,
                            NULL, nodes, ring->len))
                        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_WARNING,
                                ALD_FINDING_ROW_ID_BRIDGE_LOOP, NULL, nodes, ring->len, NULL);
        }
}

void ald_find_bridge_loops(AldReport *report)
{
        g_autoptr(GArray) bridges = g_array_new(FALSE, FALSE, sizeof(Bridge));
        g_autoptr(GArray) ports = g_array_new(FALSE, FALSE, sizeof(Port));
        g_autoptr(GArray) cables = g_array_new(FALSE, FALSE, sizeof(Cable));
        Graph graph = { bridges, ports, cables };

        ald_store_foreach_node(report->store, collect_ports, &graph);
        join_ports(&graph);
        prune_leaves(&graph);
        unite_rings(&graph);
        report_rings(report, &graph);
}
