/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/topology-summary.h"

#define ALD_DRAWING_NODES_MAX 8u

/*
 * Draws who reaches whom at which rate: a matrix, with names or where that is too wide with numbers; a list
 * of pairs where that is too wide as well; and beyond 8 nodes only the slowest and the most uneven pairs.
 */
void ald_topology_draw(GString *out, const AldTopology *topology, unsigned columns);

/* The matrix of one path. False, and nothing drawn, where it does not fit. */
bool ald_topology_draw_matrix(GString *out, const AldTopology *topology, AldPath path, unsigned columns);

/* "9.41 Gb/s", or "9.41G" where there is little room; the rate may be absent. */
char *ald_topology_rate(uint64_t rate, bool compact);
