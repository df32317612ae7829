/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/topology/segments-build.h"

/* Neighbours by a cable: both ends see the other. */

/* One end sees the other. The other one's is the same with its ends changed. */
typedef struct Sight {
        const AldNode *node, *peer;
        const char *name, *peer_name;
        AldVertex *vertex;
        guint n; /* of as many such */
} Sight;

static guint hash_sight(gconstpointer key)
{
        const Sight *sight = key;

        return ald_id_table_hash(&sight->node->id) * 31 + ald_id_table_hash(&sight->peer->id) +
               g_str_hash(sight->name) * 7 + g_str_hash(sight->peer_name);
}

static gboolean equal_sights(gconstpointer a, gconstpointer b)
{
        const Sight *left = a, *right = b;

        return left->node == right->node && left->peer == right->peer &&
               strcmp(left->name, right->name) == 0 && strcmp(left->peer_name, right->peer_name) == 0;
}

typedef struct Sights {
        AldSegmentBuild *build;
        GHashTable *table; /* of Sight, each its own key */
} Sights;

static Sight *add_sight(GHashTable *table, const Sight *sight)
{
        Sight *known = g_hash_table_lookup(table, sight);

        if (!known) {
                known = g_memdup2(sight, sizeof *sight);
                g_hash_table_add(table, known);
        }
        known->n++;
        return known;
}

static const Sight *find_reverse(GHashTable *table, const Sight *sight)
{
        const Sight key = {
                .node = sight->peer, .peer = sight->node, .name = sight->peer_name, .peer_name = sight->name
        };

        return g_hash_table_lookup(table, &key);
}

/* Thunderbolt: what a node calls a domain of its own must be one, and the peer's must be one of another. */

static const char *lower(Sights *sights, const char *name)
{
        g_autofree char *text = g_ascii_strdown(name, -1);

        return g_string_chunk_insert_const(sights->build->strings, text);
}

static const char *identity_of(Sights *sights, const char *a, const char *b)
{
        bool ordered = strcmp(a, b) < 0;
        g_autofree char *text = g_strdup_printf("%s,%s", ordered ? a : b, ordered ? b : a);

        return g_string_chunk_insert_const(sights->build->strings, text);
}

static void see_host(Sights *sights, const AldNode *node, const AldThunderboltPort *port)
{
        Sight sight = { .node = node }, *known;
        AldVertex *vertex;

        if (!port->domain_id || !port->peer_domain_id)
                return;
        sight.peer = ald_owners_find(sights->build->owners, port->peer_domain_id);
        if (!sight.peer || sight.peer == node ||
                ald_owners_find(sights->build->owners, port->domain_id) != node)
                return;
        sight.name = lower(sights, port->domain_id);
        sight.peer_name = lower(sights, port->peer_domain_id);
        vertex = ald_segment_vertex(sights->build, ALD_SEGMENT_THUNDERBOLT, node, port->id, true);
        vertex->identity = identity_of(sights, sight.name, sight.peer_name);
        known = add_sight(sights->table, &sight);
        /* Several cables between the same two. */
        if (known->vertex)
                ald_segment_join(known->vertex, vertex, ALD_JOIN_SURE);
        known->vertex = vertex;
}

static void see_hosts(Sights *sights, const AldNode *node)
{
        const AldFabric *fabric = ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric);

        for (size_t i = 0; fabric && i < fabric->thunderbolt_ports.n; i++)
                see_host(sights, node, ald_rows_at(&fabric->thunderbolt_ports, i));
}

static const char *interface_over(const Sight *sight)
{
        const AldFabric *fabric = ald_record_as(
                ald_node_record(sight->node, ALD_KIND_FABRIC), FABRIC, AldFabric);
        const AldThunderboltPort *port = ald_rows_find(&fabric->thunderbolt_ports, sight->vertex->name);

        return port->interface;
}

static void join_hosts(Sights *sights, const Sight *sight, const Sight *reverse)
{
        const char *interface = interface_over(sight), *other = interface_over(reverse);

        ald_segment_join(sight->vertex, reverse->vertex, ALD_JOIN_SURE);
        /* With several cables it is unknown which interface is opposite which. */
        if (interface && other && sight->n == 1 && reverse->n == 1)
                ald_segment_join_links(
                        sights->build, sight->node, interface, reverse->node, other, ALD_JOIN_SURE);
}

