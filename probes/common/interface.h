/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <stdint.h>

#include "probes/common/address.h"

/* Queries the kernel about interfaces in the network namespace of this process. */

/* Bytes that passed an interface, including link-layer headers. */
typedef struct AldInterfaceBytes {
        uint64_t received, sent;
} AldInterfaceBytes;

/*
 * The interface through which packets from the local address to the peer leave, according to the routes.
 * -ENODEV if no route names one.
 */
int ald_interface_of_route(const AldAddress *local, const AldAddress *peer, char ret[static IF_NAMESIZE]);

/* The same, to be freed; else the one that has the local address, or NULL. */
char *ald_interface_between(const AldAddress *local, const AldAddress *peer);

int ald_interface_bytes(const char *name, AldInterfaceBytes *ret);

/* Packets that the transmit queue of an interface has dropped; without a queue there are none. */
int ald_interface_drops(const char *name, uint64_t *ret);

/* Whether the text is a valid, printable name of an interface. */
bool ald_interface_name_is_valid(const char *name);
