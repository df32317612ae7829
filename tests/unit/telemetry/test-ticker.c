/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/ticker.h"

#define MSEC UINT64_C(1000)

static void test_next(void)
{
        static const struct {
                uint64_t now, interval, next;
        } cases[] = {
                { 1000, 500, 1500 },
                { 1001, 500, 1500 },
                { 1375, 500, 1500 },
                { 1376, 500, 2000 }, /* nearer than a quarter */
                { 1499, 500, 2000 },
                { 0, 500, 500 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpuint(ald_ticker_next(cases[i].now, cases[i].interval), ==, cases[i].next);
}

typedef struct Counter {
        unsigned n;
        uint64_t last_usec;
} Counter;

static void count(void *userdata)
{
        Counter *counter = userdata;

        counter->n++;
        counter->last_usec = (uint64_t) g_get_monotonic_time();
}

/* Entries of one ticker: the one of 20 ms, then that of 40 ms. */
typedef struct Both {
        Counter fast, slow;
        unsigned n_alone;
} Both;

/* The fast one skips a tick only where its last one came so late that the next was too near. */
static void count_slow(void *userdata)
{
        Both *both = userdata;

        count(&both->slow);
        if (both->slow.last_usec - both->fast.last_usec > 10 * MSEC &&
                both->fast.last_usec % (20 * MSEC) < 15 * MSEC)
                both->n_alone++;
}

static void test_shared_wakeups(void)
{
        g_autoptr(AldTicker) ticker = ald_ticker_new();
        Both both = { 0 };

        ald_ticker_add(ticker, 20 * MSEC, count, &both.fast);
        ald_ticker_add(ticker, 40 * MSEC, count_slow, &both);
        while (both.slow.n < 5)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(both.n_alone, ==, 0);
}

static void test_hasten_and_change(void)
{
        g_autoptr(AldTicker) ticker = ald_ticker_new();
        uint64_t start = (uint64_t) g_get_monotonic_time();
        Counter counter = { 0 };
        unsigned number = ald_ticker_add(ticker, 60 * 1000 * MSEC, count, &counter);

        g_assert_cmpuint(number, ==, 0);
        ald_ticker_hasten(ticker, number, 10 * MSEC);
        while (counter.n == 0)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(counter.last_usec - start, >=, 10 * MSEC);

        g_assert_cmpuint(ald_ticker_interval(ticker, number), ==, 60 * 1000 * MSEC);
        ald_ticker_set_interval(ticker, number, 10 * MSEC);
        g_assert_cmpuint(ald_ticker_interval(ticker, number), ==, 10 * MSEC);
        while (counter.n < 3)
                g_main_context_iteration(NULL, TRUE);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ticker/next", test_next);
        g_test_add_func("/ticker/shared-wakeups", test_shared_wakeups);
        g_test_add_func("/ticker/hasten-and-change", test_hasten_and_change);
        return g_test_run();
}
