/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/*
 * Shows the best rate from each node to each other as a colour, for more nodes than the canvas has room for.
 * Nodes that are joined stand together. The pointer or the arrow keys move a cursor, whose cell is described
 * in words; the table of links has the same figures.
 */
#define ALD_TYPE_MATRIX_VIEW (ald_matrix_view_get_type())
G_DECLARE_FINAL_TYPE(AldMatrixView, ald_matrix_view, ALD, MATRIX_VIEW, GtkBox)

GtkWidget *ald_matrix_view_new(AldLiveCluster *cluster);

/* An unused matrix has no cells and does no work. */
void ald_matrix_view_set_used(AldMatrixView *view, bool used);

/* Moves the cursor to a pair. Does nothing if an id is NULL or unknown. */
void ald_matrix_view_select(AldMatrixView *view, const char *a, const char *b);
