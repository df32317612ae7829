/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "record/schema.h"

/*
 * The network interfaces of the host, updated by events only, from rtnetlink, sysfs and NetworkManager. Runs
 * on the default main context.
 */
typedef struct AldNetworkCollector AldNetworkCollector;

/*
 * `changed` is called from the main loop once the interfaces are known, and then when something about them
 * changed, at most 20 times a second. The root must stay open as long as the collector lives.
 */
AldNetworkCollector *ald_network_collector_new(int root, void (*changed)(void *userdata), void *userdata);
void ald_network_collector_free(AldNetworkCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNetworkCollector, ald_network_collector_free)

/* Uses the data of NetworkManager from now on. Call it when NetworkManager is on the bus, or may be. */
void ald_network_collector_use_nm(AldNetworkCollector *collector);

/* Fills in the present state. Rows and strings are valid until control returns to the main loop, or this is
 * called again. */
void ald_network_collector_fill(AldNetworkCollector *collector, AldNetwork *ret);
