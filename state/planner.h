/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/candidates.h"
#include "state/planner-path.h"

/*
 * What this node is to measure now, computed from the state alone: nothing is remembered from call to call,
 * so neither a restart nor a replay fires anything. Both ends of each pair compute the same.
 *
 * Of two nodes the one with the lower id measures both directions of each path. The other one measures the
 * paths that the first has none for over the same interfaces, and those where each such path of the first has
 * failed ALD_FAILURES_GIVE_UP times in a row.
 */

/* Traffic of an interface that is not to be used at all. */
#define ALD_TRAFFIC_BLOCKED UINT64_MAX

/*
 * How much probes may send and receive over one interface in an hour, unless told otherwise: a fiftieth of
 * what it can carry in both directions, which is four probes in the TTL of their results, or as much as suits
 * links of 1 Gb/s and less, where nobody misses it.
 */
#define ALD_PLANNER_SHARE 50u
#define ALD_PLANNER_BYTES_LEAST (UINT64_C(64) * 1000 * 1000 * 1000)
#define ALD_PLANNER_BYTES_MOST (UINT64_C(2000) * 1000 * 1000 * 1000)

typedef struct AldTraffic {
        const char *interface;
        uint64_t bits_per_second;
} AldTraffic;

typedef struct AldPlannerInput {
        uint64_t now_realtime; /* µs */
        uint64_t now;          /* CLOCK_MONOTONIC in µs */
        uint64_t started; /* the same: what changed later was measured since; the rest is a kept result */
        uint64_t bytes_per_hour; /* 0: as above */
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
        AldDueReason reason;
        uint64_t since; /* maybe absent */
} AldDueProbe;

/* How long results of this kind are fresh. */
uint64_t ald_planner_ttl(AldKind kind);

/* The AldDueProbes, the most urgent first: at most one for each interface of this node and for each peer. */
GArray *ald_planner_compute(AldStore *store, const AldPlannerInput *input);

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
