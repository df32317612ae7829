/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/time-share.h"

#define SEC G_USEC_PER_SEC
#define PARTS ALD_TIME_SHARE_PARTS

static void test_saved_time(void)
{
        AldTimeShare share = ald_time_share_new(5 * SEC);

        /* Nothing more is saved than there may be. */
        g_assert_true(ald_time_share_has_any(&share, 1000 * SEC));
        ald_time_share_note_work(&share, ALD_TIME_SHARE_SAVED_USEC);
        g_assert_true(ald_time_share_has_any(&share, 1000 * SEC));
        ald_time_share_note_work(&share, 1);
        g_assert_false(ald_time_share_has_any(&share, 1000 * SEC));
        g_assert_cmpint(ald_time_share_next(&share), ==, 1000 * SEC + PARTS);
        g_assert_false(ald_time_share_has_any(&share, 1000 * SEC + PARTS - 1));
        g_assert_true(ald_time_share_has_any(&share, 1000 * SEC + PARTS));
}

/* Who asks often, and each time causes as much work as may be, gets the share and what was saved. */
static void test_who_asks_often(void)
{
        static const gint64 costs[] = { 3, 1000, SEC / 2 };

        for (size_t i = 0; i < G_N_ELEMENTS(costs); i++) {
                AldTimeShare share = ald_time_share_new(0);
                gint64 now = 0, taken = 0, end = 100 * SEC;

                while (now < end) {
                        if (ald_time_share_has_any(&share, now)) {
                                ald_time_share_note_work(&share, costs[i]);
                                taken += costs[i];
                                now += costs[i];
                        } else {
                                now += MAX(7, costs[i] / 10);
                        }
                }
                g_assert_cmpint(taken, <=, ALD_TIME_SHARE_SAVED_USEC + now / PARTS + costs[i]);
                g_assert_cmpint(taken, >=, ALD_TIME_SHARE_SAVED_USEC + end / PARTS - costs[i] - SEC / 10);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/time-share/saved", test_saved_time);
        g_test_add_func("/time-share/often", test_who_asks_often);
        return g_test_run();
}
