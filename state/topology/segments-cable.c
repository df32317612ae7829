/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/topology/segments-build.h"

/* Joins neighbours by cables that their ends report. */

/* A report of one end about the other; the reverse report has the ends exchanged. */
typedef struct Adjacency {
        const AldNode *node, *peer;
        const char *name, *peer_name;
        AldVertex *vertex;
        GPtrArray *more; /* of AldVertex: all of them if several reports are equal */
} Adjacency;

static void adjacency_free(gpointer data)
{
        Adjacency *adjacency = data;

        g_clear_pointer(&adjacency->more, g_ptr_array_unref);
        g_free(adjacency);
}

static guint hash_adjacency(gconstpointer key)
{
        const Adjacency *adjacency = key;

        return ald_id_table_hash(&adjacency->node->id) * 31 + ald_id_table_hash(&adjacency->peer->id) +
               g_str_hash(adjacency->name) * 7 + g_str_hash(adjacency->peer_name);
}

static gboolean equal_adjacencies(gconstpointer a, gconstpointer b)
{
        const Adjacency *left = a, *right = b;

        return left->node == right->node && left->peer == right->peer &&
               strcmp(left->name, right->name) == 0 && strcmp(left->peer_name, right->peer_name) == 0;
}

typedef struct Adjacencies {
        AldSegmentBuild *build;
        GHashTable *table; /* of Adjacency, each its own key */
} Adjacencies;

static Adjacency *add_adjacency(GHashTable *table, const Adjacency *adjacency)
{
        Adjacency *known = g_hash_table_lookup(table, adjacency);

        if (!known) {
                known = g_memdup2(adjacency, sizeof *adjacency);
                g_hash_table_add(table, known);
        }
        return known;
}

static guint count_reports(const Adjacency *adjacency)
{
        return adjacency->more ? adjacency->more->len : 1;
}

static AldVertex *report_at(const Adjacency *adjacency, guint i)
{
        return adjacency->more ? adjacency->more->pdata[i] : adjacency->vertex;
}

/* Adds a cable. Of its two reports, callers use the one of the node with the lower id. */
static void add_cable(
        AldSegmentBuild *build, AldSegmentHow how, const AldVertex *a, const AldVertex *b, bool candidate)
{
        const AldCable cable = { how, candidate, { a->node, a->name }, { b->node, b->name } };

        if (build->cables)
                g_array_append_val(build->cables, cable);
}

static const Adjacency *find_reverse(GHashTable *table, const Adjacency *adjacency)
{
        const Adjacency key = { .node = adjacency->peer,
                .peer = adjacency->node,
                .name = adjacency->peer_name,
                .peer_name = adjacency->name };

        return g_hash_table_lookup(table, &key);
}

/* Thunderbolt: the domain that a node reports as its own must belong to it, and that of the peer to another
 * node. */

static const char *intern_lower_case(Adjacencies *adjacencies, const char *name)
{
        g_autofree char *text = g_ascii_strdown(name, -1);

        return g_string_chunk_insert_const(adjacencies->build->strings, text);
}

static const char *identity_of(Adjacencies *adjacencies, const char *a, const char *b)
{
        bool ordered = strcmp(a, b) < 0;
        g_autofree char *text = g_strdup_printf("%s,%s", ordered ? a : b, ordered ? b : a);

        return g_string_chunk_insert_const(adjacencies->build->strings, text);
}

static void add_host(Adjacencies *adjacencies, const AldNode *node, const AldThunderboltPort *port)
{
        Adjacency adjacency = { .node = node }, *known;
        AldVertex *vertex;

        if (!port->domain_id || !port->peer_domain_id)
                return;
        adjacency.peer = ald_owners_find(adjacencies->build->owners, port->peer_domain_id);
        if (!adjacency.peer || adjacency.peer == node ||
                ald_owners_find(adjacencies->build->owners, port->domain_id) != node)
                return;
        adjacency.name = intern_lower_case(adjacencies, port->domain_id);
        adjacency.peer_name = intern_lower_case(adjacencies, port->peer_domain_id);
        vertex = ald_segment_vertex(adjacencies->build, ALD_SEGMENT_THUNDERBOLT, node, port->id, true);
        vertex->identity = identity_of(adjacencies, adjacency.name, adjacency.peer_name);
        known = add_adjacency(adjacencies->table, &adjacency);
        /* There are several cables between the same two hosts. */
        if (known->vertex) {
                if (!known->more) {
                        known->more = g_ptr_array_new();
                        g_ptr_array_add(known->more, known->vertex);
                }
                g_ptr_array_add(known->more, vertex);
                ald_segment_join(known->vertex, vertex, ALD_JOIN_SURE);
        }
        known->vertex = vertex;
}

static const char *interface_over(const Adjacency *adjacency)
{
        const AldFabric *fabric = ald_node_as(adjacency->node, FABRIC, AldFabric);
        const AldThunderboltPort *port = ald_rows_find(&fabric->thunderbolt_ports, adjacency->vertex->name);

        return port->interface;
}

static void join_hosts(Adjacencies *adjacencies, const Adjacency *adjacency, const Adjacency *reverse)
{
        const char *interface = interface_over(adjacency), *other = interface_over(reverse);
        guint n = MIN(count_reports(adjacency), count_reports(reverse));
        bool single = count_reports(adjacency) == 1 && count_reports(reverse) == 1;

        ald_segment_join(adjacency->vertex, reverse->vertex, ALD_JOIN_SURE);
        if (ald_id_compare(&adjacency->node->id, &reverse->node->id) < 0)
                for (guint i = 0; i < n; i++)
                        add_cable(adjacencies->build, ALD_SEGMENT_THUNDERBOLT, report_at(adjacency, i),
                                report_at(reverse, i), !single);
        /* With several cables it is unknown which interface is opposite which. */
        if (interface && other && single)
                ald_segment_join_links(
                        adjacencies->build, adjacency->node, interface, reverse->node, other, ALD_JOIN_SURE);
}

