/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/* Shows all that is known about a node, or about what is between two nodes. It is kept up to date while it is
 * mapped. */
#define ALD_TYPE_DETAILS_PANE (ald_details_pane_get_type())
G_DECLARE_FINAL_TYPE(AldDetailsPane, ald_details_pane, ALD, DETAILS_PANE, GtkBox)

GtkWidget *ald_details_pane_new(AldLiveCluster *cluster);

/* The nodes need not be known, or no longer. */
void ald_details_pane_show_node(AldDetailsPane *pane, const char *id);
void ald_details_pane_show_pair(AldDetailsPane *pane, const char *a, const char *b);
void ald_details_pane_clear(AldDetailsPane *pane);

/* Whether it shows this node, or a pair with it. */
bool ald_details_pane_is_about(AldDetailsPane *pane, const char *id);

/* Gives the focus to the first of what it shows. */
void ald_details_pane_grab_focus(AldDetailsPane *pane);
