/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/topology/segments.h"

/* Among all nodes that count. */
GPtrArray *segments_of_all(AldStore *store);

/* "lldp: 1 eth0, 2 eth1; infiniband? fe80::/64: 1 mlx5_0.1, …": a candidate has a question mark. */
char *segments_text(GPtrArray *segments);

/* The number that id_make() made the id of. */
unsigned segments_node(const AldNode *node);
