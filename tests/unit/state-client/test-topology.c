/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "state-client/topology.h"

/* A page with at most one row of each kind; strings that go with it, as those of a message do. */
typedef struct Page {
        AldTopologyPage is;
        AldGraphNodeRow node;
        AldEdgeRow edge;
        AldNodePairRow pair;
        char text[64];
} Page;

static Page *page_new(uint64_t revision, uint64_t next, bool of_pairs, bool whole)
{
        Page *page = g_new0(Page, 1);

        page->is = ald_topology_page_new();
        page->is.revision = revision;
        page->is.next = next;
        page->is.of_pairs = of_pairs;
        page->is.whole = whole;
        page->node = (AldGraphNodeRow) ALD_GRAPH_NODE_ROW_INIT;
        page->edge = (AldEdgeRow) ALD_EDGE_ROW_INIT;
        page->pair = (AldNodePairRow) ALD_NODE_PAIR_ROW_INIT;
        page->is.nodes = (AldRows){ &ald_graph_node_row_struct, &page->node, 0 };
        page->is.edges = (AldRows){ &ald_edge_row_struct, &page->edge, 0 };
        page->is.pairs = (AldRows){ &ald_node_pair_row_struct, &page->pair, 0 };
        return page;
}

static void page_free(Page *page)
{
        ald_topology_page_clear(&page->is);
        memset(page->text, 'x', sizeof page->text);
        g_free(page);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Page, page_free)

static Page *edge_page(uint64_t revision, uint64_t next, bool whole, uint64_t id, uint64_t rate)
{
        Page *page = page_new(revision, next, false, whole);

        g_strlcpy(page->text, "source", sizeof page->text);
        page->edge.id = id;
        page->edge.kind = page->edge.source = page->edge.sink = page->text;
        page->edge.source_port = page->text + strlen(page->text); /* "", as a message has it */
        page->edge.bits_per_second = rate;
        page->is.edges.n = 1;
        return page;
}

static void take(AldTopology *topology, Page *made, bool first)
{
        g_autoptr(Page) page = made;

        g_assert_cmpint(ald_topology_apply_page(topology, &page->is, first, SIZE_MAX), ==, 0);
}

static void take_no_pairs(AldTopology *topology, uint64_t revision, bool whole)
{
        take(topology, page_new(revision, 0, true, whole), true);
}

static const AldEdgeRow *edge_at(const AldTopology *topology, guint i)
{
        g_assert_cmpuint(topology->edges->len, >, i);
        return topology->edges->pdata[i];
}

static void test_what_is_kept_is_a_copy(void)
{
        g_autoptr(AldTopology) topology = ald_topology_new();

        take(topology, edge_page(5, 0, true, 1, 10), true);
        g_assert_cmpstr(edge_at(topology, 0)->source, ==, "source");
        g_assert_null(edge_at(topology, 0)->source_port);
}

/* A row that says of nothing what it is says nothing. */
static void test_rows_without_names(void)
{
        g_autoptr(AldTopology) topology = ald_topology_new();
        Page *graph = edge_page(5, 0, true, 1, 10), *pairs = page_new(5, 0, true, true);

        graph->edge.sink = "";
        graph->is.nodes.n = 1;
        pairs->pair.node = "";
        pairs->pair.peer = "b";
        pairs->is.pairs.n = 1;
        take(topology, graph, true);
        take(topology, pairs, true);
        g_assert_cmpuint(topology->nodes->len + topology->edges->len + topology->pairs->len, ==, 0);
}

