/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/tables/table-column.h"

/* A cell of a table: the content of a GtkListItem of a column. It lasts as long as its widget. */
typedef struct AldDataCell {
        const AldDataColumn *column;
        AldLiveCluster *cluster;
        GtkListItem *list_item;
        gpointer item; /* NULL while it shows none */
        GtkWidget *text, *image, *bar;
        /* Last values set. */
        const char *icon, *text_class, *image_class;
        char *symbol_name;
        bool is_strong;
} AldDataCell;

/* Creates the widget of a list item. The cluster must outlive it. */
AldDataCell *ald_data_cell_new(const AldDataColumn *column, AldLiveCluster *cluster, GtkListItem *list_item);

/* Returns the cell of a list item. */
AldDataCell *ald_data_cell_of(GtkListItem *list_item);

/* Returns the cell to which a widget within a view belongs; for a row its first cell; else NULL. */
AldDataCell *ald_data_cell_find(GtkWidget *widget);

/* Returns what explains a widget of the cell: the name of its symbol, or its text if that is cut; else NULL.
 */
const char *ald_data_cell_tooltip(const AldDataCell *cell, GtkWidget *widget);

/* Updates the cell from its item. Changes only what differs. */
void ald_data_cell_refresh(AldDataCell *cell);
