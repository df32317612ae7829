/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "state/link.h"
#include "state/topology/topology.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

#define NOW 1000u

static const AldEdge *find_edge(GArray *edges, unsigned source, unsigned sink, AldPath path)
{
        AldId source_id = id_make(source), sink_id = id_make(sink);
        const AldEdge *found = NULL;

        for (guint i = 0; i < edges->len; i++) {
                const AldEdge *edge = &g_array_index(edges, AldEdge, i);

                if (!ald_id_equal(&edge->source, &source_id) || !ald_id_equal(&edge->sink, &sink_id) ||
                        edge->path != path)
                        continue;
                g_assert_null(found);
                found = edge;
        }
        return found;
}

static void check_edge(
        GArray *edges, unsigned source, unsigned sink, unsigned prober, uint64_t rate, uint64_t measured)
{
        const AldEdge *edge = find_edge(edges, source, sink, ALD_PATH_SOCKET);
        AldId prober_id = id_make(prober);

        g_assert_nonnull(edge);
        g_assert_true(ald_id_equal(&edge->prober, &prober_id));
        g_assert_cmpuint(edge->bits_per_second, ==, rate);
        g_assert_cmpuint(edge->measured_usec, ==, measured);
}

/* Both ends are online. */
static void put(AldStore *store, unsigned source, unsigned sink, unsigned n, const char *text)
{
        state_put_online(store, source);
        state_put_online(store, sink);
        state_put_link(store, ALD_KIND_LINK_SOCKET, source, sink, n, text);
}

static void test_one_prober_tells_both_directions(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GArray) edges = NULL;

        put(store, 2, 3, 1,
                "{'UploadBitsPerSecond': 10, 'DownloadBitsPerSecond': 20, 'RttP50NSec': 5, 'MeasuredUSec': "
                "100}");
        edges = ald_topology_compute(store, NOW);
        g_assert_cmpuint(edges->len, ==, 2);
        check_edge(edges, 2, 3, 2, 10, 100);
        check_edge(edges, 3, 2, 2, 20, 100);
        g_assert_cmpuint(find_edge(edges, 2, 3, ALD_PATH_SOCKET)->rtt_p50_nsec, ==, 5);
        g_assert_cmpuint(find_edge(edges, 3, 2, ALD_PATH_SOCKET)->rtt_p50_nsec, ==, 5);
}

static void test_newer_of_two_probers(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GArray) edges = NULL;

        put(store, 2, 3, 1, "{'UploadBitsPerSecond': 10, 'DownloadBitsPerSecond': 20, 'MeasuredUSec': 100}");
        put(store, 3, 2, 1, "{'UploadBitsPerSecond': 7, 'MeasuredUSec': 101}");
        edges = ald_topology_compute(store, NOW);
        g_assert_cmpuint(edges->len, ==, 2);
        /* 3 did not measure its download, so 2's upload is all that is known of that direction. */
        check_edge(edges, 2, 3, 2, 10, 100);
        check_edge(edges, 3, 2, 3, 7, 101);
}

static void test_best_path_before_newer_time(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GArray) edges = NULL;

        put(store, 2, 3, 1, "{'UploadBitsPerSecond': 100, 'MeasuredUSec': 50, 'RttP50NSec': 1}");
        put(store, 2, 3, 2, "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 90, 'RttP50NSec': 2}");
        put(store, 2, 3, 3, "{'UploadBitsPerSecond': 100, 'MeasuredUSec': 60, 'RttP50NSec': 3}");
        put(store, 2, 3, 4, "{'UploadBitsPerSecond': 100, 'RttP50NSec': 4}");
        edges = ald_topology_compute(store, NOW);
        g_assert_cmpuint(edges->len, ==, 1);
        check_edge(edges, 2, 3, 2, 100, 60);
        g_assert_cmpuint(find_edge(edges, 2, 3, ALD_PATH_SOCKET)->rtt_p50_nsec, ==, 3);
}

