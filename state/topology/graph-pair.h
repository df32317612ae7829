/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/topology/graph-path.h"

/* Two nodes of the connection graph (graph.h), and what is best of all paths between them. */

/* One direction of a path; no path: none was measured. */
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

/* Computes it from its paths, which are computed and of which there is one at least. */
void ald_graph_pair_compute(AldGraphPair *pair);

/* Describes a computed pair whose paths are the same. */
void ald_graph_pair_describe(const AldGraphPair *pair, AldGraphSpace *space, AldNodePairRow *ret);
