/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/actions/hold-off.h"
#include "clients/desktop/actions/host-bus.h"
#include "clients/desktop/live/live-cluster.h"

/*
 * The actions of a window: probe-link (ss: node id; "socket", "rtt" or "rdma"), probe-device (s: id, "" for
 * all), set-name, forget (s: node id), silence and unsilence (ss: node ids, the second is empty for a node),
 * hold-off (boolean state), connect, and tell (s: a text that a toast has no room for). They use a connection
 * of their own to the machine that the window shows. Results and errors go to the window's action say (s),
 * and the choice of another machine to the application's connect-to (s).
 */
typedef struct AldActions AldActions;

/* Adds the actions to the window, which must belong to an application. */
AldActions *ald_actions_new(GtkApplicationWindow *window, AldLiveCluster *cluster);

/* Call this before the window is finalized. */
void ald_actions_free(AldActions *actions);

/* Returns the bar for the bottom of the window; it is invisible while nothing is measured. */
GtkWidget *ald_actions_job_bar(AldActions *actions);

AldHoldOff *ald_actions_hold_off(AldActions *actions);

/* Returns the connection of the actions, which is freed with them. */
AldHostBus *ald_actions_bus(AldActions *actions);