/* The fast cable was pulled; what still works is the link. */
static void test_a_failing_path_loses(void)
{
        g_autoptr(AldStore) store = state_make();
        GArray *edges;

        put(store, 2, 3, 1, "{'UploadBitsPerSecond': 100, 'MeasuredUSec': 50, 'FailedUSec': 60}");
        edges = ald_topology_compute(store, NOW);
        check_edge(edges, 2, 3, 2, 100, 50);
        g_array_unref(edges);
        put(store, 2, 3, 2, "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 40, 'FailedUSec': 30}");
        edges = ald_topology_compute(store, NOW);
        check_edge(edges, 2, 3, 2, 10, 40);
        g_array_unref(edges);
}

static void test_the_future_loses(void)
{
        g_autoptr(AldStore) store = state_make();
        GArray *edges;

        put(store, 2, 3, 1, "{'UploadBitsPerSecond': 10, 'MeasuredUSec': 1001}");
        put(store, 3, 2, 1, "{'DownloadBitsPerSecond': 20, 'MeasuredUSec': 5}");
        edges = ald_topology_compute(store, NOW);
        check_edge(edges, 2, 3, 3, 20, 5);
        g_array_unref(edges);
        edges = ald_topology_compute(store, NOW + 1);
        check_edge(edges, 2, 3, 2, 10, 1001);
        g_array_unref(edges);

        /* So does what was measured nobody knows when; where both are so, the source's own word counts. */
        put(store, 2, 3, 1, "{'UploadBitsPerSecond': 10}");
        edges = ald_topology_compute(store, NOW);
        check_edge(edges, 2, 3, 3, 20, 5);
        g_array_unref(edges);
        put(store, 3, 2, 1, "{'DownloadBitsPerSecond': 20, 'MeasuredUSec': 2000}");
        edges = ald_topology_compute(store, NOW);
        check_edge(edges, 2, 3, 2, 10, ALD_ABSENT_UINT64);
        g_array_unref(edges);
}

static void test_no_edge_without_a_figure(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GArray) edges = NULL;

        put(store, 2, 3, 1, "{'Failure': 'refused', 'FailedUSec': 5}");
        put(store, 2, 4, 1, "{'RttP50NSec': 5, 'MeasuredUSec': 5}");
        put(store, 2, 2, 1, "{'UploadBitsPerSecond': 10, 'DownloadBitsPerSecond': 10}");
        edges = ald_topology_compute(store, NOW);
        g_assert_cmpuint(edges->len, ==, 0);
}

static void test_paths_are_edges_of_their_own(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GArray) edges = NULL;

        put(store, 2, 3, 1, "{'UploadBitsPerSecond': 10}");
        state_put_link(store, ALD_KIND_LINK_RDMA, 2, 3, 1, "{'UploadBitsPerSecond': 200}");
        edges = ald_topology_compute(store, NOW);
        g_assert_cmpuint(edges->len, ==, 2);
        g_assert_cmpuint(find_edge(edges, 2, 3, ALD_PATH_SOCKET)->bits_per_second, ==, 10);
        g_assert_cmpuint(find_edge(edges, 2, 3, ALD_PATH_RDMA)->bits_per_second, ==, 200);
        g_assert_cmpstr(ald_path_to_string(ALD_PATH_SOCKET), ==, "socket");
        g_assert_cmpstr(ald_path_to_string(ALD_PATH_RDMA), ==, "rdma");
}

