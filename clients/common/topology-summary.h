/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"
#include "state/topology/topology.h"

/* Rates between nodes, by pairs. */

#define ALD_TOPOLOGY_PATHS 2u /* AldPath */

/* Two nodes and the rates between them; a is before b. Absent if unknown. */
typedef struct AldNodePair {
        guint64 key;
        unsigned a, b;        /* indices of nodes */
        uint64_t there, back; /* bits per second from a to b, and from b to a */
        uint64_t rtt;         /* ns: the smaller of the two */
} AldNodePair;

typedef struct AldTopology {
        GPtrArray *names;    /* of nodes, as safe text: those of the model that count, then nodes that it does
                                not know */
        GPtrArray *excluded; /* "three (offline)": nodes of the model that do not count, as safe text */
        GPtrArray *pairs[ALD_TOPOLOGY_PATHS]; /* AldNodePair, by a and b */
} AldTopology;

/* Creates it from the rows of GetTopology() (AldEdgeRow); invalid rows are ignored. */
AldTopology *ald_topology_new(AldModel *model, const AldRows *rows);
void ald_topology_free(AldTopology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldTopology, ald_topology_free)

/* The pair of two nodes in either order, or NULL. */
const AldNodePair *ald_topology_find(const AldTopology *topology, AldPath path, unsigned x, unsigned y);

/* Whether one direction is more than twice as fast as the other. */
bool ald_node_pair_is_uneven(const AldNodePair *pair);
