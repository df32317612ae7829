/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/checked-plan.h"

/* A node of a ring with its stages, which follow each other. */
typedef struct AldRingNode {
        const AldPlanStageRow *stage; /* the first one */
        guint first_stage, n_stages;
        const char *address;   /* at which a neighbour reaches it, without scope; NULL: unknown */
        const char *interface; /* that has this address; NULL: unknown */
        GString *interfaces;   /* of the measured hops over sockets, separated by commas; may be empty */
        GString *adapters;     /* ports of hops over RDMA, "mlx5_0:1"; may be empty */
} AldRingNode;

/* The nodes in the order of the ring. -ENOTSUP if a node is in two places of it; -EINVAL for the name of an
 * interface that no list can hold. */
int ald_ring_nodes(const AldExportPlan *plan, GArray **ret, char **ret_reason);

/* The host name, or else the address, of the node that the others meet at. -EINVAL if neither is known. */
int ald_ring_master(const AldRingNode *node, const char **ret, char **ret_reason);

/* Variables for NCCL, RCCL and Gloo, and the GPUs of the node in the order of its stages; each with a blank
 * after it. */
int ald_ring_append_variables(
        GString *out, const AldExportPlan *plan, const AldRingNode *node, char **ret_reason);
