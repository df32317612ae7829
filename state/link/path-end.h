/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/* The two ends of a path over sockets, and its properties. */

/* The port that carries the traffic of an interface: below bridges, bonds, VLANs and macvlans, but not below
 * tunnels. Pointers point into records or are static. */
typedef struct AldPathEnd {
        const AldInterface *port; /* NULL if several ports may carry it */
        const char *type; /* of the port, or of all that may carry it; NULL if they differ or it is unknown */
        uint64_t generation;      /* of Thunderbolt, if Node1.Fabric has it; may be absent */
        uint64_t bits_per_second; /* negotiated; may be absent */
} AldPathEnd;

#define ALD_PATH_END_NONE ((AldPathEnd){ NULL, NULL, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64 })

/* Returns the active port of a bond; NULL if it is unknown or there are several. Free with g_free(). */
typedef char *(*AldActivePort)(const char *bond, void *userdata);

/* Finds the port that carries the traffic of an interface. `fabric` and `active` may be NULL. */
AldPathEnd ald_path_end_of(const AldNetwork *network, const AldFabric *fabric, const AldInterface *interface,
        AldActivePort active, void *userdata);

/* Does the same for the interface with this name, or, if the name is NULL, for the one with the address. All
 * arguments may be NULL. */
AldPathEnd ald_path_end_find(
        const AldNetwork *network, const AldFabric *fabric, const char *name, const char *address);

/*
 * Returns the type of a path by the types of its ends, which may be NULL. If they differ, a radio at either
 * end decides, then a tunnel; otherwise the path is no faster than the slower type, so Thunderbolt at one end
 * alone does not count. NULL if an end is unknown and the other one is neither a radio nor a tunnel.
 */
const char *ald_path_type(const char *source, const char *sink);

/* Returns the negotiated speed of a path, which is that of the slower end. It is absent if the speed of the
 * source is unknown, since the sink alone is only an upper bound. */
uint64_t ald_path_speed(uint64_t source, uint64_t sink);

/* Returns the Transport of Link1.Rdma between these ports, either of which may be NULL; NULL if unknown. */
const char *ald_path_rdma_transport(const AldRdmaPort *source, const AldRdmaPort *sink);
