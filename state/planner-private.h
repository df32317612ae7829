/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner-load.h"

/* What the planner's parts for sockets and for RDMA share. */

/* Of what was never measured, what comes first. */
typedef enum AldDueRank {
        ALD_RANK_SOCKET,
        ALD_RANK_ROUND_TRIPS,
        ALD_RANK_LINK_LOCAL,
        ALD_RANK_RDMA,
} AldDueRank;

/* A path over sockets to an address of a peer. */
typedef struct AldPath {
        const AldNode *peer;
        AldCandidate candidate;
        const AldInterface *interface; /* of this node; NULL: not known */
        const AldLinkSocket *row;      /* or NULL */
        uint64_t seed;
        bool shared; /* another address over the same pair of interfaces is measured at full rate */
        bool ours;   /* this node measures it */
} AldPath;

/* One that is due, and what it takes. */
typedef struct AldDue {
        AldDueProbe probe;
        const AldInterface *interface;      /* that it uses; NULL: not known */
        const AldNode *sink;                /* over sockets */
        const AldInterface *sink_interface; /* the same; or NULL */
        bool put_off;
        AldDueRank rank;
        uint64_t waits_since;   /* in any scope */
        uint64_t measured_usec; /* of its last whole measurement, maybe absent */
        uint64_t deadline;      /* when it is to be repeated, maybe absent */
        uint64_t bytes;         /* of a whole measurement */
        uint64_t seed;
} AldDue;

typedef struct AldPlanner {
        AldStore *store;
        const AldPlannerInput *input;
        AldNode *node;
        const AldNetwork *own;
        GPtrArray *sample;   /* of AldNode: all the peers of this turn */
        size_t turn;         /* how many turns it takes to meet all peers */
        GPtrArray *peers;    /* those that may be measured now */
        GArray *paths;       /* of AldPath, to all of the sample */
        GHashTable *put_off; /* keys of paths */
        AldLoads *loads;
        GArray *due;
        GArray *chosen;
        GPtrArray *low;  /* names of paths whose last figure was low; NULL until asked for */
        GPtrArray *made; /* freed with the planner: AldInterfaces of ports that have none */
} AldPlanner;

/* Whether the peer of the path put it off lately. */
bool ald_planner_is_put_off(const AldPlanner *planner, const char *key);

/* What the source's record of the path says, or NULL. */
const AldLinkSocket *ald_planner_find_row(
        AldStore *store, const AldId *source, const AldId *sink, const char *address);
