/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "probes/common/failure.h"

#define ALD_ADDRESS_SIZE 46u /* as text */

typedef struct AldAddress {
        struct sockaddr_storage storage;
        socklen_t size;
} AldAddress;

/* Where to come from. */
typedef struct AldOrigin {
        const char *device;       /* NULL: as the routes say */
        const AldAddress *source; /* NULL: any; its port does not count */
} AldOrigin;

/* A name or an address of this family (maybe AF_UNSPEC), with its zone after a '%'; NULL is any address, to
 * listen. The first that fits. */
int ald_address_resolve(const char *host, unsigned port, int family, AldAddress *ret, AldFailure *failure);

/* Both wait for nobody else than the other side; the descriptors are non-blocking. */
int ald_address_connect(
        const AldAddress *to, const AldOrigin *origin, int stop, int *ret_fd, AldFailure *failure);
int ald_address_listen(
        const AldAddress *at, const char *device, unsigned backlog, int *ret_fd, AldFailure *failure);

int ald_address_local(int fd, AldAddress *ret);
int ald_address_peer(int fd, AldAddress *ret);
void ald_address_set_port(AldAddress *address, unsigned port);
unsigned ald_address_port(const AldAddress *address);

/* Whether the hosts are the same; an IPv4 address is the same within IPv6. */
bool ald_address_same_host(const AldAddress *a, const AldAddress *b);

/* As RFC 5952 has it, without zone and port. */
void ald_address_format(const AldAddress *address, char ret[static ALD_ADDRESS_SIZE]);

bool ald_address_is_loopback(const AldAddress *address);

/* An IPv4 address within IPv6; false where it is of another family. */
bool ald_address_as_ipv6(const AldAddress *address, struct in6_addr *ret);

/* The interface that has this address, to be freed; NULL where none has. */
char *ald_address_interface(const AldAddress *address);
