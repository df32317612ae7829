/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/desktop/layout/labels.h"
#include "clients/desktop/layout/positions.h"

/* Sanitizers, which are ten times as slow, see the same code in fewer. */
#ifdef WITH_SANITIZER
#define CLUSTERS 50u
#define REPEATED 40u
#else
#define CLUSTERS 10000u
#define REPEATED 200u
#endif

static const double aspects[] = { 1.6, 1.0, 0.6 };

/* A cluster with lines between its nodes, and their labels. */
typedef struct Picture {
        AldPositions *positions;
        GArray *ends; /* AldLineEnds */
        size_t n_lines;
        AldLine *lines;
        AldVector (*sizes)[ALD_N_LABEL_KINDS];
        unsigned *ranks;
        AldLabel (*labels)[ALD_N_LABEL_KINDS];
} Picture;

static void picture_clear(Picture *picture)
{
        ald_positions_free(picture->positions);
        g_array_unref(picture->ends);
        g_free(picture->lines);
        g_free(picture->sizes);
        g_free(picture->ranks);
        g_free(picture->labels);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Picture, picture_clear)

static AldLabelsInput labels_input(const Picture *picture)
{
        return (AldLabelsInput){ picture->positions->cards, picture->positions->n_cards,
                picture->positions->bounds, picture->lines, picture->n_lines,
                (const AldVector(*)[ALD_N_LABEL_KINDS]) picture->sizes, picture->ranks, NULL };
}

static void place(Picture *picture)
{
        AldLabelsInput input = labels_input(picture);

        ald_labels_place(&input, picture->labels);
}

static void route(Picture *picture)
{
        ald_lines_route(picture->positions->cards, picture->positions->n_cards,
                (const AldLineEnds *) picture->ends->data, picture->n_lines, picture->lines);
}

/* As a user may drag it, also onto another card. */
static void drag_card(Picture *picture, GRand *random)
{
        const AldBox *bounds = &picture->positions->bounds;
        AldBox *card = &picture->positions->cards[g_rand_int_range(random, 0, picture->positions->n_cards)];

        card->x = g_rand_double_range(random, 0, bounds->width - card->width);
        card->y = g_rand_double_range(random, 0, bounds->height - card->height);
        route(picture);
}

/* Draws all but the labels, whose sizes are still 0. */
static void draw(Picture *picture, size_t n, double aspect)
{
        g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(AldCardPair));
        AldPositionsInput input = { .n_nodes = n,
                .card_width = 208,
                .card_height = 116,
                .label_width = 76,
                .label_height = 20,
                .aspect = aspect };

        picture->n_lines = picture->ends->len;
        for (guint i = 0; i < picture->ends->len; i++) {
                const AldLineEnds *ends = &g_array_index(picture->ends, AldLineEnds, i);

                g_array_append_val(edges, ((AldCardPair){ ends->a, ends->b }));
        }
        input.edges = (const AldCardPair *) edges->data;
        input.n_edges = edges->len;
        picture->positions = ald_positions_new(&input);
        picture->lines = g_new0(AldLine, picture->n_lines + 1);
        picture->sizes = g_malloc0((picture->n_lines + 1) * sizeof(*picture->sizes));
        picture->ranks = g_new0(unsigned, picture->n_lines + 1);
        picture->labels = g_malloc0((picture->n_lines + 1) * sizeof(*picture->labels));
        route(picture);
}

static void add_lanes(Picture *picture, unsigned a, unsigned b, unsigned n_lanes)
{
        for (unsigned lane = 0; lane < n_lanes; lane++)
                g_array_append_val(picture->ends, ((AldLineEnds){ a, b, lane, n_lanes }));
}

static Picture draw_mesh(size_t n, unsigned n_lanes, double aspect)
{
        Picture picture = { .ends = g_array_new(FALSE, FALSE, sizeof(AldLineEnds)) };

        for (unsigned a = 0; a < n; a++)
                for (unsigned b = a + 1; b < n; b++)
                        add_lanes(&picture, a, b, n_lanes);
        draw(&picture, n, aspect);
        for (size_t i = 0; i < picture.n_lines; i++) {
                picture.sizes[i][ALD_LABEL_TO_A] = picture.sizes[i][ALD_LABEL_TO_B] = (AldVector){ 76, 20 };
                picture.sizes[i][ALD_LABEL_MIDDLE] = (AldVector){ 60, 20 };
        }
        place(&picture);
        return picture;
}

