/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "clients/desktop/layout/spark-points.h"

#define N 6u
#define WIDTH 60.0
#define HEIGHT 22.0

static const AldSparkPoint unknown = ALD_SPARK_POINT_INIT;

/* Two parts with values, a gap of two, and two more. */
static void fill(AldSparkPoint points[N])
{
        points[0] = (AldSparkPoint){ 0, 10, 20 };
        points[1] = (AldSparkPoint){ 30, 30, 30 };
        points[2] = points[3] = unknown;
        points[4] = (AldSparkPoint){ 0, 0, 0 };
        points[5] = (AldSparkPoint){ 0, 20, 100 };
}

typedef struct Drawn {
        AldBox bands[N], line[2 * N];
        size_t n_bands, n_line;
} Drawn;

static void draw(Drawn *drawn, const AldSparkPoint *points, AldSparkRange range, bool from_right)
{
        ald_sparkline_lay_out(points, N, range, WIDTH, HEIGHT, from_right, drawn->bands, &drawn->n_bands,
                drawn->line, &drawn->n_line);
}

static void test_summary(void)
{
        AldSparkPoint points[N], all;

        fill(points);
        all = ald_sparkline_summary(points, N);
        g_assert_cmpfloat(all.min, ==, 0);
        g_assert_cmpfloat(all.mean, ==, 15);
        g_assert_cmpfloat(all.max, ==, 100);
        all = ald_sparkline_summary(&unknown, 1);
        g_assert_true(isnan(all.min) && isnan(all.mean) && isnan(all.max));
        all = ald_sparkline_summary(NULL, 0);
        g_assert_true(isnan(all.mean));
}

static void test_range(void)
{
        const AldSparkPoint steady = { 99, 100, 100 }, zero = { 0, 0, 0 }, negative = { -20, -10, 0 };
        AldSparkRange range = ald_sparkline_range(&steady, 1);

        /* Ten, around what is there. */
        g_assert_cmpfloat_with_epsilon(range.low, 94.5, 1e-9);
        g_assert_cmpfloat_with_epsilon(range.high, 104.5, 1e-9);
        range = ald_sparkline_range(&negative, 1);
        g_assert_cmpfloat(range.low, ==, -20);
        g_assert_cmpfloat(range.high, ==, 0);
        range = ald_sparkline_range(&zero, 1);
        g_assert_cmpfloat(range.high, >, range.low);
        range = ald_sparkline_range(&unknown, 1);
        g_assert_cmpfloat(range.high, >, range.low);
}

static bool covers(const AldBox *boxes, size_t n, double x)
{
        for (size_t i = 0; i < n; i++)
                if (boxes[i].x <= x && x < boxes[i].x + boxes[i].width)
                        return true;
        return false;
}

static void test_gaps_stay_empty(void)
{
        AldSparkPoint points[N];
        Drawn drawn;

        fill(points);
        draw(&drawn, points, (AldSparkRange){ 0, 100 }, false);
        for (double x = 0.5; x < WIDTH; x++)
                g_assert_cmpint(covers(drawn.line, drawn.n_line, x), ==, x < 20 || x > 40);
        /* Four steps, and the way up within each of both parts. */
        g_assert_cmpuint(drawn.n_line, ==, 6);
        /* Of the points whose values differ. */
        g_assert_cmpuint(drawn.n_bands, ==, 2);
        g_assert_cmpfloat(drawn.bands[1].x, ==, 50);
        g_assert_cmpfloat(drawn.bands[1].y, ==, 1);
        g_assert_cmpfloat(drawn.bands[1].height, ==, HEIGHT - 2);
}

static void test_values_have_their_height(void)
{
        AldSparkPoint points[N] = { { 0, 0, 0 }, { 50, 50, 50 }, { 100, 100, 100 }, { 500, 500, 500 },
                { -500, -500, -500 }, ALD_SPARK_POINT_INIT };
        const double middles[] = { 21, 11, 1, 1, 21 };
        Drawn drawn;

        draw(&drawn, points, (AldSparkRange){ 0, 100 }, false);
        for (size_t i = 0; i < G_N_ELEMENTS(middles); i++) {
                bool found = false;

                for (size_t k = 0; k < drawn.n_line; k++)
                        found = found || (drawn.line[k].width == 10 && drawn.line[k].x == 10 * (double) i &&
                                                 drawn.line[k].y + 1 == middles[i]);
                g_assert_true(found);
        }
}

static void test_from_right_is_the_mirror_image(void)
{
        AldSparkPoint points[N];
        Drawn there, back;

        fill(points);
        draw(&there, points, (AldSparkRange){ 0, 100 }, false);
        draw(&back, points, (AldSparkRange){ 0, 100 }, true);
        g_assert_cmpuint(there.n_line, ==, back.n_line);
        for (size_t i = 0; i < there.n_line; i++) {
                g_assert_cmpfloat(there.line[i].x, ==, WIDTH - back.line[i].x - back.line[i].width);
                g_assert_cmpfloat(there.line[i].y, ==, back.line[i].y);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/sparkline/summary", test_summary);
        g_test_add_func("/sparkline/range", test_range);
        g_test_add_func("/sparkline/gaps", test_gaps_stay_empty);
        g_test_add_func("/sparkline/height", test_values_have_their_height);
        g_test_add_func("/sparkline/mirror", test_from_right_is_the_mirror_image);
        return g_test_run();
}
