/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "probes/common/address.h"
#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/common/wait.h"

#define CONNECT_TIMEOUT (5 * ALD_NSEC_PER_SEC)
#define SMALL_SEGMENT 512 /* bytes; every path of the Internet should pass packets of 576 */

/* Returns the reason why a name cannot be resolved. */
static const char *explain_name_error(const char *host, int error)
{
        const char *zone = host ? strchr(host, '%') : NULL;

        if (error == EAI_SYSTEM)
                return g_strerror(errno);
        if (zone && if_nametoindex(zone + 1) == 0)
                return "there is no such interface";
        return gai_strerror(error);
}

int ald_address_resolve(const char *host, unsigned port, int family, AldAddress *ret, AldFailure *failure)
{
        const struct addrinfo hints = {
                .ai_flags = AI_NUMERICSERV | (host ? 0 : AI_PASSIVE),
                .ai_family = host ? family : AF_INET6,
                .ai_socktype = SOCK_STREAM,
        };
        struct addrinfo *found = NULL;
        char service[8];
        int r;

        snprintf(service, sizeof service, "%u", port);
        r = getaddrinfo(host, service, &hints, &found);
        if (r != 0)
                return ald_fail(failure, ALD_FAILURE_UNREACHABLE, "%s: %s",
                        host ?: "::", explain_name_error(host, r));
        memcpy(&ret->storage, found->ai_addr, found->ai_addrlen);
        ret->size = found->ai_addrlen;
        freeaddrinfo(found);
        return 0;
}

/* Returns the IPv4 address, converted in the buffer if it is IPv4-mapped; NULL for other addresses. */
static const struct sockaddr_in *as_ipv4(const AldAddress *address, struct sockaddr_in *buffer)
{
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) &address->storage;

        if (address->storage.ss_family == AF_INET)
                return (const struct sockaddr_in *) &address->storage;
        if (address->storage.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
                return NULL;
        *buffer = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = six->sin6_port };
        memcpy(&buffer->sin_addr, six->sin6_addr.s6_addr + 12, sizeof buffer->sin_addr);
        return buffer;
}

void ald_address_format(const AldAddress *address, char ret[static ALD_ADDRESS_SIZE])
{
        struct sockaddr_in buffer;
        const struct sockaddr_in *four = as_ipv4(address, &buffer);
        struct sockaddr_in6 six;

        if (four)
                getnameinfo((const struct sockaddr *) four, sizeof *four, ret, ALD_ADDRESS_SIZE, NULL, 0,
                        NI_NUMERICHOST);
        else {
                memcpy(&six, &address->storage, sizeof six);
                six.sin6_scope_id = 0;
                getnameinfo((const struct sockaddr *) &six, sizeof six, ret, ALD_ADDRESS_SIZE, NULL, 0,
                        NI_NUMERICHOST);
        }
}

bool ald_address_same_host(const AldAddress *a, const AldAddress *b)
{
        char left[ALD_ADDRESS_SIZE] = "", right[ALD_ADDRESS_SIZE] = "";

        ald_address_format(a, left);
        ald_address_format(b, right);
        return strcmp(left, right) == 0;
}

bool ald_address_is_loopback(const AldAddress *address)
{
        struct sockaddr_in buffer;
        const struct sockaddr_in *four = as_ipv4(address, &buffer);

        if (four)
                return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *) &address->storage)->sin6_addr);
}

bool ald_address_as_ipv6(const AldAddress *address, struct in6_addr *ret)
{
        if (address->storage.ss_family == AF_INET6) {
                *ret = ((const struct sockaddr_in6 *) &address->storage)->sin6_addr;
                return true;
        }
        if (address->storage.ss_family != AF_INET)
                return false;
        *ret = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
        memcpy(&ret->s6_addr[12], &((const struct sockaddr_in *) &address->storage)->sin_addr, 4);
        return true;
}

static in_port_t *port_of(AldAddress *address)
{
        if (address->storage.ss_family == AF_INET)
                return &((struct sockaddr_in *) &address->storage)->sin_port;
        return &((struct sockaddr_in6 *) &address->storage)->sin6_port;
}

void ald_address_set_port(AldAddress *address, unsigned port)
{
        *port_of(address) = htons((uint16_t) port);
}

unsigned ald_address_port(const AldAddress *address)
{
        AldAddress copy = *address;

        return ntohs(*port_of(&copy));
}

int ald_address_local(int fd, AldAddress *ret)
{
        AldAddress address = { .size = sizeof address.storage };

        if (getsockname(fd, (struct sockaddr *) &address.storage, &address.size) < 0)
                return -errno;
        *ret = address;
        return 0;
}

int ald_address_peer(int fd, AldAddress *ret)
{
        AldAddress address = { .size = sizeof address.storage };

        if (getpeername(fd, (struct sockaddr *) &address.storage, &address.size) < 0)
                return -errno;
        *ret = address;
        return 0;
}

