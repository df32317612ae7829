/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/link/link-ttl.h"
#include "state/link/path-candidates.h"
#include "state/link/path-due.h"
#include "state/link/probe-policy.h"

/*
 * Computes what this node should measure now from the state alone: nothing is kept between calls, so neither
 * a restart nor a replay triggers probes. Both ends of each pair compute the same.
 *
 * Of two nodes, the one with the lower id measures both directions of each path. The other measures only
 * paths for which the first has no counterpart over the same interfaces, or only counterparts that failed
 * ALD_FAILURES_GIVE_UP times in a row, and all paths if the first reports that it starts no such probes.
 *
 * Every path over sockets is checked every 5 min: round trips, and a spot check of about 10 ms if the path
 * may be loaded; a check that contradicts the record is repeated at once. Full rates are measured if they
 * never were, if something has changed, and after the time to live of the record. Of several addresses over
 * one pair of interfaces, one is measured at full rate; the others have round trips only.
 */

/* Traffic of an interface that must not be used at all. */
#define ALD_TRAFFIC_BLOCKED UINT64_MAX

/*
 * The limit of what probes send and receive over one interface, unless configured otherwise: a thousandth of
 * its capacity in both directions. Spot checks use at most half of that; if they would use more, they are
 * made less often. First measurements are made at once, and count only against the following ones. The first
 * measurement after each change of a path is made at once, too, as long as those of the last hour, in which
 * older ones count less (ald_change_bytes_at()), are within four times the share. So in any hour they take at
 * most eight times the share, even if links change again and again, and everything together stays below 1 %.
 * If a limit is configured, they wait only for an hour in which they fit into it.
 */
#define ALD_PLANNER_SHARE 1000u
#define ALD_PLANNER_CHANGED_SHARES 4u

/* Both ends of a path have to be free at the same time, so the share is never fully used: the duration of a
 * full plan is multiplied by this. */
#define ALD_PLANNER_STRETCH 2.5

/*
 * Paths whose last rate was low take turns of this length, one turn per path, so that no two of them that may
 * share a line are measured at once. Paths from or to either end of a path count. Each other node is believed
 * to have a few of them, changed within the last hour, so that false rows delay a path by some turns only.
 */
#define ALD_PLANNER_TURN_USEC (UINT64_C(30) * 1000 * 1000)
#define ALD_PLANNER_TURN_START_USEC (UINT64_C(20) * 1000 * 1000)
#define ALD_PLANNER_TURNS_EACH 4u

typedef struct AldPlannerTraffic {
        const char *interface;
        uint64_t bits_per_second;
} AldPlannerTraffic;

typedef struct AldPlannerInput {
        uint64_t now_realtime;   /* µs */
        uint64_t now;            /* CLOCK_MONOTONIC in µs */
        uint64_t started;        /* when the state service started, by the same clock */
        uint64_t bytes_per_hour; /* 0: from Node1.ProbePolicy, else as above */
        size_t max;
        const AldPlannerTraffic *traffic; /* from the counters of this node; other interfaces are idle */
        size_t n_traffic;
        const AldId *avoid; /* peers not to measure now */
        size_t n_avoid;
        /* Keys of paths that their peers have recently deferred. Over RDMA they are not measured now; over
         * sockets they are measured after everything else, so that a path that its peer always defers does
         * not block others. */
        const char *const *deferred_paths;
        size_t n_deferred_paths;
        const char *const *avoid_devices; /* Ids of devices of this node not to measure now */
        size_t n_avoid_devices;
        bool without[ALD_N_KINDS]; /* kinds to leave out */
} AldPlannerInput;

typedef struct AldDueProbe {
        AldKind kind;
        AldId peer;         /* this node for a device */
        const char *device; /* its Id, which points into a record; NULL for a link */
        char address[ALD_ADDRESS_STRING_SIZE];
        const char *interface; /* NULL if unknown before the route is looked up; points into a record */
        const char *source_port, *sink_port; /* for RDMA only, "mlx5_0.1"; point into records */
        AldLinkScope scope;
        bool overdue;         /* its figures are so old that it is measured in spite of other traffic */
        bool despite_traffic; /* overdue, and there is other traffic at this end */
        bool despite_work;    /* a first measurement that has waited for programs long enough */
        bool brief;           /* the first full measurement after a change: it should take little time */
        AldDueReason reason;
        uint64_t since; /* may be absent */
} AldDueProbe;

/* Returns the AldDueProbes, the most urgent first: at most one for each interface of this node and for each
 * peer. */
GArray *ald_planner_compute(AldStore *store, const AldPlannerInput *input);

/* Returns the limits of the interval between full measurements of a link of this node that the plan can keep,
 * considering the number of paths over its interface and the share of probes. */
AldTtlBounds ald_planner_bounds(AldStore *store, const AldPlannerInput *input, const AldRecord *record);

/* Removes those of the due probes of devices and file systems of this node that the input avoids, and sorts
 * the others: what was never measured comes first, then what has waited longest. As many remain as the input
 * allows. */
void ald_planner_limit_local(GArray *due, const AldPlannerInput *input);

/* In clusters larger than this, rows are deleted before the next period of their peers. */
#define ALD_PLANNER_ROWS_MAX 3072u

/*
 * Returns the obsolete rows of this node, as AldEntry: rows to addresses that their node no longer has,
 * between ports that no longer exist, to unknown nodes, or over RDMA if an end reports no ports at all, if
 * they have been unchanged for `expiry_usec` (a node may be heard late after a restart); and the oldest rows
 * beyond ALD_PLANNER_ROWS_MAX.
 */
GPtrArray *ald_planner_obsolete(AldStore *store, uint64_t now, uint64_t expiry_usec);

/* Returns whether the sink still has the address, or both still have the ports, as far as is known. The
 * record must be that of a link. */
bool ald_planner_path_exists(const AldNode *source, const AldNode *sink, const AldRecord *record);
