/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner/probe-load.h"

/* Shared by the planner's parts for sockets and for RDMA. */

/* The order of paths that were never measured. */
typedef enum AldDueRank {
        ALD_RANK_SOCKET,
        ALD_RANK_ROUND_TRIPS,
        ALD_RANK_LINK_LOCAL,
        ALD_RANK_RDMA,
} AldDueRank;

/* A path over sockets to an address of a peer. */
typedef struct AldPlannerPath {
        const AldNode *peer;
        AldCandidate candidate;
        const AldInterface *interface; /* of this node; NULL: unknown */
        const AldLinkSocket *row;      /* or NULL */
        uint64_t seed;
        bool shared; /* another address over the same pair of interfaces is measured at full rate */
        bool ours;   /* this node measures it */
} AldPlannerPath;

/* A probe that is due, and what it uses. */
typedef struct AldDue {
        AldDueProbe probe;
        const AldInterface *interface;      /* that it uses; NULL: unknown */
        const AldNode *sink;                /* for sockets */
        const AldInterface *sink_interface; /* of the sink, for sockets; or NULL */
        bool deferred;
        AldDueRank rank;
        uint64_t waits_since;   /* since when a probe of any scope waits */
        uint64_t measured_usec; /* the last full measurement; may be absent */
        uint64_t deadline;      /* when it has to be repeated; may be absent */
        uint64_t bytes;         /* of a full measurement */
        uint64_t seed;
} AldDue;

typedef struct AldPlanner {
        AldStore *store;
        const AldPlannerInput *input;
        AldNode *node;
        const AldNetwork *own;
        GPtrArray *sample;    /* of AldNode: all peers of this period */
        size_t n_periods;     /* in which every peer is sampled once; 1 in small clusters */
        GPtrArray *peers;     /* the peers that may be measured now */
        GArray *paths;        /* of AldPlannerPath, to all of the sample */
        GHashTable *deferred; /* keys of paths that their peers have recently deferred */
        AldLoads *loads;
        GArray *due;
        GArray *chosen;
        GPtrArray *low; /* of AldEntry: paths whose last rate was low, in order; NULL until requested */
        GPtrArray *placeholders; /* freed with the planner: AldInterfaces that stand for ports without
                                    interface */
} AldPlanner;

/*
 * Adds the due probes over RDMA. Usable ports in the same segment are paired: the first with the first and so
 * on, in as many pairs as the node with more ports has ports, starting over when the other node runs out.
 * This matches rails, and both ends compute the same pairs. Candidates are also tried if neither port is in a
 * certain segment with the other node.
 */
void ald_planner_rdma(AldPlanner *planner);

/* Returns what probes may send over an interface of a node. A peer without a configured limit is assumed to
 * be like this node. */
AldShare ald_planner_share(const AldPlanner *planner, const AldNode *node, const AldInterface *interface);

/* Returns the AldDueProbes that start now, chosen from those that are due. */
GArray *ald_planner_choose(AldPlanner *planner);
