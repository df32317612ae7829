/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/topology/graph-path.h"

/* Two nodes of the connection graph (graph.h), and the best figures of all paths between them. */

/* The best figure in one direction; without a path, none was measured. */
typedef struct AldGraphBest {
        const AldGraphPath *path;
        bool reverse;   /* from the sink of the path to its source */
        bool failing;   /* its last probe failed */
        uint64_t value; /* bits per second, or the round trip in ns */
        uint64_t measured_usec;
} AldGraphBest;

typedef struct AldGraphPair {
        AldId ids[2];     /* the lower one first */
        GPtrArray *paths; /* of AldGraphPath */

        /* Computed: */
        AldEdgeRowPresence presence;
        const char *kinds[ALD_EDGE_ROW_KIND_N + 1]; /* static */
        const char *type;                           /* static, or NULL */
        AldGraphBest to_peer, from_peer, rtt;
} AldGraphPair;

/* Computes the pair from its paths, of which there is at least one and all of which are computed. */
void ald_graph_pair_compute(AldGraphPair *pair);

/* Describes a computed pair whose paths have not changed since. */
void ald_graph_pair_describe(const AldGraphPair *pair, AldGraphSpace *space, AldNodePairRow *ret);
