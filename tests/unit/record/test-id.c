/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "record/id.h"

#define ID "0123456789abcdef0123456789abcdef"

static void test_round_trip(void)
{
        char string[ALD_ID_STRING_SIZE], again[ALD_ID_STRING_SIZE];

        for (unsigned round = 0; round < 100; round++) {
                AldId id, parsed;

                for (unsigned i = 0; i < sizeof id.bytes; i++)
                        id.bytes[i] = (uint8_t) g_test_rand_int();
                g_assert_true(ald_id_format(&id, string) == string);
                g_assert_cmpint(ald_id_parse(string, &parsed), ==, 0);
                g_assert_true(ald_id_equal(&id, &parsed));
                g_assert_cmpstr(ald_id_format(&parsed, again), ==, string);
        }
}

static void test_the_digits_are_the_bytes(void)
{
        AldId id;

        g_assert_cmpint(ald_id_parse(ID, &id), ==, 0);
        g_assert_cmphex(id.bytes[0], ==, 0x01);
        g_assert_cmphex(id.bytes[7], ==, 0xef);
        g_assert_cmphex(id.bytes[15], ==, 0xef);
}

static void test_refusals(void)
{
        static const char *const wrong[] = {
                "",
                "0",
                "0123456789abcdef0123456789abcde",
                ID "0",
                ID " ",
                "0123456789ABCDEF0123456789abcdef",
                "0123456789abcdef0123456789abcdeg",
                "01234567-9abc-ef01-2345-6789abcdef01",
                "0x123456789abcdef0123456789abcdef",
                "00000000000000000000000000000000",
                "g0123456789abcde\xc3\xa4g123456789abcd",
        };

        for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
                AldId id = { .bytes = { 7 } };

                g_test_message("%s", wrong[i]);
                g_assert_cmpint(ald_id_parse(wrong[i], &id), ==, -EINVAL);
                g_assert_cmpuint(id.bytes[0], ==, 7);
        }
}

static void test_order_is_that_of_the_strings(void)
{
        for (unsigned round = 0; round < 100; round++) {
                char a_string[ALD_ID_STRING_SIZE], b_string[ALD_ID_STRING_SIZE];
                AldId a = { 0 }, b = { 0 };
                int order;

                a.bytes[g_test_rand_int_range(0, 16)] = (uint8_t) g_test_rand_int();
                b.bytes[g_test_rand_int_range(0, 16)] = (uint8_t) g_test_rand_int();
                order = g_strcmp0(ald_id_format(&a, a_string), ald_id_format(&b, b_string));
                g_assert_true((ald_id_compare(&a, &b) < 0) == (order < 0));
                g_assert_true(ald_id_equal(&a, &b) == (order == 0));
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/id/round-trip", test_round_trip);
        g_test_add_func("/id/the-digits-are-the-bytes", test_the_digits_are_the_bytes);
        g_test_add_func("/id/refusals", test_refusals);
        g_test_add_func("/id/order-is-that-of-the-strings", test_order_is_that_of_the_strings);
        return g_test_run();
}
