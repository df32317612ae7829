/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/desktop/live/device-item.h"

/* The devices of all nodes as a list, in the order of the nodes, each followed by its parts. It is as long as
 * it was last filled, so that devices which nobody looks at cost nothing. */
typedef struct AldClusterDevices AldClusterDevices;

/* The model must outlive the list. */
AldClusterDevices *ald_cluster_devices_new(AldModel *model);
void ald_cluster_devices_free(AldClusterDevices *list);

/* Lists the devices of these AldNodeItems. */
void ald_cluster_devices_fill(AldClusterDevices *list, GListModel *nodes);

/* Updates the devices of a node whose records have changed. Returns false if it has other devices now, for
 * which the list must be filled again. */
bool ald_cluster_devices_update(AldClusterDevices *list, AldNodeItem *node);

/* Returns the AldDeviceItems. */
GListModel *ald_cluster_devices_model(AldClusterDevices *list);
