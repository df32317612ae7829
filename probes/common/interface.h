/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "probes/common/address.h"

/* Queries the kernel about interfaces in the network namespace of this process. */

/* Bytes that passed an interface, including link-layer headers, and in how many packets. One that stands for
 * several segments is a single packet with a single header where the device, or what follows, cuts it. */
typedef struct AldInterfaceBytes {
        uint64_t received, sent;
        uint64_t received_packets, sent_packets;
} AldInterfaceBytes;

/* What the transmit queue of an interface counts. */
typedef struct AldInterfaceQueue {
        bool counts;      /* the bytes below; an interface without a queue does not */
        uint64_t bytes;   /* passed on, with the headers of every segment */
        uint64_t backlog; /* bytes that wait in it */
        uint64_t drops;   /* packets, each of one or more segments */
} AldInterfaceQueue;

/*
 * The interface through which packets from the local address to the peer leave, according to the routes.
 * -ENODEV if no route names one.
 */
int ald_interface_of_route(const AldAddress *local, const AldAddress *peer, char ret[static IF_NAMESIZE]);

/* The same, to be freed; else the one that has the local address, or NULL. */
char *ald_interface_between(const AldAddress *local, const AldAddress *peer);

int ald_interface_bytes(const char *name, AldInterfaceBytes *ret);

/* An interface without a queue drops nothing and has no backlog. */
int ald_interface_queue(const char *name, AldInterfaceQueue *ret);

/* Whether the text is a valid, printable name of an interface. */
bool ald_interface_name_is_valid(const char *name);
