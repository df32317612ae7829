/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "services/common/back-off.h"
#include "services/common/timer.h"

#define MSEC 1000

/* Something that fails until it has been tried so often. */
typedef struct Attempts {
        AldBackOff *back_off;
        unsigned n, fails_until;
        gint64 at[8];
} Attempts;

static void again(void *userdata)
{
        Attempts *attempts = userdata;

        g_assert_cmpuint(attempts->n, <, G_N_ELEMENTS(attempts->at));
        attempts->at[attempts->n++] = g_get_monotonic_time();
        if (attempts->n < attempts->fails_until)
                ald_back_off_failed(attempts->back_off);
}

static void turn_until(const unsigned *counter, unsigned n)
{
        while (*counter < n)
                g_main_context_iteration(NULL, TRUE);
}

static void count(void *userdata)
{
        unsigned *n = userdata;

        (*n)++;
}

/* Something else happens that much later. */
static void pass(gint64 usec)
{
        unsigned n = 0;
        g_autoptr(AldTimer) timer = ald_timer_new("test", count, &n);

        ald_timer_set(timer, g_get_monotonic_time() + usec);
        turn_until(&n, 1);
}

static void test_delays_grow(void)
{
        static const AldBackOffDelays delays = { 0, MSEC, 4 * MSEC };
        static const gint64 least[] = { 0, MSEC, 2 * MSEC, 4 * MSEC, 4 * MSEC };
        Attempts attempts = { .fails_until = G_N_ELEMENTS(least) };
        g_autoptr(AldBackOff) back_off = ald_back_off_new("test", &delays, again, &attempts);
        gint64 before = g_get_monotonic_time();

        attempts.back_off = back_off;
        ald_back_off_failed(back_off);
        g_assert_cmpuint(attempts.n, ==, 0); /* never before it has returned */
        turn_until(&attempts.n, G_N_ELEMENTS(least));
        for (size_t i = 0; i < G_N_ELEMENTS(least); i++) {
                g_assert_cmpint(attempts.at[i] - before, >=, least[i]);
                before = attempts.at[i];
        }
        g_assert_false(g_main_context_iteration(NULL, FALSE));
}

/* The first delay is the greatest here, so that each that is the first one again can be told. */
static void test_first_again(void)
{
        static const AldBackOffDelays delays = { 4 * MSEC, MSEC, 2 * MSEC };
        static const gint64 least[] = { 4 * MSEC, 2 * MSEC, 4 * MSEC };
        Attempts attempts = { 0 };
        g_autoptr(AldBackOff) back_off = ald_back_off_new("test", &delays, again, &attempts);

        for (unsigned i = 0; i < G_N_ELEMENTS(least); i++) {
                gint64 failed = g_get_monotonic_time();

                ald_back_off_failed(back_off);
                turn_until(&attempts.n, i + 1);
                g_assert_cmpint(attempts.at[i] - failed, >=, least[i]);
                if (i == 1) {
                        ald_back_off_works(back_off);
                        pass(3 * MSEC);
                }
        }
}

/* If it worked for a moment only, the delay is as long as if it had not. */
static void test_moment(void)
{
        static const AldBackOffDelays delays = { 0, 3 * MSEC, G_TIME_SPAN_DAY };
        Attempts attempts = { 0 };
        g_autoptr(AldBackOff) back_off = ald_back_off_new("test", &delays, again, &attempts);
        gint64 failed;

        ald_back_off_failed(back_off);
        turn_until(&attempts.n, 1);
        ald_back_off_works(back_off);
        failed = g_get_monotonic_time();
        ald_back_off_failed(back_off);
        turn_until(&attempts.n, 2);
        g_assert_cmpint(attempts.at[1] - failed, >=, 3 * MSEC);
}

/* Nothing is tried that works meanwhile, or has been freed. */
static void test_no_longer_tried(void)
{
        static const AldBackOffDelays delays = { MSEC, MSEC, MSEC };
        Attempts attempts = { 0 };
        AldBackOff *back_off = ald_back_off_new("test", &delays, again, &attempts);

        ald_back_off_failed(back_off);
        ald_back_off_works(back_off);
        pass(2 * MSEC);
        g_assert_cmpuint(attempts.n, ==, 0);
        ald_back_off_failed(back_off);
        ald_back_off_free(back_off);
        pass(2 * MSEC);
        g_assert_cmpuint(attempts.n, ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        alarm(20);
        g_test_add_func("/back-off/delays-grow", test_delays_grow);
        g_test_add_func("/back-off/first-again", test_first_again);
        g_test_add_func("/back-off/moment", test_moment);
        g_test_add_func("/back-off/no-longer-tried", test_no_longer_tried);
        return g_test_run();
}
