/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store.h"

typedef enum AldPath {
        ALD_PATH_SOCKET,
        ALD_PATH_RDMA,
} AldPath;

const char *ald_path_to_string(AldPath path);

/* A directed link between two nodes over one kind of path. */
typedef struct AldEdge {
        AldId source;
        AldId sink;
        AldPath path;
        AldId prober; /* who measured the figures: the source or the sink */
        uint64_t bits_per_second;
        uint64_t rtt_p50_nsec;  /* maybe absent */
        uint64_t measured_usec; /* maybe absent */
        bool failing;           /* the prober's last attempt failed; the figures are those before it */
} AldEdge;

/*
 * All edges, by source, sink and path. Either end may have measured X→Y: X as its upload to Y, Y as its
 * download from X. Of what one end measured the path with the greatest rate counts, one whose last probe
 * failed only where there is no other; then of the two ends the newer measurement; one dated after
 * now_realtime (µs) or not at all loses. Records without a rate make no edge, whether they were never
 * measured or failed each time; nor do links of a node to itself, those with an end that does not count (see
 * ald_node_counts()), nor those over RDMA of which a node tells that its port is down or gone.
 */
GArray *ald_topology_compute(AldStore *store, uint64_t now_realtime);
