/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/* The two ends of a path over sockets, and what the path is by them. */

/* What carries the traffic of an interface: bridges, bonds, VLANs and macvlans are looked through, tunnels
 * are not. Pointers are into records, or static. */
typedef struct AldPathEnd {
        const AldInterface *port; /* NULL where several may carry it */
        const char
                *type; /* of the port, or of all that may carry it; NULL where they differ or it is unknown */
        uint64_t generation;      /* of Thunderbolt, where the Node1.Fabric record has it; maybe absent */
        uint64_t bits_per_second; /* negotiated; maybe absent */
} AldPathEnd;

#define ALD_PATH_END_NONE ((AldPathEnd){ NULL, NULL, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64 })

/* The port that a bond uses now; NULL where that is unknown or it uses several. Free with g_free(). */
typedef char *(*AldActivePort)(const char *bond, void *userdata);

/* `fabric` and `active` may be NULL. */
AldPathEnd ald_path_end_of(const AldNetwork *network, const AldFabric *fabric, const AldInterface *interface,
        AldActivePort active, void *userdata);

/* The same of the interface of this name, or else of the one that has the address. All may be NULL. */
AldPathEnd ald_path_end_find(
        const AldNetwork *network, const AldFabric *fabric, const char *name, const char *address);

/*
 * The type of a path, by the types of its ends, which may be NULL. If they differ, a radio at either end
 * decides, then a tunnel; otherwise the path is no faster than the slower type, so Thunderbolt at one end
 * alone does not count. NULL where an end is unknown and the other one is neither a radio nor a tunnel.
 */
const char *ald_path_type(const char *source, const char *sink);

/* The negotiated speed of a path: of the slower end. Absent where the source's is unknown, since the other
 * end alone is only a bound. */
uint64_t ald_path_speed(uint64_t source, uint64_t sink);

/* What carries RDMA between these ports, either maybe NULL: a value of Transport of Link1.Rdma, or NULL where
 * that is unknown. */
const char *ald_path_rdma_transport(const AldRdmaPort *source, const AldRdmaPort *sink);
