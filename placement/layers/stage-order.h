/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"
#include "placement/star.h"

/* Devices in the order in which they get the layers. Of a ring, the last one has the head; of a star, the
 * last or the first one. */
typedef struct AldStageOrder {
        uint32_t *devices, n;
        bool head_is_first;
} AldStageOrder;

AldPlacementRole ald_stage_order_role(const AldStageOrder *order, uint32_t stage);

/* Returns the node of a device; without nodes, each device is one of its own. */
uint32_t ald_stage_order_node(const AldPlacementProblem *problem, uint32_t device);

/* Returns whether as many devices and nodes may be used, and with nodes_even and nodes_together, whether the
 * devices are spread over nodes and ordered as these say. */
bool ald_stage_order_is_allowed(const AldPlacementProblem *problem, const AldStageOrder *order);
