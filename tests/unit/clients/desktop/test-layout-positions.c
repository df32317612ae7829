/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/desktop/layout/positions.h"

static const double aspects[] = { 1.6, 1.0, 0.6 };

static AldPositionsInput usual_input(size_t n, double aspect)
{
        return (AldPositionsInput){ .n_nodes = n,
                .card_width = 208,
                .card_height = 116,
                .label_width = 76,
                .label_height = 20,
                .aspect = aspect };
}

static void assert_apart(const AldPositions *positions, double gap)
{
        for (size_t i = 0; i < positions->n_cards; i++) {
                g_assert_true(ald_box_is_valid(&positions->cards[i]));
                g_assert_true(ald_box_contains(&positions->bounds, &positions->cards[i]));
                for (size_t j = i + 1; j < positions->n_cards; j++)
                        g_assert_false(ald_boxes_overlap(&positions->cards[i], &positions->cards[j], gap));
        }
}

static void assert_same(const AldPositionsInput *left, const AldPositionsInput *right)
{
        g_autoptr(AldPositions) a = ald_positions_new(left), b = ald_positions_new(right);

        g_assert_cmpmem(a->cards, a->n_cards * sizeof(AldBox), b->cards, b->n_cards * sizeof(AldBox));
        g_assert_cmpmem(&a->bounds, sizeof(AldBox), &b->bounds, sizeof(AldBox));
        g_assert_cmpuint(a->n_groups, ==, b->n_groups);
        for (size_t i = 0; i < a->n_groups; i++)
                g_assert_cmpmem(&a->groups[i].frame, sizeof(AldBox), &b->groups[i].frame, sizeof(AldBox));
}

static GArray *random_edges(GRand *random, size_t n)
{
        GArray *edges = g_array_new(FALSE, FALSE, sizeof(AldCardPair));
        int percent = g_rand_int_range(random, 0, 101);

        for (unsigned a = 0; a < n; a++)
                for (unsigned b = a + 1; b < n; b++)
                        if (g_rand_int_range(random, 0, 100) < percent)
                                g_array_append_val(edges, ((AldCardPair){ a, b }));
        return edges;
}

static void test_apart(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(1);

        for (size_t n = 0; n <= 60; n++)
                for (unsigned round = 0; round < 6; round++) {
                        AldPositionsInput input = usual_input(n, aspects[round % 3]);
                        g_autoptr(GArray) edges = random_edges(random, n);
                        g_autoptr(AldPositions) positions = NULL;
                        g_autofree unsigned *groups = g_new(unsigned, n + 1);

                        for (size_t i = 0; i < n; i++)
                                groups[i] = g_rand_int_range(random, 0, 5);
                        input.edges = (const AldCardPair *) edges->data;
                        input.n_edges = edges->len;
                        input.groups = round % 2 == 0 ? groups : NULL;
                        positions = ald_positions_new(&input);
                        g_assert_cmpuint(positions->n_cards, ==, n);
                        assert_apart(positions, 16);
                        assert_same(&input, &input);
                }
}

/* Neither the order of edges nor how often they are named matters, and to 8 nodes not even which there are.
 */
static void test_edges(void)
{
        static const AldCardPair edges[] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 4, 5 }, { 5, 6 },
                { 6, 7 }, { 7, 8 }, { 8, 9 } };
        static const AldCardPair others[] = { { 9, 8 }, { 7, 6 }, { 5, 6 }, { 5, 4 }, { 3, 4 }, { 3, 2 },
                { 1, 2 }, { 1, 0 }, { 8, 7 }, { 8, 7 }, { 3, 3 }, { 3, 10 }, { 4000000000, 1 } };

        for (size_t n = 8; n <= 10; n += 2) {
                AldPositionsInput left = usual_input(n, 1.6), right = left;

                left.edges = edges;
                left.n_edges = n == 8 ? 3 : G_N_ELEMENTS(edges);
                right.edges = others;
                right.n_edges = G_N_ELEMENTS(others);
                assert_same(&left, &right);
        }
}

/* What a window of 1000 × 640 shows legibly. */
static void test_sizes(void)
{
        for (size_t n = 1; n <= 8; n++) {
                AldPositionsInput input = usual_input(n, 1.6);
                g_autoptr(AldPositions) positions = ald_positions_new(&input);

                g_assert_cmpfloat(positions->bounds.width, <=, n <= 5 ? 1100 : 1500);
                g_assert_cmpfloat(positions->bounds.height, <=, n <= 5 ? 720 : 950);
        }
}

static void test_two(void)
{
        AldPositionsInput wide = usual_input(2, 1.0), narrow = usual_input(2, 0.7);
        g_autoptr(AldPositions) beside = ald_positions_new(&wide), above = ald_positions_new(&narrow);

        g_assert_cmpfloat(beside->cards[0].y, ==, beside->cards[1].y);
        g_assert_cmpfloat(beside->cards[0].x, <, beside->cards[1].x);
        g_assert_cmpfloat(above->cards[0].x, ==, above->cards[1].x);
        g_assert_cmpfloat(above->cards[0].y, <, above->cards[1].y);
}

