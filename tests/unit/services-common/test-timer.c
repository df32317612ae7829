/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "services/common/timer.h"

#define MSEC 1000

typedef struct Expiry {
        AldTimer *timer;
        unsigned n;
        gint64 at;
        gint64 again; /* set to that by itself, where not 0 */
} Expiry;

static void expired(void *userdata)
{
        Expiry *expiry = userdata;

        expiry->n++;
        expiry->at = g_get_monotonic_time();
        if (expiry->again != 0)
                ald_timer_set(expiry->timer, expiry->at + expiry->again);
}

static unsigned turn_until(const Expiry *expiry, unsigned n)
{
        unsigned turns = 0;

        for (; expiry->n < n; turns++)
                g_main_context_iteration(NULL, TRUE);
        return turns;
}

/* Never too early, and without turning through what is left of a millisecond. */
static void test_expires(void)
{
        Expiry expiry = { 0 };
        g_autoptr(AldTimer) timer = ald_timer_new("test", expired, &expiry);
        gint64 due = g_get_monotonic_time() + 20 * MSEC + 300;

        ald_timer_set(timer, due);
        g_assert_cmpuint(turn_until(&expiry, 1), <=, 3);
        g_assert_cmpint(expiry.at, >=, due);
        g_assert_false(g_main_context_iteration(NULL, FALSE));
        g_assert_cmpuint(expiry.n, ==, 1);
}

static void test_set_again(void)
{
        Expiry expiry = { 0 }, other = { 0 };
        g_autoptr(AldTimer) timer = ald_timer_new("test", expired, &expiry);
        g_autoptr(AldTimer) later = ald_timer_new("other", expired, &other);
        gint64 start = g_get_monotonic_time();

        ald_timer_set(timer, start);
        ald_timer_set(timer, start + 30 * MSEC);
        ald_timer_set(later, start + 10 * MSEC);
        turn_until(&other, 1);
        g_assert_cmpuint(expiry.n, ==, 0);
        ald_timer_set(timer, ALD_TIMER_NEVER);
        ald_timer_set(later, start + 50 * MSEC);
        turn_until(&other, 2);
        g_assert_cmpuint(expiry.n, ==, 0);
}

/* Set from its own callback, also to a time that has passed. */
static void test_sets_itself(void)
{
        Expiry expiry = { .again = 5 * MSEC };
        g_autoptr(AldTimer) timer = ald_timer_new("test", expired, &expiry);
        gint64 start = g_get_monotonic_time();

        expiry.timer = timer;
        ald_timer_set(timer, start);
        turn_until(&expiry, 3);
        g_assert_cmpint(expiry.at - start, >=, 10 * MSEC);
        expiry.again = -1;
        turn_until(&expiry, 6);
}

static gboolean set_timer(gpointer userdata)
{
        ald_timer_set(userdata, g_get_monotonic_time() + 5 * MSEC);
        return G_SOURCE_REMOVE;
}

/* Set by another source while the loop would wait for longer, or for ever. */
static void test_set_by_another(void)
{
        Expiry expiry = { 0 };
        g_autoptr(AldTimer) timer = ald_timer_new("test", expired, &expiry);

        g_idle_add(set_timer, timer);
        turn_until(&expiry, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        alarm(20);
        g_test_add_func("/timer/expires", test_expires);
        g_test_add_func("/timer/set-again", test_set_again);
        g_test_add_func("/timer/sets-itself", test_sets_itself);
        g_test_add_func("/timer/set-by-another", test_set_by_another);
        return g_test_run();
}
