/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/topology-bus.h"
#include "record/record-bus.h"
#include "services/state/records-bus.h"

/* The maximum size of the reply without its rows, and of an item that is gone. */
#define WIRE_OF_REPLY 1024u
#define WIRE_PER_GONE 96u

/* A page, whose contents are known before the first array is written. */
typedef struct Page {
        AldGraph *graph;
        bool of_pairs; /* else of nodes and edges */
        bool whole;
        GPtrArray *of[ALD_GRAPH_CHANGE_N]; /* of AldGraphItem, by AldGraphChange */
        size_t bytes;
        uint64_t next;
} Page;

/* Returns the change as a client sees it, for which a hidden item is gone. */
static AldGraphChange shown_change(const AldGraphItem *item)
{
        static const AldGraphChange gone[] = {
                [ALD_GRAPH_NODE] = ALD_GRAPH_GONE_NODE,
                [ALD_GRAPH_EDGE] = ALD_GRAPH_GONE_EDGE,
                [ALD_GRAPH_PAIR] = ALD_GRAPH_GONE_PAIR,
        };

        return item->hidden && item->change < ALD_GRAPH_GONE_NODE ? gone[item->change] : item->change;
}

static bool add_item(const AldGraphItem *item, void *userdata)
{
        Page *page = userdata;
        AldGraphChange change = shown_change(item);
        bool of_pair = change == ALD_GRAPH_PAIR || change == ALD_GRAPH_GONE_PAIR;
        size_t bytes;

        if (of_pair != page->of_pairs || (page->whole && change >= ALD_GRAPH_GONE_NODE) ||
                ald_graph_has_returned(page->graph, item)) {
                page->next = item->revision;
                return true;
        }
        bytes = change >= ALD_GRAPH_GONE_NODE ? WIRE_PER_GONE : ald_graph_row_size(page->graph, item);
        if (page->bytes + bytes > ALD_REPLY_MAX)
                return false;
        page->bytes += bytes;
        page->next = item->revision;
        g_ptr_array_add(page->of[change], (gpointer) item);
        return true;
}

static int append_nodes(sd_bus_message *message, const Page *page)
{
        g_auto(AldGraphSpace) space = {};
        AldGraphNodeRow row;
        int r = ald_record_bus_open_rows(message, &ald_graph_node_row_struct);

        for (guint i = 0; r >= 0 && i < page->of[ALD_GRAPH_NODE]->len; i++) {
                ald_graph_describe_node(page->graph, page->of[ALD_GRAPH_NODE]->pdata[i], &space, &row);
                r = ald_record_bus_append_row(message, &ald_graph_node_row_struct, &row);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_edges(sd_bus_message *message, const Page *page)
{
        g_auto(AldGraphSpace) space = {};
        AldEdgeRow row;
        int r = ald_record_bus_open_rows(message, &ald_edge_row_struct);

        for (guint i = 0; r >= 0 && i < page->of[ALD_GRAPH_EDGE]->len; i++) {
                ald_graph_describe_edge(page->graph, page->of[ALD_GRAPH_EDGE]->pdata[i], &space, &row);
                r = ald_record_bus_append_row(message, &ald_edge_row_struct, &row);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_pairs(sd_bus_message *message, const Page *page)
{
        AldGraphSpace space = {};
        AldNodePairRow row;
        int r = ald_record_bus_open_rows(message, &ald_node_pair_row_struct);

        for (guint i = 0; r >= 0 && i < page->of[ALD_GRAPH_PAIR]->len; i++) {
                ald_graph_describe_pair(page->of[ALD_GRAPH_PAIR]->pdata[i], &space, &row);
                r = ald_record_bus_append_row(message, &ald_node_pair_row_struct, &row);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_gone(sd_bus_message *message, const Page *page)
{
        const GPtrArray *nodes = page->of[ALD_GRAPH_GONE_NODE], *edges = page->of[ALD_GRAPH_GONE_EDGE];
        char id[ALD_ID_STRING_SIZE];
        int r;

        r = sd_bus_message_open_container(message, 'a', "s");
        for (guint i = 0; r >= 0 && i < nodes->len; i++)
                r = sd_bus_message_append_basic(
                        message, 's', ald_id_format(&((const AldGraphItem *) nodes->pdata[i])->node, id));
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "t");
        for (guint i = 0; r >= 0 && i < edges->len; i++)
                r = sd_bus_message_append_basic(
                        message, 't', &((const AldGraphItem *) edges->pdata[i])->edge);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_gone_pairs(sd_bus_message *message, const Page *page)
{
        const GPtrArray *pairs = page->of[ALD_GRAPH_GONE_PAIR];
        char id[ALD_ID_STRING_SIZE], peer[ALD_ID_STRING_SIZE];
        int r = sd_bus_message_open_container(message, 'a', "(ss)");

        for (guint i = 0; r >= 0 && i < pairs->len; i++) {
                const AldGraphItem *item = pairs->pdata[i];

                r = sd_bus_message_append(
                        message, "(ss)", ald_id_format(&item->node, id), ald_id_format(&item->peer, peer));
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_rows(sd_bus_message *message, const Page *page)
{
        int r;

        if (page->of_pairs) {
                r = append_pairs(message, page);
                return r < 0 ? r : append_gone_pairs(message, page);
        }
        r = append_nodes(message, page);
        if (r >= 0)
                r = append_edges(message, page);
        return r < 0 ? r : append_gone(message, page);
}

int ald_topology_bus_append(sd_bus_message *message, AldTopologyWatch *topology, bool of_pairs,
        uint64_t since, uint64_t after, size_t *ret_bytes)
{
        AldGraph *graph = ald_topology_watch_graph(topology);
        uint64_t revision = ald_topology_watch_revision(topology);
        Page page = { .graph = graph,
                .of_pairs = of_pairs,
                .whole = !ald_graph_remembers(graph, since),
                .bytes = WIRE_OF_REPLY };
        int r;

        for (size_t i = 0; i < G_N_ELEMENTS(page.of); i++)
                page.of[i] = g_ptr_array_new();
        ald_graph_foreach_after(graph, after != 0 ? after : page.whole ? 0 : since, add_item, &page);
        r = sd_bus_message_append(message, "ttb", revision, page.next < revision ? page.next : 0, page.whole);
        if (r >= 0)
                r = append_rows(message, &page);
        for (size_t i = 0; i < G_N_ELEMENTS(page.of); i++)
                g_ptr_array_unref(page.of[i]);
        *ret_bytes = page.bytes;
        return r;
}
