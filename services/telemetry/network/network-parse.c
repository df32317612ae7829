/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "services/telemetry/network/network-parse.h"

/* Indexes attributes by type. As in the kernel, the last one of a type counts. Types above max come from
 * newer kernels and are ignored. */
static int index_attributes(const void *payload, size_t size, const struct nlattr **table, unsigned max)
{
        const struct nlattr *attribute = payload;
        size_t left = size;

        memset(table, 0, (max + 1) * sizeof *table);
        while (mnl_attr_ok(attribute, (int) left)) {
                size_t step = MIN((size_t) MNL_ALIGN(attribute->nla_len), left);
                unsigned type = mnl_attr_get_type(attribute);

                if (type <= max)
                        table[type] = attribute;
                left -= step;
                attribute = (const void *) ((const char *) attribute + step);
        }
        return left == 0 ? 0 : -EBADMSG;
}

static int index_nested_attributes(const struct nlattr *nest, const struct nlattr **table, unsigned max)
{
        return index_attributes(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), table, max);
}

/* Sets *ret_header to the fixed header of a message, and indexes the attributes after it. */
static int open_message(const struct nlmsghdr *message, size_t header_size, const void **ret_header,
        const struct nlattr **table, unsigned max)
{
        size_t size = mnl_nlmsg_get_payload_len(message), offset = MNL_ALIGN(header_size);
        const char *payload = mnl_nlmsg_get_payload(message);
        int r;

        if (size < header_size)
                return -EBADMSG;
        offset = MIN(offset, size);
        r = index_attributes(payload + offset, size - offset, table, max);
        if (r < 0)
                return r;
        *ret_header = payload;
        return 0;
}

/* Reads a number; an absent attribute leaves the value as it is. */
static int get_u32(const struct nlattr *attribute, uint32_t *ret)
{
        if (!attribute)
                return 0;
        if (mnl_attr_validate(attribute, MNL_TYPE_U32) < 0)
                return -EBADMSG;
        *ret = mnl_attr_get_u32(attribute);
        return 0;
}

static int get_index(const struct nlattr *attribute, int *ret)
{
        uint32_t index = 0;
        int r = get_u32(attribute, &index);

        if (r < 0 || index > INT32_MAX)
                return -EBADMSG;
        *ret = (int) index;
        return 0;
}

static int get_string(const struct nlattr *attribute, char *ret, size_t size)
{
        if (!attribute)
                return 0;
        if (mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) < 0)
                return -EBADMSG;
        return g_strlcpy(ret, mnl_attr_get_str(attribute), size) < size ? 0 : -EBADMSG;
}

/* Rejects a name that is not safe as a part of a path below /sys. */
static int get_name(const struct nlattr *attribute, char ret[static IFNAMSIZ])
{
        if (!attribute || get_string(attribute, ret, IFNAMSIZ) < 0)
                return -EBADMSG;
        if (*ret == '\0' || strchr(ret, '/') || g_str_equal(ret, ".") || g_str_equal(ret, ".."))
                return -EBADMSG;
        return 0;
}

static int get_hardware_address(const struct nlattr *attribute, AldLinkInfo *info)
{
        if (!attribute)
                return 0;
        info->address_size = mnl_attr_get_payload_len(attribute);
        if (info->address_size > sizeof info->address)
                return -EBADMSG;
        memcpy(info->address, mnl_attr_get_payload(attribute), info->address_size);
        return 0;
}

/* Reads the kind, and for a vxlan the interface below, which it does not report in IFLA_LINK. */
static int get_kind(const struct nlattr *link_info, AldLinkInfo *info)
{
        const struct nlattr *table[IFLA_INFO_DATA + 1], *data[IFLA_VXLAN_LINK + 1];

        if (!link_info)
                return 0;
        if (index_nested_attributes(link_info, table, IFLA_INFO_DATA) < 0 ||
                get_string(table[IFLA_INFO_KIND], info->kind, sizeof info->kind) < 0)
                return -EBADMSG;
        if (!g_str_equal(info->kind, "vxlan") || !table[IFLA_INFO_DATA])
                return 0;
        if (index_nested_attributes(table[IFLA_INFO_DATA], data, IFLA_VXLAN_LINK) < 0)
                return -EBADMSG;
        return get_index(data[IFLA_VXLAN_LINK], &info->parent);
}

