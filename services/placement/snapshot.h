/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"
#include "state-client/model.h"

/*
 * The state of the cluster at one moment, in the form that the planner takes: the nodes by id, their devices
 * in the order of Node1.Backends, and the live paths over sockets and RDMA that were measured in that
 * direction. It refers to nothing in the model, so that a thread can plan with it.
 *
 * A node is unusable unless it is online. A device has no figures if it was never measured, or if its figures
 * are flagged as suspect or doubted by the state service. The rate of matrix products is that of fp16 or, on
 * a device without it, the one that was measured instead. The free memory of a device that computes in host
 * memory is what is available on the host, limited by its driver, plus the memory that was carved out for it.
 */
typedef struct AldPlanSnapshot {
        AldPlanCluster cluster;
        uint64_t revision; /* of the connection graph */
        GArray *nodes, *devices, *paths;
        GPtrArray *owned;
} AldPlanSnapshot;

/* The model must contain the connection graph. */
AldPlanSnapshot *ald_plan_snapshot_new(AldModel *model);

void ald_plan_snapshot_free(AldPlanSnapshot *snapshot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPlanSnapshot, ald_plan_snapshot_free)
