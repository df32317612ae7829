/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/findings.h"

/* Why RDMA cannot be used over a port. Strings are static or point into records, but for the reason. */
typedef struct AldRdmaProblem {
        const char *word; /* "down", "init", "armed", "inactive", "no-gid", "no-verbs", "bridge",
                             "no-permission", "no-provider", "memlock" */
        AldSeverity severity;
        char *reason; /* "it is down" */
        const char *remedy;
} AldRdmaProblem;

void ald_rdma_problem_clear(AldRdmaProblem *problem);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldRdmaProblem, ald_rdma_problem_clear)

/* Whether RDMA can be used over the port as far as its node tells: what only probes find out may have been
 * mended since. Network is that of the node, or NULL. */
bool ald_rdma_port_is_usable(const AldNetwork *network, const AldRdmaPort *port);

/* The last probe of each port of the node of which the last probe failed for a reason of this node itself:
 * port → AldLinkRdma, both of which point into records. */
GHashTable *ald_rdma_failures(AldNode *node);

/* Whether a Failure of Link1.Rdma is such a reason, which concerns no peer. */
bool ald_rdma_failure_is_own(const char *failure);

/* False where the port can be used, or where nobody knows. Failures are those of the node. */
bool ald_rdma_problem_find(
        const AldNode *node, const AldRdmaPort *port, GHashTable *failures, AldRdmaProblem *ret);
