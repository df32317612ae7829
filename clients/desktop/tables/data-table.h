/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

#include "clients/desktop/tables/list-page.h"
#include "clients/desktop/tables/table-column.h"

typedef struct AldDataTableKind {
        const char *label; /* for screen readers; to be translated */
        const AldDataColumn *columns;
        unsigned n_columns;
        unsigned sorted_by; /* the column by which it is first sorted */
        /* Columns of a list that all clients show, or NULL. `columns` are then their looks, by index; a
         * column without a look is hidden until the user asks for it. */
        const AldColumnList *list;
        const void *(*row)(gpointer item, AldLiveCluster *cluster);
        /* Returns the item of which this one is a part, or the item itself. Parts stay below it, however the
         * table is sorted. NULL: there are no parts. */
        gpointer (*whole)(gpointer item);
        /* Called before the table is shown and after it was hidden, if its items are not always followed;
         * else NULL. */
        void (*want)(AldLiveCluster *cluster, bool wanted);
        AldListPageKind page; /* its words() is ignored: the searched columns are used */
        /* Shows the details of an item. */
        void (*activate)(GtkWidget *table, gpointer item);
        /* Adds sections to the menu of a row. */
        void (*fill_menu)(GMenu *menu, gpointer item, AldLiveCluster *cluster);
} AldDataTableKind;

/* Creates a table of the items of a list, for many thousands of rows. It can be sorted, searched and copied.
 * The kind is not copied. */
GtkWidget *ald_data_table_new(AldLiveCluster *cluster, GListModel *items, const AldDataTableKind *kind);