static int read_link(const struct nlattr *const *table, AldLinkInfo *info)
{
        bool in_other_namespace = table[IFLA_LINK_NETNSID];

        if (get_name(table[IFLA_IFNAME], info->name) < 0 || get_u32(table[IFLA_MTU], &info->mtu) < 0 ||
                get_hardware_address(table[IFLA_ADDRESS], info) < 0 ||
                get_index(table[IFLA_MASTER], &info->controller) < 0 ||
                get_index(table[IFLA_LINK], &info->parent) < 0 || get_kind(table[IFLA_LINKINFO], info) < 0)
                return -EBADMSG;
        if (in_other_namespace)
                info->parent = 0;
        return 0;
}

int ald_network_parse_link(const struct nlmsghdr *message, AldLinkInfo *ret)
{
        const struct nlattr *table[IFLA_LINK_NETNSID + 1];
        const struct ifinfomsg *header;
        const void *start;
        AldLinkInfo info;
        int r = open_message(message, sizeof *header, &start, table, IFLA_LINK_NETNSID);

        if (r < 0)
                return r;
        header = start;
        /* Messages of other families are about a port, and a Wi-Fi event contains hardly more than
         * the name. */
        if (header->ifi_family != AF_UNSPEC || table[IFLA_WIRELESS])
                return -ENOMSG;
        if (header->ifi_index <= 0)
                return -EBADMSG;

        memset(&info, 0, sizeof info);
        info.index = header->ifi_index;
        info.arp_type = header->ifi_type;
        info.enabled = header->ifi_flags & IFF_UP;
        info.carrier = info.enabled && (header->ifi_flags & IFF_LOWER_UP);
        r = read_link(table, &info);
        if (r >= 0)
                memcpy(ret, &info, sizeof info);
        return r;
}

int ald_network_parse_link_gone(const struct nlmsghdr *message, int *ret_index)
{
        const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);

        if (mnl_nlmsg_get_payload_len(message) < sizeof *header)
                return -EBADMSG;
        if (header->ifi_family != AF_UNSPEC)
                return -ENOMSG;
        *ret_index = header->ifi_index;
        return 0;
}

/* Returns whether an address is usable. IFA_F_TEMPORARY is the same flag as IFA_F_SECONDARY, which usable
 * IPv4 addresses may have. */
static bool is_usable(uint8_t family, uint32_t flags)
{
        if (flags & IFA_F_DADFAILED)
                return false;
        if ((flags & IFA_F_TENTATIVE) && !(flags & IFA_F_OPTIMISTIC))
                return false;
        return family == AF_INET || !(flags & IFA_F_TEMPORARY);
}

static int get_address(const struct nlattr *attribute, size_t size, uint8_t ret[static 16])
{
        if (!attribute)
                return 0;
        if (mnl_attr_get_payload_len(attribute) != size)
                return -EBADMSG;
        memcpy(ret, mnl_attr_get_payload(attribute), size);
        return 0;
}

/* Reads both addresses. IFA_LOCAL, if present, is the address of this end; IFA_ADDRESS is the address of the
 * other end of a point-to-point link. */
static int read_address(const struct nlattr *const *table, AldLinkAddress *address)
{
        const struct nlattr *peer = table[IFA_ADDRESS], *local = table[IFA_LOCAL];
        size_t size = address->family == AF_INET ? 4 : 16;

        if (!local)
                local = peer;
        if (!peer)
                peer = local;
        if (!local || address->prefix > size * 8)
                return -EBADMSG;
        if (get_address(local, size, address->local) < 0)
                return -EBADMSG;
        return get_address(peer, size, address->peer);
}

int ald_network_parse_address(
        const struct nlmsghdr *message, int *ret_index, AldLinkAddress *ret, bool *ret_usable)
{
        const struct nlattr *table[IFA_FLAGS + 1];
        const struct ifaddrmsg *header;
        const void *start;
        AldLinkAddress address;
        uint32_t flags;
        int r = open_message(message, sizeof *header, &start, table, IFA_FLAGS);

        if (r < 0)
                return r;
        header = start;
        if (header->ifa_family != AF_INET && header->ifa_family != AF_INET6)
                return -ENOMSG;
        flags = header->ifa_flags;
        if (header->ifa_index == 0 || header->ifa_index > INT32_MAX || get_u32(table[IFA_FLAGS], &flags) < 0)
                return -EBADMSG;

        memset(&address, 0, sizeof address);
        address.family = header->ifa_family;
        address.prefix = header->ifa_prefixlen;
        r = read_address(table, &address);
        if (r < 0)
                return r;
        *ret_index = (int) header->ifa_index;
        *ret_usable = is_usable(address.family, flags);
        memcpy(ret, &address, sizeof address);
        return 0;
}
