/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/store/store.h"

/* The reason why RDMA cannot be used over a port. Strings are static or point into records; NULL if unknown.
 * */
typedef struct AldRdmaProblem {
        const char *word; /* "down", "disabled", "init", "armed", "inactive", "no-gid", "no-verbs", "bridge",
                             "no-permission", "no-provider", "memlock" */
        AldFindingRowSeverity severity;
        const char *link_layer; /* of the port */
        const char *interface;  /* of the port */
        const char *controller; /* "bridge": the bridge that the interface is a port of */
        int carrier;            /* "down": whether the interface has one; may be ALD_ABSENT_BOOLEAN */
} AldRdmaProblem;

/* Returns a phrase for people, such as "it is down"; NULL if the word is unknown or something that the phrase
 * needs is. Free with g_free(). */
char *ald_rdma_problem_reason(const AldRdmaProblem *problem);

/* Returns the remedy as a sentence; NULL if the word is unknown. */
const char *ald_rdma_problem_remedy(const AldRdmaProblem *problem);

/* Returns whether RDMA can be used over the port as far as its node reports; problems that only probes find
 * may have been fixed since. `network` is the node's, or NULL. */
bool ald_rdma_port_is_usable(const AldNetwork *network, const AldRdmaPort *port);

/* Returns the last probe of each port of the node whose last probe failed for a reason of this node itself,
 * as a table from port to AldLinkRdma, both of which point into records. */
GHashTable *ald_rdma_failures(AldNode *node);

/* Returns whether a Failure of Link1.Rdma is such a reason, which concerns no peer. */
bool ald_rdma_failure_is_own(const char *failure);

/* Finds out why the port cannot be used; false if it can, or if that is unknown. `failures` are those of the
 * node. */
bool ald_rdma_problem_find(
        const AldNode *node, const AldRdmaPort *port, GHashTable *failures, AldRdmaProblem *ret);

/* Does the same by what the node itself reports; `network` is the node's, or NULL. */
bool ald_rdma_problem_find_reported(const AldNetwork *network, const AldRdmaPort *port, AldRdmaProblem *ret);
