/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner.h"

/*
 * What probes put onto the interfaces of this node and of those it measures links with, as far as the records
 * of links say, which outlive a restart: those that a node measured, and those of others that lead to it.
 */
typedef struct AldLoad {
        uint64_t rate;  /* the greatest measured, bits per second; 0: none */
        uint64_t bytes; /* of the whole measurements of the last hour */
        uint64_t last_bytes;
        uint64_t last_age; /* of the last whole measurement; UINT64_MAX: none */
        uint64_t deadline; /* CLOCK_REALTIME in µs of the first path to be repeated that may be loaded now;
                              UINT64_MAX: none */
        /* What one whole measurement and one spot check of every path through it take together. */
        uint64_t paths_bytes, spots_bytes;
} AldLoad;

/* What may be sent over an interface. */
typedef struct AldShare {
        double bytes_per_hour, whole_bytes_per_hour; /* INFINITY: no limit */
        uint64_t spot_interval;                      /* µs between spot checks of one path */
        uint64_t least_interval;                     /* the same of whole measurements */
} AldShare;

/* Whether the node lets probes do more over this interface, which may be NULL, than round trips. */
bool ald_probe_may_load(const AldNode *node, const AldInterface *interface);

typedef struct AldLoads AldLoads;

AldLoads *ald_loads_new(AldStore *store, const GPtrArray *peers, const AldPlannerInput *input);
void ald_loads_free(AldLoads *loads);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLoads, ald_loads_free)

/* Of an interface of the node, and of all that go through the same; NULL: of which it is not known. */
AldLoad *ald_loads_find(AldLoads *loads, const AldNode *node, const AldInterface *interface);

/* Sent and received in a whole measurement: by its last result, else by the speed of both ends and what the
 * interface has done (`load` may be NULL). */
uint64_t ald_probe_bytes(
        const AldLinkSocket *row, const AldInterface *source, const AldInterface *sink, const AldLoad *load);

/* The same of RDMA: by the last result, else by the rate of the slower port. */
uint64_t ald_rdma_probe_bytes(const AldLinkRdma *row, uint64_t rate);

/* Bytes of a spot check of a path whose whole measurement takes that many. */
uint64_t ald_spot_bytes(uint64_t probe_bytes);

/* What the interface carries, in bits per second: no more than was negotiated, and no more than the best path
 * through it did. Absent where nothing is known. */
uint64_t ald_load_capacity(const AldLoad *load, const AldInterface *interface);

/* For a node with this limit per hour and this interval, each 0 if not configured; `carrier` may be NULL. */
AldShare ald_load_share(
        const AldLoad *load, const AldInterface *carrier, uint64_t bytes_per_hour, uint64_t interval);

/* Whether what was measured last is paid off, at this rate. */
bool ald_load_is_paid(uint64_t bytes, uint64_t age, double bytes_per_hour);