static Picture draw_random(GRand *random)
{
        Picture picture = { .ends = g_array_new(FALSE, FALSE, sizeof(AldLineEnds)) };
        unsigned n = g_rand_int_range(random, 1, 17);
        int percent = g_rand_int_range(random, 0, 101);

        for (unsigned a = 0; a < n; a++)
                for (unsigned b = a + 1; b < n; b++)
                        if (g_rand_int_range(random, 0, 100) < percent)
                                add_lanes(&picture, a, b,
                                        g_rand_int_range(random, 0, 4) == 0 ? g_rand_int_range(random, 2, 4)
                                                                            : 1);
        draw(&picture, n, g_rand_double_range(random, 0.4, 2.5));
        if (g_rand_int_range(random, 0, 4) == 0)
                drag_card(&picture, random);
        for (size_t i = 0; i < picture.n_lines; i++) {
                picture.ranks[i] = g_rand_int_range(random, 0, 4);
                for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        if (g_rand_int_range(random, 0, 8) > 0)
                                picture.sizes[i][kind] = (AldVector){ g_rand_double_range(random, 20, 120),
                                        g_rand_double_range(random, 12, 32) };
        }
        place(&picture);
        return picture;
}

/* All labels of a picture are clear of each other, of cards and of the border. */
static void assert_clear(const Picture *picture)
{
        g_autoptr(GArray) boxes = g_array_new(FALSE, FALSE, sizeof(AldBox));

        for (size_t i = 0; i < picture->n_lines; i++)
                for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        if (picture->labels[i][kind].shown)
                                g_array_append_val(boxes, picture->labels[i][kind].box);
        for (guint i = 0; i < boxes->len; i++) {
                const AldBox *box = &g_array_index(boxes, AldBox, i);

                g_assert_true(ald_box_contains(&picture->positions->bounds, box));
                for (guint j = i + 1; j < boxes->len; j++)
                        g_assert_false(ald_boxes_overlap(box, &g_array_index(boxes, AldBox, j), 1));
                for (size_t j = 0; j < picture->positions->n_cards; j++)
                        g_assert_false(ald_boxes_overlap(box, &picture->positions->cards[j], 1));
        }
}

/* Where the way from one point to another is nearest to a box; 0 if it passes through it. */
static double distance_to_segment(const AldBox *box, AldVector from, AldVector to)
{
        double least = INFINITY, enter, leave;

        if (ald_box_clip(box, from, to, &enter, &leave))
                return 0;
        for (unsigned i = 0; i <= 16; i++) {
                AldVector at = ald_vector_mix(from, to, i / 16.0);
                double x = MAX(MAX(box->x - at.x, at.x - box->x - box->width), 0),
                       y = MAX(MAX(box->y - at.y, at.y - box->y - box->height), 0);

                least = MIN(least, ald_vector_length((AldVector){ x, y }));
        }
        return least;
}

static double distance_to_line(const AldBox *box, const AldLine *line)
{
        double least = INFINITY;

        for (unsigned i = 0; i < 32; i++)
                least = MIN(least, distance_to_segment(box, ald_line_point(line, i / 32.0),
                                           ald_line_point(line, (i + 1) / 32.0)));
        return least;
}

/* Labels that readers may take for those of another pair. */
typedef struct Astray {
        unsigned shown;
        unsigned crossed; /* the line of another pair passes through them */
        unsigned nearer;  /* it is at least as near as their own */
} Astray;

static bool joins_same(const Picture *picture, size_t i, size_t j)
{
        const AldLineEnds *x = &g_array_index(picture->ends, AldLineEnds, i),
                          *y = &g_array_index(picture->ends, AldLineEnds, j);

        return x->a == y->a && x->b == y->b;
}

static void count_astray(const Picture *picture, Astray *astray)
{
        for (size_t i = 0; i < picture->n_lines * ALD_N_LABEL_KINDS; i++) {
                const AldLabel *label = &picture->labels[i / ALD_N_LABEL_KINDS][i % ALD_N_LABEL_KINDS];
                double own, other = INFINITY;

                if (!label->shown)
                        continue;
                own = distance_to_line(&label->box, &picture->lines[i / ALD_N_LABEL_KINDS]);
                for (size_t j = 0; j < picture->n_lines; j++)
                        if (!joins_same(picture, i / ALD_N_LABEL_KINDS, j))
                                other = MIN(other, distance_to_line(&label->box, &picture->lines[j]));
                astray->shown++;
                astray->crossed += other == 0;
                astray->nearer += other > 0 && other <= own;
        }
}

static unsigned count_shown(const Picture *picture)
{
        unsigned shown = 0;

        for (size_t i = 0; i < picture->n_lines; i++)
                for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        shown += picture->labels[i][kind].shown;
        return shown;
}

/*
 * Of the labels of meshes, with one line or two between each two nodes. When places beside lines came first,
 * it was 7, 12, 12, 21 and 31 percent with 4 to 8 nodes, and 8, 22, 40, 44 and 55 with two lines.
 */
