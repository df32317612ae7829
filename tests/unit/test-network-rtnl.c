/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/resource.h>

#include "services/telemetry/network-rtnl.h"
#include "tests/unit/log-count.h"

/* The kernel's own answers, of this network namespace; every one has a loopback interface. */

#define PATIENCE_SECONDS 10

static gboolean out_of_patience(gpointer userdata)
{
        g_error("waited in vain");
        return G_SOURCE_REMOVE;
}

static void count(void *userdata)
{
        ++*(unsigned *) userdata;
}

static void wait_for(const unsigned *n)
{
        guint timer = g_timeout_add_seconds(PATIENCE_SECONDS, out_of_patience, NULL);

        while (*n == 0)
                g_main_context_iteration(NULL, TRUE);
        g_source_remove(timer);
}

static void assert_loopback(const AldLinks *links)
{
        const AldLink *lo = ald_links_find(links, 1);

        g_assert_nonnull(lo);
        g_assert_cmpstr(lo->info.name, ==, "lo");
        g_assert_cmpuint(lo->info.mtu, >, 0);
}

static void test_first_list(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        g_autoptr(AldNetworkRtnl) rtnl = NULL;
        unsigned changes = 0;

        rtnl = ald_network_rtnl_new(links, count, &changes);
        g_assert_cmpuint(changes, ==, 0);
        wait_for(&changes);
        assert_loopback(links);
}

/* Without a file descriptor to be had, it is tried again until there is one; one line tells of it. */
static void test_no_socket(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        g_autoptr(AldNetworkRtnl) rtnl = NULL;
        struct rlimit before, none;
        unsigned changes = 0;

        log_count_reset();
        g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
        none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
        rtnl = ald_network_rtnl_new(links, count, &changes);
        g_assert_cmpuint(log_count("rtnetlink: cannot open a socket"), ==, 1);
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
        wait_for(&changes);
        assert_loopback(links);
        g_assert_cmpuint(log_count("rtnetlink"), ==, 1);
}

static void test_gone_before_the_answer(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        unsigned changes = 0;

        ald_network_rtnl_free(ald_network_rtnl_new(links, count, &changes));
        g_assert_false(g_main_context_iteration(NULL, FALSE));
        g_assert_cmpuint(changes, ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        /* The main context opens its own file descriptors at first use. */
        g_main_context_iteration(NULL, FALSE);
        g_test_add_func("/network-rtnl/first-list", test_first_list);
        g_test_add_func("/network-rtnl/no-socket", test_no_socket);
        g_test_add_func("/network-rtnl/gone-before-the-answer", test_gone_before_the_answer);
        return g_test_run();
}
