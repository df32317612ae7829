/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "probes/listen/remote.h"

/* Finds the IPv4 address, which is IPv4-mapped if the connection came in through an IPv6 socket. */
static bool as_ipv4(const struct sockaddr *address, struct in_addr *ret)
{
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) address;

        if (address->sa_family == AF_INET)
                *ret = ((const struct sockaddr_in *) address)->sin_addr;
        else if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
                memcpy(ret, six->sin6_addr.s6_addr + 12, sizeof *ret);
        else
                return false;
        return true;
}

static bool is_loopback(const struct sockaddr *address)
{
        struct in_addr four;

        if (as_ipv4(address, &four))
                return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *) address)->sin6_addr);
}

void ald_remote_address(const struct sockaddr *address, char ret[static ALD_MEMBER_ADDRESS_MAX])
{
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) address;
        struct in_addr four;
        size_t length;

        if (as_ipv4(address, &four)) {
                inet_ntop(AF_INET, &four, ret, ALD_MEMBER_ADDRESS_MAX);
                return;
        }
        inet_ntop(AF_INET6, &six->sin6_addr, ret, ALD_MEMBER_ADDRESS_MAX);
        length = strlen(ret);
        if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr))
                snprintf(ret + length, ALD_MEMBER_ADDRESS_MAX - length, "%%%u", six->sin6_scope_id);
}

static void place_of(const struct sockaddr *address, char ret[static ALD_PLACE_MAX])
{
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) address;
        struct in6_addr prefix;
        struct in_addr four;

        if (as_ipv4(address, &four)) {
                inet_ntop(AF_INET, &four, ret, ALD_PLACE_MAX);
        } else if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)) {
                snprintf(ret, ALD_PLACE_MAX, "fe80::%%%u", six->sin6_scope_id);
        } else {
                prefix = six->sin6_addr;
                memset(prefix.s6_addr + 8, 0, 8);
                inet_ntop(AF_INET6, &prefix, ret, ALD_PLACE_MAX);
        }
}

void ald_remote_init(AldRemote *remote, const struct sockaddr *address, bool is_own,
        const AldMembers *members, uint64_t now)
{
        const char *member;

        *remote = (AldRemote){ .class = ALD_REMOTE_UNKNOWN };
        ald_remote_address(address, remote->address);
        if (is_own || is_loopback(address)) {
                remote->class = ALD_REMOTE_LOCAL;
                g_strlcpy(remote->place, "local", sizeof remote->place);
                return;
        }
        member = ald_members_find(members, remote->address, now);
        if (member) {
                remote->class = ALD_REMOTE_MEMBER;
                g_strlcpy(remote->place, member, sizeof remote->place);
        } else {
                place_of(address, remote->place);
        }
}
