/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/telemetry/network/network-links.h"
#include "tests/unit/network-messages.h"

static int apply_link(AldLinks *links, int index, const char *name)
{
        TestMessage m;

        test_link(&m, index, name);
        return ald_links_apply(links, &m.header);
}

static int apply_gone(AldLinks *links, int index)
{
        TestMessage m;

        test_link_gone(&m, index);
        return ald_links_apply(links, &m.header);
}

static int apply_address(AldLinks *links, uint16_t type, int index, const char *text, uint32_t flags)
{
        TestMessage m;

        test_address_start(&m, type, index, text, flags);
        test_address_put(&m, IFA_ADDRESS, text);
        return ald_links_apply(links, &m.header);
}

/* "192.0.2.1/24 2001:db8::1/64" */
static char *addresses_of(const AldLinks *links, int index)
{
        const AldNetworkLink *link = ald_links_find(links, index);
        GString *text = g_string_new(NULL);

        g_assert_nonnull(link);
        for (guint i = 0; i < link->addresses->len; i++) {
                const AldLinkAddress *address = &g_array_index(link->addresses, AldLinkAddress, i);
                char buffer[INET6_ADDRSTRLEN];

                inet_ntop(address->family, address->local, buffer, sizeof buffer);
                g_string_append_printf(text, "%s%s/%u", i > 0 ? " " : "", buffer, address->prefix);
        }
        return g_string_free(text, FALSE);
}

static void assert_addresses(const AldLinks *links, int index, const char *expected)
{
        g_autofree char *found = addresses_of(links, index);

        g_assert_cmpstr(found, ==, expected);
}

static void test_come_and_go(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        static const int order[] = { 5, 1, 9, 3, 7 };

        for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
                g_assert_cmpint(apply_link(links, order[i], "x"), ==, 1);
        g_assert_cmpuint(ald_links_count(links), ==, 5);
        for (size_t i = 0; i < 5; i++)
                g_assert_cmpint(ald_links_at(links, i)->info.index, ==, (int) (2 * i + 1));

        g_assert_cmpint(apply_gone(links, 3), ==, 1);
        g_assert_cmpint(apply_gone(links, 3), ==, 0);
        g_assert_cmpint(apply_gone(links, 4), ==, 0);
        g_assert_null(ald_links_find(links, 3));
        g_assert_null(ald_links_find(links, 4));
        g_assert_nonnull(ald_links_find(links, 9));
        g_assert_cmpuint(ald_links_count(links), ==, 4);
}

static void test_rename(void)
{
        g_autoptr(AldLinks) links = ald_links_new();

        apply_link(links, 2, "eth0");
        apply_address(links, RTM_NEWADDR, 2, "192.0.2.1/24", 0);
        ald_links_find(links, 2)->dirty = false;
        g_assert_cmpint(apply_link(links, 2, "lan0"), ==, 1);
        g_assert_cmpstr(ald_links_find(links, 2)->info.name, ==, "lan0");
        g_assert_true(ald_links_find(links, 2)->dirty);
        assert_addresses(links, 2, "192.0.2.1/24");
}

static void test_addresses(void)
{
        g_autoptr(AldLinks) links = ald_links_new();

        apply_link(links, 2, "eth0");
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 3, "192.0.2.1/24", 0), ==, 0);
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 2, "fe80::1/64", 0), ==, 1);
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 2, "2001:db8::2/64", 0), ==, 1);
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 2, "192.0.2.10/24", 0), ==, 1);
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 2, "192.0.2.9/24", 0), ==, 1);
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 2, "192.0.2.9/32", 0), ==, 1);
        assert_addresses(links, 2, "192.0.2.9/24 192.0.2.9/32 192.0.2.10/24 2001:db8::2/64 fe80::1/64");

        /* A router's advertisement renews the lifetime over and over: nothing new. */
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 2, "2001:db8::2/64", 0), ==, 0);
        g_assert_cmpint(apply_address(links, RTM_DELADDR, 2, "192.0.2.9/24", 0), ==, 1);
        g_assert_cmpint(apply_address(links, RTM_DELADDR, 2, "192.0.2.9/24", 0), ==, 0);
        assert_addresses(links, 2, "192.0.2.9/32 192.0.2.10/24 2001:db8::2/64 fe80::1/64");
}

/* The kernel tells of an address at each step of its life. */
static void test_duplicate_detection(void)
{
        g_autoptr(AldLinks) links = ald_links_new();

        apply_link(links, 2, "eth0");
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 2, "fe80::1/64", IFA_F_TENTATIVE), ==, 0);
        assert_addresses(links, 2, "");
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 2, "fe80::1/64", IFA_F_PERMANENT), ==, 1);
        assert_addresses(links, 2, "fe80::1/64");
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 2, "fe80::1/64", IFA_F_DADFAILED), ==, 1);
        assert_addresses(links, 2, "");
}

static void test_sweep(void)
{
        g_autoptr(AldLinks) links = ald_links_new();

        apply_link(links, 1, "lo");
        apply_link(links, 2, "eth0");
        apply_link(links, 3, "eth1");
        apply_address(links, RTM_NEWADDR, 1, "127.0.0.1/8", 0);
        apply_address(links, RTM_NEWADDR, 2, "192.0.2.1/24", 0);
        apply_address(links, RTM_NEWADDR, 2, "192.0.2.2/24", 0);

        ald_links_mark(links);
        g_assert_cmpuint(ald_links_count(links), ==, 3);
        apply_link(links, 1, "lo");
        apply_link(links, 2, "eth0");
        assert_addresses(links, 2, "192.0.2.1/24 192.0.2.2/24");
        g_assert_false(ald_links_sweep_links(links));
        g_assert_null(ald_links_find(links, 3));

        apply_address(links, RTM_NEWADDR, 1, "127.0.0.1/8", 0);
        apply_address(links, RTM_NEWADDR, 2, "192.0.2.2/24", 0);
        g_assert_false(ald_links_sweep_addresses(links));
        assert_addresses(links, 1, "127.0.0.1/8");
        assert_addresses(links, 2, "192.0.2.2/24");
}