/* Whatever was measured between ports that are up no more, or that are gone, is no edge. */
static void test_rdma_needs_both_ports(void)
{
        static const char up[] = "{'RdmaPorts': [{'Id': 'mlx5_0.1', 'State': 'active'}]}";
        static const struct {
                const char *own, *theirs;
                unsigned n;
        } cases[] = {
                { up, up, 2 },
                { NULL, NULL, 2 },
                { up, "{'RdmaPorts': [{'Id': 'mlx5_0.1'}]}", 2 },
                { up, "{'RdmaPorts': [{'Id': 'mlx5_0.1', 'State': 'down'}]}", 0 },
                { "{'RdmaPorts': [{'Id': 'mlx5_0.1', 'State': 'init'}]}", up, 0 },
                { up, "{'RdmaPorts': [{'Id': 'mlx5_1.1', 'State': 'active'}]}", 0 },
                { "{}", NULL, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = state_make();
                g_autoptr(GArray) edges = NULL;

                state_put_online(store, 2);
                state_put_online(store, 3);
                if (cases[i].own)
                        state_put(store, 2, ALD_KIND_FABRIC, cases[i].own);
                if (cases[i].theirs)
                        state_put(store, 3, ALD_KIND_FABRIC, cases[i].theirs);
                state_put_ports(store, 2, "mlx5_0.1", 3, "mlx5_0.1",
                        "{'UploadBitsPerSecond': 5, 'DownloadBitsPerSecond': 5}");
                edges = ald_topology_compute(store, NOW);
                g_assert_cmpuint(edges->len, ==, cases[i].n);
        }
}

static void test_edges_of_nodes_that_count(void)
{
        static const struct {
                const char *state;
                guint n;
        } cases[] = { { "online", 2 }, { "stale", 2 }, { "offline", 0 }, { "duplicate", 0 },
                { "unknown", 0 } };

        for (size_t i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldStore) store = state_make();
                g_autoptr(GArray) edges = NULL;
                g_autofree char *presence = g_strdup_printf("{'State': '%s'}", cases[i / 2].state);

                put(store, 2, 3, 1, "{'UploadBitsPerSecond': 10, 'DownloadBitsPerSecond': 20}");
                state_put(store, i % 2 == 0 ? 2 : 3, ALD_KIND_PRESENCE, presence); /* either end */
                edges = ald_topology_compute(store, NOW);
                g_assert_cmpuint(edges->len, ==, cases[i / 2].n);
        }
}

/* This machine counts, whatever is said of it; a sink that nobody has heard of does not. */
static void test_edges_of_this_machine(void)
{
        g_autoptr(AldStore) store = state_make();
        GArray *edges;

        put(store, 1, 2, 1, "{'UploadBitsPerSecond': 10}");
        state_put(store, 1, ALD_KIND_PRESENCE, "{'State': 'duplicate'}");
        state_put_link(store, ALD_KIND_LINK_SOCKET, 1, 3, 1, "{'UploadBitsPerSecond': 10}");
        edges = ald_topology_compute(store, NOW);
        g_assert_cmpuint(edges->len, ==, 1);
        check_edge(edges, 1, 2, 1, 10, ALD_ABSENT_UINT64);
        g_array_unref(edges);
}

static void put_random_link(AldStore *store)
{
        AldKind kind = g_test_rand_bit() ? ALD_KIND_LINK_SOCKET : ALD_KIND_LINK_RDMA;
        g_autoptr(GString) text = g_string_new("{'RttP50NSec': 1");

        if (g_test_rand_int_range(0, 4) > 0)
                g_string_append_printf(text, ", 'UploadBitsPerSecond': %d", g_test_rand_int_range(0, 4));
        if (g_test_rand_int_range(0, 4) > 0)
                g_string_append_printf(text, ", 'DownloadBitsPerSecond': %d", g_test_rand_int_range(0, 4));
        if (g_test_rand_int_range(0, 4) > 0)
                g_string_append_printf(
                        text, ", 'MeasuredUSec': %u", NOW - 2 + (unsigned) g_test_rand_int_range(0, 5));
        g_string_append(text, "}");
        for (unsigned node = 1; node < 5; node++)
                state_put_online(store, node);
        state_put_link(store, kind, (unsigned) g_test_rand_int_range(1, 5),
                (unsigned) g_test_rand_int_range(1, 5), (unsigned) g_test_rand_int_range(0, 3), text->str);
}

/* What one prober says of an edge: its best rate, and the newest time of that rate. */
typedef struct Word {
        AldId prober, source, sink;
        bool rdma;
        bool known;
        uint64_t rate;
        uint64_t time; /* 0 where it cannot be believed */
} Word;