/* A mesh is a ring with the first node at the top, the next to its right, and equal halves. */
static void test_mesh(void)
{
        for (size_t n = 3; n <= 24; n++) {
                g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(AldCardPair));
                g_autoptr(AldPositions) positions = NULL;
                AldPositionsInput input = usual_input(n, 1.6);

                for (unsigned a = 0; a < n; a++)
                        for (unsigned b = a + 1; b < n; b++)
                                g_array_append_val(edges, ((AldCardPair){ a, b }));
                input.edges = (const AldCardPair *) edges->data;
                input.n_edges = edges->len;
                positions = ald_positions_new(&input);
                for (size_t i = 1; i < n; i++) {
                        double middle = (positions->cards[i].x + positions->cards[n - i].x) / 2;

                        g_assert_cmpfloat(positions->cards[i].y, >, positions->cards[0].y);
                        g_assert_cmpfloat(positions->cards[i].y, ==, positions->cards[n - i].y);
                        g_assert_cmpfloat(fabs(middle - positions->cards[0].x), <=, 1);
                }
                g_assert_cmpfloat(positions->cards[1].x, >, positions->cards[0].x);
        }
}

static double mean_distance(
        const AldPositions *positions, size_t from, size_t to, size_t other_from, size_t other_to)
{
        double sum = 0;

        for (size_t i = from; i < to; i++)
                for (size_t j = other_from; j < other_to; j++)
                        sum += ald_vector_length(ald_vector_sub(
                                ald_box_center(&positions->cards[i]), ald_box_center(&positions->cards[j])));
        return sum / ((to - from) * (other_to - other_from));
}

/* Two meshes that one edge joins are apart, in the longer direction of the window. */
static void test_clusters(void)
{
        for (size_t a = 0; a < G_N_ELEMENTS(aspects); a++) {
                g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(AldCardPair));
                g_autoptr(AldPositions) positions = NULL;
                AldPositionsInput input = usual_input(16, aspects[a]);

                for (unsigned i = 0; i < 16; i++)
                        for (unsigned j = i + 1; j < 16; j++)
                                if (i / 8 == j / 8 || (i == 3 && j == 12))
                                        g_array_append_val(edges, ((AldCardPair){ i, j }));
                input.edges = (const AldCardPair *) edges->data;
                input.n_edges = edges->len;
                positions = ald_positions_new(&input);
                g_assert_cmpfloat(
                        mean_distance(positions, 0, 8, 8, 16), >, 1.6 * mean_distance(positions, 0, 8, 0, 8));
        }
}

static void test_groups(void)
{
        static const unsigned numbers[] = { 7, 2, 2, 9 };
        unsigned groups[60];
        AldPositionsInput input = usual_input(G_N_ELEMENTS(groups), 1.6);
        g_autoptr(AldPositions) positions = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(groups); i++)
                groups[i] = numbers[i % G_N_ELEMENTS(numbers)];
        input.groups = groups;
        positions = ald_positions_new(&input);
        g_assert_cmpuint(positions->n_groups, ==, 3);
        for (size_t i = 0; i < positions->n_groups; i++) {
                const AldPositionsGroup *group = &positions->groups[i];

                g_assert_cmpuint(group->number, ==, ((const unsigned[]){ 2, 7, 9 })[i]);
                g_assert_cmpuint(group->n_nodes, ==, i == 0 ? 30 : 15);
                g_assert_true(ald_box_contains(&positions->bounds, &group->frame));
                for (size_t j = i + 1; j < positions->n_groups; j++)
                        g_assert_false(ald_boxes_overlap(&group->frame, &positions->groups[j].frame, 16));
                for (size_t node = 0; node < positions->n_cards; node++)
                        g_assert_true(ald_box_contains(&group->frame, &positions->cards[node]) ==
                                      (groups[node] == group->number));
        }
}

static void test_absurd(void)
{
        static const double figures[] = { 0, -1, NAN, INFINITY, -INFINITY, 1e308, 1e-308, 1 };
        static const size_t counts[] = { 0, 1, 2, 3, 8, 9, 24, 25, 1000 };

        for (size_t c = 0; c < G_N_ELEMENTS(counts); c++)
                for (size_t i = 0; i < G_N_ELEMENTS(figures); i++) {
                        const AldPositionsInput inputs[] = {
                                { counts[c], figures[i], 116, 76, 20, 1.6 },
                                { counts[c], 208, figures[i], 76, 20, 1.6 },
                                { counts[c], 208, 116, figures[i], 20, 1.6 },
                                { counts[c], 208, 116, 76, figures[i], 1.6 },
                                { counts[c], 208, 116, 76, 20, figures[i] },
                                { counts[c], figures[i], figures[i], figures[i], figures[i], figures[i] },
                        };

                        for (size_t k = 0; k < G_N_ELEMENTS(inputs); k++) {
                                g_autoptr(AldPositions) positions = ald_positions_new(&inputs[k]);

                                g_assert_cmpuint(positions->n_cards, ==, counts[c]);
                                assert_apart(positions, 1);
                        }
                }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/layout/positions/apart", test_apart);
        g_test_add_func("/layout/positions/edges", test_edges);
        g_test_add_func("/layout/positions/sizes", test_sizes);
        g_test_add_func("/layout/positions/two", test_two);
        g_test_add_func("/layout/positions/mesh", test_mesh);
        g_test_add_func("/layout/positions/clusters", test_clusters);
        g_test_add_func("/layout/positions/groups", test_groups);
        g_test_add_func("/layout/positions/absurd", test_absurd);
        return g_test_run();
}
