/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/choice.h"

/* The connection between the client of a star and another node, and what they send each other in a step. */
typedef struct AldPlanConnection {
        uint32_t path_to, path_from; /* indices in the cluster; ALD_PLAN_NONE if assumed */
        double bytes_to, bytes_from;
        double nsec_to, nsec_from; /* INFINITY if there is no path */
} AldPlanConnection;

double ald_plan_connection_nsec(const AldPlanConnection *connection);

/* Finds the connection that takes the least time for these bytes each way, by the rules of AldPlanPath. rtts
 * is the number of round trips besides the one in which the bytes pass. */
AldPlanConnection ald_plan_connection_find(const AldPlanCandidates *candidates, const AldPlanChoice *choice,
        uint32_t client, uint32_t node, double bytes_to, double bytes_from, double rtts);
