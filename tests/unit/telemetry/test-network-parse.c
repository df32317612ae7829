/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/telemetry/network/network-parse.h"
#include "tests/unit/network-messages.h"

static void test_link_whole(void)
{
        static const uint8_t address[20] = { 0x80, 0, 2, 8, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xe4, 0x1d };
        TestMessage m;
        AldLinkInfo info;

        test_link(&m, 7, "ib0.8001");
        mnl_attr_put(&m.header, IFLA_ADDRESS, sizeof address, address);
        mnl_attr_put_u32(&m.header, IFLA_MASTER, 3);
        mnl_attr_put_u32(&m.header, IFLA_LINK, 5);
        test_link_kind(&m, "ipoib");
        mnl_attr_put_u32(&m.header, 1000, 1); /* of some newer kernel */

        g_assert_cmpint(ald_network_parse_link(&m.header, &info), ==, 0);
        g_assert_cmpint(info.index, ==, 7);
        g_assert_cmpstr(info.name, ==, "ib0.8001");
        g_assert_cmpstr(info.kind, ==, "ipoib");
        g_assert_cmpint(info.arp_type, ==, ARPHRD_ETHER);
        g_assert_cmpint(info.mtu, ==, 1500);
        g_assert_cmpint(info.controller, ==, 3);
        g_assert_cmpint(info.parent, ==, 5);
        g_assert_true(info.carrier);
        g_assert_cmpmem(info.address, info.address_size, address, sizeof address);
}

