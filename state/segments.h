/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/owners.h"

/*
 * What makes ports of different nodes neighbours without IP, by what both ends say of their hardware.
 *
 * Thunderbolt: two hosts of which each sees the other's domain over a cable. Ports are connections: 0-1.
 *
 * LLDP: interfaces of which each hears the other, named by its hardware address, or by its name with any
 * hardware address of its node as the chassis. Where one alone hears the other they are a candidate: the
 * other may not listen. Ports are interfaces.
 *
 * InfiniBand: active ports with GIDs of one subnet prefix. Every subnet has fe80::/64 unless told otherwise,
 * so there all ports are one candidate, and those are a segment that probes have joined.
 *
 * RoCE: active ports over Ethernet whose interfaces are on one link: one reached the other by its link-local
 * address, or Thunderbolt or LLDP tells so. By another address of its net, as many have no link-local ones,
 * they are a candidate.
 *
 * Ports of InfiniBand and RoCE are those of RDMA: mlx5_0.1. Each is in one segment of its kind at the most,
 * and in one candidate, so all is proportional to the ports, never to pairs of them. Names of hardware that
 * two nodes claim are believed of neither (state/owners.h), and nodes that are not heard of do not count:
 * what one end sees no more is not there.
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
        bool candidate;  /* perhaps neighbours; those that certainly are have segments of their own */
        char *identity;  /* of Thunderbolt the ids of both domains, of InfiniBand the prefix; else NULL */
        GArray *members; /* of AldSegmentMember, of two nodes at least, by node and port */
} AldSegment;

/* All AldSegment, freed with the array: by how, first member and candidate, the certain ones first. */
GPtrArray *ald_segments_compute(AldStore *store);

/* Those of these nodes (const AldNode *, each once), by what they tell of each other alone: what that costs
 * grows with them, but for a look at who else claims their hardware. */
GPtrArray *ald_segments_compute_among(AldStore *store, GPtrArray *nodes);

/* As many of one node are looked at where ports are paired. */
#define ALD_RDMA_PORTS_MAX 64u

/* Whether RDMA can be used over the port as far as its node tells. */
bool ald_rdma_port_is_ready(const AldRdmaPort *port);