void ald_segments_join_thunderbolt(AldSegmentBuild *build)
{
        g_autoptr(GHashTable) table = g_hash_table_new_full(hash_sight, equal_sights, g_free, NULL);
        Sights sights = { .build = build, .table = table };
        GHashTableIter iter;
        gpointer key;

        for (guint i = 0; i < build->nodes->len; i++)
                see_hosts(&sights, build->nodes->pdata[i]);
        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
                const Sight *reverse = find_reverse(table, key);

                if (reverse)
                        join_hosts(&sights, key, reverse);
        }
}

/* LLDP */

static const AldNetwork *network_of(const AldNode *node)
{
        return ald_record_as(ald_node_record(node, ALD_KIND_NETWORK), NETWORK, AldNetwork);
}

/* The interface that is the only one with this address: a bond and its ports, or a VLAN and its parent, share
 * theirs. */
static const char *interface_with(const AldNode *node, const char *hardware_address)
{
        const AldNetwork *network = network_of(node);
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

/* Which interface of which node the neighbour is, into peer and peer_name. */
static bool find_neighbour(const Sights *sights, const AldNeighbour *neighbour, Sight *sight)
{
        const AldOwners *owners = sights->build->owners;
        const AldNode *by_port = ald_owners_find(owners, neighbour->port_id);
        const AldNode *by_chassis = ald_owners_find(owners, neighbour->chassis_id);
        const AldInterface *interface;

        if (by_port) {
                sight->peer = by_chassis && by_chassis != by_port ? NULL : by_port;
                sight->peer_name = interface_with(by_port, neighbour->port_id);
        } else if (by_chassis && network_of(by_chassis) && neighbour->port_id) {
                interface = ald_rows_find(&network_of(by_chassis)->interfaces, neighbour->port_id);
                sight->peer = by_chassis;
                sight->peer_name = interface ? interface->id : NULL;
        }
        return sight->peer && sight->peer_name && sight->peer != sight->node;
}

static void see_neighbour(Sights *sights, const AldNode *node, const AldNeighbour *neighbour)
{
        const AldInterface *interface = neighbour->interface ? ald_rows_find(&network_of(node)->interfaces,
                                                                       neighbour->interface)
                                                             : NULL;
        Sight sight = { .node = node };

        if (!interface || !find_neighbour(sights, neighbour, &sight))
                return;
        sight.name = interface->id;
        sight.vertex = ald_segment_vertex(sights->build, ALD_SEGMENT_LLDP, node, interface->id, true);
        add_sight(sights->table, &sight);
}

static void see_neighbours(Sights *sights, const AldNode *node)
{
        const AldNetwork *network = network_of(node);

        for (size_t i = 0; network && i < network->neighbours.n; i++)
                see_neighbour(sights, node, ald_rows_at(&network->neighbours, i));
}

static bool has_carrier(const AldNode *node, const char *name)
{
        const AldInterface *interface = ald_rows_find(&network_of(node)->interfaces, name);

        return interface->carrier != 0;
}

static void join_neighbours(Sights *sights, const Sight *sight)
{
        const Sight *reverse = find_reverse(sights->table, sight);
        AldJoin join = reverse ? ALD_JOIN_SURE : ALD_JOIN_MAYBE;
        AldVertex *peer;

        if (!has_carrier(sight->node, sight->name) || !has_carrier(sight->peer, sight->peer_name))
                return;
        peer = ald_segment_vertex(sights->build, ALD_SEGMENT_LLDP, sight->peer, sight->peer_name, true);
        ald_segment_join(sight->vertex, peer, join);
        ald_segment_join_links(sights->build, sight->node, sight->name, sight->peer, sight->peer_name, join);
}

void ald_segments_join_lldp(AldSegmentBuild *build)
{
        g_autoptr(GHashTable) table = g_hash_table_new_full(hash_sight, equal_sights, g_free, NULL);
        Sights sights = { .build = build, .table = table };
        GHashTableIter iter;
        gpointer key;

        for (guint i = 0; i < build->nodes->len; i++)
                see_neighbours(&sights, build->nodes->pdata[i]);
        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                join_neighbours(&sights, key);
}
