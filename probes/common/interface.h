/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "probes/common/address.h"

/* Queries the kernel about interfaces in the network namespace of this process. */

/* The bytes that passed an interface, including link-layer headers, and the number of packets. A large packet
 * that the device, or something behind it, cuts into segments counts as a single packet with a single
 * header. */
typedef struct AldInterfaceBytes {
        uint64_t received, sent;
        uint64_t received_packets, sent_packets;
} AldInterfaceBytes;

/* The counters of the transmit queue of an interface. */
typedef struct AldInterfaceQueue {
        bool counts;      /* bytes are counted, which they are not without a queue */
        uint64_t bytes;   /* passed on, with the headers of every segment */
        uint64_t backlog; /* bytes that wait in it */
        uint64_t drops;   /* packets, each of one or more segments */
} AldInterfaceQueue;

/*
 * Finds the interface through which packets from the local address to the peer leave, according to the
 * routes. Returns -ENODEV if no route names one.
 */
int ald_interface_of_route(const AldAddress *local, const AldAddress *peer, char ret[static IF_NAMESIZE]);

/* Returns the name of that interface, to be freed. If there is no route, returns that of the interface with
 * the local address, or NULL. */
char *ald_interface_between(const AldAddress *local, const AldAddress *peer);

int ald_interface_bytes(const char *name, AldInterfaceBytes *ret);

/* Reads the counters of the transmit queue. An interface without one drops nothing and has no backlog. */
int ald_interface_queue(const char *name, AldInterfaceQueue *ret);

/* Returns whether the text is a valid, printable name of an interface. */
bool ald_interface_name_is_valid(const char *name);
