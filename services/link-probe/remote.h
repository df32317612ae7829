/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <sys/socket.h>

#include "services/link-probe/members.h"

/* Where a connection comes from, as far as that is known before the other side has proved who it is. */
typedef enum AldRemoteClass {
        ALD_REMOTE_UNKNOWN,
        ALD_REMOTE_LOCAL,  /* a process of this machine */
        ALD_REMOTE_MEMBER, /* an address of a node of the cluster */
        ALD_REMOTE_CLASS_N,
} AldRemoteClass;

/* What counts as one: of a member the node, of this machine all of it; else an IPv4 address, the /64 of an
 * IPv6 address, or all link-local addresses behind one interface, of which a host can have any number. */
#define ALD_PLACE_MAX 64u

typedef struct AldRemote {
        AldRemoteClass class;
        char place[ALD_PLACE_MAX];
        char address[ALD_MEMBER_ADDRESS_MAX];
} AldRemote;

/* is_own: whether the address is one of this machine, those of the loopback interface aside. */
void ald_remote_init(AldRemote *remote, const struct sockaddr *address, bool is_own,
        const AldMembers *members, uint64_t now);

/* The numeric address, with the number of its interface where it is link-local: "fe80::1%2". */
void ald_remote_address(const struct sockaddr *address, char ret[static ALD_MEMBER_ADDRESS_MAX]);
