/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/*
 * What joins this host to others besides its network interfaces: RDMA ports, Thunderbolt and USB4. By udev's
 * events, and where the interfaces change, since GIDs are made of their addresses.
 */
typedef struct AldFabricCollector AldFabricCollector;

/*
 * `changed` is called from the main loop when something about it changed. The root must stay open as long as
 * the collector lives.
 */
AldFabricCollector *ald_fabric_collector_new(int root, void (*changed)(void *userdata), void *userdata);
void ald_fabric_collector_free(AldFabricCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldFabricCollector, ald_fabric_collector_free)

/* Network interfaces changed: a look is due when the kernel has drawn its conclusions. */
void ald_fabric_collector_look_soon(AldFabricCollector *collector);

/* Whether this kernel shows, or did show, any of it. */
bool ald_fabric_collector_any(const AldFabricCollector *collector);

/* The state at the last look. Rows and strings are good until the main loop runs on. */
void ald_fabric_collector_fill(const AldFabricCollector *collector, AldFabric *ret);
