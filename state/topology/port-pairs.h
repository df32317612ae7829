/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/topology/segments.h"

/* A pair of RDMA ports in one segment. Strings point into records. */
typedef struct AldPortPair {
        const AldNode *peer;
        const char *own, *theirs; /* ports of the node of the search, and of the peer */
        bool candidate;           /* as in the segment */
} AldPortPair;

typedef void (*AldPortPairFunc)(const AldPortPair *pair, void *userdata);

/*
 * Calls func for each pair of ports over which RDMA between a node and the others is probed. Of two nodes in
 * a segment, the first ports are paired, then the second ones, and so on; the node with fewer ports uses them
 * again. In a candidate, ports that are certainly neighbours of that peer are left out. Ports that cannot be
 * used have no pairs. Both nodes have the same pairs.
 */
void ald_port_pairs_foreach(
        const GPtrArray *segments, const AldNode *node, AldPortPairFunc func, void *userdata);
