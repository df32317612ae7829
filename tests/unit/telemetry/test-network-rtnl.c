/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/resource.h>

#include "services/telemetry/network/network-rtnl.h"
#include "tests/unit/log-count.h"

/* The kernel's own answers, of this network namespace; every one has a loopback interface. */

#define TIMEOUT_SECONDS 10

static gboolean on_timeout(gpointer userdata)
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
        guint timer = g_timeout_add_seconds(TIMEOUT_SECONDS, on_timeout, NULL);

        while (*n == 0)
                g_main_context_iteration(NULL, TRUE);
        g_source_remove(timer);
}

static void assert_loopback(const AldLinks *links)
{
        const AldNetworkLink *lo = ald_links_find(links, 1);

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

static void forbid_files(struct rlimit *ret_before)
{
        struct rlimit none;

        g_assert_cmpint(getrlimit(RLIMIT_NOFILE, ret_before), ==, 0);
        none = (struct rlimit){ .rlim_cur = 0, .rlim_max = ret_before->rlim_max };
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
}

/* Without a file descriptor to be had, it is tried again until there is one; one line tells of it. */
static void test_no_socket(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        g_autoptr(AldNetworkRtnl) rtnl = NULL;
        struct rlimit before;
        unsigned changes = 0;

        log_count_reset();
        forbid_files(&before);
        rtnl = ald_network_rtnl_new(links, count, &changes);
        g_assert_cmpuint(log_count("rtnetlink: cannot open a socket"), ==, 1);
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
        wait_for(&changes);
        assert_loopback(links);
        g_assert_cmpuint(log_count("rtnetlink"), ==, 1);
}

static void assert_nothing_left(AldNetworkRtnl *rtnl)
{
        g_assert_nonnull(g_main_context_find_source_by_user_data(NULL, rtnl));
        ald_network_rtnl_free(rtnl);
        g_assert_null(g_main_context_find_source_by_user_data(NULL, rtnl));
}

/* Freed before the kernel's answer, and while it waits to try again. */
static void test_gone_early(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        struct rlimit before;
        unsigned changes = 0;
        AldNetworkRtnl *rtnl;

        assert_nothing_left(ald_network_rtnl_new(links, count, &changes));
        forbid_files(&before);
        rtnl = ald_network_rtnl_new(links, count, &changes);
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
        assert_nothing_left(rtnl);
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
        g_test_add_func("/network-rtnl/gone-early", test_gone_early);
        return g_test_run();
}
