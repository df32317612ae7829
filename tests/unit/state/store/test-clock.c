/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "state/store/clock.h"

#define SECOND INT64_C(1000000)
#define DAY (24 * 3600 * SECOND)
#define NOW (UINT64_C(1700000000) * 1000000)

static void check_majority(uint64_t majority, size_t n, const int64_t *offsets)
{
        int64_t copy[8];

        for (size_t i = 0; i < n; i++)
                copy[i] = offsets[i];
        g_assert_cmpuint(ald_clock_majority(copy, n), ==, majority);
}

/* More than half of all clocks, ours among them, are needed to say that ours is behind. */
static void test_majority(void)
{
        check_majority(0, 0, NULL);
        check_majority(0, 1, (const int64_t[]){ 365 * DAY });
        check_majority(0, 1, (const int64_t[]){ -365 * DAY });
        check_majority(364 * DAY, 2, (const int64_t[]){ 365 * DAY, 364 * DAY });
        check_majority(0, 2, (const int64_t[]){ 365 * DAY, 0 });
        check_majority(3, 3, (const int64_t[]){ 365 * DAY, 3, 365 * DAY });
        check_majority(3, 4, (const int64_t[]){ 365 * DAY, 3, -DAY, 365 * DAY });
        check_majority(0, 3, (const int64_t[]){ -365 * DAY, -3, -365 * DAY });
}

static void test_ahead(void)
{
        g_assert_false(ald_clock_is_ahead(0, NOW, 0));
        g_assert_false(ald_clock_is_ahead(NOW + DAY, NOW, 0));
        g_assert_true(ald_clock_is_ahead(NOW + DAY + 1, NOW, 0));
        g_assert_true(ald_clock_is_ahead(UINT64_C(1) << 53, NOW, 0));
        g_assert_true(ald_clock_is_ahead(UINT64_MAX, NOW, 0));
        g_assert_false(ald_clock_is_ahead(NOW + DAY + 1, NOW, SECOND));
        g_assert_true(ald_clock_is_ahead(NOW + DAY + SECOND + 1, NOW, SECOND));
}

static void test_set(void)
{
        g_assert_false(ald_clock_is_set(0));
        g_assert_false(ald_clock_is_set(UINT64_C(1600000000) * 1000000));
        g_assert_true(ald_clock_is_set(UINT64_C(1800000000) * 1000000));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/clock/majority", test_majority);
        g_test_add_func("/clock/ahead", test_ahead);
        g_test_add_func("/clock/set", test_set);
        return g_test_run();
}
