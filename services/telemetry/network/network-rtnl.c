/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib-unix.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fd.h"
#include "services/telemetry/network/network-rtnl.h"
#include "services/telemetry/network/network-sync.h"

/* The maximum size of one part of a dump. */
#define DATAGRAM_MAX (32u * 1024)

/* The buffer takes no memory until it is needed; the kernel may grant less. */
#define RECEIVE_BUFFER (4 * 1024 * 1024)

/* Maximum number of datagrams per iteration of the main loop. */
#define DATAGRAMS_PER_TURN 32

#define RETRY_MIN_MSEC 100u
#define RETRY_MAX_MSEC 10000u

struct AldNetworkRtnl {
        AldNetworkSync *sync;
        int fd;
        guint source;
        guint retry;
        unsigned delay_msec;
        bool warned;

        void (*changed)(void *userdata);
        void *userdata;
};

static gboolean on_readable(gint fd, GIOCondition condition, gpointer userdata);
static gboolean on_retry(gpointer userdata);

static void close_socket(AldNetworkRtnl *rtnl)
{
        g_clear_handle_id(&rtnl->source, g_source_remove);
        ald_fd_close(&rtnl->fd);
}

static void retry_later(AldNetworkRtnl *rtnl)
{
        if (rtnl->retry != 0)
                return;
        rtnl->retry = g_timeout_add(rtnl->delay_msec, on_retry, rtnl);
        rtnl->delay_msec = MIN(rtnl->delay_msec * 2, RETRY_MAX_MSEC);
}

static void handle_failure(AldNetworkRtnl *rtnl, const char *what, int error)
{
        if (!rtnl->warned)
                g_warning("rtnetlink: %s: %s", what, g_strerror(-error));
        rtnl->warned = true;
        close_socket(rtnl);
        retry_later(rtnl);
}

static int open_socket(AldNetworkRtnl *rtnl)
{
        struct sockaddr_nl address = {
                .nl_family = AF_NETLINK,
                .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
        };
        ald_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
        int size = RECEIVE_BUFFER;

        if (fd < 0)
                return -errno;
        if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) < 0)
                return -errno;
        if (bind(fd, (struct sockaddr *) &address, sizeof address) < 0)
                return -errno;
        rtnl->fd = ald_fd_steal(&fd);
        rtnl->source = g_unix_fd_add(rtnl->fd, G_IO_IN | G_IO_ERR, on_readable, rtnl);
        return 0;
}

static void send_request(AldNetworkRtnl *rtnl)
{
        _Alignas(struct nlmsghdr) char request[ALD_NETWORK_SYNC_REQUEST_MAX];
        size_t size = ald_network_sync_request(rtnl->sync, request);
        ssize_t n;

        do
                n = send(rtnl->fd, request, size, 0);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                handle_failure(rtnl, "cannot ask for a list", -errno);
}

static void perform(AldNetworkRtnl *rtnl, unsigned todo)
{
        if (todo & ALD_NETWORK_SYNC_AGAIN)
                retry_later(rtnl);
        else if (todo & ALD_NETWORK_SYNC_WELL)
                rtnl->delay_msec = RETRY_MIN_MSEC;
        if (todo & ALD_NETWORK_SYNC_ASK)
                send_request(rtnl);
        if (todo & ALD_NETWORK_SYNC_TELL)
                rtnl->changed(rtnl->userdata);
}

static gboolean on_retry(gpointer userdata)
{
        AldNetworkRtnl *rtnl = userdata;
        int r;

        rtnl->retry = 0;
        r = rtnl->fd < 0 ? open_socket(rtnl) : 0;
        if (r < 0) {
                handle_failure(rtnl, "cannot open a socket", r);
                return G_SOURCE_REMOVE;
        }
        ald_network_sync_begin(rtnl->sync);
        send_request(rtnl);
        return G_SOURCE_REMOVE;
}

/* Reads one datagram. Privileged processes could send one as well, but only the kernel has port 0. */
static int receive_datagram(AldNetworkRtnl *rtnl, unsigned *todo)
{
        _Alignas(struct nlmsghdr) char buffer[DATAGRAM_MAX];
        struct sockaddr_nl sender = { 0 };
        struct iovec part = { .iov_base = buffer, .iov_len = sizeof buffer };
        struct msghdr header = {
                .msg_name = &sender,
                .msg_namelen = sizeof sender,
                .msg_iov = &part,
                .msg_iovlen = 1,
        };
        ssize_t n = recvmsg(rtnl->fd, &header, 0);

        if (n < 0 && errno == ENOBUFS) {
                *todo |= ald_network_sync_lost(rtnl->sync);
                return 0;
        }
        if (n < 0)
                return -errno;
        if (sender.nl_family != AF_NETLINK || sender.nl_pid != 0)
                return 0;
        if (header.msg_flags & MSG_TRUNC)
                *todo |= ald_network_sync_lost(rtnl->sync);
        *todo |= ald_network_sync_feed(rtnl->sync, buffer, (size_t) n);
        return 0;
}

static gboolean on_readable(gint fd, GIOCondition condition, gpointer userdata)
{
        AldNetworkRtnl *rtnl = userdata;
        unsigned todo = 0;
        int r = 0;

        for (unsigned i = 0; i < DATAGRAMS_PER_TURN && r >= 0; i++)
                do
                        r = receive_datagram(rtnl, &todo);
                while (r == -EINTR);

        perform(rtnl, todo);
        if (r < 0 && r != -EAGAIN) {
                handle_failure(rtnl, "cannot receive", r);
                return G_SOURCE_REMOVE;
        }
        return rtnl->source != 0;
}

AldNetworkRtnl *ald_network_rtnl_new(AldLinks *links, void (*changed)(void *userdata), void *userdata)
{
        AldNetworkRtnl *rtnl = g_new(AldNetworkRtnl, 1);

        *rtnl = (AldNetworkRtnl){
                .sync = ald_network_sync_new(links),
                .fd = -1,
                .delay_msec = RETRY_MIN_MSEC,
                .changed = changed,
                .userdata = userdata,
        };
        on_retry(rtnl);
        return rtnl;
}

void ald_network_rtnl_free(AldNetworkRtnl *rtnl)
{
        g_clear_handle_id(&rtnl->retry, g_source_remove);
        close_socket(rtnl);
        ald_network_sync_free(rtnl->sync);
        g_free(rtnl);
}
