/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/tables/list-page.h"
#include "clients/desktop/tables/table-column.h"

typedef struct AldDataTableKind {
        const char *label;            /* for screen readers; to be translated */
        const AldDataColumn *columns; /* it is first sorted by the first */
        unsigned n_columns;
        /* If all clients show the list: its columns, of which `columns` are the looks, by their index; one
         * without a look is hidden until the user asks for it. */
        const AldColumnList *list;
        const void *(*row)(gpointer item, AldLiveCluster *cluster);
        AldListPageKind page; /* without words, which are those of the columns */
        /* Shows the details of an item. */
        void (*activate)(GtkWidget *table, gpointer item);
        /* Adds sections to the menu of a row. */
        void (*fill_menu)(GMenu *menu, gpointer item, AldLiveCluster *cluster);
} AldDataTableKind;

/* A table of the items of a list, for many thousands of rows. It can be sorted, searched and copied. The kind
 * is not copied. */
GtkWidget *ald_data_table_new(AldLiveCluster *cluster, GListModel *items, const AldDataTableKind *kind);