static void fill(AldLinks *links, int first)
{
        for (int i = 0; i < ALD_LINKS_MAX; i++) {
                g_autofree char *name = g_strdup_printf("d%d", first + i);
                g_assert_cmpint(apply_link(links, first + i, name), ==, 1);
        }
}

static void test_too_many_links(void)
{
        g_autoptr(AldLinks) links = ald_links_new();

        fill(links, 1);
        g_assert_cmpuint(ald_links_left_out(links), ==, 0);
        g_assert_cmpint(apply_link(links, 5000, "more"), ==, 1);
        g_assert_cmpuint(ald_links_left_out(links), ==, 1);
        g_assert_cmpuint(ald_links_count(links), ==, ALD_LINKS_MAX);
        g_assert_cmpint(apply_link(links, 5001, "more"), ==, 1);
        g_assert_cmpint(apply_link(links, 5001, "renamed"), ==, 0);
        g_assert_cmpuint(ald_links_left_out(links), ==, 2);
        g_assert_cmpint(apply_gone(links, 5001), ==, 1);
        g_assert_cmpuint(ald_links_left_out(links), ==, 1);
        /* Those known are still kept up to date. */
        g_assert_cmpint(apply_link(links, 7, "renamed"), ==, 1);
        /* There is room now, for whom only a dump can tell. */
        g_assert_cmpint(apply_gone(links, 7), ==, -EAGAIN);
        ald_links_mark(links);
        g_assert_cmpuint(ald_links_left_out(links), ==, 1);
        g_assert_cmpint(apply_link(links, 5000, "more"), ==, 1);
        g_assert_cmpuint(ald_links_left_out(links), ==, 0);
}

/* All were replaced while messages were lost: the first dump finds no room, and says so. */
static void test_all_replaced(void)
{
        g_autoptr(AldLinks) links = ald_links_new();

        fill(links, 1);
        ald_links_mark(links);
        g_assert_cmpint(apply_link(links, 5000, "new"), ==, 1);
        g_assert_true(ald_links_sweep_links(links));
        g_assert_cmpuint(ald_links_count(links), ==, 0);
        ald_links_mark(links);
        g_assert_cmpint(apply_link(links, 5000, "new"), ==, 1);
        g_assert_false(ald_links_sweep_links(links));
        g_assert_nonnull(ald_links_find(links, 5000));
}

static void test_too_many_addresses(void)
{
        g_autoptr(AldLinks) links = ald_links_new();

        apply_link(links, 1, "lo");
        for (int i = 0; i <= ALD_LINK_ADDRESSES_MAX; i++) {
                g_autofree char *text = g_strdup_printf("10.0.%d.%d/32", i / 256, i % 256);
                g_assert_cmpint(apply_address(links, RTM_NEWADDR, 1, text, 0), ==, 1);
        }
        g_assert_cmpuint(ald_links_find(links, 1)->addresses->len, ==, ALD_LINK_ADDRESSES_MAX);
        g_assert_cmpuint(ald_links_addresses_left_out(links), ==, 1);
        /* The kernel says of the same ones again how long they last. */
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 1, "10.0.4.0/32", 0), ==, 0);
        g_assert_cmpint(apply_address(links, RTM_NEWADDR, 1, "10.1.0.0/32", 0), ==, 1);
        g_assert_cmpuint(ald_links_addresses_left_out(links), ==, 2);
        g_assert_cmpint(apply_address(links, RTM_DELADDR, 1, "10.1.0.0/32", 0), ==, 1);
        g_assert_cmpuint(ald_links_addresses_left_out(links), ==, 1);
        g_assert_cmpint(apply_address(links, RTM_DELADDR, 1, "10.0.0.0/32", 0), ==, -EAGAIN);
}

static void test_other_messages(void)
{
        g_autoptr(AldLinks) links = ald_links_new();
        TestMessage m;

        test_link(&m, 2, "eth0");
        m.header.nlmsg_type = RTM_NEWROUTE;
        g_assert_cmpint(ald_links_apply(links, &m.header), ==, 0);
        test_link_start(&m, RTM_NEWLINK, 2);
        g_assert_cmpint(ald_links_apply(links, &m.header), ==, -EBADMSG);
        test_link(&m, 2, "eth0");
        ((struct ifinfomsg *) mnl_nlmsg_get_payload(&m.header))->ifi_family = AF_BRIDGE;
        g_assert_cmpint(ald_links_apply(links, &m.header), ==, 0);
        g_assert_cmpuint(ald_links_count(links), ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/network-links/come-and-go", test_come_and_go);
        g_test_add_func("/network-links/rename", test_rename);
        g_test_add_func("/network-links/addresses", test_addresses);
        g_test_add_func("/network-links/duplicate-detection", test_duplicate_detection);
        g_test_add_func("/network-links/sweep", test_sweep);
        g_test_add_func("/network-links/too-many-links", test_too_many_links);
        g_test_add_func("/network-links/all-replaced", test_all_replaced);
        g_test_add_func("/network-links/too-many-addresses", test_too_many_addresses);
        g_test_add_func("/network-links/other-messages", test_other_messages);
        return g_test_run();
}
