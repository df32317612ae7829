/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/socket/transfer/spot-check.h"

#define MSEC UINT64_C(1000000)
#define SEGMENT 1448u

/* Plays a link that passes a burst at once and then goes on at a rate, bits/s, a segment at a time. */
static GArray *play(double rate, uint64_t burst, uint64_t rtt)
{
        GArray *points = g_array_new(FALSE, FALSE, sizeof(AldSpotCheckPoint));
        AldSpotCheckPoint point = { .when = 5 * MSEC };

        do {
                point.bytes += SEGMENT;
                point.when += point.bytes <= burst ? 1000 : (uint64_t) (SEGMENT * 8e9 / rate);
                g_array_append_val(points, point);
        } while (!ald_spot_check_is_over(&g_array_index(points, AldSpotCheckPoint, 0), &point, rtt));
        return points;
}

static uint64_t rate_of(double rate, uint64_t burst, uint64_t rtt)
{
        g_autoptr(GArray) points = play(rate, burst, rtt);

        return ald_spot_check_rate((const AldSpotCheckPoint *) points->data, points->len);
}

static void assert_near(uint64_t value, double expected)
{
        g_assert_cmpfloat_with_epsilon((double) value, expected, expected * 0.005);
}

static void test_bursts_are_left_out(void)
{
        assert_near(rate_of(1e9, 128000, 100000), 1e9);
        assert_near(rate_of(300e6, 48000, 100000), 300e6);
        assert_near(rate_of(50e6, 16000, 100000), 50e6);
        assert_near(rate_of(10e6, 16000, 100000), 10e6);
}

static void test_cost(void)
{
        g_autoptr(GArray) gigabit = play(1e9, 0, 100000), far = play(1e9, 0, 2 * MSEC);
        g_autoptr(GArray) fast = play(1e11, 0, 100000);

        g_assert_cmpuint(g_array_index(gigabit, AldSpotCheckPoint, gigabit->len - 1).bytes, <, 1200000);
        /* Slow start takes longer there. */
        g_assert_cmpuint(g_array_index(far, AldSpotCheckPoint, far->len - 1).when, >=, (5 + 16) * MSEC);
        g_assert_cmpuint(g_array_index(fast, AldSpotCheckPoint, fast->len - 1).bytes, <=,
                ALD_SPOT_CHECK_BYTES_MAX + SEGMENT);
}

static void test_too_little(void)
{
        const AldSpotCheckPoint at_once[] = { { MSEC, 1448 }, { MSEC, 60000 } };

        g_assert_cmpuint(rate_of(2e6, 0, 100000), ==, 0);
        g_assert_cmpuint(ald_spot_check_rate(NULL, 0), ==, 0);
        g_assert_cmpuint(ald_spot_check_rate(at_once, 1), ==, 0);
        g_assert_cmpuint(ald_spot_check_rate(at_once, 2), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/socket/spot-check/bursts", test_bursts_are_left_out);
        g_test_add_func("/socket/spot-check/cost", test_cost);
        g_test_add_func("/socket/spot-check/too-little", test_too_little);
        return g_test_run();
}
