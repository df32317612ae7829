/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/signals.h"
#include "services/state/state-manager.h"
#include "state/topology/graph.h"

/* Maintains the connection graph, and sends TopologyChanged at most once a second. */
typedef struct AldTopologyWatch AldTopologyWatch;

AldTopologyWatch *ald_topology_watch_new(AldStateManager *manager, AldSignals *signals);
void ald_topology_watch_free(AldTopologyWatch *watch);

/* Returns the graph, which is first computed again if it is outdated and the share of time allows it. */
AldGraph *ald_topology_watch_graph(AldTopologyWatch *watch);
/* Returns the revision of the graph that the function above has returned. */
uint64_t ald_topology_watch_revision(const AldTopologyWatch *watch);
