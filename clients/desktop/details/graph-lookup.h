/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "state-client/topology.h"

/* What the connection graph says about two nodes. Rows are valid until the main loop runs again. */

/* Whether it was read. If not, and it has not failed, it is being read: what was there before is shown
 * meanwhile. */
bool ald_graph_is_known(const AldTopology *topology);

/* The pair in either order, or NULL. */
const AldNodePairRow *ald_graph_find_pair(const AldTopology *topology, const char *x, const char *y);

/* Adds the edges (const AldEdgeRow *) that lead from one node to the other. */
void ald_graph_add_edges(GPtrArray *edges, const AldTopology *topology, const char *source, const char *sink);

/* The edge with this number, or NULL. */
const AldEdgeRow *ald_graph_find_edge(const GPtrArray *edges, uint64_t id);

/* The one among these that leads the other way over the same ports, or NULL. */
const AldEdgeRow *ald_graph_find_reverse(const GPtrArray *edges, const AldEdgeRow *edge);
