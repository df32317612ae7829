/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <glib.h>

#include "common/fd.h"
#include "services/link-probe/net/route-message.h"
#include "services/link-probe/net/route.h"

#define ANSWER_MAX 8192u

static int ask(const char *request, size_t size, char answer[static ANSWER_MAX])
{
        struct sockaddr_nl kernel = { .nl_family = AF_NETLINK }, sender = { 0 };
        socklen_t sender_size = sizeof sender;
        ald_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
        ssize_t n;

        if (fd < 0)
                return -errno;
        if (sendto(fd, request, size, 0, (struct sockaddr *) &kernel, sizeof kernel) < 0)
                return -errno;
        /* The reply is available before send() returns. */
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
                r = ask(request, (size_t) r, answer);
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
