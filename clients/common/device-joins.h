/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"
#include "state-client/topology.h"

/* Describes for people what joins the compute devices of a node to its host and to each other. */

/* Both directions of a join. The first begins at a device. */
typedef struct AldJoinEdges {
        const AldEdgeRow *there, *back; /* back may be NULL */
} AldJoinEdges;

/* Returns the AldJoinEdges of a node: joins to the host first, then by the ids of the devices. */
GArray *ald_device_joins(const AldTopology *topology, const char *node_id);

/* These describe one end and the join itself: "Radeon RX 7900 XTX (0000:03:00.0)" or "host"; "nvlink ×18
 * through switch". They return safe text, to be freed. */
char *ald_device_join_end(const AldEntity *node, const char *device_id);
char *ald_device_join_words(const AldEdgeRow *edge);
