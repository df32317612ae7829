/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/tables/table-column.h"

/* What the columns of a view show, which is not copied. */
void ald_view_column_describe(GtkColumnViewColumn *column, const AldDataColumn *described);
const AldDataColumn *ald_view_column_described(GtkColumnViewColumn *column);

/* A new reference, or NULL. */
GtkColumnViewColumn *ald_view_columns_find(GtkColumnView *view, const char *id);

/* Aligns the titles as the cells are, and gives them their tooltips. To be called before the user can move a
 * column. */
void ald_view_columns_describe_titles(GtkColumnView *view, const AldDataColumn *columns, unsigned n_columns);

/* The selected rows as text that a spreadsheet takes as a table: what is shown of them, with titles if there
 * are several. Returns their number; the text is to be freed. */
guint ald_view_columns_copy(GtkColumnView *view, AldLiveCluster *cluster, char **ret);

/* The same of one row, selected or not. */
char *ald_view_columns_copy_item(GtkColumnView *view, AldLiveCluster *cluster, gpointer item);
