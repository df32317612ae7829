/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/cluster.h"
#include "placement/plan/engine.h"

/* Limits of the commands that are exported for an engine; see placement/export/. */

/* Why they cannot name a path. */
typedef enum AldPlanUnnamed {
        ALD_PLAN_NAMED,            /* they can */
        ALD_PLAN_ADDRESS_UNKNOWN,  /* of the end that it leads to */
        ALD_PLAN_ADDRESS_IPV6,     /* of this end, or not an address of IPv4 for another reason */
        ALD_PLAN_HOST_UNNAMED,     /* neither an address nor the host name of an end can be given */
        ALD_PLAN_HOST_NAME_SHARED, /* another node has the host name of an end, whose IPv4 address is unknown
                                    */
        ALD_PLAN_PORT_UNNAMED,     /* the port of an end has a name with other characters */
} AldPlanUnnamed;

/* Not a part of a GPU, as engines number whole GPUs. */
bool ald_plan_can_name_device(const AldPlanEngine *engine, const AldPlanDevice *device);

/* Returns for each node whether it has the host name of another one of those that have a place; DNS ignores
 * case. To be freed. NULL: the engine does not mind, or the host names differ. */
bool *ald_plan_shared_host_names(
        const AldPlanCluster *cluster, const AldPlanEngine *engine, const uint32_t *places);

/* As far as addresses, host names and ports are known: what a path lacks of which nothing is known is not
 * held against it, unless it was measured. *ret_node is the node whose name or address is the obstacle. */
AldPlanUnnamed ald_plan_name_path(const AldPlanCluster *cluster, const AldPlanEngine *engine,
        const bool *shared, const AldPlanPath *path, uint32_t *ret_node);
