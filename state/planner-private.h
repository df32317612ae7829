/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner-load.h"

/* What the planner's parts for sockets and for RDMA share. */

/* Of what was never measured, what comes first. */
typedef enum AldDueRank {
        ALD_RANK_SOCKET,
        ALD_RANK_LINK_LOCAL,
        ALD_RANK_RDMA,
} AldDueRank;

/* One that is due, and what it takes. */
typedef struct AldDue {
        AldDueProbe probe;
        const AldInterface *interface; /* that it uses; NULL: not known */
        AldDueRank rank;
        uint64_t bytes;
        uint64_t seed;
} AldDue;

typedef struct AldPlanner {
        AldStore *store;
        const AldPlannerInput *input;
        AldNode *node;
        const AldNetwork *own;
        AldLoads *loads;
        GArray *due;
        GArray *chosen;
        GPtrArray *made; /* freed with the planner: AldInterfaces of ports that have none */
} AldPlanner;

/* What the source's record of the path says, or NULL. */
const AldLinkSocket *ald_planner_find_row(
        AldStore *store, const AldId *source, const AldId *sink, const char *address);
