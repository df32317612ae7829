/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/units.h"

static void check(char *text, const char *expected)
{
        g_assert_cmpstr(text, ==, expected);
        g_free(text);
}

static void test_rates(void)
{
        check(ald_units_rate(0), "0 b/s");
        check(ald_units_rate(999), "999 b/s");
        check(ald_units_rate(1000), "1 kb/s");
        check(ald_units_rate(12345678), "12.3 Mb/s");
        check(ald_units_rate(200000000000), "200 Gb/s");
        check(ald_units_rate(999499999), "999 Mb/s");
        check(ald_units_rate(999500000), "1 Gb/s");
        check(ald_units_rate((uint64_t) 1 << 53), "9007 Tb/s");
}

static void test_bytes(void)
{
        check(ald_units_transfers(2500000000), "2.5 GT/s");
        check(ald_units_transfers(16000000000), "16 GT/s");
        check(ald_units_bytes(1023), "1023 B");
        check(ald_units_bytes(1024), "1 KiB");
        check(ald_units_bytes(1536), "1.5 KiB");
        check(ald_units_bytes(UINT64_C(1000) << 30), "1000 GiB");
        check(ald_units_bytes((UINT64_C(1) << 40) - 1), "1 TiB");
}

static void test_durations(void)
{
        const uint64_t second = 1000 * 1000;

        check(ald_units_duration(0), "0 s");
        check(ald_units_duration(119 * second), "119 s");
        check(ald_units_duration(120 * second), "2 min");
        check(ald_units_duration(7199 * second), "119 min");
        check(ald_units_duration(7200 * second), "2 h");
        check(ald_units_duration(48 * 3600 * second), "2 days");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/units/rates", test_rates);
        g_test_add_func("/units/bytes", test_bytes);
        g_test_add_func("/units/durations", test_durations);
        return g_test_run();
}
