/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/*
 * The cluster service, as the owner of org.alidade.Cluster1: nobody else may put records of other nodes, and
 * while it is there the changes of this node's own records are sent as RecordsChanged.
 */
typedef struct AldClusterPeer AldClusterPeer;

int ald_cluster_peer_new(AldService *service, AldStateManager *manager, AldClusterPeer **ret);
void ald_cluster_peer_free(AldClusterPeer *cluster);

/* Whether the message comes from it. */
bool ald_cluster_peer_is_sender(AldClusterPeer *cluster, sd_bus_message *message);
