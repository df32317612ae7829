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
        bool put_off;
        AldDueRank rank;
        uint64_t bytes;
        uint64_t seed;
} AldDue;

typedef struct AldPlanner {
        AldStore *store;
        const AldPlannerInput *input;
        AldNode *node;
        const AldNetwork *own;
        GPtrArray *sample;   /* of const AldNode: all the peers of this turn */
        GPtrArray *peers;    /* those that may be measured now */
        GHashTable *put_off; /* keys of paths */
        AldLoads *loads;
        GArray *due;
        GArray *chosen;
        GPtrArray *made; /* freed with the planner: AldInterfaces of ports that have none */
} AldPlanner;

/* Whether the peer of the path put it off lately. */
bool ald_planner_is_put_off(const AldPlanner *planner, const char *key);

/* What the source's record of the path says, or NULL. */
const AldLinkSocket *ald_planner_find_row(
        AldStore *store, const AldId *source, const AldId *sink, const char *address);
