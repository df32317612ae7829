/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <glib-unix.h>

#include "probes/common/probe-fd.h"
#include "probes/listen/accept-limit.h"
#include "probes/listen/listener.h"

bool ald_first_bytes_are_tls(const unsigned char *bytes, size_t n)
{
        /* This is a handshake record of any version. */
        return n >= 2 && bytes[0] == 0x16 && bytes[1] == 0x03;
}

bool ald_first_bytes_are_rdma(const unsigned char *bytes, size_t n)
{
        return n >= ALD_FIRST_BYTES_RDMA_SIZE &&
               memcmp(bytes, ALD_FIRST_BYTES_RDMA, ALD_FIRST_BYTES_RDMA_SIZE) == 0;
}

/* The backlog in the kernel is large because a dropped connection is retried after a second at the
 * earliest. */
#define BACKLOG 1024
#define HELLO_MSEC 5000u

/* New connections per iteration of the main loop. */
#define ACCEPTS_PER_TURN 16

/* Pause after a persistent error, such as too many open files. */
#define PAUSE_MSEC 1000u

/* The time for which the addresses of this machine are cached. */
#define OWN_ADDRESSES_USEC G_USEC_PER_SEC

/* A member has more time, and may have one path per interface. */
static const AldAcceptShare shares[ALD_REMOTE_CLASS_N] = {
        [ALD_REMOTE_UNKNOWN] = { .max = 64, .place_max = 4, .replace_after_usec = 500000 },
        [ALD_REMOTE_LOCAL] = { .max = 8, .place_max = 8, .replace_after_usec = 500000 },
        [ALD_REMOTE_MEMBER] = { .max = 64, .place_max = 8, .replace_after_usec = 3000000 },
};

typedef struct Waiting {
        AldListener *listener;
        int fd;
        guint source, deadline;
        bool rdma;
        AldRemote remote;
} Waiting;

struct AldListener {
        unsigned port;
        int fd;
        guint source, pause;
        AldAcceptLimit *limit;
        const AldMembers *members;
        GHashTable *own_addresses; /* as last read */
        gint64 own_addresses_read;
        GPtrArray *waiting;
        uint64_t refused, unknown;
        AldListenerReady ready;
        void *userdata;
};

static void waiting_free(gpointer data)
{
        Waiting *waiting = data;

        g_clear_handle_id(&waiting->source, g_source_remove);
        g_clear_handle_id(&waiting->deadline, g_source_remove);
        ald_fd_close(&waiting->fd);
        ald_accept_limit_leave(waiting->listener->limit, waiting);
        g_free(waiting);
}

static void refuse_connection(Waiting *waiting)
{
        waiting->listener->refused++;
        g_ptr_array_remove_fast(waiting->listener->waiting, waiting);
}

static gboolean on_deadline(gpointer userdata)
{
        Waiting *waiting = userdata;

        waiting->deadline = 0;
        refuse_connection(waiting);
        return G_SOURCE_REMOVE;
}

static void pass_connection_on(Waiting *waiting)
{
        AldListener *listener = waiting->listener;
        ald_fd int fd = ald_fd_steal(&waiting->fd);
        bool rdma = waiting->rdma;
        const AldRemote remote = waiting->remote;
        struct sockaddr_storage local = { 0 };
        socklen_t size = sizeof local;

        g_ptr_array_remove_fast(listener->waiting, waiting);
        if (getsockname(fd, (struct sockaddr *) &local, &size) < 0)
                listener->refused++;
        else
                listener->ready(ald_fd_steal(&fd), rdma, &remote, &local, listener->userdata);
}

/* Removes the request for RDMA, which TLS follows. Returns false if there is none. */
static bool consume_rdma_request(Waiting *waiting, const unsigned char *bytes, size_t n)
{
        unsigned char taken[ALD_FIRST_BYTES_RDMA_SIZE];

        if (waiting->rdma || !ald_first_bytes_are_rdma(bytes, n) ||
                recv(waiting->fd, taken, sizeof taken, MSG_DONTWAIT) != sizeof taken)
                return false;
        waiting->rdma = true;
        return true;
}

