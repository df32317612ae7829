/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <glib.h>

#include "probes/common/series.h"

static void assert_near(double value, double expected)
{
        g_assert_cmpfloat_with_epsilon(value, expected, fabs(expected) * 1e-3);
}

static AldSeries *series_of(size_t n, const double *rates)
{
        AldSeries *series = g_new0(AldSeries, 1);

        for (size_t i = 0; i < n; i++)
                g_assert_true(ald_series_add(series, rates[i]));
        return series;
}

static void test_student(void)
{
        g_assert_true(isinf(ald_student_factor(0)));
        g_assert_true(isinf(ald_student_factor(1)));
        assert_near(ald_student_factor(2), 12.706);
        assert_near(ald_student_factor(5), 2.776);
        assert_near(ald_student_factor(11), 2.228);
        /* Where the table ends. */
        assert_near(ald_student_factor(12), 2.201);
        assert_near(ald_student_factor(16), 2.131);
        assert_near(ald_student_factor(31), 2.042);
        assert_near(ald_student_factor(1001), 1.962);
}

static void test_figures(void)
{
        const double odd[] = { 10, 12, 11 }, even[] = { 4, 1, 3, 2 };
        g_autofree AldSeries *three = series_of(3, odd), *four = series_of(4, even);
        AldSeriesFigures figures;

        g_assert_true(ald_series_figures(three, &figures));
        g_assert_cmpfloat(figures.best, ==, 12);
        g_assert_cmpfloat(figures.mean, ==, 11);
        g_assert_cmpfloat(figures.median, ==, 11);
        /* A standard deviation of 1, by the root of 3, by the mean. */
        assert_near(figures.interval, 4.303 / sqrt(3) / 11);
        g_assert_true(ald_series_figures(four, &figures));
        g_assert_cmpfloat(figures.best, ==, 4);
        g_assert_cmpfloat(figures.median, ==, 2.5);
        /* Their order in time stays. */
        g_assert_cmpfloat(four->rates[0], ==, 4);
}

static void test_few(void)
{
        const double one[] = { 7 };
        g_autofree AldSeries *single = series_of(1, one), *none = series_of(0, NULL);
        AldSeriesFigures figures = { .best = -1 };

        g_assert_false(ald_series_figures(none, &figures));
        g_assert_cmpfloat(figures.best, ==, -1);
        g_assert_true(ald_series_figures(single, &figures));
        g_assert_cmpfloat(figures.best, ==, 7);
        g_assert_true(isinf(figures.interval));
        g_assert_false(ald_series_add(none, 0));
        g_assert_false(ald_series_add(none, -1));
        g_assert_false(ald_series_add(none, NAN));
        g_assert_false(ald_series_add(none, INFINITY));
        g_assert_cmpuint(none->n, ==, 0);
        for (size_t i = 0; i < ALD_SERIES_MAX; i++)
                g_assert_true(ald_series_add(none, 1));
        g_assert_false(ald_series_add(none, 1));
        g_assert_true(ald_series_figures(none, &figures));
        g_assert_cmpfloat(figures.interval, ==, 0);
}

static void test_near_best(void)
{
        const double rates[] = { 100, 98, 99.5, 50, 99 };
        g_autofree AldSeries *series = series_of(5, rates);

        g_assert_cmpuint(ald_series_near_best(series, 0.01), ==, 3);
        g_assert_cmpuint(ald_series_near_best(series, 0), ==, 1);
        g_assert_cmpuint(ald_series_near_best(series, 0.5), ==, 5);
}

static void test_confirmed(void)
{
        /* Woken late after the fourth window, and again: what follows is too fast. */
        const double rates[] = { 100, 98, 99, 20, 5000, 97, 30, 700 };
        g_autofree AldSeries *series = series_of(8, rates), *few = series_of(2, rates);

        assert_near(ald_series_confirmed(series, 0.05, 3), 100);
        assert_near(ald_series_confirmed(series, 0.05, 1), 5000);
        g_assert_cmpfloat(ald_series_confirmed(series, 0.005, 3), ==, 0);
        g_assert_cmpfloat(ald_series_confirmed(few, 0.05, 3), ==, 0);
}

static void add_all(AldSettle *settle, const double *rates, size_t n)
{
        for (size_t i = 0; i < n; i++)
                ald_settle_add(settle, rates[i], 0);
}

static void test_slope(void)
{
        const double rising[] = { 98, 99, 100, 101, 102 }, flat[] = { 100, 100.2, 99.9, 100.1, 99.9 };
        AldSettle settle = {};

        add_all(&settle, rising, 4);
        g_assert_true(isinf(ald_settle_slope(&settle)));
        g_assert_false(ald_settle_done(&settle));
        add_all(&settle, rising + 4, 1);
        assert_near(ald_settle_slope(&settle), 0.01);
        g_assert_false(ald_settle_done(&settle));
        /* Only the last five count. */
        add_all(&settle, flat, 5);
        g_assert_cmpfloat(fabs(ald_settle_slope(&settle)), <, 0.001);
        g_assert_true(ald_settle_done(&settle));
        /* Neither does what slows down have settled. */
        for (size_t i = 5; i-- > 0;)
                ald_settle_add(&settle, rising[i], 0);
        assert_near(ald_settle_slope(&settle), -0.01);
        g_assert_false(ald_settle_done(&settle));
}

static void test_clocks(void)
{
        AldSettle settle = {};

        for (size_t i = 0; i < ALD_SETTLE_BATCHES; i++)
                ald_settle_add(&settle, 100, 1e9 + (double) i * 1e8);
        g_assert_false(ald_settle_done(&settle));
        for (size_t i = 0; i < ALD_SETTLE_BATCHES; i++)
                ald_settle_add(&settle, 100, 1.4e9 + (double) i * 1e6);
        g_assert_true(ald_settle_done(&settle));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe-series/student", test_student);
        g_test_add_func("/probe-series/figures", test_figures);
        g_test_add_func("/probe-series/few", test_few);
        g_test_add_func("/probe-series/near-best", test_near_best);
        g_test_add_func("/probe-series/confirmed", test_confirmed);
        g_test_add_func("/probe-series/slope", test_slope);
        g_test_add_func("/probe-series/clocks", test_clocks);
        return g_test_run();
}
