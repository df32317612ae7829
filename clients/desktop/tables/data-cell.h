/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/tables/table-column.h"

/* A cell of a table: what a GtkListItem of a column shows. It lasts as long as its widget. */
typedef struct AldDataCell {
        const AldDataColumn *column;
        AldLiveCluster *cluster;
        GtkListItem *list_item;
        gpointer item; /* NULL while it shows none */
        GtkWidget *text, *image, *bar;
        /* As they were last set. */
        const char *icon, *text_class, *image_class;
        char *symbol_name;
        bool is_strong;
} AldDataCell;

/* Makes the widget of a list item. The cluster must outlive it. */
AldDataCell *ald_data_cell_new(const AldDataColumn *column, AldLiveCluster *cluster, GtkListItem *list_item);

/* The cell of a list item. */
AldDataCell *ald_data_cell_of(GtkListItem *list_item);

/* The cell that a widget within a row or cell of a view belongs to; of a row, its first. Else NULL. */
AldDataCell *ald_data_cell_find(GtkWidget *widget);

/* What explains a widget of the cell: the name of its symbol, or its text if that is cut; else NULL. */
const char *ald_data_cell_tooltip(const AldDataCell *cell, GtkWidget *widget);

/* Changes only what differs from what it shows. */
void ald_data_cell_refresh(AldDataCell *cell);