static gboolean on_bytes(gint fd, GIOCondition condition, gpointer userdata)
{
        Waiting *waiting = userdata;
        unsigned char bytes[ALD_FIRST_BYTES_RDMA_SIZE];
        ssize_t n = recv(fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return G_SOURCE_CONTINUE;
        if (n > 0 && consume_rdma_request(waiting, bytes, (size_t) n))
                return G_SOURCE_CONTINUE;
        waiting->source = 0;
        if (n > 0 && ald_first_bytes_are_tls(bytes, (size_t) n))
                pass_connection_on(waiting);
        else
                refuse_connection(waiting);
        return G_SOURCE_REMOVE;
}

static void read_own_addresses(AldListener *listener)
{
        gint64 now = g_get_monotonic_time();
        struct ifaddrs *list = NULL;

        if (listener->own_addresses_read != 0 && now - listener->own_addresses_read < OWN_ADDRESSES_USEC)
                return;
        listener->own_addresses_read = now;
        if (getifaddrs(&list) < 0)
                return;
        g_hash_table_remove_all(listener->own_addresses);
        for (const struct ifaddrs *entry = list; entry; entry = entry->ifa_next) {
                char address[ALD_MEMBER_ADDRESS_MAX];

                if (!entry->ifa_addr ||
                        (entry->ifa_addr->sa_family != AF_INET && entry->ifa_addr->sa_family != AF_INET6))
                        continue;
                ald_remote_address(entry->ifa_addr, address);
                g_hash_table_add(listener->own_addresses, g_strdup(address));
        }
        freeifaddrs(list);
}

static void identify_remote(AldListener *listener, const struct sockaddr *from, AldRemote *ret)
{
        char address[ALD_MEMBER_ADDRESS_MAX];

        read_own_addresses(listener);
        ald_remote_address(from, address);
        ald_remote_init(ret, from, g_hash_table_contains(listener->own_addresses, address), listener->members,
                (uint64_t) g_get_monotonic_time());
        listener->unknown += ret->class == ALD_REMOTE_UNKNOWN;
}

static void wait_for_hello(AldListener *listener, int fd, const AldRemote *remote)
{
        Waiting *waiting = g_new0(Waiting, 1);
        void *evicted = NULL;
        int r;

        waiting->listener = listener;
        waiting->fd = fd;
        waiting->remote = *remote;
        g_ptr_array_add(listener->waiting, waiting);
        r = ald_accept_limit_enter(
                listener->limit, remote, (uint64_t) g_get_monotonic_time(), waiting, &evicted);
        if (r < 0) {
                refuse_connection(waiting);
                return;
        }
        if (evicted)
                refuse_connection(evicted);
        waiting->source = g_unix_fd_add(fd, G_IO_IN | G_IO_HUP | G_IO_ERR, on_bytes, waiting);
        waiting->deadline = g_timeout_add(HELLO_MSEC, on_deadline, waiting);
}

static gboolean on_connection(gint fd, GIOCondition condition, gpointer userdata);

static gboolean on_pause_over(gpointer userdata)
{
        AldListener *listener = userdata;

        listener->pause = 0;
        listener->source = g_unix_fd_add(listener->fd, G_IO_IN, on_connection, listener);
        return G_SOURCE_REMOVE;
}

/* Accepts a connection. Returns whether there may be another; if not, errno is set. */
static bool accept_one(AldListener *listener)
{
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        AldRemote remote;
        int fd = accept4(listener->fd, (struct sockaddr *) &address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
                return errno == EINTR || errno == ECONNABORTED;
        identify_remote(listener, (const struct sockaddr *) &address, &remote);
        wait_for_hello(listener, fd, &remote);
        return true;
}

static gboolean on_connection(gint fd, GIOCondition condition, gpointer userdata)
{
        AldListener *listener = userdata;

        for (unsigned i = 0; i < ACCEPTS_PER_TURN; i++)
                if (!accept_one(listener)) {
                        if (errno == EAGAIN)
                                return G_SOURCE_CONTINUE;
                        g_warning("Cannot accept a connection: %s", g_strerror(errno));
                        listener->source = 0;
                        listener->pause = g_timeout_add(PAUSE_MSEC, on_pause_over, listener);
                        return G_SOURCE_REMOVE;
                }
        return G_SOURCE_CONTINUE;
}

static int open_socket(int family, unsigned port, int *ret)
{
        struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t) port) };
        struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t) port) };
        const struct sockaddr *address = family == AF_INET6 ? (struct sockaddr *) &v6
                                                            : (struct sockaddr *) &v4;
        ald_fd int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        int on = 1, off = 0;

        if (fd < 0)
                return -errno;
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (family == AF_INET6)
                (void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        if (bind(fd, address, family == AF_INET6 ? sizeof v6 : sizeof v4) < 0 || listen(fd, BACKLOG) < 0)
                return -errno;
        *ret = ald_fd_steal(&fd);
        return 0;
}

AldListener *ald_listener_new_for_fd(
        int fd, const AldMembers *members, AldListenerReady ready, void *userdata)
{
        AldListener *listener = g_new0(AldListener, 1);

        listener->fd = fd;
        listener->limit = ald_accept_limit_new(shares);
        listener->members = members;
        listener->own_addresses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        listener->waiting = g_ptr_array_new_with_free_func(waiting_free);
        listener->ready = ready;
        listener->userdata = userdata;
        listener->source = g_unix_fd_add(fd, G_IO_IN, on_connection, listener);
        return listener;
}

int ald_listener_new(
        unsigned port, const AldMembers *members, AldListenerReady ready, void *userdata, AldListener **ret)
{
        int fd, r;

        r = open_socket(AF_INET6, port, &fd);
        if (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL)
                r = open_socket(AF_INET, port, &fd);
        if (r < 0)
                return r;
        *ret = ald_listener_new_for_fd(fd, members, ready, userdata);
        (*ret)->port = port;
        return 0;
}

void ald_listener_free(AldListener *listener)
{
        if (!listener)
                return;
        g_clear_handle_id(&listener->source, g_source_remove);
        g_clear_handle_id(&listener->pause, g_source_remove);
        g_ptr_array_unref(listener->waiting);
        ald_accept_limit_free(listener->limit);
        g_hash_table_unref(listener->own_addresses);
        ald_fd_close(&listener->fd);
        g_free(listener);
}

unsigned ald_listener_port(const AldListener *listener)
{
        return listener->port;
}

uint64_t ald_listener_refused(const AldListener *listener)
{
        return listener->refused;
}

uint64_t ald_listener_unknown(const AldListener *listener)
{
        return listener->unknown;
}
