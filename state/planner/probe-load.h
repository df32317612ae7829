/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner/planner.h"

/* A rate over an interface that another node reports, in bits per second; 0: none. */
typedef struct AldLoadClaim {
        const AldNode *by;
        uint64_t rate;
} AldLoadClaim;

/*
 * The load of probes on the interfaces of this node and of its peers, according to the link records, which
 * survive a restart. It includes the measurements by a node and those by others to it.
 */
typedef struct AldLoad {
        uint64_t rate;          /* the greatest that this node measured, bits per second; 0: none */
        AldLoadClaim claims[2]; /* the greatest of two other nodes, the greater first */
        uint64_t speed;         /* negotiated, bits per second; absent if unknown */
        uint64_t bytes;         /* of the full measurements of the last hour */
        uint64_t last_bytes;
        uint64_t last_age;     /* since the last full measurement; UINT64_MAX: none */
        uint64_t change_bytes; /* of the first measurements after changes, less for older ones */
        uint64_t deadline; /* when the first path that may be loaded now has to be repeated: CLOCK_REALTIME in
                              µs; UINT64_MAX: none */
        /* Bytes of one full measurement, and of one spot check, of every path through it. */
        uint64_t paths_bytes, spots_bytes;
} AldLoad;

/* The limits of what probes may send over an interface. */
typedef struct AldShare {
        double bytes_per_hour, whole_bytes_per_hour; /* INFINITY: no limit */
        double change_bytes;     /* likewise, in addition, for measurements after changes; 0: none, since the
                                    limit is configured */
        uint64_t spot_interval;  /* µs between spot checks of one path */
        uint64_t least_interval; /* likewise for full measurements */
} AldShare;

/* Returns whether the node permits more than round trips over this interface, which may be NULL. */
bool ald_probe_may_load(const AldNode *node, const AldInterface *interface);

/* Returns the same for a path without any rate, whose measurement waits for programs that use the processors
 * for a limited time only. */
bool ald_probe_may_load_first(const AldNode *node, const AldInterface *interface, uint64_t now_realtime);

typedef struct AldLoads AldLoads;

/* `deferred` is the set of the keys of paths of this node that their peers have deferred. It and the input
 * must outlive the loads. */
AldLoads *ald_loads_new(
        AldStore *store, const GPtrArray *peers, const AldPlannerInput *input, GHashTable *deferred);
void ald_loads_free(AldLoads *loads);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLoads, ald_loads_free)

/* Returns the load of an interface of the node with all that share its carrier. The interface is NULL for
 * paths whose interface is unknown. */
AldLoad *ald_loads_find(AldLoads *loads, const AldNode *node, const AldInterface *interface);

/* Adds a rate over the interface, which may be absent. */
void ald_load_add_rate(AldLoad *load, const AldNode *by, uint64_t rate);

/* Returns ald_probe_bytes() for the speed of both ends and the load of the interface, each of which may be
 * NULL. */
uint64_t ald_path_probe_bytes(
        const AldLinkSocket *row, const AldInterface *source, const AldInterface *sink, const AldLoad *load);

/*
 * Returns the capacity of the interface in bits per second: at most the negotiated speed, and at most the
 * best measured rate through it. If the speed is unknown, rates that a single other node reports do not count
 * unless there is no other rate. Absent if unknown.
 */
uint64_t ald_load_capacity(const AldLoad *load, const AldInterface *interface);

/* Computes the share for a node with this limit per hour and this interval, each 0 if not configured;
 * `carrier` may be NULL. */
AldShare ald_load_share(
        const AldLoad *load, const AldInterface *carrier, uint64_t bytes_per_hour, uint64_t interval);

/* Returns the sum, at most UINT64_MAX. */
uint64_t ald_load_sum(uint64_t bytes, uint64_t more);

/* Returns whether the last measurement, averaged over its age, is within this rate. */
bool ald_load_is_within(uint64_t bytes, uint64_t age, double bytes_per_hour);
