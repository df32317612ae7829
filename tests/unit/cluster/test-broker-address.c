/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/cluster/mqtt/broker-address.h"

static void test_good(void)
{
        static const struct {
                const char *text, *host;
                uint16_t port;
                bool numeric;
                const char *formatted; /* NULL: as the text */
        } cases[] = {
                { "broker", "broker", 8883, false, NULL },
                { "Broker.Lan:1883", "broker.lan", 1883, false, "broker.lan:1883" },
                { "broker:8883", "broker", 8883, false, "broker" },
                { "a-b_c.x1", "a-b_c.x1", 8883, false, NULL },
                { "broker.lan.", "broker.lan", 8883, false, "broker.lan" },
                { "Broker.:1883", "broker", 1883, false, "broker:1883" },
                { "192.0.2.1", "192.0.2.1", 8883, true, NULL },
                { "192.0.2.1:65535", "192.0.2.1", 65535, true, NULL },
                { "2001:DB8::1", "2001:db8::1", 8883, true, "[2001:db8::1]" },
                { "[2001:db8::1]", "2001:db8::1", 8883, true, NULL },
                { "[::1]:1", "::1", 1, true, NULL },
                { "[fe80::1%enP2p1s0]:99", "fe80::1%enP2p1s0", 99, true, NULL },
                { "fe80::1%3", "fe80::1%3", 8883, true, "[fe80::1%3]" },
                { "::ffff:192.0.2.1", "::ffff:192.0.2.1", 8883, true, "[::ffff:192.0.2.1]" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                char text[ALD_BROKER_ADDRESS_SIZE];
                AldBrokerAddress address, again;

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(ald_broker_address_parse(cases[i].text, &address, NULL), ==, 0);
                g_assert_null(ald_broker_address_refuse(cases[i].text));
                g_assert_cmpstr(address.host, ==, cases[i].host);
                g_assert_cmpuint(address.port, ==, cases[i].port);
                g_assert_true(ald_broker_address_is_numeric(&address) == cases[i].numeric);
                ald_broker_address_format(&address, text);
                g_assert_cmpstr(text, ==, cases[i].formatted ? cases[i].formatted : cases[i].text);
                g_assert_cmpint(ald_broker_address_parse(text, &again, NULL), ==, 0);
                g_assert_cmpint(ald_broker_address_compare(&address, &again), ==, 0);
        }
}

static void test_bad(void)
{
        static const struct {
                const char *text, *reason;
        } cases[] = {
                { "", "not a valid host name or address" },
                { ":8883", "not a valid host name or address" },
                { "broker:", "port" },
                { "broker:0", "port" },
                { "broker:65536", "port" },
                { "broker:+1", "port" },
                { "broker: 1", "port" },
                { "broker:1x", "port" },
                { "192.0.2.1.5", "not a valid host name or address" },
                { "192.0.2.256", "not a valid host name or address" },
                { "1", "not a valid host name or address" },
                { "-broker", "not a valid host name or address" },
                { "broker-", "not a valid host name or address" },
                { "bro ker", "not a valid host name or address" },
                { "bro/ker", "not a valid host name or address" },
                { "bröker", "not a valid host name or address" },
                { "broker%eth0", "not a valid host name or address" },
                { "a..b", "not a valid host name or address" },
                { ".a", "not a valid host name or address" },
                { ".", "not a valid host name or address" },
                { "a..", "not a valid host name or address" },
                { "192.0.2.1.", "not a valid host name or address" },
                { "1:2:3", "not a valid IPv6 address" },
                { "2001:db8::g", "not a valid IPv6 address" },
                { "[broker]", "do not enclose" },
                { "[192.0.2.1]:1", "do not enclose" },
                { "[]", "do not enclose" },
                { "[::1", "brackets" },
                { "[::1]8883", "brackets" },
                { "[::1]:", "port" },
                { "[fe80::1%]", "do not enclose" },
                { "[fe80::1%a/b]", "do not enclose" },
                { "[fe80::1%sixteen-letters-]", "do not enclose" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const char *reason = NULL;
                AldBrokerAddress address = { .host = "untouched" };

                g_test_message("%s", cases[i].text);
                g_assert_cmpint(ald_broker_address_parse(cases[i].text, &address, &reason), ==, -EINVAL);
                g_assert_nonnull(strstr(reason, cases[i].reason));
                g_assert_cmpstr(ald_broker_address_refuse(cases[i].text), ==, reason);
                g_assert_cmpstr(address.host, ==, "untouched");
        }
}

static void test_long(void)
{
        g_autofree char *label = g_strnfill(63, 'a'), *longer = g_strnfill(64, 'a');
        g_autofree char *name = g_strconcat(label, ".", label, ".", label, ".", label + 2, ":65535", NULL);
        g_autofree char *too_long = g_strconcat("aa", name, NULL);
        char text[ALD_BROKER_ADDRESS_SIZE];
        AldBrokerAddress address;

        g_assert_nonnull(ald_broker_address_refuse(longer));
        g_assert_null(ald_broker_address_refuse(label));
        g_assert_cmpint(ald_broker_address_parse(name, &address, NULL), ==, 0);
        g_assert_cmpuint(strlen(address.host), ==, ALD_BROKER_HOST_MAX);
        ald_broker_address_format(&address, text);
        g_assert_cmpstr(text, ==, name);
        g_assert_nonnull(ald_broker_address_refuse(too_long));
}

static void test_order(void)
{
        AldBrokerAddress one, two, three;

        ald_broker_address_parse("a:1", &one, NULL);
        ald_broker_address_parse("a:2", &two, NULL);
        ald_broker_address_parse("b:1", &three, NULL);
        g_assert_cmpint(ald_broker_address_compare(&one, &two), <, 0);
        g_assert_cmpint(ald_broker_address_compare(&three, &two), >, 0);
        g_assert_cmpint(ald_broker_address_compare(&one, &one), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/address/good", test_good);
        g_test_add_func("/address/bad", test_bad);
        g_test_add_func("/address/long", test_long);
        g_test_add_func("/address/order", test_order);
        return g_test_run();
}
