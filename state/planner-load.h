/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/planner.h"

/*
 * What probes have lately put onto each interface of this node, told by their results, which outlive a
 * restart. The time of a result is that of the monotonic clock where it came since the start, so that a clock
 * that jumps makes no room.
 */
typedef struct AldLoad {
        uint64_t rate;  /* the greatest measured, bits per second; 0: none */
        uint64_t bytes; /* of the probes of the last TTL */
        uint64_t last_bytes;
        uint64_t last_age; /* UINT64_MAX: none */
} AldLoad;

typedef struct AldLoads AldLoads;

AldLoads *ald_loads_new(AldStore *store, const AldNetwork *own, const AldPlannerInput *input);
void ald_loads_free(AldLoads *loads);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLoads, ald_loads_free)

/* Of this interface, and of all that go through the same; NULL: those of which the interface is not known. */
const AldLoad *ald_loads_find(AldLoads *loads, const AldInterface *interface);

/* What a probe is likely to send and receive: by its last result, else by the speed of both ends, else by
 * what the interface has done (`load` may be NULL). */
uint64_t ald_probe_bytes(
        const AldLinkSocket *row, const AldInterface *source, const AldInterface *sink, const AldLoad *load);

/* The same of RDMA: by the last result, else by the rate of the slower port. */
uint64_t ald_rdma_probe_bytes(const AldLinkRdma *row, uint64_t rate);

/* What may be sent and received over the interface in an hour, where nothing else was said. Where its speed
 * is not known (or it is NULL), what it has done tells. */
uint64_t ald_load_bytes_per_hour(const AldLoad *load, const AldInterface *interface);

/* Whether so much more fits. What is more than fits ever, such as one probe of a very fast link, waits until
 * the one before is paid off. */
bool ald_load_has_room(const AldLoad *load, uint64_t bytes, uint64_t bytes_per_hour);
