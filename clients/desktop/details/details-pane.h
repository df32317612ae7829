/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/* Shows everything that is known about a node, or about the paths between two nodes. It is updated while it
 * is mapped. */
#define ALD_TYPE_DETAILS_PANE (ald_details_pane_get_type())
G_DECLARE_FINAL_TYPE(AldDetailsPane, ald_details_pane, ALD, DETAILS_PANE, GtkBox)

GtkWidget *ald_details_pane_new(AldLiveCluster *cluster);

/* The nodes may be unknown, from the start or later. */
void ald_details_pane_show_node(AldDetailsPane *pane, const char *id);
void ald_details_pane_show_pair(AldDetailsPane *pane, const char *a, const char *b);
/* Opens the row of a device of the node that is shown, and scrolls there. */
void ald_details_pane_open_device(AldDetailsPane *pane, const char *id);

void ald_details_pane_clear(AldDetailsPane *pane);

/* Returns whether the pane shows this node, or a pair that includes it. */
bool ald_details_pane_is_about(AldDetailsPane *pane, const char *id);

/* Gives the focus to the first widget that takes it. */
void ald_details_pane_grab_focus(AldDetailsPane *pane);
