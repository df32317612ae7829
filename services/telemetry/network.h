/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "record/schema.h"

/*
 * The network interfaces of the host, by events alone: rtnetlink and sysfs tell what they are, NetworkManager
 * adds what it knows. Runs on the default main context.
 */
typedef struct AldNetworkCollector AldNetworkCollector;

/*
 * `changed` is called from the main loop once the interfaces are known, and then when something about them
 * changed, at most 20 times a second. The root must stay open as long as the collector lives.
 */
AldNetworkCollector *ald_network_collector_new(int root, void (*changed)(void *userdata), void *userdata);
void ald_network_collector_free(AldNetworkCollector *collector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldNetworkCollector, ald_network_collector_free)

/* There is a NetworkManager, or may be: from now on what it knows is followed. */
void ald_network_collector_use_nm(AldNetworkCollector *collector);

/* The state now. Rows and strings are good until the main loop runs on, or this is called again. */
void ald_network_collector_fill(AldNetworkCollector *collector, AldNetwork *ret);
