/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/cluster-manager.h"

#define ALD_CLUSTER_PATH "/org/alidade/Cluster1"

/* The object and interface org.alidade.Cluster1 on the bus. */
typedef struct AldClusterBus AldClusterBus;

int ald_cluster_bus_new(AldService *service, AldClusterManager *manager, AldClusterBus **ret);
void ald_cluster_bus_free(AldClusterBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldClusterBus, ald_cluster_bus_free)
