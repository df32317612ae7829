/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/signals-bus.h"
#include "services/state/state-manager.h"

/* GetTopology(), GetPairs(), and TopologyChanged, which is sent at most once a second. */
typedef struct AldTopologyBus AldTopologyBus;

AldTopologyBus *ald_topology_bus_new(AldStateManager *manager, AldSignals *signals);
void ald_topology_bus_free(AldTopologyBus *self);

/* Appends what GetTopology() returns for these two arguments or, with `of_pairs`, GetPairs(). */
int ald_topology_bus_append(AldTopologyBus *self, sd_bus_message *message, bool of_pairs, uint64_t since,
        uint64_t after, size_t *ret_bytes);

/* The segments at present, of AldSegmentRow; valid until control returns to the main loop. */
const GPtrArray *ald_topology_bus_segments(AldTopologyBus *self);
