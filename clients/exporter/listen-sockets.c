/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "clients/exporter/listen-sockets.h"
#include "common/fd.h"

#define BACKLOG 128

typedef union SocketAddress {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage storage;
} SocketAddress;

static bool parse_address(const char *text, SocketAddress *ret)
{
        const char *colon = strrchr(text, ':');
        bool v6 = text[0] == '[' && colon && colon > text + 1 && colon[-1] == ']';
        g_autofree char *host = colon ? g_strndup(text + v6, (gsize) (colon - text) - 2 * v6) : NULL;
        guint64 port;

        if (!colon || !g_ascii_string_to_unsigned(colon + 1, 10, 1, G_MAXUINT16, &port, NULL))
                return false;
        memset(ret, 0, sizeof(*ret));
        ret->any.sa_family = v6 ? AF_INET6 : AF_INET;
        if (v6)
                ret->v6.sin6_port = htons((uint16_t) port);
        else
                ret->v4.sin_port = htons((uint16_t) port);
        return inet_pton(ret->any.sa_family, host, v6 ? (void *) &ret->v6.sin6_addr : &ret->v4.sin_addr) == 1;
}

const char *ald_listen_refuse_address(const char *address)
{
        SocketAddress parsed;

        return parse_address(address, &parsed)
                       ? NULL
                       : "not an address with a port, such as 127.0.0.1:10001 or [::1]:10001";
}

static int open_socket(const SocketAddress *address)
{
        ald_fd int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        bool v6 = address->any.sa_family == AF_INET6;
        const int on = 1;

        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
                return -errno;
        if (v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
                return -errno;
        if (bind(fd, &address->any, v6 ? sizeof(address->v6) : sizeof(address->v4)) < 0 ||
                listen(fd, BACKLOG) < 0)
                return -errno;
        return ald_fd_steal(&fd);
}

int ald_listen_bind(const char *address, GArray *fds)
{
        SocketAddress parsed;
        int fd = parse_address(address, &parsed) ? open_socket(&parsed) : -EINVAL;

        if (fd < 0) {
                g_warning("Cannot listen on %s: %s", address, g_strerror(-fd));
                return fd;
        }
        g_array_append_val(fds, fd);
        return 0;
}

int ald_listen_take_passed(GArray *fds)
{
        int n = sd_listen_fds(true);

        for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + n; fd++) {
                if (sd_is_socket(fd, AF_INET, SOCK_STREAM, 1) <= 0 &&
                        sd_is_socket(fd, AF_INET6, SOCK_STREAM, 1) <= 0) {
                        g_critical("Descriptor %i is not a listening TCP socket", fd);
                        return -EINVAL;
                }
                g_array_append_val(fds, fd);
        }
        return n;
}

static bool get_address(int fd, SocketAddress *ret)
{
        socklen_t size = sizeof(*ret);

        return getsockname(fd, &ret->any, &size) == 0;
}

bool ald_listen_is_local(int fd)
{
        SocketAddress address;

        if (!get_address(fd, &address))
                return false;
        if (address.any.sa_family == AF_INET6)
                return IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr);
        return ntohl(address.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

char *ald_listen_describe(int fd)
{
        char text[INET6_ADDRSTRLEN] = "?";
        SocketAddress address;
        bool v6;

        if (!get_address(fd, &address))
                return g_strdup("?");
        v6 = address.any.sa_family == AF_INET6;
        (void) inet_ntop(address.any.sa_family, v6 ? (void *) &address.v6.sin6_addr : &address.v4.sin_addr,
                text, sizeof(text));
        return g_strdup_printf(
                v6 ? "[%s]:%u" : "%s:%u", text, ntohs(v6 ? address.v6.sin6_port : address.v4.sin_port));
}
