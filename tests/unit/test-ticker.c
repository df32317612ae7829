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

static void test_shared_wakeups(void)
{
        g_autoptr(AldTicker) ticker = ald_ticker_new();
        Counter fast = { 0 }, slow = { 0 };
        unsigned wakeups = 0;

        ald_ticker_add(ticker, 20 * MSEC, count, &fast);
        ald_ticker_add(ticker, 40 * MSEC, count, &slow);
        while (slow.n < 5) {
                unsigned before = fast.n + slow.n;

                g_main_context_iteration(NULL, TRUE);
                wakeups += fast.n + slow.n > before;
        }
        /* Each time of the slow one is one of the fast one, but for a tick the machine was too busy for. */
        g_assert_cmpuint(wakeups, <=, fast.n + 1);
        g_assert_cmpuint(fast.n, >=, slow.n);
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
        /* Aligned to its multiples, as near as the clock of poll() allows. */
        g_assert_cmpuint(counter.last_usec % (10 * MSEC), <, 9 * MSEC);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ticker/next", test_next);
        g_test_add_func("/ticker/shared-wakeups", test_shared_wakeups);
        g_test_add_func("/ticker/hasten-and-change", test_hasten_and_change);
        return g_test_run();
}
