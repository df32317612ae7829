/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/*
 * The cluster service, which is the owner of org.alidade.Cluster1. Only it may put records of other nodes,
 * and while it is running it receives the changes of this node's own records as RecordsChanged.
 */
typedef struct AldClusterPeer AldClusterPeer;

int ald_cluster_peer_new(AldService *service, AldStateManager *manager, AldClusterPeer **ret);
void ald_cluster_peer_free(AldClusterPeer *cluster);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldClusterPeer, ald_cluster_peer_free)

/* Returns whether the message comes from the cluster service. */
bool ald_cluster_peer_is_sender(AldClusterPeer *cluster, sd_bus_message *message);
