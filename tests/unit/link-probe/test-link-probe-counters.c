/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "services/link-probe/link/busy.h"
#include "services/link-probe/net/counters.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

#define SECOND UINT64_C(1000000)

static void say(FakeRoot *root, uint64_t received, uint64_t sent)
{
        g_autofree char *text = g_strdup_printf(
                "Inter-|   Receive                                                |  Transmit\n"
                " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
                "    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n"
                "  eth0:%" G_GUINT64_FORMAT " 1 0 0 0 0 0 0 %" G_GUINT64_FORMAT " 1 0 0 0 0 0 0\n"
                "rubbish\n:\nx: 1 2\n",
                received, sent);

        fake_root_write(root, "proc/net/dev", text);
}

static uint64_t read_rate(
        AldCounters *counters, FakeRoot *root, uint64_t now, uint64_t received, uint64_t sent)
{
        say(root, received, sent);
        ald_counters_read(counters, now);
        return ald_counters_rate(counters, "eth0");
}

static void test_rate(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldCounters *counters = ald_counters_new(root->fd);

        g_assert_cmpuint(read_rate(counters, root, SECOND, 0, 0), ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(read_rate(counters, root, 11 * SECOND, 1000, 500), ==, 800);
        g_assert_cmpuint(read_rate(counters, root, 21 * SECOND, 1000, 10500), ==, 8000);
        /* Too soon to tell anything new. */
        g_assert_cmpuint(read_rate(counters, root, 21 * SECOND + 1, 999999, 999999), ==, 8000);
        /* Counters that went back are another interface's. */
        g_assert_cmpuint(read_rate(counters, root, 31 * SECOND, 0, 0), ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(ald_counters_rate(counters, "eth1"), ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(ald_counters_rate(counters, "x"), ==, ALD_ABSENT_UINT64);
        ald_counters_free(counters);
}

static void test_probes_do_not_count(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldCounters *counters = ald_counters_new(root->fd);

        read_rate(counters, root, SECOND, 0, 0);
        g_assert_cmpuint(read_rate(counters, root, 11 * SECOND, 1000, 0), ==, 800);
        g_assert_cmpint(ald_counters_occupy(counters, NULL, "eth0"), ==, 0);
        g_assert_cmpint(ald_counters_occupy(counters, NULL, "eth0"), ==, -EBUSY);
        g_assert_cmpuint(read_rate(counters, root, 21 * SECOND, 1000000000, 0), ==, ALD_ABSENT_UINT64);
        ald_counters_release(counters, "eth0");
        g_assert_cmpuint(read_rate(counters, root, 31 * SECOND, 2000000000, 0), ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(read_rate(counters, root, 41 * SECOND, 2000001000, 0), ==, 800);
        ald_counters_free(counters);
}

/* What goes over a port of a bridge goes over the bridge. */
static void test_carrier_is_occupied_too(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldCounters *counters = ald_counters_new(root->fd);
        AldInterface rows[2] = { ALD_INTERFACE_INIT, ALD_INTERFACE_INIT };
        AldNetwork network = ALD_NETWORK_INIT;

        rows[0].id = "br0";
        rows[0].type = "bridge";
        rows[1].id = "eth0";
        rows[1].type = "ethernet";
        rows[1].controller = "br0";
        network.interfaces.items = rows;
        network.interfaces.n = 2;
        g_assert_cmpint(ald_counters_occupy(counters, &network, "eth0"), ==, 0);
        g_assert_cmpint(ald_counters_occupy(counters, &network, "br0"), ==, -EBUSY);
        ald_counters_release(counters, "eth0");
        g_assert_cmpint(ald_counters_occupy(counters, &network, "br0"), ==, 0);
        g_assert_true(ald_counters_is_occupied(counters, &network, "eth0"));
        ald_counters_free(counters);
}

static void test_missing_file(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldCounters *counters = ald_counters_new(root->fd);

        ald_counters_read(counters, SECOND);
        ald_counters_read(counters, 2 * SECOND);
        g_assert_cmpuint(log_count("traffic on interfaces is not measured"), ==, 1);
        ald_counters_free(counters);
}

static void test_busy(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldCounters *counters = ald_counters_new(root->fd);
        AldResults *results = ald_results_new("0000000000000000000000000000000a");
        AldInterface row = ALD_INTERFACE_INIT;
        AldNetwork network = ALD_NETWORK_INIT;
        g_autofree char *reason = NULL, *line = NULL;

        row.id = "eth0";
        network.interfaces.items = &row;
        network.interfaces.n = 1;
        read_rate(counters, root, SECOND, 0, 0);
        g_assert_cmpuint(read_rate(counters, root, 9 * SECOND, 100000000, 0), ==, 100000000);
        g_assert_null(ald_busy_reason(counters, results, &network, "eth0"));
        row.speed_bits_per_second = 1000000000;
        g_assert_null(ald_busy_reason(counters, results, &network, "eth0"));
        row.speed_bits_per_second = 999999990;
        reason = ald_busy_reason(counters, results, &network, "eth0");
        g_assert_cmpstr(reason, ==, "eth0 is in use, with 100 Mb/s");
        /* A line behind a faster port, which only others have measured. */
        row.speed_bits_per_second = UINT64_C(10000000000);
        g_assert_null(ald_busy_reason(counters, results, &network, "eth0"));
        ald_results_note_rate(results, "eth0", 500000000);
        ald_results_note_rate(results, "eth0", 400000000);
        g_assert_cmpuint(ald_results_rate(results, "eth0"), ==, 500000000);
        line = ald_busy_reason(counters, results, &network, "eth0");
        g_assert_nonnull(line);
        ald_results_free(results);
        ald_counters_free(counters);
}

static void assert_interface(const char *address, const char *interface)
{
        struct sockaddr_storage local = { .ss_family = AF_INET6 };
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *) &local;
        char buffer[IFNAMSIZ];

        g_assert_cmpint(inet_pton(AF_INET6, address, &v6->sin6_addr), ==, 1);
        v6->sin6_scope_id = 1;
        g_assert_cmpstr(ald_busy_interface(&local, buffer), ==, interface);
}

static void write_errors(FakeRoot *root, unsigned packets, unsigned errors, unsigned dropped)
{
        g_autofree char *text = g_strdup_printf("Inter-| Receive | Transmit\n face |bytes\n"
                                                "  eth0: 9 %u %u 0 0 0 0 0 9 0 0 %u 0 0 0 0\n",
                packets, errors, dropped);

        fake_root_write(root, "proc/net/dev", text);
}

/* Since the path was measured, and more than any line has. */
static void test_errors(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldCounters *counters = ald_counters_new(root->fd);

        write_errors(root, 1000, 900, 50);
        ald_counters_read(counters, G_USEC_PER_SEC);
        g_assert_false(ald_counters_has_errors(counters, "eth0"));
        write_errors(root, 2000, 950, 99);
        ald_counters_read(counters, 2 * G_USEC_PER_SEC);
        g_assert_false(ald_counters_has_errors(counters, "eth0"));
        write_errors(root, 2000, 950, 100);
        ald_counters_read(counters, 3 * G_USEC_PER_SEC);
        g_assert_true(ald_counters_has_errors(counters, "eth0"));
        write_errors(root, 200000, 950, 100);
        ald_counters_read(counters, 4 * G_USEC_PER_SEC);
        g_assert_false(ald_counters_has_errors(counters, "eth0"));
        write_errors(root, 200000, 950, 1000);
        ald_counters_read(counters, 5 * G_USEC_PER_SEC);
        g_assert_true(ald_counters_has_errors(counters, "eth0"));
        ald_counters_reset_errors(counters, "eth0");
        g_assert_false(ald_counters_has_errors(counters, "eth0"));
        /* Made anew. */
        write_errors(root, 10, 5, 5);
        ald_counters_read(counters, 6 * G_USEC_PER_SEC);
        g_assert_false(ald_counters_has_errors(counters, "eth0"));
        g_assert_false(ald_counters_has_errors(counters, "eth1"));
        ald_counters_free(counters);
}

static void read_errors(
        AldCounters *counters, FakeRoot *root, uint64_t now, unsigned packets, unsigned dropped)
{
        write_errors(root, packets, 0, dropped);
        ald_counters_read(counters, now);
}

/* However the probe ended. */
static void test_errors_of_a_probe(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        AldCounters *counters = ald_counters_new(root->fd);

        read_errors(counters, root, SECOND, 1000, 0);
        read_errors(counters, root, 2 * SECOND, 2000, 60);
        g_assert_cmpint(ald_counters_occupy(counters, NULL, "eth0"), ==, 0);
        read_errors(counters, root, 3 * SECOND, 3000, 500);
        g_assert_false(ald_counters_has_errors(counters, "eth0"));
        ald_counters_release(counters, "eth0");
        read_errors(counters, root, 4 * SECOND, 4000, 900);
        g_assert_false(ald_counters_has_errors(counters, "eth0"));
        /* Those of others count, from before it on. */
        read_errors(counters, root, 5 * SECOND, 5000, 940);
        g_assert_true(ald_counters_has_errors(counters, "eth0"));
        ald_counters_free(counters);
}

static void test_interface_of_a_connection(void)
{
        struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        struct sockaddr_storage local = { 0 };
        char buffer[IFNAMSIZ];

        memcpy(&local, &v4, sizeof v4);
        g_assert_cmpstr(ald_busy_interface(&local, buffer), ==, "lo");
        assert_interface("::ffff:127.0.0.1", "lo");
        assert_interface("fe80::1", "lo");
        assert_interface("2001:db8::2", "");
        assert_interface("::ffff:192.0.2.77", "");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/link-probe-counters/rate", test_rate);
        g_test_add_func("/link-probe-counters/probes-do-not-count", test_probes_do_not_count);
        g_test_add_func("/link-probe-counters/carrier-is-occupied-too", test_carrier_is_occupied_too);
        g_test_add_func("/link-probe-counters/missing-file", test_missing_file);
        g_test_add_func("/link-probe-counters/busy", test_busy);
        g_test_add_func("/link-probe-counters/errors", test_errors);
        g_test_add_func("/link-probe-counters/errors-of-a-probe", test_errors_of_a_probe);
        g_test_add_func("/link-probe-counters/interface-of-a-connection", test_interface_of_a_connection);
        return g_test_run();
}
