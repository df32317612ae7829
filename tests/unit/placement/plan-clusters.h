/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"
#include "tests/unit/placement/clusters.h"

/* A made-up cluster as plans are made of: each device is a GPU, on a node of its own. */
typedef struct PlannedCluster {
        AldPlanNode *nodes;
        AldPlanDevice *devices;
        AldPlanPath *paths;
        AldPlanCluster cluster;
        AldPlanWorkload workload;
        AldPlanRequest request;
} PlannedCluster;

void planned_cluster_make(
        PlannedCluster *ret, PlacementClusterShape shape, uint32_t n, uint32_t seed, const char *engine);
void planned_cluster_clear(PlannedCluster *planned);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PlannedCluster, planned_cluster_clear)
