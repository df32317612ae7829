/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

/*
 * A connection to the bus of one machine for what its user wants to do there: opened when it is needed, and
 * closed when it has not been used for a while. Nothing waits: everything happens in the main context that is
 * the thread's default.
 */
typedef struct AldHostBus AldHostBus;

/* Host is [USER@]HOST[:PORT], or NULL for this machine. */
AldHostBus *ald_host_bus_new(const char *host);

/* Uses that have not ended are lost. */
void ald_host_bus_free(AldHostBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHostBus, ald_host_bus_free)

/* The connection is open as long as somebody uses it. */
typedef struct AldHostUse AldHostUse;

/* The connection could not be established, or has ended. Its error is in words for people. */
typedef void (*AldHostLost)(const sd_bus_error *error, void *userdata);

/* Lost is called from the main loop, at most once. NULL if the connection cannot be opened, with an error in
 * words. */
AldHostUse *ald_host_bus_use(AldHostBus *bus, AldHostLost lost, void *userdata, sd_bus_error *error);

/* The caller need not wait until the connection is established. */
sd_bus *ald_host_use_bus(AldHostUse *use);

void ald_host_use_end(AldHostUse *use);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldHostUse, ald_host_use_end)
