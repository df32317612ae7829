/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <glib.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "common/fd.h"
#include "services/link-probe/net/route.h"

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
        /* The kernel reports EINVAL for a route of type blackhole; the request itself is valid. */
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

#define ANSWER_MAX 8192u

static int query_kernel(const char *request, size_t size, char answer[static ANSWER_MAX])
{
        struct sockaddr_nl kernel = { .nl_family = AF_NETLINK }, sender = { 0 };
        socklen_t sender_size = sizeof sender;
        ald_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        ssize_t n;

        if (fd < 0)
                return -errno;
        if (sendto(fd, request, size, 0, (struct sockaddr *) &kernel, sizeof kernel) < 0)
                return -errno;
        /* The reply is available before sendto() returns. */
        n = recvfrom(fd, answer, ANSWER_MAX, MSG_DONTWAIT, (struct sockaddr *) &sender, &sender_size);
        if (n < 0)
                return -errno;
        return sender.nl_pid == 0 ? (int) n : -EBADMSG;
}

int ald_route_lookup(const char *address, const char *through, char ret[static IFNAMSIZ])
{
        _Alignas(struct nlmsghdr) char request[ALD_ROUTE_REQUEST_MAX], answer[ANSWER_MAX];
        unsigned index = through ? if_nametoindex(through) : 0;
        int r;

        if (through && index == 0)
                return -ENODEV;
        r = ald_route_request(address, index, request);
        if (r >= 0)
                r = query_kernel(request, (size_t) r, answer);
        if (r >= 0)
                r = ald_route_answer(answer, (size_t) r, &index);
        if (r < 0)
                return r;
        return if_indextoname(index, ret) ? 0 : -errno;
}

const char *ald_route_describe(int error)
{
        return error == -ENONET ? "a route of this machine discards what is sent there (blackhole)"
                                : g_strerror(-error);
}
