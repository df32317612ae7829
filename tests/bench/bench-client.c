/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model of a client: what it takes in memory in a large cluster, by the allocator and as it counts. */
#include <malloc.h>
#include <stdio.h>

#include "state-client/model.h"
#include "tests/bench/fixture.h"

#define NODES 10000u
#define PEERS 32u /* to which a node of a large cluster measures links */
#define MIB (1024.0 * 1024.0)

static void put(AldModel *model, AldUpdate update)
{
        char node[ALD_ID_STRING_SIZE];
        g_autofree char *id = g_strconcat(
                ald_id_format(&update.node, node), update.key[0] ? "/" : NULL, update.key, NULL);

        g_assert_cmpint(ald_model_put(model, id, update.record, NULL), ==, 0);
        ald_record_unref(update.record);
}

static void put_node(AldModel *model, unsigned node)
{
        char key[128];

        for (unsigned which = 0; which < FIXTURE_KINDS; which++)
                put(model, fixture_update(node, which, NODES, 0, key));
        for (unsigned peer = 1; peer <= PEERS; peer++)
                put(model, fixture_link(node, (node + peer) % NODES, 0, key));
}

static void add_edge(AldTopologyPage *page, AldEdgeRow *row, const AldUpdate *update, uint64_t id)
{
        const AldLinkSocket *link = ald_record_as(update->record, LINK_SOCKET, AldLinkSocket);

        *row = (AldEdgeRow) ALD_EDGE_ROW_INIT;
        row->id = id;
        row->kind = "socket";
        row->source = link->source;
        row->sink = link->sink;
        row->source_port = link->source_interface;
        row->sink_port = link->source_interface;
        row->source_address = row->sink_address = link->sink_address;
        row->bits_per_second = link->upload.bits_per_second;
        g_ptr_array_add(page->owned, update->record);
}

/* The graph has an edge for each link, and a pair for each two nodes. */
static void add_graph(AldModel *model, unsigned node)
{
        g_auto(AldTopologyPage) page = ald_topology_page_new();
        AldEdgeRow edges[PEERS];
        AldNodePairRow pairs[PEERS / 2];
        AldTopology *topology = ald_model_topology(model);
        char key[128];

        g_ptr_array_set_free_func(page.owned, (GDestroyNotify) ald_record_unref);
        page.edges = (AldRows){ &ald_edge_row_struct, edges, PEERS };
        for (unsigned i = 0; i < PEERS; i++) {
                AldUpdate update = fixture_link(node, (node + i + 1) % NODES, 0, key);

                add_edge(&page, &edges[i], &update, (uint64_t) node * PEERS + i);
        }
        page.pairs = (AldRows){ &ald_node_pair_row_struct, pairs, PEERS / 2 };
        for (unsigned i = 0; i < PEERS / 2; i++) {
                pairs[i] = (AldNodePairRow) ALD_NODE_PAIR_ROW_INIT;
                pairs[i].node = edges[i].source;
                pairs[i].peer = edges[i].sink;
        }
        page.nodes.type = &ald_graph_node_row_struct;
        g_assert_cmpint(ald_topology_apply_page(topology, &page, true, SIZE_MAX), ==, 0);
        page.of_pairs = true;
        g_assert_cmpint(ald_topology_apply_page(topology, &page, false, SIZE_MAX), ==, 0);
}

int main(void)
{
        size_t before = mallinfo2().uordblks, records, graph, counted;
        g_autoptr(AldModel) model = ald_model_new();

        for (unsigned node = 0; node < NODES; node++)
                put_node(model, node);
        (void) ald_model_nodes(model);
        records = mallinfo2().uordblks - before;
        counted = ald_model_size(model);
        ald_model_add_topology(model, true);
        /* A thousandth of the graph, since rows are sorted anew with each page. */
        before = mallinfo2().uordblks;
        for (unsigned node = 0; node < NODES / 100; node++)
                add_graph(model, node);
        graph = (mallinfo2().uordblks - before) * 100;
        printf("{\"client_10000_nodes_mib\": %.0f, \"client_10000_nodes_counted_mib\": %.0f, "
               "\"client_10000_nodes_graph_mib\": %.0f, \"client_10000_nodes_graph_counted_mib\": %.0f}\n",
                (double) records / MIB, (double) counted / MIB, (double) graph / MIB,
                (double) (ald_model_size(model) - counted) * 100 / MIB);
        return 0;
}
