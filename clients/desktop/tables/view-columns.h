/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/tables/table-column.h"

/* Associate a column of a view with its description, which is not copied. */
void ald_view_column_set_description(GtkColumnViewColumn *column, const AldDataColumn *described);
const AldDataColumn *ald_view_column_description(GtkColumnViewColumn *column);

/* Returns a new reference, or NULL. */
GtkColumnViewColumn *ald_view_columns_find(GtkColumnView *view, const char *id);

/* Aligns the titles like the cells, and sets their tooltips. Call this before the user can move a column. */
void ald_view_columns_describe_titles(GtkColumnView *view, const AldDataColumn *columns, unsigned n_columns);

/* Copies the visible columns of the selected rows as text that a spreadsheet reads as a table, with titles if
 * there are several rows. Returns the number of rows; the text is to be freed. */
guint ald_view_columns_copy(GtkColumnView *view, AldLiveCluster *cluster, char **ret);

/* Copies one row in the same way, selected or not; to be freed. */
char *ald_view_columns_copy_item(GtkColumnView *view, AldLiveCluster *cluster, gpointer item);
