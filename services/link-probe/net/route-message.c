/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>

#include "services/link-probe/net/route-message.h"

bool ald_route_is_link_local(const char *address)
{
        struct in6_addr bytes;

        return inet_pton(AF_INET6, address, &bytes) == 1 && IN6_IS_ADDR_LINKLOCAL(&bytes);
}

int ald_route_request(const char *address, unsigned index, char buffer[static ALD_ROUTE_REQUEST_MAX])
{
        struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
        struct in6_addr bytes;
        struct rtmsg *message;
        bool v6 = inet_pton(AF_INET6, address, &bytes) == 1;

        if (!v6 && inet_pton(AF_INET, address, &bytes) != 1)
                return -EINVAL;
        header->nlmsg_type = RTM_GETROUTE;
        header->nlmsg_flags = NLM_F_REQUEST;
        header->nlmsg_seq = 1;
        message = mnl_nlmsg_put_extra_header(header, sizeof *message);
        message->rtm_family = v6 ? AF_INET6 : AF_INET;
        message->rtm_dst_len = v6 ? 128 : 32;
        mnl_attr_put(header, RTA_DST, v6 ? 16 : 4, &bytes);
        if (index != 0)
                mnl_attr_put_u32(header, RTA_OIF, index);
        return (int) header->nlmsg_len;
}

static int read_error(const struct nlmsghdr *header)
{
        const struct nlmsgerr *error = mnl_nlmsg_get_payload(header);

        if (mnl_nlmsg_get_payload_len(header) < sizeof *error || error->error >= 0)
                return -EBADMSG;
        /* As the kernel calls a route of type blackhole; the question itself is valid. */
        return error->error == -EINVAL ? -ENONET : error->error;
}

static int read_index(const struct nlattr *attribute, void *userdata)
{
        unsigned *index = userdata;

        if (mnl_attr_get_type(attribute) == RTA_OIF && mnl_attr_validate(attribute, MNL_TYPE_U32) >= 0)
                *index = mnl_attr_get_u32(attribute);
        return MNL_CB_OK;
}

int ald_route_answer(const void *bytes, size_t n, unsigned *ret_index)
{
        const struct nlmsghdr *header = bytes;
        const struct rtmsg *message;
        unsigned index = 0;

        if (!mnl_nlmsg_ok(header, (int) n))
                return -EBADMSG;
        if (header->nlmsg_type == NLMSG_ERROR)
                return read_error(header);
        if (header->nlmsg_type != RTM_NEWROUTE || mnl_nlmsg_get_payload_len(header) < sizeof *message)
                return -EBADMSG;
        message = mnl_nlmsg_get_payload(header);
        if (message->rtm_type == RTN_BLACKHOLE)
                return -ENONET;
        if (message->rtm_type != RTN_UNICAST)
                return -EHOSTUNREACH;
        if (mnl_attr_parse(header, sizeof *message, read_index, &index) < 0 || index == 0)
                return -EBADMSG;
        *ret_index = index;
        return 0;
}
