/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/desktop/topology/matrix-captions.h"
#include "clients/desktop/topology/matrix-cells.h"

#define SIDE 600.0
#define LINE 17.0

/* Cells of segments of so many nodes. */
static AldMatrixCells *make_cells(const guint *sizes, guint n_segments)
{
        g_autoptr(AldTopology) topology = ald_topology_new();
        g_autoptr(AldTopologySummary) summary = NULL;
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        guint number = 0;

        for (guint i = 0; i < n_segments; i++)
                for (guint k = 0; k < sizes[i]; k++, number++) {
                        AldGraphNodeRow *node = g_new(AldGraphNodeRow, 1);

                        *node = (AldGraphNodeRow) ALD_GRAPH_NODE_ROW_INIT;
                        g_ptr_array_add(names, g_strdup_printf("n%03u", number));
                        node->node = node->name = names->pdata[number];
                        g_ptr_array_add(topology->nodes, node);
                        if (k > 0) {
                                AldNodePairRow *pair = g_new(AldNodePairRow, 1);

                                *pair = (AldNodePairRow) ALD_NODE_PAIR_ROW_INIT;
                                pair->node = names->pdata[number - 1];
                                pair->peer = names->pdata[number];
                                pair->presence = "live";
                                pair->to_peer_bits_per_second = 1000000000;
                                g_ptr_array_add(topology->pairs, pair);
                        }
                }
        summary = ald_topology_summarize(topology);
        return ald_matrix_cells_new(summary);
}

static void test_words(void)
{
        const guint sizes[] = { 7, 1, 4 };
        static const char *const words[] = { "7 nodes: n000, n001, n002, n003, 3 more", "1 node: n007",
                "4 nodes: n008, n009, n010, n011" };
        AldMatrixCells *cells = make_cells(sizes, G_N_ELEMENTS(sizes));
        g_autofree char *all = ald_matrix_cells_describe(cells);

        g_assert_cmpuint(cells->n_segments, ==, 3);
        for (guint i = 0; i < 3; i++) {
                g_autofree char *found = ald_matrix_segment_words(cells, i);

                g_assert_cmpstr(found, ==, words[i]);
                g_assert_nonnull(strstr(all, words[i]));
        }
        ald_matrix_cells_free(cells);
}

static void test_names_with_commas_are_quoted(void)
{
        const guint sizes[] = { 2, 1 };
        AldMatrixCells *cells = make_cells(sizes, G_N_ELEMENTS(sizes));
        g_autofree char *words = NULL;

        g_free(cells->names[0]);
        cells->names[0] = g_strdup("a, b");
        words = ald_matrix_segment_words(cells, 0);
        g_assert_cmpstr(words, ==, "2 nodes: \"a, b\", n001");
        ald_matrix_cells_free(cells);
}

static void test_one_segment_has_no_words(void)
{
        const guint sizes[] = { 30 };
        AldMatrixCells *cells = make_cells(sizes, 1);

        g_assert_null(ald_matrix_cells_describe(cells));
        g_assert_cmpfloat(ald_captions_left(cells, 300), ==, 0);
        ald_matrix_cells_free(cells);
}

/* A screen reader is not given hundreds of them. */
static void test_words_are_limited(void)
{
        guint sizes[200];
        AldMatrixCells *cells;
        g_autofree char *all = NULL;

        for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
                sizes[i] = 1;
        cells = make_cells(sizes, G_N_ELEMENTS(sizes));
        all = ald_matrix_cells_describe(cells);
        g_assert_true(g_str_has_suffix(all, ", 188 more"));
        g_assert_cmpuint(strlen(all), <, 400);
        ald_matrix_cells_free(cells);
}

/* In order, apart, and within the side. Returns how many are shown. */
static guint assert_apart(const AldCaption *captions, guint n)
{
        double end = 0;
        guint shown = 0;

        for (guint i = 0; i < n; i++) {
                if (!captions[i].shown)
                        continue;
                g_assert_cmpfloat(captions[i].at, >=, end - 1e-6);
                g_assert_cmpfloat(captions[i].length, >=, LINE);
                end = captions[i].at + captions[i].length;
                g_assert_cmpfloat(end, <=, SIDE + 1e-6);
                shown++;
        }
        return shown;
}