static void test_on_own_line(void)
{
        static const unsigned most[][2] = { { 0, 0 }, { 0, 0 }, { 0, 2 }, { 0, 7 }, { 5, 19 }, { 4, 17 },
                { 10, 38 } }; /* percent, from 2 nodes on */

        for (size_t i = 0; i < G_N_ELEMENTS(most); i++)
                for (unsigned n_lanes = 1; n_lanes <= 2; n_lanes++) {
                        Astray astray = { 0 };

                        for (size_t a = 0; a < G_N_ELEMENTS(aspects); a++) {
                                g_auto(Picture) picture = draw_mesh(i + 2, n_lanes, aspects[a]);

                                count_astray(&picture, &astray);
                        }
                        g_test_message("%zu nodes, %u lanes: %u labels, %u on another line, %u nearer to one",
                                i + 2, n_lanes, astray.shown, astray.crossed, astray.nearer);
                        g_assert_cmpuint(100 * (astray.crossed + astray.nearer), <=,
                                most[i][n_lanes - 1] * astray.shown);
                }
}

/* A mark in the middle of a line, such as a triangle, is not covered where there is another place. */
static void test_marks_are_seen(void)
{
        g_auto(Picture) picture = draw_mesh(4, 1, 1.6);
        g_autofree bool *marked = g_new(bool, picture.n_lines);
        AldLabelsInput input = labels_input(&picture);

        memset(marked, true, picture.n_lines * sizeof *marked);
        input.marked = marked;
        ald_labels_place(&input, picture.labels);
        assert_clear(&picture);
        g_assert_cmpuint(count_shown(&picture), ==, 3 * picture.n_lines);
        for (size_t i = 0; i < picture.n_lines * ALD_N_LABEL_KINDS; i++)
                for (size_t j = 0; j < picture.n_lines; j++) {
                        AldBox mark = ald_box_around(ald_line_point(&picture.lines[j], 0.5), 15, 15);

                        g_assert_false(ald_boxes_overlap(
                                &picture.labels[i / ALD_N_LABEL_KINDS][i % ALD_N_LABEL_KINDS].box, &mark, 0));
                }
}

static void test_all_shown(void)
{
        for (size_t a = 0; a < G_N_ELEMENTS(aspects); a++)
                for (size_t n = 2; n <= 4; n++)
                        for (unsigned n_lanes = 1; n_lanes <= 2; n_lanes++) {
                                g_auto(Picture) picture = draw_mesh(n, n_lanes, aspects[a]);

                                assert_clear(&picture);
                                g_assert_cmpuint(count_shown(&picture), ==, 3 * picture.n_lines);
                        }
}

static void test_most_shown(void)
{
        for (size_t a = 0; a < G_N_ELEMENTS(aspects); a++)
                for (size_t n = 5; n <= 8; n++) {
                        g_auto(Picture) picture = draw_mesh(n, 1, aspects[a]);

                        assert_clear(&picture);
                        g_assert_cmpuint(100 * count_shown(&picture), >=, 80 * 3 * picture.n_lines);
                }
}

/* A label is nearer to its own arrow head than to the other, and on the same side of its line as the other.
 */
static void test_beside_head(void)
{
        g_auto(Picture) picture = draw_mesh(4, 1, 1.6);

        for (size_t i = 0; i < picture.n_lines; i++) {
                const AldLine *line = &picture.lines[i];
                AldVector across = ald_vector_turn(line->start_direction);
                double sides[ALD_N_LABEL_KINDS];

                for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++) {
                        AldVector center = ald_box_center(&picture.labels[i][kind].box);
                        double to_a = ald_vector_length(ald_vector_sub(center, line->start));
                        double to_b = ald_vector_length(ald_vector_sub(center, line->end));

                        sides[kind] = ald_vector_dot(across, ald_vector_sub(center, line->start));
                        if (kind == ALD_LABEL_TO_A)
                                g_assert_cmpfloat(to_a, <, to_b);
                        else if (kind == ALD_LABEL_TO_B)
                                g_assert_cmpfloat(to_b, <, to_a);
                }
                /* Those on the line are on neither side, nearly. */
                g_assert_cmpfloat(sides[ALD_LABEL_TO_A] * sides[ALD_LABEL_TO_B], >=, -1e-6);
                g_assert_cmpfloat(sides[ALD_LABEL_TO_A] * sides[ALD_LABEL_MIDDLE], <=, 1e-6);
        }
}

static void test_random(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(16);

        for (unsigned i = 0; i < CLUSTERS; i++) {
                g_auto(Picture) picture = draw_random(random);

                assert_clear(&picture);
        }
}

/* Bit by bit, but without what is between the members. */
static void assert_same(const AldLabel *one, const AldLabel *other)
{
        g_assert_cmpmem(&one->box, sizeof one->box, &other->box, sizeof other->box);
        g_assert_true(one->shown == other->shown);
}

