/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/problem.h"
#include "placement/star.h"

/* Devices in the order of the layers. In a ring, the last device has the head; in a star, the last or the
 * first one. */
typedef struct AldStageOrder {
        uint32_t *devices, n;
        bool head_is_first;
} AldStageOrder;

AldPlacementRole ald_stage_order_role(const AldStageOrder *order, uint32_t stage);

/* Returns the node of a device; without nodes, each device is a node of its own. */
uint32_t ald_stage_order_node(const AldPlacementProblem *problem, uint32_t device);

/* Returns whether the order obeys the limits on devices and nodes, and nodes_even and nodes_together. */
bool ald_stage_order_is_allowed(const AldPlacementProblem *problem, const AldStageOrder *order);
