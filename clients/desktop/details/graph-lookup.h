/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "state-client/topology.h"

/* Looks up two nodes in the connection graph. Rows are valid until the main loop runs again. */

/* Returns whether the graph has been read. If not, and reading has not failed, it is being read; until then
 * the sections keep what they show. */
bool ald_graph_is_known(const AldTopology *topology);

/* Returns the pair, whose nodes may be given in either order, or NULL. */
const AldNodePairRow *ald_graph_find_pair(const AldTopology *topology, const char *x, const char *y);

/* Adds the edges (const AldEdgeRow *) from one node to the other. */
void ald_graph_add_edges(GPtrArray *edges, const AldTopology *topology, const char *source, const char *sink);

/* Returns the edge with this number, or NULL. */
const AldEdgeRow *ald_graph_find_edge(const GPtrArray *edges, uint64_t id);

/* Returns the one of these edges that leads back over the same ports, or NULL. */
const AldEdgeRow *ald_graph_find_reverse(const GPtrArray *edges, const AldEdgeRow *edge);
