/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/common/node-summary.h"
#include "clients/common/topology-summary.h"
#include "state/link-quality.h"

/* While it is built. */
typedef struct Builder {
        AldTopology *topology;
        AldModel *model;
        GHashTable *indices; /* id → index + 1 */
        GHashTable *pairs[ALD_TOPOLOGY_PATHS];
} Builder;

void ald_topology_free(AldTopology *topology)
{
        if (!topology)
                return;
        g_ptr_array_unref(topology->names);
        g_ptr_array_unref(topology->excluded);
        for (unsigned path = 0; path < ALD_TOPOLOGY_PATHS; path++)
                g_ptr_array_unref(topology->pairs[path]);
        g_free(topology);
}

static unsigned index_of(Builder *builder, const char *id)
{
        unsigned index = GPOINTER_TO_UINT(g_hash_table_lookup(builder->indices, id));

        if (index == 0) {
                g_ptr_array_add(builder->topology->names, ald_node_name(builder->model, id));
                index = builder->topology->names->len;
                g_hash_table_insert(builder->indices, g_strdup(id), GUINT_TO_POINTER(index));
        }
        return index - 1;
}

static guint64 key_of(unsigned x, unsigned y)
{
        return (guint64) MIN(x, y) << 32 | MAX(x, y);
}

static AldNodePair *pair_of(Builder *builder, AldPath path, unsigned x, unsigned y)
{
        guint64 key = key_of(x, y);
        AldNodePair *pair = g_hash_table_lookup(builder->pairs[path], &key);

        if (!pair) {
                pair = g_new(AldNodePair, 1);
                *pair = (AldNodePair){ key, MIN(x, y), MAX(x, y), ALD_ABSENT_UINT64, ALD_ABSENT_UINT64,
                        ALD_ABSENT_UINT64 };
                g_hash_table_insert(builder->pairs[path], &pair->key, pair);
                g_ptr_array_add(builder->topology->pairs[path], pair);
        }
        return pair;
}

/* ALD_TOPOLOGY_PATHS for a path that this version does not know. */
static AldPath path_of(const AldEdgeRow *row)
{
        AldPath path = ALD_PATH_SOCKET;

        while (path < ALD_TOPOLOGY_PATHS && g_strcmp0(row->path, ald_path_to_string(path)) != 0)
                path++;
        return path;
}

static void add_edge(Builder *builder, const AldEdgeRow *row)
{
        AldPath path = path_of(row);
        unsigned from, to;
        AldNodePair *pair;

        if (path >= ALD_TOPOLOGY_PATHS || !row->source || !row->sink || !ald_is_node_id(row->source) ||
                !ald_is_node_id(row->sink) || strcmp(row->source, row->sink) == 0 ||
                row->bits_per_second == ALD_ABSENT_UINT64)
                return;
        from = index_of(builder, row->source);
        to = index_of(builder, row->sink);
        pair = pair_of(builder, path, from, to);
        *(from < to ? &pair->there : &pair->back) = row->bits_per_second;
        pair->rtt = MIN(pair->rtt, row->rtt_p50_nsec); /* absent is the greatest */
}

static int compare_pairs(const void *a, const void *b)
{
        const AldNodePair *const *x = a, *const *y = b;

        return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

static void add_excluded(AldTopology *topology, const AldEntity *node, const char *excluded)
{
        g_autofree char *label = ald_entity_label(node);

        g_ptr_array_add(topology->excluded, g_strdup_printf("%s (%s)", label, excluded));
}

AldTopology *ald_topology_new(AldModel *model, const AldRows *rows)
{
        AldTopology *topology = g_new0(AldTopology, 1);
        g_autoptr(GHashTable) indices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        Builder builder = { topology, model, indices, { NULL } };
        const GPtrArray *nodes = ald_model_nodes(model);

        topology->names = g_ptr_array_new_with_free_func(g_free);
        topology->excluded = g_ptr_array_new_with_free_func(g_free);
        for (unsigned path = 0; path < ALD_TOPOLOGY_PATHS; path++) {
                topology->pairs[path] = g_ptr_array_new_with_free_func(g_free);
                builder.pairs[path] = g_hash_table_new(g_int64_hash, g_int64_equal);
        }
        for (guint n = 0; n < nodes->len; n++) {
                const AldEntity *node = nodes->pdata[n];
                const char *excluded = ald_node_exclusion(model, node);

                if (excluded)
                        add_excluded(topology, node, excluded);
                else
                        (void) index_of(&builder, node->id);
        }
        for (size_t i = 0; i < rows->n; i++)
                add_edge(&builder, ald_rows_at(rows, i));
        for (unsigned path = 0; path < ALD_TOPOLOGY_PATHS; path++) {
                g_hash_table_unref(builder.pairs[path]);
                g_ptr_array_sort(topology->pairs[path], compare_pairs);
        }
        return topology;
}

const AldNodePair *ald_topology_find(const AldTopology *topology, AldPath path, unsigned x, unsigned y)
{
        const GPtrArray *pairs = topology->pairs[path];
        guint64 key = key_of(x, y);

        for (guint i = 0; i < pairs->len; i++)
                if (((const AldNodePair *) pairs->pdata[i])->key == key)
                        return pairs->pdata[i];
        return NULL;
}

bool ald_node_pair_is_uneven(const AldNodePair *pair)
{
        return ald_link_rates_are_uneven(pair->there, ALD_ABSENT_DOUBLE, pair->back, ALD_ABSENT_DOUBLE);
}
