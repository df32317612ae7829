/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/common/address.h"

static AldAddress resolve(const char *text)
{
        AldFailure failure = {};
        AldAddress address;

        g_assert_cmpint(ald_address_resolve(text, 7461, AF_UNSPEC, &address, &failure), ==, 0);
        return address;
}

static void check_format(const char *text, const char *expected)
{
        AldAddress address = resolve(text);
        char formatted[ALD_ADDRESS_SIZE];

        ald_address_format(&address, formatted);
        g_assert_cmpstr(formatted, ==, expected);
        g_assert_cmpuint(ald_address_port(&address), ==, 7461);
}

static void test_format(void)
{
        check_format("192.0.2.1", "192.0.2.1");
        check_format("::ffff:192.0.2.1", "192.0.2.1");
        check_format("2001:DB8:0:0:0:0:0:1", "2001:db8::1");
        check_format("fe80::1%lo", "fe80::1");
}

static void test_same_host(void)
{
        AldAddress four = resolve("192.0.2.1"), mapped = resolve("::ffff:192.0.2.1");
        AldAddress other = resolve("192.0.2.2"), six = resolve("2001:db8::1");

        ald_address_set_port(&mapped, 80);
        g_assert_cmpuint(ald_address_port(&mapped), ==, 80);
        g_assert_true(ald_address_same_host(&four, &mapped));
        g_assert_false(ald_address_same_host(&four, &other));
        g_assert_false(ald_address_same_host(&four, &six));
}

static void test_loopback(void)
{
        static const char *const loopback[] = { "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1" };
        static const char *const others[] = { "192.0.2.127", "2001:db8::1", "fe80::1%lo", "128.0.0.1" };

        for (unsigned i = 0; i < G_N_ELEMENTS(loopback); i++) {
                AldAddress yes = resolve(loopback[i]), no = resolve(others[i]);

                g_assert_true(ald_address_is_loopback(&yes));
                g_assert_false(ald_address_is_loopback(&no));
        }
}

static void test_interface(void)
{
        AldAddress loopback = resolve("127.0.0.1"), nobody = resolve("192.0.2.1");
        g_autofree char *name = ald_address_interface(&loopback), *none = ald_address_interface(&nobody);

        g_assert_cmpstr(name, ==, "lo");
        g_assert_cmpstr(none, ==, NULL);
}

static void test_no_address(void)
{
        AldFailure failure = {};
        AldAddress address;

        g_assert_cmpint(ald_address_resolve("fe80::1%nowhere", 1, AF_UNSPEC, &address, &failure), <, 0);
        g_assert_cmpint(failure.kind, ==, ALD_FAILURE_UNREACHABLE);
        g_assert_true(g_str_has_prefix(failure.message, "fe80::1%nowhere: "));
        g_free(failure.message);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe/address/format", test_format);
        g_test_add_func("/probe/address/same-host", test_same_host);
        g_test_add_func("/probe/address/loopback", test_loopback);
        g_test_add_func("/probe/address/interface", test_interface);
        g_test_add_func("/probe/address/none", test_no_address);
        return g_test_run();
}
