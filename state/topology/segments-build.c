/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/link/interface-roles.h"
#include "state/topology/segments-build.h"

static guint hash_vertex(gconstpointer key)
{
        const AldVertex *vertex = key;

        return ald_id_table_hash(&vertex->node->id) * 31 + g_str_hash(vertex->name) * 8 +
               (guint) vertex->how * 2 + vertex->is_port;
}

static gboolean equal_vertices(gconstpointer a, gconstpointer b)
{
        const AldVertex *left = a, *right = b;

        return left->node == right->node && left->how == right->how && left->is_port == right->is_port &&
               strcmp(left->name, right->name) == 0;
}

GHashTable *ald_segment_vertices_new(void)
{
        return g_hash_table_new_full(hash_vertex, equal_vertices, g_free, NULL);
}

AldVertex *ald_segment_find(
        const AldSegmentBuild *build, AldSegmentHow how, const AldNode *node, const char *name, bool is_port)
{
        const AldVertex key = { .how = how, .node = node, .name = name, .is_port = is_port };

        return g_hash_table_lookup(build->vertices, &key);
}

AldVertex *ald_segment_vertex(
        AldSegmentBuild *build, AldSegmentHow how, const AldNode *node, const char *name, bool is_port)
{
        AldVertex *vertex = ald_segment_find(build, how, node, name, is_port);

        if (vertex)
                return vertex;
        vertex = g_new(AldVertex, 1);
        *vertex = (AldVertex){ .how = how, .node = node, .name = name, .is_port = is_port };
        for (unsigned i = 0; i < ALD_N_JOINS; i++)
                vertex->parent[i] = vertex;
        g_hash_table_add(build->vertices, vertex);
        return vertex;
}

AldVertex *ald_segment_root(AldVertex *vertex, AldJoin join)
{
        while (vertex->parent[join] != vertex)
                vertex = vertex->parent[join] = vertex->parent[join]->parent[join];
        return vertex;
}

void ald_segment_join(AldVertex *a, AldVertex *b, AldJoin how_sure)
{
        for (unsigned i = how_sure; i < ALD_N_JOINS; i++)
                ald_segment_root(a, i)->parent[i] = ald_segment_root(b, i);
}

AldVertex *ald_segment_link(AldSegmentBuild *build, const AldNode *node, const char *name)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);
        const AldInterface *interface = network ? ald_rows_find(&network->interfaces, name) : NULL;

        if (interface)
                name = ald_network_find_carrier(network, interface)->id;
        return ald_segment_vertex(build, ALD_SEGMENT_ROCE, node, name, false);
}

void ald_segment_join_links(AldSegmentBuild *build, const AldNode *a, const char *interface_of_a,
        const AldNode *b, const char *interface_of_b, AldJoin how_sure)
{
        ald_segment_join(ald_segment_link(build, a, interface_of_a),
                ald_segment_link(build, b, interface_of_b), how_sure);
}
