/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/common/statistics.h"

static void test_middle(void)
{
        double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
        double far[] = { 10, 1e9, 11, 12, 0, 13, 1e9, 0 };

        g_assert_cmpfloat(ald_interquartile_mean(odd, 3), ==, 3);
        g_assert_cmpfloat(odd[0], ==, 1);
        g_assert_cmpfloat(ald_interquartile_mean(even, 4), ==, 2.5);
        g_assert_cmpfloat(ald_interquartile_mean(one, 1), ==, 7);
        /* A quarter may be anything, at either side. */
        g_assert_cmpfloat(ald_interquartile_mean(far, 8), ==, 11.5);
}

static void test_rtt(void)
{
        AldRttSample samples[] = { { 10, 0 }, { 20, 0 }, { 10, 0 }, { 1000, 1 }, { 1010, 1 }, { 1000, 1 } };
        AldRttSample many[200];
        AldRttFigures figures;

        g_assert_false(ald_rtt_figures(samples, 0, &figures));
        g_assert_true(ald_rtt_figures(samples, 6, &figures));
        g_assert_cmpuint(figures.min, ==, 10);
        g_assert_cmpuint(figures.p50, ==, 20);
        g_assert_cmpuint(figures.p99, ==, 1010);
        /* Never across bursts: 10, 10, 10, 10. */
        g_assert_cmpuint(figures.jitter, ==, 10);
        for (unsigned i = 0; i < G_N_ELEMENTS(samples); i++)
                samples[i].burst = 7;
        g_assert_true(ald_rtt_figures(samples, 6, &figures));
        g_assert_cmpuint(figures.jitter, ==, (10 + 10 + 990 + 10 + 10) / 5);
        g_assert_true(ald_rtt_figures(samples, 1, &figures));
        g_assert_cmpuint(figures.jitter, ==, 0);

        for (unsigned i = 0; i < G_N_ELEMENTS(many); i++)
                many[i] = (AldRttSample){ G_N_ELEMENTS(many) - i, i / 20 };
        g_assert_true(ald_rtt_figures(many, G_N_ELEMENTS(many), &figures));
        g_assert_cmpuint(figures.min, ==, 1);
        g_assert_cmpuint(figures.p50, ==, 100);
        g_assert_cmpuint(figures.p99, ==, 198);
        g_assert_cmpuint(figures.jitter, ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe/statistics/middle", test_middle);
        g_test_add_func("/probe/statistics/rtt", test_rtt);
        return g_test_run();
}
