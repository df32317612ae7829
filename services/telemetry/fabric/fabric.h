/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/*
 * Collects the connections of this host to others besides its network interfaces: RDMA ports, Thunderbolt and
 * USB4. Scans on udev events, and when interfaces change, since GIDs are derived from their addresses.
 */
typedef struct AldFabricCollector AldFabricCollector;

/*
 * `changed` is called from the main loop when something has changed. The root must stay open as long as the
 * collector lives.
 */
AldFabricCollector *ald_fabric_collector_new(int root, void (*changed)(void *userdata), void *userdata);
void ald_fabric_collector_free(AldFabricCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldFabricCollector, ald_fabric_collector_free)

/* Scans again once the kernel has updated the GIDs. Call it when network interfaces have changed. */
void ald_fabric_collector_rescan_soon(AldFabricCollector *collector);

/* Returns whether this kernel shows any of these devices, or has shown one. */
bool ald_fabric_collector_any(const AldFabricCollector *collector);

/* Fills in the state at the last scan. Rows and strings are valid until control returns to the main loop. */
void ald_fabric_collector_fill(const AldFabricCollector *collector, AldFabric *ret);
