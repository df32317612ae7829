/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/desktop/details/graph-lookup.h"

bool ald_graph_is_known(const AldTopology *topology)
{
        return topology && topology->revision != 0;
}

/* Returns the index of the first of the rows, sorted by two ids, that does not come before these ids. */
static guint lower_bound(const GPtrArray *rows, int (*compare)(const void *row, const char *x, const char *y),
        const char *x, const char *y)
{
        guint first = 0, end = rows->len;

        while (first < end) {
                guint middle = first + (end - first) / 2;

                if (compare(rows->pdata[middle], x, y) < 0)
                        first = middle + 1;
                else
                        end = middle;
        }
        return first;
}

static int compare_pair(const void *data, const char *node, const char *peer)
{
        const AldNodePairRow *row = data;
        int r = strcmp(row->node, node);

        return r != 0 ? r : strcmp(row->peer, peer);
}

static int compare_edge(const void *data, const char *source, const char *sink)
{
        const AldEdgeRow *row = data;
        int r = g_strcmp0(row->source, source);

        return r != 0 ? r : g_strcmp0(row->sink, sink);
}

const AldNodePairRow *ald_graph_find_pair(const AldTopology *topology, const char *x, const char *y)
{
        bool in_order = strcmp(x, y) < 0;
        const char *node = in_order ? x : y, *peer = in_order ? y : x;
        guint i = lower_bound(topology->pairs, compare_pair, node, peer);

        return i < topology->pairs->len && compare_pair(topology->pairs->pdata[i], node, peer) == 0
                       ? topology->pairs->pdata[i]
                       : NULL;
}

void ald_graph_add_edges(GPtrArray *edges, const AldTopology *topology, const char *source, const char *sink)
{
        guint i = lower_bound(topology->edges, compare_edge, source, sink);

        for (; i < topology->edges->len && compare_edge(topology->edges->pdata[i], source, sink) == 0; i++)
                g_ptr_array_add(edges, topology->edges->pdata[i]);
}

const AldEdgeRow *ald_graph_find_edge(const GPtrArray *edges, uint64_t id)
{
        for (guint i = 0; i < edges->len; i++) {
                const AldEdgeRow *edge = edges->pdata[i];

                if (edge->id == id)
                        return edge;
        }
        return NULL;
}

const AldEdgeRow *ald_graph_find_reverse(const GPtrArray *edges, const AldEdgeRow *edge)
{
        for (guint i = 0; i < edges->len; i++) {
                const AldEdgeRow *other = edges->pdata[i];

                if (g_strcmp0(other->kind, edge->kind) == 0 && g_strcmp0(other->source, edge->sink) == 0 &&
                        g_strcmp0(other->sink, edge->source) == 0 &&
                        g_strcmp0(other->source_port, edge->sink_port) == 0 &&
                        g_strcmp0(other->sink_port, edge->source_port) == 0 &&
                        g_strcmp0(other->source_address, edge->sink_address) == 0 &&
                        g_strcmp0(other->sink_address, edge->source_address) == 0)
                        return other;
        }
        return NULL;
}