static void test_changes(void)
{
        g_autoptr(AldTopology) topology = ald_topology_new();
        Page *gone = page_new(7, 0, false, false);

        take(topology, edge_page(5, 0, true, 1, 10), true);
        g_assert_cmpuint(topology->revision, ==, 0); /* pairs are lacking */
        take_no_pairs(topology, 5, true);
        g_assert_cmpuint(topology->revision, ==, 5);
        take(topology, edge_page(6, 0, false, 1, 20), true);
        take(topology, edge_page(6, 0, false, 2, 30), false);
        take_no_pairs(topology, 6, false);
        g_assert_cmpuint(topology->edges->len, ==, 2);
        g_assert_cmpuint(edge_at(topology, 0)->bits_per_second, ==, 20);
        g_hash_table_add(gone->is.gone_edges, g_strdup("1"));
        take(topology, gone, true);
        take_no_pairs(topology, 7, false);
        g_assert_cmpuint(topology->edges->len, ==, 1);
        g_assert_cmpuint(edge_at(topology, 0)->id, ==, 2);
        /* All of it again: what does not come is gone. */
        take(topology, edge_page(9, 0, true, 3, 1), true);
        take_no_pairs(topology, 9, true);
        g_assert_cmpuint(topology->edges->len, ==, 1);
        g_assert_cmpuint(edge_at(topology, 0)->id, ==, 3);
}

/* The next one begins where the last complete one did. */
static void test_interrupted_reading(void)
{
        g_autoptr(AldTopology) topology = ald_topology_new();

        take(topology, edge_page(5, 0, true, 1, 10), true);
        take_no_pairs(topology, 5, true);
        take(topology, edge_page(8, 7, false, 1, 20), true);
        g_assert_cmpuint(topology->revision, ==, 5);
        take(topology, edge_page(9, 0, false, 1, 20), false);
        g_assert_cmpuint(topology->revision, ==, 5);
        take_no_pairs(topology, 9, false);
        g_assert_cmpuint(topology->revision, ==, 8);
}

static void test_size_of_a_graph(void)
{
        g_autoptr(AldTopology) topology = ald_topology_new();
        Page *gone = page_new(7, 0, false, false), *pairs = page_new(5, 0, true, true);
        g_autoptr(Page) more = edge_page(8, 0, false, 2, 20);
        size_t one;

        take(topology, edge_page(5, 0, true, 1, 10), true);
        one = topology->bytes;
        g_assert_cmpuint(one, >, sizeof(AldEdgeRow));
        pairs->pair.node = pairs->pair.peer = "b";
        pairs->is.pairs.n = 1;
        take(topology, pairs, true);
        g_assert_cmpuint(topology->bytes, >, one + sizeof(AldNodePairRow));
        take(topology, edge_page(6, 0, false, 1, 20), true); /* in place of the first */
        g_hash_table_add(gone->is.gone_edges, g_strdup("1"));
        take(topology, gone, false);
        g_assert_cmpuint(topology->edges->len, ==, 0);
        one = topology->bytes;
        g_assert_cmpint(ald_topology_apply_page(topology, &more->is, true, one + 100), ==, -EDQUOT);
        ald_topology_forget(topology);
        g_assert_cmpuint(topology->bytes, ==, 0);
}

static void test_too_much_has_changed(void)
{
        g_autoptr(AldTopology) topology = ald_topology_new();
        g_autoptr(Page) late = edge_page(9, 0, true, 1, 20);

        take(topology, edge_page(5, 4, false, 1, 10), true);
        g_assert_cmpint(ald_topology_apply_page(topology, &late->is, false, SIZE_MAX), ==, -ESTALE);
        ald_topology_fail(topology, "why");
        g_assert_cmpuint(topology->revision, ==, 0);
        g_assert_cmpuint(topology->edges->len, ==, 0);
        g_assert_cmpstr(topology->failure, ==, "why");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/topology/copy", test_what_is_kept_is_a_copy);
        g_test_add_func("/topology/no-names", test_rows_without_names);
        g_test_add_func("/topology/changes", test_changes);
        g_test_add_func("/topology/interrupted", test_interrupted_reading);
        g_test_add_func("/topology/size", test_size_of_a_graph);
        g_test_add_func("/topology/too-much", test_too_much_has_changed);
        return g_test_run();
}
