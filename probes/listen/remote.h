/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <sys/socket.h>

#include "probes/listen/members.h"

/* The origin of a connection, as far as it is known before the other side has proved its identity. */
typedef enum AldRemoteClass {
        ALD_REMOTE_UNKNOWN,
        ALD_REMOTE_LOCAL,  /* a process of this machine */
        ALD_REMOTE_MEMBER, /* an address of a node of the cluster */
        ALD_REMOTE_CLASS_N,
} AldRemoteClass;

/* A place is the node of a member, or this machine as a whole; else an IPv4 address, the /64 of an IPv6
 * address, or all link-local addresses behind one interface, since a host can have any number of these. */
#define ALD_PLACE_MAX 64u

typedef struct AldRemote {
        AldRemoteClass class;
        char place[ALD_PLACE_MAX];
        char address[ALD_MEMBER_ADDRESS_MAX];
} AldRemote;

/* `is_own` is true if the address belongs to this machine; loopback addresses need not be marked. */
void ald_remote_init(AldRemote *remote, const struct sockaddr *address, bool is_own,
        const AldMembers *members, uint64_t now);

/* Writes the numeric address, with the number of its interface if it is link-local: "fe80::1%2". */
void ald_remote_address(const struct sockaddr *address, char ret[static ALD_MEMBER_ADDRESS_MAX]);
