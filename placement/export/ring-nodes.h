/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/export/checked-plan.h"

/* A node of a ring with its stages, which follow each other. */
typedef struct AldRingNode {
        const AldPlanStageRow *stage; /* the first one */
        guint first_stage, n_stages;
        const char *address;   /* at which a neighbor reaches it, without scope; NULL if unknown */
        const char *interface; /* interface with this address; NULL if unknown */
        GString *interfaces;   /* interfaces of the measured hops over sockets, separated by commas; may be
                                  empty */
        GString *adapters;     /* ports of hops over RDMA, "mlx5_0:1"; may be empty */
} AldRingNode;

/* Lists the nodes in the order of the ring. Returns -ENOTSUP if a node is in two places of it, and -EINVAL if
 * the name of an interface cannot be in a list. */
int ald_ring_nodes(const AldExportPlan *plan, GArray **ret, char **ret_reason);

/* Sets the address, or else the host name, at which the others reach this node. Returns -EINVAL if neither is
 * known. */
int ald_ring_master(const AldRingNode *node, const char **ret, char **ret_reason);

/* Appends variables for NCCL, RCCL and Gloo, and for the GPUs of the node in the order of its stages, each
 * followed by a space. */
int ald_ring_append_variables(
        GString *out, const AldExportPlan *plan, const AldRingNode *node, char **ret_reason);
