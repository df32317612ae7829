/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/cluster/mqtt/found-service.h"

static void add(GPtrArray *services, const char *name, const char *address, bool ours)
{
        AldFoundService *service = g_new0(AldFoundService, 1);

        service->name = (char *) name;
        service->domain = (char *) "local";
        service->ours = ours;
        if (ours)
                g_assert_cmpint(ald_broker_address_parse(address, &service->address, NULL), ==, 0);
        g_ptr_array_add(services, service);
}

static void expect(GPtrArray *services, size_t max, const char *expected)
{
        g_autoptr(GString) text = g_string_new(NULL);
        AldBrokerAddress chosen[8];
        size_t n = ald_found_choose(services, chosen, max);

        for (size_t i = 0; i < n; i++) {
                char address[ALD_BROKER_ADDRESS_SIZE];

                ald_broker_address_format(&chosen[i], address);
                g_string_append_printf(text, "%s ", address);
        }
        g_assert_cmpstr(text->str, ==, expected);
}

static void test_choose(void)
{
        g_autoptr(GPtrArray) services = g_ptr_array_new_with_free_func(g_free);

        expect(services, 8, "");
        add(services, "b", "[fe80::1%eth0]", true);
        add(services, "c", NULL, false);
        expect(services, 8, "[fe80::1%eth0] ");
        add(services, "b", "2001:db8::2", true);
        expect(services, 8, "[2001:db8::2] ");
        add(services, "b", "192.0.2.9", true);
        add(services, "b", "192.0.2.2", true);
        expect(services, 8, "192.0.2.2 ");
        add(services, "a", "192.0.2.7:1", true);
        expect(services, 8, "192.0.2.7:1 192.0.2.2 ");
        /* Another name for the same broker. */
        add(services, "d", "192.0.2.2", true);
        expect(services, 8, "192.0.2.7:1 192.0.2.2 ");
        expect(services, 1, "192.0.2.7:1 ");
        /* The service of the same name in another domain is another one. */
        add(services, "a", "192.0.2.8", true);
        ((AldFoundService *) services->pdata[services->len - 1])->domain = (char *) "other";
        expect(services, 8, "192.0.2.7:1 192.0.2.8 192.0.2.2 ");
}

static void test_address(void)
{
        AldBrokerAddress address = { .port = 7 };

        g_assert_cmpint(ald_found_read_address(1, "192.0.2.1", 5, &address), ==, 0);
        g_assert_cmpstr(address.host, ==, "192.0.2.1");
        g_assert_cmpuint(address.port, ==, 5);
        g_assert_cmpint(ald_found_read_address(1, "2001:DB8::1", 8883, &address), ==, 0);
        g_assert_cmpstr(address.host, ==, "2001:db8::1");
        g_assert_cmpint(ald_found_read_address(1, "fe80::1", 8883, &address), ==, 0);
        g_assert_cmpstr(address.host, ==, "fe80::1%lo");
        g_assert_cmpint(ald_found_read_address(INT32_MAX, "fe80::1", 8883, &address), ==, -ENODEV);
        g_assert_cmpint(ald_found_read_address(1, "192.0.2.1", 0, &address), ==, -EINVAL);
        g_assert_cmpint(ald_found_read_address(1, "a.name", 1, &address), ==, -EINVAL);
        g_assert_cmpint(ald_found_read_address(1, "", 1, &address), ==, -EINVAL);
        g_assert_cmpstr(address.host, ==, "fe80::1%lo");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/found-service/choose", test_choose);
        g_test_add_func("/found-service/address", test_address);
        return g_test_run();
}