char *ald_address_interface(const AldAddress *address)
{
        struct ifaddrs *all = NULL;
        char *name = NULL;

        if (getifaddrs(&all) < 0)
                return NULL;
        for (const struct ifaddrs *one = all; one && !name; one = one->ifa_next) {
                sa_family_t family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;
                const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) &address->storage;
                AldAddress other = {};

                if (family != AF_INET && family != AF_INET6)
                        continue;
                memcpy(&other.storage, one->ifa_addr,
                        family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
                /* Several interfaces may have the same link-local address. */
                if (address->storage.ss_family == AF_INET6 && six->sin6_scope_id != 0 &&
                        six->sin6_scope_id != if_nametoindex(one->ifa_name))
                        continue;
                if (ald_address_same_host(address, &other))
                        name = g_strdup(one->ifa_name);
        }
        freeifaddrs(all);
        return name;
}

static int open_socket(const AldAddress *address, const char *device, AldFailure *failure)
{
        int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "no socket: %s", g_strerror(errno));
        if (!device)
                return fd;
        if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t) strlen(device) + 1) < 0) {
                int r = ald_fail(failure, ALD_FAILURE_UNREACHABLE, "%s: %s", device, g_strerror(errno));

                close(fd);
                return r;
        }
        return fd;
}

static bool lacks_interface(const AldAddress *address)
{
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) &address->storage;

        return six->sin6_family == AF_INET6 && six->sin6_scope_id == 0 &&
               IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

/* Returns the reason why an address cannot be used. */
static const char *explain_address_error(const AldAddress *address, int error)
{
        if (error == EINVAL && lacks_interface(address))
                return "a link-local address needs its interface, as in fe80::1%eth0";
        return g_strerror(error);
}

/* If a route of type blackhole leads to the address, the kernel fails with EINVAL. */
static const char *explain_connect_error(const AldAddress *address, int error)
{
        if (error == ECONNREFUSED)
                return "nothing listens there";
        if (error == ETIMEDOUT)
                return "no answer";
        if (error == EINVAL && !lacks_interface(address))
                return "a route of this machine discards what is sent there (blackhole)";
        return explain_address_error(address, error);
}

static int fail_to_connect(const AldAddress *to, int error, AldFailure *failure)
{
        char text[ALD_ADDRESS_SIZE] = "";
        AldFailureKind kind = error == ECONNREFUSED ? ALD_FAILURE_REFUSED
                              : error == ETIMEDOUT  ? ALD_FAILURE_TIMEOUT
                                                    : ALD_FAILURE_UNREACHABLE;

        ald_address_format(to, text);
        return ald_fail(failure, kind, "%s port %u: %s", text, ald_address_port(to),
                explain_connect_error(to, error));
}

/* Names the address in the failure if there is no answer at all, as after a refusal. */
static int wait_for_connection(const AldAddress *to, int fd, int stop, AldFailure *failure)
{
        AldFailure waiting = {};
        int r = ald_wait_for(
                fd, POLLOUT, stop, ald_now() + CONNECT_TIMEOUT, "waited for a connection", &waiting);

        if (r < 0)
                r = waiting.kind == ALD_FAILURE_TIMEOUT
                            ? fail_to_connect(to, ETIMEDOUT, failure)
                            : ald_fail(failure, waiting.kind, "%s", waiting.message);
        ald_failure_clear(&waiting);
        return r;
}

int ald_address_connect(
        const AldAddress *to, const AldOrigin *origin, int stop, int *ret_fd, AldFailure *failure)
{
        ald_fd int fd = open_socket(to, origin->device, failure);
        const int segment = SMALL_SEGMENT;
        socklen_t size = sizeof(int);
        int error = 0, r;

        if (fd < 0)
                return fd;
        if (origin->source) {
                AldAddress source = *origin->source;

                ald_address_set_port(&source, 0);
                if (bind(fd, (const struct sockaddr *) &source.storage, source.size) < 0)
                        return ald_fail(failure, ALD_FAILURE_UNREACHABLE,
                                "the source address cannot be used: %s", g_strerror(errno));
        }
        if (origin->small_segments && setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "TCP_MAXSEG: %s", g_strerror(errno));
        if (connect(fd, (const struct sockaddr *) &to->storage, to->size) < 0 && errno != EINPROGRESS)
                return fail_to_connect(to, errno, failure);
        r = wait_for_connection(to, fd, stop, failure);
        if (r < 0)
                return r;
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error != 0)
                return fail_to_connect(to, error ?: EIO, failure);
        *ret_fd = ald_fd_steal(&fd);
        return 0;
}

int ald_address_listen(
        const AldAddress *at, const char *device, unsigned backlog, int *ret_fd, AldFailure *failure)
{
        ald_fd int fd = open_socket(at, device, failure);
        const int on = 1, off = 0;

        if (fd < 0)
                return fd;
        (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (at->storage.ss_family == AF_INET6)
                (void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        if (bind(fd, (const struct sockaddr *) &at->storage, at->size) < 0 || listen(fd, (int) backlog) < 0)
                return ald_fail(failure, errno == EADDRINUSE ? ALD_FAILURE_BUSY : ALD_FAILURE_INTERNAL,
                        "port %u cannot be listened on: %s", ald_address_port(at),
                        explain_address_error(at, errno));
        *ret_fd = ald_fd_steal(&fd);
        return 0;
}
