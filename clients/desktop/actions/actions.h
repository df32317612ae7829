/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/actions/hold-off.h"
#include "clients/desktop/actions/host-bus.h"
#include "clients/desktop/live/live-cluster.h"

/*
 * What the user can do in a window, as its actions: probe-link (ss: node id; "socket", "rtt" or "rdma"),
 * probe-device (s: id, "" for all), set-name, forget (s: node id), silence and unsilence (ss: node ids, the
 * second is empty for a node), hold-off (boolean state), connect, and
 * tell (s: a text that a toast has no room for). They use a connection of their own to the machine that the
 * window shows. Results and errors go to its action say (s), and the choice of another machine to connect-to
 * (s) of the application.
 */
typedef struct AldActions AldActions;

/* The window has an application. */
AldActions *ald_actions_new(GtkApplicationWindow *window, AldLiveCluster *cluster);

/* Before the window is finalized. */
void ald_actions_free(AldActions *actions);

/* To be placed at the bottom of the window; invisible while nothing is measured. */
GtkWidget *ald_actions_job_bar(AldActions *actions);

AldHoldOff *ald_actions_hold_off(AldActions *actions);

/* The connection that they use, which goes with them. */
AldHostBus *ald_actions_bus(AldActions *actions);
