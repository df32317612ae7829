/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/sparkline.h"

#define GAP              \
        {                \
                false, 0 \
        }
#define UNKNOWN           \
        {                 \
                true, NAN \
        }

static void assert_line(
        const AldSpark *sparks, size_t n, unsigned width, AldSparkScale scale, const char *expected)
{
        g_autofree char *line = ald_sparkline(sparks, n, width, &scale);

        g_assert_cmpstr(line, ==, expected);
}

static void assert_scale(double least, double greatest, double low, double high)
{
        AldSparkScale scale = ald_spark_scale(least, greatest);

        g_assert_cmpfloat(scale.low, ==, low);
        g_assert_cmpfloat(scale.high, ==, high);
}

static void test_scale(void)
{
        assert_scale(0, 100, 0, 100);
        assert_scale(49, 100, 0, 100);
        assert_scale(50, 100, 50, 100);
        assert_scale(99, 100, 100, 100); /* steady */
        assert_scale(0, 0, 0, 0);
        assert_scale(7, 7, 7, 7);
        assert_scale(-5, 20, -5, 20);
        assert_scale(-20, -5, -20, -5);
}

static void test_line(void)
{
        const AldSpark rising[] = { { true, 0 }, { true, 1 }, { true, 2 }, { true, 3 }, { true, 4 },
                { true, 5 }, { true, 6 }, { true, 8 } };
        const AldSpark broken[] = { { true, 10 }, GAP, UNKNOWN, { true, 20 } };
        const AldSpark beyond[] = { { true, -1000 }, { true, 1e300 } };
        const AldSpark steady[] = { { true, 5 }, { true, 5.01 } };
        const AldSpark zero[] = { { true, 0 } };

        assert_line(rising, 8, 8, (AldSparkScale){ 0, 8 }, "▁▂▃▄▅▆▇█");
        assert_line(rising, 8, 4, (AldSparkScale){ 0, 8 }, "▁▃▅▇");
        assert_line(broken, 4, 4, (AldSparkScale){ 10, 20 }, "▁ ·█");
        assert_line(broken, 4, 9, (AldSparkScale){ 10, 20 }, "▁▁▁  ··██");
        assert_line(beyond, 2, 2, (AldSparkScale){ 0, 1 }, "▁█");
        assert_line(steady, 2, 2, (AldSparkScale){ 5.01, 5.01 }, "▄▄");
        assert_line(zero, 1, 2, (AldSparkScale){ 0, 0 }, "▁▁");
        assert_line(NULL, 0, 3, (AldSparkScale){ 0, 1 }, "   ");
        assert_line(rising, 8, 0, (AldSparkScale){ 0, 8 }, "");
}

static void assert_marks(const AldSparkEvent *events, size_t n, const char *expected)
{
        g_autofree char *line = ald_spark_marks(events, n, 100, 200, 10);

        g_assert_cmpstr(line, ==, expected);
}

static void test_marks(void)
{
        const AldSparkEvent within = { 110, 145 }, before = { 50, 125 }, lasting = { 155, UINT64_MAX },
                            around = { 0, 300 }, past = { 10, 99 }, future = { 200, 210 },
                            moment = { 130, 131 }, at_end = { 150, 199 };
        const AldSparkEvent two[] = { { 110, 145 }, { 140, 165 } }, inside[] = { { 110, 185 }, { 130, 150 } };

        assert_marks(NULL, 0, "          ");
        assert_marks(&within, 1, " ▲──▼     ");
        assert_marks(&before, 1, "──▼       ");
        assert_marks(&lasting, 1, "     ▲────");
        assert_marks(&around, 1, "──────────");
        assert_marks(&past, 1, "          ");
        assert_marks(&future, 1, "          ");
        assert_marks(&moment, 1, "   ◆      ");
        assert_marks(&at_end, 1, "     ▲───▼");
        assert_marks(two, 2, " ▲──◆─▼   ");
        assert_marks(inside, 2, " ▲─▲─▼──▼ ");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/sparkline/scale", test_scale);
        g_test_add_func("/sparkline/line", test_line);
        g_test_add_func("/sparkline/marks", test_marks);
        return g_test_run();
}
