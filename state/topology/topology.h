/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

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
        AldId prober; /* the node that measured the figures: the source or the sink */
        uint64_t bits_per_second;
        uint64_t rtt_p50_nsec;  /* maybe absent */
        uint64_t measured_usec; /* maybe absent */
        bool failing;           /* the prober's last attempt failed; the figures are older */
} AldEdge;

/*
 * All edges, by source, sink and path. Either end may have measured X→Y: X as its upload to Y, Y as its
 * download from X. Of the paths that one end measured, the one with the greatest rate counts; a path whose
 * last probe failed is used only if there is no other. Of the two ends, the newer measurement counts; one
 * dated after now_realtime (µs), or without a date, loses. There is no edge for records without a rate, for
 * links of a node to itself, for links with an end that does not count (see ald_node_counts()), and for links
 * over RDMA if a node reports its port as down or does not report it.
 */
GArray *ald_topology_compute(AldStore *store, uint64_t now_realtime);
