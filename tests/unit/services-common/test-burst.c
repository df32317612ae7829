/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/burst.h"

#define SEC G_USEC_PER_SEC
#define PAUSE (SEC / 10)

static void test_pause(void)
{
        AldBurst burst = { .pause = PAUSE };

        g_assert_cmpint(ald_burst_note(&burst, 5 * SEC), ==, 5 * SEC + PAUSE);
        g_assert_cmpint(ald_burst_note(&burst, 5 * SEC + 7), ==, 5 * SEC + 7 + PAUSE);
        ald_burst_end(&burst);
        g_assert_cmpint(ald_burst_note(&burst, 9 * SEC), ==, 9 * SEC + PAUSE);
}

/* The records of a thousand nodes that come within half a second are acted on once, and those of a node that
 * sends changes without a pause about once a second. */
static void test_without_pause(void)
{
        static const struct {
                gint64 step, length;
                unsigned times;
        } bursts[] = { { 37, SEC / 2, 1 }, { 37, 10 * SEC, 10 }, { PAUSE - 1, 10 * SEC, 10 } };

        for (size_t i = 0; i < G_N_ELEMENTS(bursts); i++) {
                gint64 start = 3 * SEC, end = start + bursts[i].length, due = end;
                AldBurst burst = { .pause = PAUSE };
                unsigned times = 1; /* after the end */

                for (gint64 now = start; now < end; now += bursts[i].step) {
                        if (due <= now) {
                                ald_burst_end(&burst);
                                times++;
                        }
                        due = ald_burst_note(&burst, now);
                        g_assert_cmpint(due, >, now);
                        g_assert_cmpint(due, <=, now + PAUSE);
                }
                g_assert_cmpuint(times, ==, bursts[i].times);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/burst/pause", test_pause);
        g_test_add_func("/burst/without-pause", test_without_pause);
        return g_test_run();
}
