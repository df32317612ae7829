/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/topology-summary.h"
#include "state-client/model.h"

#define ALD_DRAWING_NODES_MAX 8u

/*
 * Draws the best figures between each two nodes: a matrix of rates with RTT/2 below them, with names or, if
 * that is too wide, with numbers; a list of pairs if that is too wide as well; for more than 8 nodes, only
 * the slowest and the most asymmetric pairs, and how many are not measured or offline.
 */
void ald_topology_draw(GString *out, const AldTopologySummary *summary, unsigned columns);

/* Lists all edges between nodes, each with its state. The model is used for the clocks of the nodes; now_usec
 * is CLOCK_REALTIME. */
void ald_topology_list(GString *out, AldModel *model, const AldTopology *topology,
        const AldTopologySummary *summary, unsigned columns, double now_usec);

/* Writes a graph for graphviz: a line for each pair, or with `all` for each path. */
void ald_topology_write_dot(
        GString *out, const AldTopology *topology, const AldTopologySummary *summary, bool all);

/* Returns "9.41 Gb/s", or "9.41G" if `compact`; the rate may be absent. */
char *ald_topology_rate(uint64_t rate, bool compact);
