/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/* What the client of a star and another node send each other in a step over one connection. */
typedef struct AldPlanConnection {
        uint32_t path_to, path_from; /* indices in the cluster, or ALD_PLAN_NONE: assumed */
        double bytes_to, bytes_from;
        double nsec_to, nsec_from; /* INFINITY: there is none */
} AldPlanConnection;

double ald_plan_connection_nsec(const AldPlanConnection *connection);

/* That which takes the least time for this number of bytes each way, by the rules of AldPlanPath; rtts: round
 * trips beside that in which these pass. */
AldPlanConnection ald_plan_connection_find(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t client, uint32_t node, double bytes_to, double bytes_from, double rtts);
