/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/links/link.h"
#include "clients/alidadectl/links/names.h"
#include "clients/alidadectl/links/topology.h"
#include "clients/alidadectl/seen.h"

static const char *const path_names[ALD_TOPOLOGY_PATHS] = { "socket", "rdma" };

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
        g_ptr_array_unref(topology->gone);
        for (unsigned path = 0; path < ALD_TOPOLOGY_PATHS; path++)
                g_ptr_array_unref(topology->pairs[path]);
        g_free(topology);
}

static unsigned index_of(Builder *builder, const char *id)
{
        unsigned index = GPOINTER_TO_UINT(g_hash_table_lookup(builder->indices, id));

        if (index == 0) {
                g_ptr_array_add(builder->topology->names, ald_link_node_name(builder->model, id));
                index = builder->topology->names->len;
                g_hash_table_insert(builder->indices, g_strdup(id), GUINT_TO_POINTER(index));
        }
        return index - 1;
}

static guint64 key_of(unsigned x, unsigned y)
{
        return (guint64) MIN(x, y) << 32 | MAX(x, y);
}

static AldPair *pair_of(Builder *builder, unsigned path, unsigned x, unsigned y)
{
        guint64 key = key_of(x, y);
        AldPair *pair = g_hash_table_lookup(builder->pairs[path], &key);

        if (!pair) {
                pair = g_new(AldPair, 1);
                *pair = (AldPair){ key, MIN(x, y), MAX(x, y), NAN, NAN, NAN };
                g_hash_table_insert(builder->pairs[path], &pair->key, pair);
                g_ptr_array_add(builder->topology->pairs[path], pair);
        }
        return pair;
}

static void add_edge(Builder *builder, const json_t *row)
{
        const char *source = ald_field_text(row, "Source"), *sink = ald_field_text(row, "Sink");
        const char *name = ald_field_text(row, "Path");
        double rate = ald_link_amount(row, "BitsPerSecond");
        unsigned path = 0, from, to;
        AldPair *pair;

        while (path < ALD_TOPOLOGY_PATHS && g_strcmp0(name, path_names[path]) != 0)
                path++;
        if (path >= ALD_TOPOLOGY_PATHS || !source || !sink || !ald_is_node_id(source) ||
                !ald_is_node_id(sink) || strcmp(source, sink) == 0 || isnan(rate))
                return;
        from = index_of(builder, source);
        to = index_of(builder, sink);
        pair = pair_of(builder, path, from, to);
        *(from < to ? &pair->there : &pair->back) = rate;
        pair->rtt = fmin(pair->rtt, ald_link_amount(row, "RttP50NSec"));
}

static int compare_pairs(const void *a, const void *b)
{
        const AldPair *const *x = a, *const *y = b;

        return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

AldTopology *ald_topology_new(AldModel *model, const json_t *rows)
{
        AldTopology *topology = g_new0(AldTopology, 1);
        g_autoptr(GHashTable) indices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        Builder builder = { topology, model, indices, { NULL } };
        const GPtrArray *nodes = ald_model_nodes(model);
        size_t i;
        json_t *row;

        topology->names = g_ptr_array_new_with_free_func(g_free);
        topology->gone = g_ptr_array_new_with_free_func(g_free);
        for (unsigned path = 0; path < ALD_TOPOLOGY_PATHS; path++) {
                topology->pairs[path] = g_ptr_array_new_with_free_func(g_free);
                builder.pairs[path] = g_hash_table_new(g_int64_hash, g_int64_equal);
        }
        for (guint n = 0; n < nodes->len; n++) {
                const AldEntity *node = nodes->pdata[n];
                const char *gone = ald_node_gone(model, node);

                if (gone)
                        g_ptr_array_add(topology->gone, g_strdup_printf("%s (%s)", node->label, gone));
                else
                        (void) index_of(&builder, node->id);
        }
        json_array_foreach(rows, i, row)
                add_edge(&builder, row);
        for (unsigned path = 0; path < ALD_TOPOLOGY_PATHS; path++) {
                g_hash_table_unref(builder.pairs[path]);
                g_ptr_array_sort(topology->pairs[path], compare_pairs);
        }
        return topology;
}

const AldPair *ald_topology_find(const AldTopology *topology, unsigned path, unsigned x, unsigned y)
{
        const GPtrArray *pairs = topology->pairs[path];
        guint64 key = key_of(x, y);

        for (guint i = 0; i < pairs->len; i++)
                if (((const AldPair *) pairs->pdata[i])->key == key)
                        return pairs->pdata[i];
        return NULL;
}

json_t *ald_topology_to_json(AldModel *model, const json_t *rows)
{
        static const char *const names[][2] = { { "Source", "SourceName" }, { "Sink", "SinkName" },
                { "Prober", "ProberName" } };
        json_t *named = json_array(), *row;
        size_t i;

        json_array_foreach(rows, i, row) {
                json_t *copy = json_copy(row);

                for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
                        const char *name = ald_friendly_name(model, ald_field_text(row, names[k][0]));

                        if (name)
                                json_object_set_new(copy, names[k][1], json_string(name));
                }
                json_array_append_new(named, copy);
        }
        return named;
}
