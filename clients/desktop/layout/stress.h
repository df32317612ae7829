/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/geometry.h"

/*
 * Places the nodes of a connected graph, around 0, 0, so that the distance between two of them is as near as
 * possible to the length of the path between them in the graph (stress majorization). An edge has length 1,
 * except within a group of nodes that are nearly all connected to each other: these make a ring, in their
 * order. `adjacent` is a symmetric n × n matrix. Returns true, and makes no points, if the whole graph is
 * such a mesh.
 */
bool ald_stress_points(const bool *adjacent, size_t n, AldVector *ret_points);