static gboolean hear(AldEntry *entry, void *userdata)
{
        Word *word = userdata;
        AldLink link = ald_link_of(entry);
        bool upload = ald_id_equal(&word->prober, &word->source);
        const AldId *peer = upload ? &word->sink : &word->source;
        uint64_t rate = upload ? link.upload_bits_per_second : link.download_bits_per_second;
        /* A later time is better even where it is in the future: it is doubted only afterwards. */
        uint64_t time = link.measured_usec == ALD_ABSENT_UINT64 ? 0 : link.measured_usec;

        if (!ald_id_equal(&link.source, &word->prober) || !ald_id_equal(&link.sink, peer) ||
                link.rdma != word->rdma || rate == ALD_ABSENT_UINT64)
                return FALSE;
        if (!word->known || rate > word->rate || (rate == word->rate && time > word->time)) {
                word->known = true;
                word->rate = rate;
                word->time = time;
        }
        return FALSE;
}

static Word ask(AldStore *store, unsigned prober, unsigned source, unsigned sink, bool rdma)
{
        Word word = {
                .prober = id_make(prober), .source = id_make(source), .sink = id_make(sink), .rdma = rdma
        };

        ald_store_foreach_link(store, hear, &word);
        if (word.time > NOW)
                word.time = 0;
        return word;
}

/* The same by asking each prober about each edge. */
static void test_as_asked_one_by_one(void)
{
        for (unsigned round = 0; round < 100; round++) {
                g_autoptr(AldStore) store = state_make();
                g_autoptr(GArray) edges = NULL;
                guint expected = 0;

                for (unsigned i = 0; i < 25; i++)
                        put_random_link(store);
                edges = ald_topology_compute(store, NOW);
                for (unsigned i = 0; i < 32; i++) {
                        unsigned source = 1 + i % 4, sink = 1 + i / 4 % 4;
                        Word by_source = ask(store, source, source, sink, i / 16);
                        Word by_sink = ask(store, sink, source, sink, i / 16);
                        const AldEdge *edge = find_edge(
                                edges, source, sink, i / 16 ? ALD_PATH_RDMA : ALD_PATH_SOCKET);
                        const Word *word = &by_source;

                        if (source == sink || (!by_source.known && !by_sink.known)) {
                                g_assert_null(edge);
                                continue;
                        }
                        if (!by_source.known || (by_sink.known && by_sink.time > by_source.time))
                                word = &by_sink;
                        expected++;
                        g_assert_nonnull(edge);
                        g_assert_true(ald_id_equal(&edge->prober, &word->prober));
                        g_assert_cmpuint(edge->bits_per_second, ==, word->rate);
                }
                g_assert_cmpuint(edges->len, ==, expected);
        }
}

static void test_order(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GArray) edges = NULL;

        for (unsigned i = 0; i < 40; i++)
                put_random_link(store);
        edges = ald_topology_compute(store, NOW);
        g_assert_cmpuint(edges->len, >, 5);
        for (guint i = 1; i < edges->len; i++) {
                const AldEdge *a = &g_array_index(edges, AldEdge, i - 1),
                              *b = &g_array_index(edges, AldEdge, i);
                int r = ald_id_compare(&a->source, &b->source);

                r = r != 0 ? r : ald_id_compare(&a->sink, &b->sink);
                g_assert_true(r < 0 || (r == 0 && a->path < b->path));
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/topology/one-prober-tells-both-directions", test_one_prober_tells_both_directions);
        g_test_add_func("/topology/newer-of-two-probers", test_newer_of_two_probers);
        g_test_add_func("/topology/best-path-before-newer-time", test_best_path_before_newer_time);
        g_test_add_func("/topology/a-failing-path-loses", test_a_failing_path_loses);
        g_test_add_func("/topology/the-future-loses", test_the_future_loses);
        g_test_add_func("/topology/no-edge-without-a-figure", test_no_edge_without_a_figure);
        g_test_add_func("/topology/paths-are-edges-of-their-own", test_paths_are_edges_of_their_own);
        g_test_add_func("/topology/rdma-needs-both-ports", test_rdma_needs_both_ports);
        g_test_add_func("/topology/as-asked-one-by-one", test_as_asked_one_by_one);
        g_test_add_func("/topology/order", test_order);
        g_test_add_func("/topology/edges-of-nodes-that-count", test_edges_of_nodes_that_count);
        g_test_add_func("/topology/edges-of-this-machine", test_edges_of_this_machine);
        return g_test_run();
}
