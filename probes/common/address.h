/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "probes/common/failure.h"

#define ALD_ADDRESS_SIZE 46u /* bytes of the text with its final NUL */

typedef struct AldAddress {
        struct sockaddr_storage storage;
        socklen_t size;
} AldAddress;

/* The local end of a connection. */
typedef struct AldOrigin {
        const char *device;       /* NULL: as the routes decide */
        const AldAddress *source; /* NULL: any; its port does not count */
        bool small_segments;      /* sends and receives no large ones, which may be lost on the way */
} AldOrigin;

/* Resolves a name or an address, with a zone after '%', to the first match of this family (may be AF_UNSPEC).
 * A NULL host means any address, to listen on. */
int ald_address_resolve(const char *host, unsigned port, int family, AldAddress *ret, AldFailure *failure);

/* Both block only on the network; the descriptors they return are non-blocking. */
int ald_address_connect(
        const AldAddress *to, const AldOrigin *origin, int stop, int *ret_fd, AldFailure *failure);
int ald_address_listen(
        const AldAddress *at, const char *device, unsigned backlog, int *ret_fd, AldFailure *failure);

int ald_address_local(int fd, AldAddress *ret);
int ald_address_peer(int fd, AldAddress *ret);
void ald_address_set_port(AldAddress *address, unsigned port);
unsigned ald_address_port(const AldAddress *address);

/* Returns whether both addresses are of the same host; an IPv4 address equals its IPv4-mapped IPv6
 * address. */
bool ald_address_same_host(const AldAddress *a, const AldAddress *b);

/* Writes the address in the form of RFC 5952, without zone and port. */
void ald_address_format(const AldAddress *address, char ret[static ALD_ADDRESS_SIZE]);

bool ald_address_is_loopback(const AldAddress *address);

/* Converts the address to IPv6, IPv4-mapped if necessary. Returns false for other families. */
bool ald_address_as_ipv6(const AldAddress *address, struct in6_addr *ret);

/* Returns the name of the interface that has this address, to be freed; NULL if there is none. */
char *ald_address_interface(const AldAddress *address);
