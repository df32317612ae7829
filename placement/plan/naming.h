/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/cluster.h"
#include "placement/plan/engine.h"

/* The limits on names in the commands that are exported for an engine; see placement/export/. */

/* Why the commands cannot name a path. */
typedef enum AldPlanUnnamed {
        ALD_PLAN_NAMED,            /* they can */
        ALD_PLAN_ADDRESS_UNKNOWN,  /* the address of the end that the path leads to is unknown */
        ALD_PLAN_ADDRESS_IPV6,     /* that address is not an IPv4 address */
        ALD_PLAN_HOST_UNNAMED,     /* neither an address nor a host name of an end can be written */
        ALD_PLAN_HOST_NAME_SHARED, /* another node has the host name of an end whose IPv4 address is unknown
                                    */
        ALD_PLAN_PORT_UNNAMED,     /* the name of an end's port has characters that are not allowed */
} AldPlanUnnamed;

/* Returns whether the commands can name the device. They cannot name a part of a GPU, since engines number
 * whole GPUs. */
bool ald_plan_can_name_device(const AldPlanEngine *engine, const AldPlanDevice *device);

/* Returns, for each node, whether another node with a place has the same host name, ignoring case as DNS
 * does; free with g_free(). NULL if host names do not matter to the engine, or all differ. */
bool *ald_plan_shared_host_names(
        const AldPlanCluster *cluster, const AldPlanEngine *engine, const uint32_t *places);

/* Returns whether the commands can name the path, or why not. Unknown addresses, host names and ports are no
 * obstacle unless the path was measured. *ret_node is the node whose name or address is the obstacle. */
AldPlanUnnamed ald_plan_check_path_names(const AldPlanCluster *cluster, const AldPlanEngine *engine,
        const bool *shared, const AldPlanPath *path, uint32_t *ret_node);
