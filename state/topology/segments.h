/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/topology/owners.h"

/*
 * Finds neighbouring ports of different nodes without IP, by what both ends report about their hardware.
 *
 * Thunderbolt: two hosts that each see the other's domain over a cable. Ports are connections: 0-1.
 *
 * LLDP: interfaces that each hear the other, identified by its hardware address, or by its name with any
 * hardware address of its node as the chassis. If only one hears the other, they are a candidate, since the
 * other may not listen. Ports are interfaces.
 *
 * InfiniBand: active ports with GIDs of one subnet prefix. The default prefix of every subnet is fe80::/64,
 * so all ports with it are one candidate, and those that probes have connected are a segment.
 *
 * RoCE: active ports over Ethernet whose interfaces are on one link: one has reached the other by its
 * link-local address, or Thunderbolt or LLDP shows it. If it was reached by another address of the same
 * network, since many have no link-local addresses, they are a candidate.
 *
 * Ports of InfiniBand and RoCE are RDMA ports: mlx5_0.1. Each is in at most one segment of its kind, and in
 * at most one candidate, so the cost is proportional to the number of ports, not of pairs. Hardware
 * whose name belongs to another node or to none is ignored (state/topology/owners.h), and so are nodes that
 * are not heard.
 */
typedef enum AldSegmentHow {
        ALD_SEGMENT_THUNDERBOLT,
        ALD_SEGMENT_LLDP,
        ALD_SEGMENT_INFINIBAND,
        ALD_SEGMENT_ROCE,
} AldSegmentHow;

const char *ald_segment_how_to_string(AldSegmentHow how);

/* Strings point into records. */
typedef struct AldSegmentMember {
        const AldNode *node;
        const char *port;
} AldSegmentMember;

typedef struct AldSegment {
        AldSegmentHow how;
        bool candidate;  /* possibly neighbours; certain ones have segments of their own */
        char *identity;  /* for Thunderbolt the ids of both domains, for InfiniBand the prefix; else NULL */
        GArray *members; /* of AldSegmentMember, from at least two nodes, by node and port */
} AldSegment;

/* Two ports with a cable between them, or neighbours by LLDP; a belongs to the node with the lower id. */
typedef struct AldCable {
        AldSegmentHow how; /* Thunderbolt or LLDP */
        bool candidate;    /* as in a segment; also if several cables join the same two hosts */
        AldSegmentMember a, b;
} AldCable;

/* Returns all AldSegment among these nodes (const AldNode *, each once), freed with the array and sorted by
 * how, first member and candidate, the certain ones first. Also returns their AldCables, in no particular
 * order; ret_cables may be NULL. The cost depends on the number of these nodes, except for the check whether
 * other nodes claim their hardware. */
GPtrArray *ald_segments_compute(AldStore *store, GPtrArray *nodes, GArray **ret_cables);

/* Returns the node id, a space and the port of each member. Free with g_strfreev(). */
char **ald_segment_member_texts(const AldSegment *segment);

/* The maximum number of ports of one node that are paired. */
#define ALD_RDMA_PORTS_MAX 64u

/* Returns whether the port speaks RoCE, which programs for RoCE need: iWARP runs over Ethernet as well. A
 * record of a version without Transport does not tell them apart. */
bool ald_rdma_port_is_roce(const AldRdmaPort *port);

/* Returns whether RDMA can be used over the port, as far as its node reports. */
bool ald_rdma_port_is_ready(const AldRdmaPort *port);
