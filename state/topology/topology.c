/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/link.h"
#include "state/topology/topology.h"

/* The best that each end measured; a rate of ALD_ABSENT_UINT64 if it measured none. In a table, each is
 * its own key by source, sink and path. */
typedef struct Candidates {
        AldEdge by_source;
        AldEdge by_sink;
} Candidates;

const char *ald_path_to_string(AldPath path)
{
        return path == ALD_PATH_RDMA ? "rdma" : "socket";
}

/* Ids are hashes already, but both ends of all links of a node share one. */
static guint hash_edge(gconstpointer key)
{
        const AldEdge *edge = key;
        guint source, sink;

        memcpy(&source, &edge->source, sizeof source);
        memcpy(&sink, &edge->sink, sizeof sink);
        return source * 31 + sink + edge->path;
}

static int compare_edges(gconstpointer a, gconstpointer b)
{
        const AldEdge *left = a, *right = b;
        int r = ald_id_compare(&left->source, &right->source);

        if (r == 0)
                r = ald_id_compare(&left->sink, &right->sink);
        return r != 0 ? r : (int) left->path - (int) right->path;
}

static gboolean equal_edges(gconstpointer a, gconstpointer b)
{
        return compare_edges(a, b) == 0;
}

static Candidates *find_candidates(GHashTable *edges, const AldEdge *edge)
{
        Candidates *candidates = g_hash_table_lookup(edges, edge);

        if (!candidates) {
                candidates = g_new(Candidates, 1);
                candidates->by_source = candidates->by_sink = *edge;
                candidates->by_source.bits_per_second = ALD_ABSENT_UINT64;
                candidates->by_sink.bits_per_second = ALD_ABSENT_UINT64;
                g_hash_table_insert(edges, &candidates->by_source, candidates);
        }
        return candidates;
}

static bool is_better_path(const AldEdge *edge, const AldEdge *best)
{
        if (best->bits_per_second == ALD_ABSENT_UINT64)
                return true;
        if (edge->failing != best->failing)
                return best->failing;
        if (edge->bits_per_second != best->bits_per_second)
                return edge->bits_per_second > best->bits_per_second;
        return edge->measured_usec != ALD_ABSENT_UINT64 &&
               (best->measured_usec == ALD_ABSENT_UINT64 || edge->measured_usec > best->measured_usec);
}

static void collect_edge(GHashTable *edges, const AldEdge *edge)
{
        Candidates *candidates;
        AldEdge *best;

        if (edge->bits_per_second == ALD_ABSENT_UINT64)
                return;
        candidates = find_candidates(edges, edge);
        best = ald_id_equal(&edge->prober, &edge->source) ? &candidates->by_source : &candidates->by_sink;
        if (is_better_path(edge, best))
                *best = *edge;
}

static bool is_failing(const AldLink *link)
{
        return link->failed_usec != ALD_ABSENT_UINT64 &&
               (link->measured_usec == ALD_ABSENT_UINT64 || link->failed_usec > link->measured_usec);
}

/* A port that its node reports as down, or no longer reports, is not usable; for a node that reports no ports
 * it is unknown. */
static bool is_active(const AldNode *node, const char *name)
{
        const AldFabric *fabric = ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric);
        const AldRdmaPort *port;

        if (!fabric || !name)
                return true;
        port = ald_rows_find(&fabric->rdma_ports, name);
        return port && (!port->state || strcmp(port->state, "active") == 0);
}

typedef struct EdgeCollector {
        AldStore *store;
        GHashTable *edges;
} EdgeCollector;

static gboolean collect_link(AldEntry *entry, void *userdata)
{
        const EdgeCollector *collector = userdata;
        AldLink link = ald_link_of(entry);
        AldEdge edge = {
                .source = link.source,
                .sink = link.sink,
                .path = link.rdma ? ALD_PATH_RDMA : ALD_PATH_SOCKET,
                .prober = link.source,
                .bits_per_second = link.upload_bits_per_second,
                .rtt_p50_nsec = link.rtt_p50_nsec,
                .measured_usec = link.measured_usec,
                .failing = is_failing(&link),
        };

        const AldNode *sink = ald_store_find_node(collector->store, &link.sink);

        if (sink == entry->node || !sink || !ald_node_counts(sink) || !ald_node_counts(entry->node))
                return FALSE;
        if (link.rdma && !(is_active(entry->node, link.from) && is_active(sink, link.to)))
                return FALSE;
        collect_edge(collector->edges, &edge);
        edge.source = link.sink;
        edge.sink = link.source;
        edge.bits_per_second = link.download_bits_per_second;
        collect_edge(collector->edges, &edge);
        return FALSE;
}

/* When it was measured; 0 if the time is not plausible. */
static uint64_t plausible_time(const AldEdge *edge, uint64_t now_realtime)
{
        return edge->measured_usec <= now_realtime ? edge->measured_usec : 0;
}

static const AldEdge *choose(const Candidates *candidates, uint64_t now_realtime)
{
        const AldEdge *by_source = &candidates->by_source, *by_sink = &candidates->by_sink;

        if (by_sink->bits_per_second == ALD_ABSENT_UINT64)
                return by_source;
        if (by_source->bits_per_second == ALD_ABSENT_UINT64)
                return by_sink;
        return plausible_time(by_sink, now_realtime) > plausible_time(by_source, now_realtime) ? by_sink
                                                                                               : by_source;
}

GArray *ald_topology_compute(AldStore *store, uint64_t now_realtime)
{
        g_autoptr(GHashTable) edges = g_hash_table_new_full(hash_edge, equal_edges, NULL, g_free);
        EdgeCollector collector = { store, edges };
        GHashTableIter iter;
        GArray *chosen;
        gpointer candidates;

        ald_store_foreach_link(store, collect_link, &collector);
        chosen = g_array_sized_new(FALSE, FALSE, sizeof(AldEdge), g_hash_table_size(edges));
        g_hash_table_iter_init(&iter, edges);
        while (g_hash_table_iter_next(&iter, NULL, &candidates))
                g_array_append_vals(chosen, choose(candidates, now_realtime), 1);
        g_array_sort(chosen, compare_edges);
        return chosen;
}