static void test_same_again(void)
{
        for (unsigned i = 0; i < REPEATED; i++) {
                g_autoptr(GRand) one = g_rand_new_with_seed(i), other = g_rand_new_with_seed(i);
                g_auto(Picture) first = draw_random(one), second = draw_random(other);

                g_assert_cmpuint(first.n_lines, ==, second.n_lines);
                for (size_t line = 0; line < first.n_lines; line++)
                        for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                                assert_same(&first.labels[line][kind], &second.labels[line][kind]);
        }
}

/* Without the labels of lines from some rank on, exactly the same labels of the others are shown. */
static void test_ranks(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(3);

        for (unsigned i = 0; i < 500; i++) {
                g_auto(Picture) picture = draw_random(random);
                g_autofree AldLabel(*before)[ALD_N_LABEL_KINDS] = g_memdup2(
                        picture.labels, picture.n_lines * sizeof(*before));
                unsigned hidden_from = 1 + i % 3;

                for (size_t k = 0; k < picture.n_lines; k++)
                        if (picture.ranks[k] >= hidden_from)
                                memset(picture.sizes[k], 0, sizeof(picture.sizes[k]));
                place(&picture);
                for (size_t k = 0; k < picture.n_lines; k++)
                        for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                                g_assert_true(picture.labels[k][kind].shown ==
                                              (picture.ranks[k] < hidden_from && before[k][kind].shown));
        }
}

/* Nearly all labels of one node's lines are shown if these come first, and not if they come last. */
static unsigned shown_of_node(Picture *picture, unsigned node, unsigned rank)
{
        unsigned shown = 0;

        for (size_t i = 0; i < picture->n_lines; i++) {
                const AldLineEnds *ends = &g_array_index(picture->ends, AldLineEnds, i);

                picture->ranks[i] = ends->a == node || ends->b == node ? rank : 1;
        }
        place(picture);
        for (size_t i = 0; i < picture->n_lines; i++)
                for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        shown += picture->ranks[i] == rank && picture->labels[i][kind].shown;
        return shown;
}

static void test_selected(void)
{
        g_auto(Picture) picture = draw_mesh(16, 1, 1.6);

        for (unsigned node = 0; node < 16; node++) {
                g_assert_cmpuint(shown_of_node(&picture, node, 0), >=, 40);
                g_assert_cmpuint(shown_of_node(&picture, node, 2), <, 40);
        }
}

static void test_absurd_sizes(void)
{
        static const double figures[] = { 0, -1, NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e-308, 1e5 };

        for (size_t i = 0; i < G_N_ELEMENTS(figures); i++)
                for (unsigned where = 0; where < 6; where++) {
                        g_auto(Picture) picture = draw_mesh(5, 2, 1.6);
                        AldBox *bounds = &picture.positions->bounds, *card = &picture.positions->cards[1];
                        double *places[] = { &picture.sizes[3][1].x, &picture.sizes[3][1].y,
                                &picture.lines[3].start.x, &picture.lines[3].control.y, &bounds->width,
                                &card->height };

                        *places[where] = figures[i];
                        place(&picture);
                        if (where < 5)
                                assert_clear(&picture);
                }
}

static void test_many(void)
{
        Picture picture = { .ends = g_array_new(FALSE, FALSE, sizeof(AldLineEnds)) };
        unsigned shown;

        for (unsigned i = 0; i < 8000; i++)
                add_lanes(&picture, i % 1000, i * 7919 % 1000, 1);
        draw(&picture, 1000, 1.6);
        for (size_t i = 0; i < picture.n_lines; i++)
                for (unsigned kind = 0; kind < ALD_N_LABEL_KINDS; kind++)
                        picture.sizes[i][kind] = (AldVector){ 76, 20 };
        place(&picture);
        shown = count_shown(&picture);
        g_assert_cmpuint(shown, >, 0);
        g_assert_cmpuint(shown, <=, 3 * ALD_LABELS_MAX_LINES);
        assert_clear(&picture);
        picture_clear(&picture);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/layout/labels/all-shown", test_all_shown);
        g_test_add_func("/layout/labels/most-shown", test_most_shown);
        g_test_add_func("/layout/labels/beside-head", test_beside_head);
        g_test_add_func("/layout/labels/on-own-line", test_on_own_line);
        g_test_add_func("/layout/labels/marks-are-seen", test_marks_are_seen);
        g_test_add_func("/layout/labels/random", test_random);
        g_test_add_func("/layout/labels/same-again", test_same_again);
        g_test_add_func("/layout/labels/ranks", test_ranks);
        g_test_add_func("/layout/labels/selected", test_selected);
        g_test_add_func("/layout/labels/absurd-sizes", test_absurd_sizes);
        g_test_add_func("/layout/labels/many", test_many);
        return g_test_run();
}
