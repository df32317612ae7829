/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan.h"
#include "state-client/model.h"

/*
 * What the state service knew of the cluster at one moment, as the planner takes it: the nodes by id, and
 * their devices in the order of Node1.Backends, and the paths over sockets and RDMA that are live and
 * measured in that direction. It refers to nothing of the model, so that a thread can plan with it.
 *
 * A node is unusable unless it is online. A device that was never measured has no figures, and neither has
 * one whose figures are flagged as suspect; figures that the state service does not believe are left out,
 * too. The rate of matrix products is that in fp16; of a device without it, that which was measured instead.
 * The free memory of a device that computes in host memory is what the host has available, limited by what
 * its driver lets it have, and what was carved out for it.
 */
typedef struct AldPlanSnapshot {
        unsigned n_ref;
        AldPlanCluster cluster;
        uint64_t revision; /* of the connection graph */
        GArray *nodes, *devices, *paths;
        GPtrArray *owned;
} AldPlanSnapshot;

/* The model holds the connection graph. */
AldPlanSnapshot *ald_plan_snapshot_new(AldModel *model);

/* Only in the thread that made it. */
AldPlanSnapshot *ald_plan_snapshot_ref(AldPlanSnapshot *snapshot);
void ald_plan_snapshot_unref(AldPlanSnapshot *snapshot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPlanSnapshot, ald_plan_snapshot_unref)
