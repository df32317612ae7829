/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/signals.h"
#include "services/state/state-manager.h"
#include "state/topology/graph.h"

/* The connection graph, and TopologyChanged, which is sent at most once a second. */
typedef struct AldTopologyWatch AldTopologyWatch;

AldTopologyWatch *ald_topology_watch_new(AldStateManager *manager, AldSignals *signals);
void ald_topology_watch_free(AldTopologyWatch *watch);

/* The graph, which is computed anew first if it has changed and the share of time allows it. */
AldGraph *ald_topology_watch_graph(AldTopologyWatch *watch);
/* The revision of the graph that the function above has returned. */
uint64_t ald_topology_watch_revision(const AldTopologyWatch *watch);
