/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/layers/stage-order.h"

AldPlacementRole ald_stage_order_role(const AldStageOrder *order, uint32_t stage)
{
        uint32_t last = order->head_is_first ? 0 : order->n - 1;

        return (stage == 0 ? ALD_PLACEMENT_FIRST : 0) | (stage == last ? ALD_PLACEMENT_LAST : 0);
}

uint32_t ald_stage_order_node(const AldPlacementProblem *problem, uint32_t device)
{
        return problem->nodes ? problem->nodes[device] : device;
}

static uint32_t node_at(const AldPlacementProblem *problem, const AldStageOrder *order, uint32_t stage)
{
        return ald_stage_order_node(problem, order->devices[stage]);
}

static uint32_t count_on_node(
        const AldPlacementProblem *problem, const AldStageOrder *order, uint32_t stage, uint32_t from)
{
        uint32_t node = node_at(problem, order, stage), n = 0;

        for (uint32_t i = from; i < order->n; i++)
                n += node_at(problem, order, i) == node;
        return n;
}

/* Returns whether the nodes of the order are allowed. A stage is the first one of its node if all stages of
 * the node come from it on. */
static bool are_nodes_allowed(const AldPlacementProblem *problem, const AldStageOrder *order)
{
        uint32_t nodes = 0, each = count_on_node(problem, order, 0, 0);

        for (uint32_t i = 0; i < order->n; i++) {
                uint32_t all = count_on_node(problem, order, i, 0);

                if (problem->nodes_even && all != each)
                        return false;
                if (count_on_node(problem, order, i, i) == all)
                        nodes++;
                else if (problem->nodes_together &&
                         node_at(problem, order, i - 1) != node_at(problem, order, i))
                        return false;
        }
        return problem->nodes_max == 0 || nodes <= problem->nodes_max;
}

bool ald_stage_order_is_allowed(const AldPlacementProblem *problem, const AldStageOrder *order)
{
        if (order->n == 0 || order->n > problem->layers ||
                (problem->devices_max > 0 && order->n > problem->devices_max))
                return false;
        return (problem->nodes_max == 0 && !problem->nodes_even && !problem->nodes_together) ||
               are_nodes_allowed(problem, order);
}
