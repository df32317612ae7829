/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/live/live-cluster.h"

/*
 * The best rate from each node to each other as a colour, for more nodes than a picture has room for. Nodes
 * that are joined stand together. The cursor is moved by the pointer or by arrow keys, and says what is below
 * it in words; the table of links has the same figures.
 */
#define ALD_TYPE_MATRIX_VIEW (ald_matrix_view_get_type())
G_DECLARE_FINAL_TYPE(AldMatrixView, ald_matrix_view, ALD, MATRIX_VIEW, GtkBox)

GtkWidget *ald_matrix_view_new(AldLiveCluster *cluster);

/* While it is not used, it does nothing. */
void ald_matrix_view_set_used(AldMatrixView *view, bool used);

/* Moves the cursor to a pair; NULL for none. */
void ald_matrix_view_select(AldMatrixView *view, const char *a, const char *b);
