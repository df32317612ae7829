/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <sys/utsname.h>

#include "clients/exporter/handshake-limit.h"
#include "clients/exporter/http-host.h"
#include "clients/exporter/http-prefix.h"

static uint64_t prefix_of(const char *address)
{
        struct sockaddr_in v4 = { .sin_family = AF_INET };
        struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

        if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
                return ald_http_prefix((const struct sockaddr *) &v4);
        g_assert_cmpint(inet_pton(AF_INET6, address, &v6.sin6_addr), ==, 1);
        return ald_http_prefix((const struct sockaddr *) &v6);
}

static bool allows(AldHandshakeLimit *limit, const char *address, gint64 now)
{
        return ald_handshake_limit_allows(limit, prefix_of(address), now);
}

static void test_each_address(void)
{
        AldHandshakeLimit *limit = ald_handshake_limit_new();
        unsigned n = 0;

        for (unsigned i = 0; i < 100; i++)
                n += allows(limit, "192.0.2.1", 1000);
        g_assert_cmpuint(n, ==, ALD_HANDSHAKES_AT_ONCE);
        g_assert_true(allows(limit, "192.0.2.2", 1000));
        g_assert_false(allows(limit, "::ffff:192.0.2.1", 1000));
        g_assert_true(allows(limit, "192.0.2.1", 1000 + G_USEC_PER_SEC / ALD_HANDSHAKES_PER_SECOND));
        g_assert_cmpuint(ald_handshake_limit_refused(limit), ==, 100 - ALD_HANDSHAKES_AT_ONCE + 1);
        ald_handshake_limit_free(limit);
}

/* A /64 is one customer; loopback is none of them. */
static void test_prefixes(void)
{
        struct sockaddr_un local = { .sun_family = AF_UNIX };

        g_assert_cmpuint(prefix_of("2001:db8::1"), ==, prefix_of("2001:db8::ffff:1"));
        g_assert_cmpuint(prefix_of("2001:db8::1"), !=, prefix_of("2001:db8:0:1::1"));
        g_assert_cmpuint(prefix_of("192.0.2.1"), ==, prefix_of("::ffff:192.0.2.1"));
        g_assert_cmpuint(prefix_of("192.0.2.1"), !=, prefix_of("::ffff:192.0.2.2"));
        g_assert_cmpuint(prefix_of("::1"), !=, prefix_of("127.0.0.1"));
        g_assert_cmpuint(prefix_of("::1"), !=, prefix_of("::2"));
        g_assert_cmpuint(ald_http_prefix(NULL), ==, 0);
        g_assert_cmpuint(ald_http_prefix((const struct sockaddr *) &local), ==, 0);
}

static void test_each_prefix(void)
{
        AldHandshakeLimit *limit = ald_handshake_limit_new();
        unsigned n = 0;

        for (unsigned i = 0; i < 100; i++) {
                g_autofree char *address = g_strdup_printf("2001:db8::%x", i);

                n += allows(limit, address, 0);
        }
        g_assert_cmpuint(n, ==, ALD_HANDSHAKES_AT_ONCE);
        g_assert_true(allows(limit, "2001:db8:0:1::1", 0));
        g_assert_true(allows(limit, "::1", 0));
        ald_handshake_limit_free(limit);
}

/* More addresses than are remembered: the quiet ones are forgotten, not the busy one. */
static void test_many_addresses(void)
{
        AldHandshakeLimit *limit = ald_handshake_limit_new();

        for (unsigned i = 0; i < 2 * ALD_HANDSHAKES_ADDRESSES; i++) {
                g_autofree char *address = g_strdup_printf("198.51.%u.%u", i / 256, i % 256);

                (void) allows(limit, address, i);
                g_assert_true(allows(limit, "192.0.2.1", i) == (i < ALD_HANDSHAKES_AT_ONCE));
        }
        ald_handshake_limit_free(limit);
}

/* The many /64s of a /48 take no handshake of an address that was answered, also when they are more than are
 * remembered. */
static void test_strangers(void)
{
        AldHandshakeLimit *limit = ald_handshake_limit_new();
        unsigned n = 0;

        g_assert_true(allows(limit, "192.0.2.1", 0));
        ald_handshake_limit_set_answered(limit, prefix_of("192.0.2.1"));
        for (unsigned i = 0; i < 4 * ALD_HANDSHAKES_ADDRESSES; i++) {
                g_autofree char *address = g_strdup_printf("2001:db8:0:%x::1", i);

                n += allows(limit, address, i + 1);
        }
        g_assert_cmpuint(n, ==, ALD_HANDSHAKES_OF_STRANGERS_AT_ONCE - 1);
        g_assert_false(allows(limit, "192.0.2.2", 2000));
        for (unsigned i = 1; i < ALD_HANDSHAKES_AT_ONCE; i++)
                g_assert_true(allows(limit, "192.0.2.1", 2000));
        g_assert_false(allows(limit, "192.0.2.1", 2000));
        n = 0;
        for (unsigned i = 0; i < ALD_HANDSHAKES_ADDRESSES; i++) {
                g_autofree char *address = g_strdup_printf("2001:db8:1:%x::1", i);

                n += allows(limit, address, G_USEC_PER_SEC);
        }
        g_assert_cmpuint(n, ==, ALD_HANDSHAKES_OF_STRANGERS_PER_SECOND);
        ald_handshake_limit_free(limit);
}

static void test_hosts(void)
{
        static const char *const names[] = { "gpu.example", "gpu", NULL };
        struct utsname system;
        g_autofree char *own = NULL, *local = NULL;

        g_assert_cmpint(uname(&system), ==, 0);
        own = g_strdup_printf("%s:10001", system.nodename);
        local = g_strdup_printf("%s.local", system.nodename);
        for (const char *const *good = (const char *const[]){ "127.0.0.1", "127.0.0.1:10001", "[::1]:10001",
                     "192.0.2.1:80", "localhost:10001", "LOCALHOST", "localhost.", own, local, NULL };
                *good; good++)
                g_assert_true(ald_http_host_is_own(*good, NULL));
        for (const char *const *bad = (const char *const[]){ "", "evil.example", "evil.example:10001",
                     "[evil]", "[::1", "127.0.0.1.evil.example", "localhost.evil.example", "1.2.3", NULL };
                *bad; bad++)
                g_assert_false(ald_http_host_is_own(*bad, names));
        g_assert_true(ald_http_host_is_own("GPU.example:9", names));
        g_assert_false(ald_http_host_is_own("gpu.example", NULL));
        g_assert_true(ald_http_host_is_own(NULL, NULL));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/exporter-limits/each-address", test_each_address);
        g_test_add_func("/exporter-limits/prefixes", test_prefixes);
        g_test_add_func("/exporter-limits/each-prefix", test_each_prefix);
        g_test_add_func("/exporter-limits/strangers", test_strangers);
        g_test_add_func("/exporter-limits/many-addresses", test_many_addresses);
        g_test_add_func("/exporter-limits/hosts", test_hosts);
        return g_test_run();
}
