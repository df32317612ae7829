/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/layout/geometry.h"

/*
 * Points for the nodes of a connected graph, around 0, 0, so that the distance between two of them is as near
 * as can be to the length of the way between them in the graph (stress majorization). An edge has length 1,
 * except within a group of nodes that nearly all know each other: these make a ring, in their order.
 * `adjacent`: n × n, symmetric. Returns true, and makes no points, if the whole graph is such a mesh.
 */
bool ald_stress_points(const bool *adjacent, size_t n, AldVector *ret_points);
