/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "clients/desktop/layout/lines.h"

#define NEAR 1e-6

static const AldBox pair[] = { { 0, 0, 200, 100 }, { 500, 0, 200, 100 } };

static void test_straight(void)
{
        static const AldLineEnds ends = { 0, 1, 0, 1 };
        AldLine line;

        ald_lines_route(pair, 2, &ends, 1, &line);
        g_assert_false(line.curved);
        g_assert_cmpint(line.side, ==, 0);
        g_assert_cmpfloat_with_epsilon(line.start.x, 200 + ALD_LINE_GAP, NEAR);
        g_assert_cmpfloat_with_epsilon(line.end.x, 500 - ALD_LINE_GAP, NEAR);
        g_assert_cmpfloat_with_epsilon(line.start.y, 50, NEAR);
        g_assert_cmpfloat_with_epsilon(line.control.x, 350, NEAR);
        g_assert_cmpfloat(line.start_direction.x, ==, 1);
        g_assert_cmpfloat(line.end_direction.y, ==, 0);
}

/* Lanes are as far above the centre line as below it, and where they are does not depend on which end is a.
 */
static void test_lanes(void)
{
        for (unsigned n = 1; n <= 4; n++)
                for (unsigned lane = 0; lane < n; lane++) {
                        const AldLineEnds ends[] = { { 0, 1, lane, n }, { 1, 0, lane, n } };
                        double y = 50 + (lane - (n - 1) / 2.0) * ALD_LANE_GAP;
                        AldLine lines[2];

                        ald_lines_route(pair, 2, ends, 2, lines);
                        g_assert_cmpfloat_with_epsilon(lines[0].start.y, y, NEAR);
                        g_assert_cmpfloat_with_epsilon(lines[0].end.y, y, NEAR);
                        g_assert_cmpfloat_with_epsilon(lines[1].start.y, y, NEAR);
                        g_assert_cmpint(lines[0].side, ==, y > 50 ? 1 : y < 50 ? -1 : 0);
                        g_assert_cmpint(lines[1].side, ==, -lines[0].side);
                }
}

static bool touches(const AldLine *line, const AldBox *box)
{
        for (unsigned i = 0; i < 100; i++) {
                double enter, leave;

                if (ald_box_clip(box, ald_line_point(line, i / 100.0), ald_line_point(line, (i + 1) / 100.0),
                            &enter, &leave))
                        return true;
        }
        return false;
}

static void test_goes_round(void)
{
        static const AldBox cards[] = { { 0, 0, 200, 100 }, { 600, 0, 200, 100 }, { 300, 30, 200, 100 } };

        for (unsigned n = 1; n <= 3; n++)
                for (unsigned lane = 0; lane < n; lane++) {
                        const AldLineEnds ends = { 0, 1, lane, n };
                        AldLine line;

                        ald_lines_route(cards, 3, &ends, 1, &line);
                        g_assert_true(line.curved);
                        /* The shorter way. */
                        g_assert_cmpfloat(line.control.y, <, 50);
                        g_assert_false(touches(&line, &cards[2]));
                        g_assert_false(touches(&line, &cards[0]));
                        g_assert_false(touches(&line, &cards[1]));
                        g_assert_cmpfloat_with_epsilon(ald_vector_length(line.start_direction), 1, NEAR);
                        g_assert_cmpfloat(line.start_direction.y, <, 0);
                        g_assert_cmpfloat(line.end_direction.y, >, 0);
                }
}

static void test_absurd(void)
{
        static const double figures[] = { 0, -1, NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e-308 };
        static const AldLineEnds ends[] = { { 0, 1, 0, 1 }, { 0, 0, 0, 1 }, { 0, 2, 0, 1 }, { 0, 3, 0, 1 },
                { 0, 1, 5, 2 }, { 0, 1, 0, 0 }, { 1, 0, 4000000000, 4000000000 }, { 0, 1, 7, 4000000000 } };

        for (size_t i = 0; i < G_N_ELEMENTS(figures); i++)
                for (unsigned member = 0; member < 4; member++) {
                        AldBox cards[] = { pair[0], pair[1], { 300, 30, 100, 100 } };
                        AldLine lines[G_N_ELEMENTS(ends)];
                        double *members[] = { &cards[0].x, &cards[0].y, &cards[0].width, &cards[2].height };

                        *members[member] = figures[i];
                        ald_lines_route(cards, 3, ends, G_N_ELEMENTS(ends), lines);
                        g_assert_cmpfloat(lines[1].start.x, ==, lines[1].end.x);
                        g_assert_cmpfloat(lines[3].start.x, ==, lines[3].end.x);
                }
}

static void test_overlapping_cards(void)
{
        static const AldBox cards[] = { { 0, 0, 200, 100 }, { 150, 20, 200, 100 }, { 0, 0, 200, 100 } };
        static const AldLineEnds ends[] = { { 0, 1, 0, 1 }, { 0, 2, 1, 2 } };
        AldLine lines[2];

        ald_lines_route(cards, 3, ends, 2, lines);
        for (size_t i = 0; i < 2; i++) {
                g_assert_cmpfloat(lines[i].start.x, ==, lines[i].end.x);
                g_assert_cmpfloat(lines[i].start.y, ==, lines[i].end.y);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/layout/lines/straight", test_straight);
        g_test_add_func("/layout/lines/lanes", test_lanes);
        g_test_add_func("/layout/lines/goes-round", test_goes_round);
        g_test_add_func("/layout/lines/absurd", test_absurd);
        g_test_add_func("/layout/lines/overlapping-cards", test_overlapping_cards);
        return g_test_run();
}
