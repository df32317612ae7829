/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

/*
 * A connection to the bus of one machine for actions of the user: opened when it is needed, and closed after
 * it has not been used for a while. Nothing blocks: everything runs in the thread-default main context.
 */
typedef struct AldHostBus AldHostBus;

/* Host is [USER@]HOST[:PORT], or NULL for this machine. */
AldHostBus *ald_host_bus_new(const char *host);

/* The uses that have not ended lose the connection. */
void ald_host_bus_free(AldHostBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHostBus, ald_host_bus_free)

/* One use of the connection, which is open as long as it has any. */
typedef struct AldHostUse AldHostUse;

/* Called when the connection could not be established, or has ended. The error is worded for people. */
typedef void (*AldHostLost)(const sd_bus_error *error, void *userdata);

/* Begins a use, and opens the connection if necessary. `lost` is called from the main loop, at most once.
 * Returns NULL, with an error worded for people, if the connection cannot be opened. */
AldHostUse *ald_host_bus_use(AldHostBus *bus, AldHostLost lost, void *userdata, sd_bus_error *error);

/* Returns the connection, on which calls can be sent before it is established. */
sd_bus *ald_host_use_bus(AldHostUse *use);

void ald_host_use_end(AldHostUse *use);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHostUse, ald_host_use_end)
