/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/candidates.h"
#include "state/link-ttl.h"
#include "state/planner-path.h"
#include "state/probe-policy.h"

/*
 * What this node is to measure now, computed from the state alone: nothing is remembered from call to call,
 * so neither a restart nor a replay fires anything. Both ends of each pair compute the same.
 *
 * Of two nodes the one with the lower id measures both directions of each path. The other one measures the
 * paths that the first has none for over the same interfaces, those where each such path of the first has
 * failed ALD_FAILURES_GIVE_UP times in a row, and all where the first says that it starts no such probes.
 *
 * Every path over sockets is checked every 5 min: round trips, and a spot check of some 10 ms where the path
 * may be loaded. Full rates are measured where they never were, where something changed, and after the time
 * to live of the record. Of several addresses over one pair of interfaces one is measured at full rate; of
 * the others round trips alone.
 */

/* Traffic of an interface that is not to be used at all. */
#define ALD_TRAFFIC_BLOCKED UINT64_MAX

/*
 * What probes may send and receive over one interface, unless configured otherwise: a thousandth of what it
 * carries in both directions. Spot checks take half of that at the most; where they would take more they are
 * made less often. First measurements are made at once, and do not count before what follows. So is that of a
 * path that changed, as long as that path alone stays within the share, and all together within ten times
 * that.
 */
#define ALD_PLANNER_SHARE 1000u
#define ALD_PLANNER_CHANGED_SHARES 10u

/* Both ends of a path have to be free at a time, so that the share is never quite used: what a full plan
 * takes is stretched by this. */
#define ALD_PLANNER_STRETCH 2.5

/* Paths whose last figure was low take turns of this length, as many as there are such paths, so that no two
 * of them are measured at once. */
#define ALD_PLANNER_TURN_USEC (UINT64_C(30) * 1000 * 1000)
#define ALD_PLANNER_TURN_START_USEC (UINT64_C(20) * 1000 * 1000)

typedef struct AldTraffic {
        const char *interface;
        uint64_t bits_per_second;
} AldTraffic;

typedef struct AldPlannerInput {
        uint64_t now_realtime;   /* µs */
        uint64_t now;            /* CLOCK_MONOTONIC in µs */
        uint64_t started;        /* the same: when the state service started */
        uint64_t bytes_per_hour; /* 0: as Node1.ProbePolicy says, else as above */
        size_t max;
        const AldTraffic *traffic; /* as the counters of this node tell; what is not named is idle */
        size_t n_traffic;
        const AldId *avoid; /* peers that are not to be measured now */
        size_t n_avoid;
        /* Paths that their peers put off, by keys: over RDMA they are not to be measured now, over sockets
         * after all else, so that what a peer never lets happen keeps nothing else from happening. */
        const char *const *avoid_paths;
        size_t n_avoid_paths;
        bool without[ALD_N_KINDS]; /* kinds that are not asked for */
} AldPlannerInput;

typedef struct AldDueProbe {
        AldKind kind;
        AldId peer;
        char address[ALD_ADDRESS_STRING_SIZE];
        const char *interface; /* NULL where not known before the route is looked up; points into a record */
        const char *source_port, *sink_port; /* of RDMA alone, "mlx5_0.1"; point into records */
        AldLinkScope scope;
        bool overdue;         /* its figures are so old that it is measured even beside other traffic */
        bool despite_traffic; /* the same, and there is such traffic at this end */
        AldDueReason reason;
        uint64_t since; /* maybe absent */
} AldDueProbe;

/* How long results of this kind are fresh, where their records do not say it. */
uint64_t ald_planner_ttl(AldKind kind);

/* The AldDueProbes, the most urgent first: at most one for each interface of this node and for each peer. */
GArray *ald_planner_compute(AldStore *store, const AldPlannerInput *input);

/* What the interval between whole measurements of a link of this node may be, so that the plan keeps it: by
 * the number of paths over its interface, and what may be sent there. */
AldTtlBounds ald_planner_bounds(AldStore *store, const AldPlannerInput *input, const AldRecord *record);

/* In clusters that are so large, rows are deleted before the next turn of their peers comes. */
#define ALD_PLANNER_ROWS_MAX 3072u

/*
 * The rows of this node that are to go, as AldEntry: to addresses that their node no longer has,
 * between ports that are gone, to nodes that are not known, or of RDMA where an end tells of no ports at all,
 * and unchanged for so long (a node may be late to be heard of after a restart), and the oldest beyond
 * ALD_PLANNER_ROWS_MAX.
 */
GPtrArray *ald_planner_obsolete(AldStore *store, uint64_t now, uint64_t expiry_usec);

/* Whether the sink still has the address, or both the ports, as far as is known. The record is one of a link.
 */
bool ald_planner_path_exists(const AldNode *source, const AldNode *sink, const AldRecord *record);