static void test_link_carrier(void)
{
        static const struct {
                unsigned flags;
                bool carrier;
        } table[] = {
                { IFF_UP | IFF_LOWER_UP, true },
                { IFF_UP, false },
                { IFF_LOWER_UP, false },
                { 0, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                TestMessage m;
                AldLinkInfo info;

                test_link(&m, 2, "eth0");
                ((struct ifinfomsg *) mnl_nlmsg_get_payload(&m.header))->ifi_flags = table[i].flags;
                g_assert_cmpint(ald_network_parse_link(&m.header, &info), ==, 0);
                g_assert_cmpint(info.carrier, ==, table[i].carrier);
        }
}

/* An index of another network namespace is none of ours. */
static void test_link_parent_elsewhere(void)
{
        TestMessage m;
        AldLinkInfo info;

        test_link(&m, 2, "eth0");
        mnl_attr_put_u32(&m.header, IFLA_LINK, 9);
        mnl_attr_put_u32(&m.header, IFLA_LINK_NETNSID, 0);
        test_link_kind(&m, "veth");
        g_assert_cmpint(ald_network_parse_link(&m.header, &info), ==, 0);
        g_assert_cmpint(info.parent, ==, 0);
}

static void test_link_of_vxlan(void)
{
        TestMessage m;
        AldLinkInfo info;
        struct nlattr *nest, *data;

        test_link(&m, 4, "vx0");
        nest = mnl_attr_nest_start(&m.header, IFLA_LINKINFO);
        mnl_attr_put_strz(&m.header, IFLA_INFO_KIND, "vxlan");
        data = mnl_attr_nest_start(&m.header, IFLA_INFO_DATA);
        mnl_attr_put_u32(&m.header, IFLA_VXLAN_ID, 42);
        mnl_attr_put_u32(&m.header, IFLA_VXLAN_LINK, 2);
        mnl_attr_nest_end(&m.header, data);
        mnl_attr_nest_end(&m.header, nest);
        g_assert_cmpint(ald_network_parse_link(&m.header, &info), ==, 0);
        g_assert_cmpint(info.parent, ==, 2);
}

static void test_link_of_no_concern(void)
{
        TestMessage m;
        AldLinkInfo info;
        int index;

        test_link(&m, 2, "eth0");
        ((struct ifinfomsg *) mnl_nlmsg_get_payload(&m.header))->ifi_family = AF_BRIDGE;
        g_assert_cmpint(ald_network_parse_link(&m.header, &info), ==, -ENOMSG);

        /* It leaves the bridge; it does not go. */
        test_link_gone(&m, 2);
        ((struct ifinfomsg *) mnl_nlmsg_get_payload(&m.header))->ifi_family = AF_BRIDGE;
        g_assert_cmpint(ald_network_parse_link_gone(&m.header, &index), ==, -ENOMSG);

        test_link_start(&m, RTM_NEWLINK, 2);
        mnl_attr_put_strz(&m.header, IFLA_IFNAME, "wlan0");
        mnl_attr_put(&m.header, IFLA_WIRELESS, 8, "scanning");
        g_assert_cmpint(ald_network_parse_link(&m.header, &info), ==, -ENOMSG);
}

static void bad_name_none(TestMessage *m)
{
        test_link_start(m, RTM_NEWLINK, 2);
        mnl_attr_put_u32(&m->header, IFLA_MTU, 1500);
}

static void bad_name_empty(TestMessage *m)
{
        test_link(m, 2, "");
}

static void bad_name_long(TestMessage *m)
{
        test_link(m, 2, "sixteen-letters!");
}

static void bad_name_path(TestMessage *m)
{
        test_link(m, 2, "../../shadow");
}

static void bad_name_dots(TestMessage *m)
{
        test_link(m, 2, "..");
}

static void bad_name_open(TestMessage *m)
{
        test_link_start(m, RTM_NEWLINK, 2);
        mnl_attr_put(&m->header, IFLA_IFNAME, 4, "eth0");
}

static void bad_index(TestMessage *m)
{
        test_link(m, 0, "eth0");
}

static void bad_mtu(TestMessage *m)
{
        test_link_start(m, RTM_NEWLINK, 2);
        mnl_attr_put_strz(&m->header, IFLA_IFNAME, "eth0");
        mnl_attr_put_u16(&m->header, IFLA_MTU, 1500);
}

static void bad_address(TestMessage *m)
{
        test_link(m, 2, "eth0");
        mnl_attr_put(&m->header, IFLA_ADDRESS, 33, "123456789012345678901234567890123");
}

static void bad_controller(TestMessage *m)
{
        test_link(m, 2, "eth0");
        mnl_attr_put_u32(&m->header, IFLA_MASTER, UINT32_MAX);
}

static void bad_kind(TestMessage *m)
{
        test_link(m, 2, "eth0");
        test_link_kind(m, "a-kind-of-kernel-module-whose-name-is-longer-than-any-other");
}

static void bad_nest(TestMessage *m)
{
        test_link(m, 2, "eth0");
        mnl_attr_put(&m->header, IFLA_LINKINFO, 4, "\x40\0\1\0"); /* says it is longer than its nest */
}

static void bad_tail(TestMessage *m)
{
        test_link(m, 2, "eth0");
        mnl_nlmsg_put_extra_header(&m->header, 8); /* two attributes of no length */
}

static void test_link_damaged(void)
{
        static void (*const table[])(TestMessage * m) = {
                bad_name_none,
                bad_name_empty,
                bad_name_long,
                bad_name_path,
                bad_name_dots,
                bad_name_open,
                bad_index,
                bad_mtu,
                bad_address,
                bad_controller,
                bad_kind,
                bad_nest,
                bad_tail,
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                TestMessage m;
                AldLinkInfo info = { .index = -1 };

                g_test_message("row %zu", i);
                table[i](&m);
                g_assert_cmpint(ald_network_parse_link(&m.header, &info), ==, -EBADMSG);
                g_assert_cmpint(info.index, ==, -1);
        }
}

/* Cut anywhere, in a copy of just that size so that a sanitizer sees a read beyond. */
static void test_cut(void)
{
        TestMessage m;
        AldLinkInfo info;
        AldLinkAddress address;
        bool usable;
        int index;

        test_link(&m, 7, "eth0");
        test_link_kind(&m, "vlan");
        for (uint32_t size = sizeof(struct nlmsghdr); size < m.header.nlmsg_len; size++) {
                g_autofree struct nlmsghdr *cut = g_memdup2(&m, size);

                cut->nlmsg_len = size;
                ald_network_parse_link(cut, &info);
                if (size < sizeof(struct nlmsghdr) + sizeof(struct ifinfomsg)) {
                        g_assert_cmpint(ald_network_parse_link(cut, &info), ==, -EBADMSG);
                        g_assert_cmpint(ald_network_parse_link_gone(cut, &index), ==, -EBADMSG);
                }
        }
        test_address(&m, RTM_NEWADDR, 2, "2001:db8::1/64");
        for (uint32_t size = sizeof(struct nlmsghdr); size < m.header.nlmsg_len; size++) {
                g_autofree struct nlmsghdr *cut = g_memdup2(&m, size);

                cut->nlmsg_len = size;
                g_assert_cmpint(ald_network_parse_address(cut, &index, &address, &usable), ==, -EBADMSG);
        }
}

static void test_address_usable(void)
{
        static const struct {
                const char *text;
                uint32_t flags;
                bool usable;
        } table[] = {
                { "192.0.2.1/24", IFA_F_PERMANENT, true },
                { "192.0.2.1/24", IFA_F_SECONDARY, true },
                { "2001:db8::1/64", IFA_F_PERMANENT, true },
                { "2001:db8::1/64", IFA_F_DEPRECATED, true },
                { "2001:db8::1/64", IFA_F_NOPREFIXROUTE | IFA_F_STABLE_PRIVACY, true },
                { "2001:db8::1/64", IFA_F_TENTATIVE, false },
                { "2001:db8::1/64", IFA_F_TENTATIVE | IFA_F_OPTIMISTIC, true },
                { "2001:db8::1/64", IFA_F_TENTATIVE | IFA_F_DADFAILED, false },
                { "2001:db8::1/64", IFA_F_PERMANENT | IFA_F_DADFAILED, false },
                { "2001:db8::1/64", IFA_F_TEMPORARY, false },
                { "2001:db8::1/64", IFA_F_TEMPORARY | IFA_F_DEPRECATED, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                TestMessage m;
                AldLinkAddress address;
                bool usable;
                int index;

                g_test_message("row %zu", i);
                test_address_start(&m, RTM_NEWADDR, 3, table[i].text, table[i].flags);
                test_address_put(&m, IFA_ADDRESS, table[i].text);
                g_assert_cmpint(ald_network_parse_address(&m.header, &index, &address, &usable), ==, 0);
                g_assert_cmpint(index, ==, 3);
                g_assert_cmpint(usable, ==, table[i].usable);
        }
}

static void test_address_point_to_point(void)
{
        TestMessage m;
        AldLinkAddress address;
        uint8_t local[4] = { 192, 0, 2, 1 }, peer[4] = { 192, 0, 2, 2 };
        bool usable;
        int index;

        test_address_start(&m, RTM_NEWADDR, 3, "192.0.2.1/32", IFA_F_PERMANENT);
        test_address_put(&m, IFA_ADDRESS, "192.0.2.2");
        test_address_put(&m, IFA_LOCAL, "192.0.2.1");
        g_assert_cmpint(ald_network_parse_address(&m.header, &index, &address, &usable), ==, 0);
        g_assert_cmpint(address.family, ==, AF_INET);
        g_assert_cmpint(address.prefix, ==, 32);
        g_assert_cmpmem(address.local, 4, local, 4);
        g_assert_cmpmem(address.peer, 4, peer, 4);
}

static void test_address_damaged(void)
{
        static const struct {
                const char *header, *address;
                int index, error;
        } table[] = {
                { "192.0.2.1/33", "192.0.2.1", 2, -EBADMSG },
                { "2001:db8::1/129", "2001:db8::1", 2, -EBADMSG },
                { "192.0.2.1/24", "2001:db8::1", 2, -EBADMSG },
                { "2001:db8::1/64", "192.0.2.1", 2, -EBADMSG },
                { "192.0.2.1/24", NULL, 2, -EBADMSG },
                { "192.0.2.1/24", "192.0.2.1", 0, -EBADMSG },
                { "192.0.2.1/24", "192.0.2.1", -1, -EBADMSG },
        };
        TestMessage m;
        AldLinkAddress address;
        bool usable;
        int index;

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                g_test_message("row %zu", i);
                test_address_start(&m, RTM_NEWADDR, table[i].index, table[i].header, 0);
                if (table[i].address)
                        test_address_put(&m, IFA_ADDRESS, table[i].address);
                g_assert_cmpint(
                        ald_network_parse_address(&m.header, &index, &address, &usable), ==, table[i].error);
        }
        test_address(&m, RTM_NEWADDR, 2, "192.0.2.1/24");
        ((struct ifaddrmsg *) mnl_nlmsg_get_payload(&m.header))->ifa_family = AF_PHONET;
        g_assert_cmpint(ald_network_parse_address(&m.header, &index, &address, &usable), ==, -ENOMSG);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/network-parse/link/whole", test_link_whole);
        g_test_add_func("/network-parse/link/carrier", test_link_carrier);
        g_test_add_func("/network-parse/link/parent-elsewhere", test_link_parent_elsewhere);
        g_test_add_func("/network-parse/link/of-vxlan", test_link_of_vxlan);
        g_test_add_func("/network-parse/link/of-no-concern", test_link_of_no_concern);
        g_test_add_func("/network-parse/link/damaged", test_link_damaged);
        g_test_add_func("/network-parse/cut", test_cut);
        g_test_add_func("/network-parse/address/usable", test_address_usable);
        g_test_add_func("/network-parse/address/point-to-point", test_address_point_to_point);
        g_test_add_func("/network-parse/address/damaged", test_address_damaged);
        return g_test_run();
}
