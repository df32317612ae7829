/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/topology-summary.h"

#define ALD_DRAWING_NODES_MAX 8u

/*
 * Draws the rates between nodes: a matrix, with names or, if that is too wide, with numbers; a list of pairs
 * if that is too wide as well; for more than 8 nodes, only the slowest and the most uneven pairs.
 */
void ald_topology_draw(GString *out, const AldTopology *topology, unsigned columns);

/* "9.41 Gb/s", or "9.41G" if there is little room; the rate may be absent. */
char *ald_topology_rate(uint64_t rate, bool compact);