void ald_segments_join_thunderbolt(AldSegmentBuild *build)
{
        g_autoptr(GHashTable)
                table = g_hash_table_new_full(hash_adjacency, equal_adjacencies, adjacency_free, NULL);
        Adjacencies adjacencies = { .build = build, .table = table };
        GHashTableIter iter;
        gpointer key;

        for (guint i = 0; i < build->nodes->len; i++) {
                const AldNode *node = build->nodes->pdata[i];
                const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);

                for (size_t k = 0; fabric && k < fabric->thunderbolt_ports.n; k++)
                        add_host(&adjacencies, node, ald_rows_at(&fabric->thunderbolt_ports, k));
        }
        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
                const Adjacency *reverse = find_reverse(table, key);

                if (reverse)
                        join_hosts(&adjacencies, key, reverse);
        }
}

/* LLDP */

/* Returns the interface with this address, except for VLANs, which share that of their parent; NULL if
 * several have it, such as a bond and its ports. */
static const char *interface_with(const AldNode *node, const char *hardware_address)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);
        const char *found = NULL;

        for (size_t i = 0; network && i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                if (!interface->hardware_address || interface->parent ||
                        g_ascii_strcasecmp(interface->hardware_address, hardware_address) != 0)
                        continue;
                if (found)
                        return NULL;
                found = interface->id;
        }
        return found;
}

/* Finds which interface of which node the neighbour is, and sets peer and peer_name. */
static bool find_neighbour(
        const Adjacencies *adjacencies, const AldNeighbour *neighbour, Adjacency *adjacency)
{
        const AldOwners *owners = adjacencies->build->owners;
        const AldNode *by_port = ald_owners_find_address(owners, neighbour->port_id);
        const AldNode *by_chassis = ald_owners_find_address(owners, neighbour->chassis_id);
        const AldInterface *interface;

        if (by_port) {
                adjacency->peer = by_chassis && by_chassis != by_port ? NULL : by_port;
                adjacency->peer_name = interface_with(by_port, neighbour->port_id);
        } else if (by_chassis && ald_node_as(by_chassis, NETWORK, AldNetwork) && neighbour->port_id) {
                interface = ald_rows_find(
                        &ald_node_as(by_chassis, NETWORK, AldNetwork)->interfaces, neighbour->port_id);
                adjacency->peer = by_chassis;
                adjacency->peer_name = interface ? interface->id : NULL;
        }
        return adjacency->peer && adjacency->peer_name && adjacency->peer != adjacency->node;
}

static void add_neighbour(Adjacencies *adjacencies, const AldNode *node, const AldNeighbour *neighbour)
{
        const AldInterface *interface =
                neighbour->interface ? ald_rows_find(&ald_node_as(node, NETWORK, AldNetwork)->interfaces,
                                               neighbour->interface)
                                     : NULL;
        Adjacency adjacency = { .node = node };

        if (!interface || !find_neighbour(adjacencies, neighbour, &adjacency))
                return;
        adjacency.name = interface->id;
        adjacency.vertex = ald_segment_vertex(
                adjacencies->build, ALD_SEGMENT_LLDP, node, interface->id, true);
        add_adjacency(adjacencies->table, &adjacency);
}

static bool has_carrier(const AldNode *node, const char *name)
{
        const AldInterface *interface = ald_rows_find(
                &ald_node_as(node, NETWORK, AldNetwork)->interfaces, name);

        return interface->carrier != 0;
}

static void join_neighbours(Adjacencies *adjacencies, const Adjacency *adjacency)
{
        const Adjacency *reverse = find_reverse(adjacencies->table, adjacency);
        AldJoin join = reverse ? ALD_JOIN_SURE : ALD_JOIN_MAYBE;
        AldVertex *peer;

        if (!has_carrier(adjacency->node, adjacency->name) ||
                !has_carrier(adjacency->peer, adjacency->peer_name))
                return;
        peer = ald_segment_vertex(
                adjacencies->build, ALD_SEGMENT_LLDP, adjacency->peer, adjacency->peer_name, true);
        ald_segment_join(adjacency->vertex, peer, join);
        if (ald_id_compare(&adjacency->node->id, &adjacency->peer->id) < 0)
                add_cable(adjacencies->build, ALD_SEGMENT_LLDP, adjacency->vertex, peer, !reverse);
        else if (!reverse)
                add_cable(adjacencies->build, ALD_SEGMENT_LLDP, peer, adjacency->vertex, true);
        ald_segment_join_links(adjacencies->build, adjacency->node, adjacency->name, adjacency->peer,
                adjacency->peer_name, join);
}

void ald_segments_join_lldp(AldSegmentBuild *build)
{
        g_autoptr(GHashTable)
                table = g_hash_table_new_full(hash_adjacency, equal_adjacencies, adjacency_free, NULL);
        Adjacencies adjacencies = { .build = build, .table = table };
        GHashTableIter iter;
        gpointer key;

        for (guint i = 0; i < build->nodes->len; i++) {
                const AldNode *node = build->nodes->pdata[i];
                const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);

                for (size_t k = 0; network && k < network->neighbours.n; k++)
                        add_neighbour(&adjacencies, node, ald_rows_at(&network->neighbours, k));
        }
        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                join_neighbours(&adjacencies, key);
}
