/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"
#include "state-client/topology.h"

/* What joins the compute devices of a node to its host and to each other, for people. */

/* Both directions, the first of which begins at a device. */
typedef struct AldJoinEdges {
        const AldEdgeRow *there, *back; /* back may be NULL */
} AldJoinEdges;

/* The AldDeviceJoins of a node: those to the host first, then by the ids of the devices. */
GArray *ald_device_joins(const AldTopology *topology, const char *node_id);

/* Describe one end and the join itself: "Radeon RX 7900 XTX (0000:03:00.0)" or "host"; "nvlink ×18 through
 * switch". Safe text, to be freed. */
char *ald_device_join_end(const AldEntity *node, const char *device_id);
char *ald_device_join_words(const AldEdgeRow *edge);