static guint place(const guint *sizes, guint n, double wanted, AldCaption *ret_captions)
{
        g_autofree double *bounds = g_new0(double, n + 1), *lengths = g_new(double, n);
        guint all = 0;

        for (guint i = 0; i < n; i++)
                all += sizes[i];
        for (guint i = 0; i < n; i++) {
                bounds[i + 1] = bounds[i] + SIDE * sizes[i] / all;
                lengths[i] = wanted;
        }
        ald_captions_place(bounds, lengths, n, LINE, ret_captions);
        for (guint i = 0; i < n; i++)
                if (ret_captions[i].shown && ret_captions[i].length <= bounds[i + 1] - bounds[i])
                        g_assert_cmpfloat(fabs(ret_captions[i].at + ret_captions[i].length / 2 -
                                                  (bounds[i] + bounds[i + 1]) / 2),
                                <, 4 * LINE);
        return assert_apart(ret_captions, n);
}

static void test_small_segments_are_moved_apart(void)
{
        const guint sizes[] = { 60, 1, 1, 30, 1, 5 };
        AldCaption captions[G_N_ELEMENTS(sizes)];

        g_assert_cmpuint(place(sizes, G_N_ELEMENTS(sizes), 2 * LINE, captions), ==, G_N_ELEMENTS(sizes));
        g_assert_cmpfloat(captions[0].length, ==, 2 * LINE);
        g_assert_cmpfloat(captions[1].length, ==, LINE);
}

/* Where nothing fits, none is better than some that overlap; the large ones come first. */
static void test_without_room_for_all(void)
{
        guint sizes[1000];
        AldCaption captions[G_N_ELEMENTS(sizes)];
        guint shown;

        for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
                sizes[i] = i == 500 ? 24 : 1;
        shown = place(sizes, G_N_ELEMENTS(sizes), LINE, captions);
        g_assert_cmpuint(shown, >, 20);
        g_assert_cmpuint(shown, <=, (guint) (SIDE / LINE));
        g_assert_true(captions[500].shown);
}

static void test_random_segments(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(7);

        for (guint run = 0; run < 5000; run++) {
                guint n = (guint) g_rand_int_range(random, 1, 90), sizes[90];
                AldCaption captions[90];

                for (guint i = 0; i < n; i++)
                        sizes[i] = (guint) g_rand_int_range(random, 1, g_rand_boolean(random) ? 3 : 60);
                g_assert_cmpuint(place(sizes, n, LINE * g_rand_int_range(random, 1, 6), captions), >, 0);
        }
}

static const uint32_t *download(GdkTexture *picture, gsize *ret_n)
{
        gsize side = (gsize) gdk_texture_get_width(picture);
        uint32_t *data = g_new(uint32_t, side * side);

        gdk_texture_download(picture, (guchar *) data, side * sizeof *data);
        *ret_n = side * side;
        return data;
}

/* Each pixel of the widget is as many pixels of the screen, all alike. */
static void test_picture_of_small_pixels(void)
{
        const guint sizes[] = { 20, 10 };
        AldMatrixCells *cells = make_cells(sizes, G_N_ELEMENTS(sizes));
        g_autoptr(GdkTexture) one = ald_matrix_cells_picture(cells, 300, 1, false);
        g_autoptr(GdkTexture) two = ald_matrix_cells_picture(cells, 300, 2, false);
        gsize n_one, n_two;
        g_autofree const uint32_t *small = download(one, &n_one), *large = download(two, &n_two);

        g_assert_cmpuint(n_one, ==, 300 * 300);
        g_assert_cmpuint(n_two, ==, 600 * 600);
        for (gsize i = 0; i < n_two; i++)
                g_assert_cmphex(large[i], ==, small[i / 600 / 2 * 300 + i % 600 / 2]);
        ald_matrix_cells_free(cells);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/matrix/words", test_words);
        g_test_add_func("/matrix/names-with-commas-are-quoted", test_names_with_commas_are_quoted);
        g_test_add_func("/matrix/one-segment-has-no-words", test_one_segment_has_no_words);
        g_test_add_func("/matrix/words-are-limited", test_words_are_limited);
        g_test_add_func("/matrix/small-segments-are-moved-apart", test_small_segments_are_moved_apart);
        g_test_add_func("/matrix/without-room-for-all", test_without_room_for_all);
        g_test_add_func("/matrix/random-segments", test_random_segments);
        g_test_add_func("/matrix/picture-of-small-pixels", test_picture_of_small_pixels);
        return g_test_run();
}
