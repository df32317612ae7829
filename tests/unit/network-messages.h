/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <arpa/inet.h>
#include <glib.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>

/* Messages as the kernel writes them, for tests of who reads them. */
typedef union TestMessage {
        struct nlmsghdr header;
        char bytes[4096];
} TestMessage;

static inline struct ifinfomsg *test_link_start(TestMessage *m, uint16_t type, int index)
{
        struct ifinfomsg *link;

        memset(m, 0, sizeof *m);
        mnl_nlmsg_put_header(m)->nlmsg_type = type;
        link = mnl_nlmsg_put_extra_header(&m->header, sizeof *link);
        link->ifi_index = index;
        link->ifi_type = ARPHRD_ETHER;
        link->ifi_flags = IFF_UP | IFF_LOWER_UP;
        return link;
}

static inline void test_link(TestMessage *m, int index, const char *name)
{
        test_link_start(m, RTM_NEWLINK, index);
        mnl_attr_put_strz(&m->header, IFLA_IFNAME, name);
        mnl_attr_put_u32(&m->header, IFLA_MTU, 1500);
}

static inline void test_link_kind(TestMessage *m, const char *kind)
{
        struct nlattr *nest = mnl_attr_nest_start(&m->header, IFLA_LINKINFO);

        mnl_attr_put_strz(&m->header, IFLA_INFO_KIND, kind);
        mnl_attr_nest_end(&m->header, nest);
}

static inline void test_link_gone(TestMessage *m, int index)
{
        test_link_start(m, RTM_DELLINK, index);
}

/* "192.0.2.1/24" or "2001:db8::1/64". */
static inline void test_address_start(
        TestMessage *m, uint16_t type, int index, const char *text, uint32_t flags)
{
        g_auto(GStrv) parts = g_strsplit(text, "/", 2);
        struct ifaddrmsg *address;

        memset(m, 0, sizeof *m);
        mnl_nlmsg_put_header(m)->nlmsg_type = type;
        address = mnl_nlmsg_put_extra_header(&m->header, sizeof *address);
        address->ifa_family = strchr(text, ':') ? AF_INET6 : AF_INET;
        address->ifa_prefixlen = (uint8_t) atoi(parts[1]);
        address->ifa_index = (uint32_t) index;
        mnl_attr_put_u32(&m->header, IFA_FLAGS, flags);
}

static inline void test_address_put(TestMessage *m, uint16_t attribute, const char *text)
{
        g_auto(GStrv) parts = g_strsplit(text, "/", 2);
        bool is6 = strchr(text, ':');
        uint8_t bytes[16];

        g_assert_cmpint(inet_pton(is6 ? AF_INET6 : AF_INET, parts[0], bytes), ==, 1);
        mnl_attr_put(&m->header, attribute, is6 ? 16 : 4, bytes);
}

static inline void test_address(TestMessage *m, uint16_t type, int index, const char *text)
{
        test_address_start(m, type, index, text, IFA_F_PERMANENT);
        test_address_put(m, IFA_ADDRESS, text);
}
