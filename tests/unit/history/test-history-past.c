/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>

#include <glib.h>

#include "services/history/past.h"

#define HOUR (INT64_C(3600) * 1000000)
#define MOST 1000u

typedef struct Past {
        AldPastResult results[MOST];
        size_t n;
} Past;

/* Every 6 hours, as a link is measured at full rate. */
static void add(Past *past, double rate)
{
        g_assert_cmpuint(past->n, <, MOST);
        past->results[past->n] = (AldPastResult){ (int64_t) past->n * 6 * HOUR, rate };
        past->n++;
}

static AldPastVerdict judge(const Past *past)
{
        return ald_past_compare(past->results, past->n);
}

/* Normally distributed, from twelve uniform numbers. */
static double noisy(GRand *rand, double rate, double deviation)
{
        double sum = -6;

        for (unsigned i = 0; i < 12; i++)
                sum += g_rand_double(rand);
        return rate * (1 + deviation * sum);
}

static void add_noise(Past *past, GRand *rand, unsigned n, double rate, double deviation)
{
        for (unsigned i = 0; i < n; i++)
                add(past, noisy(rand, rate, deviation));
}

/* 15 % slower than a steady link: not at the first probe, which may be chance, but at the second. */
static void test_step(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        Past past = { .n = 0 };
        AldPastVerdict verdict;

        add_noise(&past, rand, 40, 1e9, 0.01);
        g_assert_true(judge(&past).known);
        g_assert_false(judge(&past).suspected);
        add_noise(&past, rand, 1, 0.85e9, 0.01);
        verdict = judge(&past);
        g_assert_true(verdict.suspected);
        g_assert_false(verdict.slower);
        add_noise(&past, rand, 1, 0.85e9, 0.01);
        verdict = judge(&past);
        g_assert_true(verdict.slower);
        g_assert_false(verdict.suspected);
        g_assert_cmpint(verdict.since, ==, past.results[40].time);
        g_assert_cmpfloat_with_epsilon(verdict.median, 1e9, 1e7);
        g_assert_cmpfloat_with_epsilon(verdict.rate, 0.85e9, 0.03e9);
        add_noise(&past, rand, 5, 0.85e9, 0.01);
        verdict = judge(&past);
        g_assert_true(verdict.slower);
        g_assert_cmpint(verdict.since, ==, past.results[40].time);
        /* And it ends at once. */
        add_noise(&past, rand, 1, 1e9, 0.01);
        g_assert_false(judge(&past).slower || judge(&past).suspected);
}

/* One slow result in between is suspected, and never found. */
static void test_single(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        Past past = { .n = 0 };

        add_noise(&past, rand, 40, 1e9, 0.01);
        for (unsigned i = 0; i < 10; i++) {
                add(&past, 0.5e9);
                g_assert_true(judge(&past).suspected);
                g_assert_false(judge(&past).slower);
                add_noise(&past, rand, 1, 1e9, 0.01);
                g_assert_false(judge(&past).suspected || judge(&past).slower);
        }
}

/* Steady noise of any size raises nothing: 30 turns of 50 days of probes for each. */
static void test_no_false_finds(void)
{
        const double deviations[] = { 0, 0.005, 0.02, 0.05, 0.1, 0.3 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);

        for (size_t i = 0; i < G_N_ELEMENTS(deviations); i++)
                for (unsigned turn = 0; turn < 30; turn++) {
                        Past past = { .n = 0 };

                        for (unsigned n = 0; n < 200; n++) {
                                add_noise(&past, rand, 1, 1e9, deviations[i]);
                                g_assert_false(judge(&past).slower);
                        }
                }
}

/* The limit is by the tenth of a steady past, and by the spread of a noisy one. */
static void test_limit(void)
{
        Past steady = { .n = 0 }, noisy_past = { .n = 0 };
        AldPastVerdict verdict;

        for (unsigned i = 0; i < 22; i++)
                add(&steady, 100);
        verdict = judge(&steady);
        g_assert_true(verdict.known);
        g_assert_cmpfloat(verdict.median, ==, 100);
        g_assert_cmpfloat(verdict.spread, ==, 0);
        g_assert_cmpfloat(verdict.limit, ==, 90);
        for (unsigned i = 0; i < 22; i++)
                add(&noisy_past, i % 2 ? 90 : 110);
        verdict = judge(&noisy_past);
        g_assert_cmpfloat(verdict.median, ==, 100);
        g_assert_cmpfloat_with_epsilon(verdict.spread, 14.826 * 2, 1e-9);
        g_assert_cmpfloat_with_epsilon(verdict.limit, 100 - 3 * 14.826 * 2, 1e-9);
        /* At the limit is not below it. */
        steady.n = 20;
        add(&steady, 90);
        add(&steady, 90);
        g_assert_false(judge(&steady).slower);
        steady.n = 20;
        add(&steady, 89.9);
        add(&steady, 89.9);
        g_assert_true(judge(&steady).slower);
}

/* Fewer than 20 results before the last two, or older ones, say nothing; what is no rate does not count. */
static void test_too_few(void)
{
        Past past = { .n = 0 };

        g_assert_false(ald_past_compare(NULL, 0).known);
        for (unsigned i = 0; i < 19; i++)
                add(&past, 100);
        add(&past, 1);
        add(&past, 1);
        g_assert_false(judge(&past).known);
        g_assert_false(judge(&past).slower || judge(&past).suspected);
        add(&past, 0);
        add(&past, NAN);
        add(&past, -5);
        g_assert_false(judge(&past).known);
        add(&past, 1);
        g_assert_true(judge(&past).known);
        /* 30 days later. */
        past.results[past.n] = (AldPastResult){ past.results[past.n - 1].time + ALD_PAST_USEC, 1 };
        past.n++;
        g_assert_false(judge(&past).known);
}

/* A link that remains slow is usual after half of the month. */
static void test_becomes_usual(void)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(18);
        Past past = { .n = 0 };
        unsigned found = 0;

        add_noise(&past, rand, 130, 1e9, 0.01);
        while (found == 0 || judge(&past).slower) {
                add_noise(&past, rand, 1, 0.7e9, 0.01);
                found += judge(&past).slower;
        }
        g_assert_cmpuint(found, >=, 50);
        g_assert_cmpuint(found, <=, 65);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/history-past/step", test_step);
        g_test_add_func("/history-past/single", test_single);
        g_test_add_func("/history-past/no-false-finds", test_no_false_finds);
        g_test_add_func("/history-past/limit", test_limit);
        g_test_add_func("/history-past/too-few", test_too_few);
        g_test_add_func("/history-past/becomes-usual", test_becomes_usual);
        return g_test_run();
}
