/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/record.h"
#include "state-client/topology.h"

AldTopology *ald_topology_new(void)
{
        AldTopology *topology = g_new0(AldTopology, 1);

        topology->nodes = g_ptr_array_new_with_free_func(g_free);
        topology->edges = g_ptr_array_new_with_free_func(g_free);
        topology->pairs = g_ptr_array_new_with_free_func(g_free);
        return topology;
}

void ald_topology_forget(AldTopology *topology)
{
        topology->revision = 0;
        topology->bytes = 0;
        g_clear_pointer(&topology->failure, g_free);
        g_ptr_array_set_size(topology->nodes, 0);
        g_ptr_array_set_size(topology->edges, 0);
        g_ptr_array_set_size(topology->pairs, 0);
}

void ald_topology_free(AldTopology *topology)
{
        if (!topology)
                return;
        g_ptr_array_unref(topology->nodes);
        g_ptr_array_unref(topology->edges);
        g_ptr_array_unref(topology->pairs);
        g_free(topology->failure);
        g_free(topology);
}

/* A kind of rows. Rows are identified by a name: an id, a number, or two ids. */
typedef struct RowKind {
        const AldStruct *type;
        char *(*name)(const void *row); /* NULL for a row without a name */
        GCompareFunc compare;
} RowKind;

/* Returns whether text is present; an absent text may be NULL or "". */
static bool is_given(const char *text)
{
        return text && *text;
}

static char *node_name(const void *data)
{
        const AldGraphNodeRow *row = data;

        return is_given(row->node) ? g_strdup(row->node) : NULL;
}

static char *edge_name(const void *data)
{
        const AldEdgeRow *row = data;

        return row->id == ALD_ABSENT_UINT64 || !is_given(row->kind) || !is_given(row->source) ||
                               !is_given(row->sink)
                       ? NULL
                       : g_strdup_printf("%" G_GUINT64_FORMAT, row->id);
}

static char *pair_name(const void *data)
{
        const AldNodePairRow *row = data;

        return is_given(row->node) && is_given(row->peer) ? g_strdup_printf("%s %s", row->node, row->peer)
                                                          : NULL;
}

static gint compare_nodes(gconstpointer a, gconstpointer b)
{
        const AldGraphNodeRow *left = *(const AldGraphNodeRow *const *) a,
                              *right = *(const AldGraphNodeRow *const *) b;

        return strcmp(left->node, right->node);
}

static gint compare_edges(gconstpointer a, gconstpointer b)
{
        const AldEdgeRow *left = *(const AldEdgeRow *const *) a, *right = *(const AldEdgeRow *const *) b;
        const char *const lefts[] = { left->source, left->sink, left->kind, left->source_port,
                left->sink_port, left->source_address, left->sink_address };
        const char *const rights[] = { right->source, right->sink, right->kind, right->source_port,
                right->sink_port, right->source_address, right->sink_address };

        for (size_t i = 0; i < G_N_ELEMENTS(lefts); i++) {
                int r = g_strcmp0(lefts[i], rights[i]);

                if (r != 0)
                        return r;
        }
        return left->id < right->id ? -1 : left->id > right->id;
}

static gint compare_pairs(gconstpointer a, gconstpointer b)
{
        const AldNodePairRow *left = *(const AldNodePairRow *const *) a,
                             *right = *(const AldNodePairRow *const *) b;
        int r = strcmp(left->node, right->node);

        return r != 0 ? r : strcmp(left->peer, right->peer);
}

static const RowKind node_kind = { &ald_graph_node_row_struct, node_name, compare_nodes };
static const RowKind edge_kind = { &ald_edge_row_struct, edge_name, compare_edges };
static const RowKind pair_kind = { &ald_node_pair_row_struct, pair_name, compare_pairs };

#define ROW_BYTES 32u /* overhead of the allocator, and the place in the list */

static size_t row_size(const RowKind *kind, const void *row)
{
        return ROW_BYTES + ald_struct_size(kind->type, row);
}

/* Merges rows, which replace earlier ones of the same name. `gone` has the names of other rows that no longer
 * exist. */
static void merge_rows(
        AldTopology *topology, GPtrArray *into, const RowKind *kind, const AldRows *rows, GHashTable *gone)
{
        g_autoptr(GHashTable) newest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        GHashTableIter iter;
        gpointer row;

        for (size_t i = 0; i < rows->n; i++) {
                char *name = kind->name(ald_rows_at(rows, i));

                if (name)
                        g_hash_table_replace(newest, name, (gpointer) ald_rows_at(rows, i));
        }
        for (guint i = into->len; i > 0; i--) {
                g_autofree char *name = kind->name(into->pdata[i - 1]);

                if (g_hash_table_contains(newest, name) || g_hash_table_contains(gone, name)) {
                        topology->bytes -= row_size(kind, into->pdata[i - 1]);
                        g_ptr_array_remove_index_fast(into, i - 1);
                }
        }
        g_hash_table_iter_init(&iter, newest);
        while (g_hash_table_iter_next(&iter, NULL, &row)) {
                topology->bytes += row_size(kind, row);
                g_ptr_array_add(into, ald_struct_dup(kind->type, row));
        }
        g_ptr_array_sort(into, kind->compare);
}

void ald_topology_fail(AldTopology *topology, const char *why)
{
        topology->n_taken++;
        ald_topology_forget(topology);
        topology->failure = g_strdup(why);
}

void ald_topology_page_clear(AldTopologyPage *page)
{
        g_clear_pointer(&page->owned, g_ptr_array_unref);
        g_clear_pointer(&page->gone_nodes, g_hash_table_unref);
        g_clear_pointer(&page->gone_edges, g_hash_table_unref);
        g_clear_pointer(&page->gone_pairs, g_hash_table_unref);
}

AldTopologyPage ald_topology_page_new(void)
{
        return (AldTopologyPage){
                .owned = g_ptr_array_new_with_free_func(g_free),
                .gone_nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .gone_edges = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .gone_pairs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        };
}

int ald_topology_apply_page(AldTopology *topology, const AldTopologyPage *page, bool first, size_t max_bytes)
{
        topology->n_taken++;
        if (first && !page->of_pairs) {
                if (page->whole)
                        ald_topology_forget(topology);
                topology->reading = page->revision;
                topology->reading_whole = page->whole;
        } else if (page->whole != topology->reading_whole)
                return -ESTALE;
        if (page->of_pairs)
                merge_rows(topology, topology->pairs, &pair_kind, &page->pairs, page->gone_pairs);
        else {
                merge_rows(topology, topology->nodes, &node_kind, &page->nodes, page->gone_nodes);
                merge_rows(topology, topology->edges, &edge_kind, &page->edges, page->gone_edges);
        }
        if (topology->bytes > max_bytes)
                return -EDQUOT;
        /* Changes during the reading are sent again after this revision. */
        if (page->of_pairs && page->next == 0)
                topology->revision = topology->reading;
        return 0;
}

const AldGraphNodeRow *ald_topology_find_node(const AldTopology *topology, const char *id)
{
        guint first = 0, end = topology->nodes->len;

        while (id && first < end) {
                guint middle = first + (end - first) / 2;
                const AldGraphNodeRow *row = topology->nodes->pdata[middle];
                int r = strcmp(id, row->node);

                if (r == 0)
                        return row;
                if (r < 0)
                        end = middle;
                else
                        first = middle + 1;
        }
        return NULL;
}
