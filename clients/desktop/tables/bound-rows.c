/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/tables/bound-rows.h"

struct AldBoundRows {
        GHashTable *by_item; /* item → BoundRow */
        bool seen, missed;
};

typedef struct BoundRow {
        AldBoundRows *rows;
        GObject *item;
        GPtrArray *cells; /* AldDataCell */
        gulong changed_id;
} BoundRow;

static void bound_row_free(void *data)
{
        BoundRow *row = data;

        g_signal_handler_disconnect(row->item, row->changed_id);
        g_object_unref(row->item);
        g_ptr_array_unref(row->cells);
        g_free(row);
}

AldBoundRows *ald_bound_rows_new(void)
{
        AldBoundRows *rows = g_new0(AldBoundRows, 1);

        rows->by_item = g_hash_table_new_full(NULL, NULL, NULL, bound_row_free);
        return rows;
}

void ald_bound_rows_free(AldBoundRows *rows)
{
        if (!rows)
                return;
        g_hash_table_unref(rows->by_item);
        g_free(rows);
}

static void refresh_row(const BoundRow *row, bool only_ages)
{
        for (guint i = 0; i < row->cells->len; i++) {
                AldDataCell *cell = row->cells->pdata[i];

                if (!only_ages || cell->column->ages)
                        ald_data_cell_refresh(cell);
        }
}

static void on_item_changed(GObject *item, BoundRow *row)
{
        if (row->rows->seen)
                refresh_row(row, false);
        else
                row->rows->missed = true;
}

static BoundRow *row_new(AldBoundRows *rows, GObject *item)
{
        BoundRow *row = g_new0(BoundRow, 1);

        row->rows = rows;
        row->item = g_object_ref(item);
        row->cells = g_ptr_array_new();
        row->changed_id = g_signal_connect(item, "changed", G_CALLBACK(on_item_changed), row);
        g_hash_table_insert(rows->by_item, item, row);
        return row;
}

void ald_bound_rows_add(AldBoundRows *rows, AldDataCell *cell)
{
        gpointer item = gtk_list_item_get_item(cell->list_item);
        BoundRow *row = g_hash_table_lookup(rows->by_item, item) ?: row_new(rows, item);

        cell->item = item;
        g_ptr_array_add(row->cells, cell);
        ald_data_cell_refresh(cell);
}

void ald_bound_rows_remove(AldBoundRows *rows, AldDataCell *cell)
{
        BoundRow *row = g_hash_table_lookup(rows->by_item, cell->item);

        if (!row)
                return;
        g_ptr_array_remove_fast(row->cells, cell);
        cell->item = NULL;
        if (row->cells->len == 0)
                g_hash_table_remove(rows->by_item, row->item);
}

static void refresh_rows(AldBoundRows *rows, bool only_ages)
{
        const BoundRow *row;
        GHashTableIter iter;

        g_hash_table_iter_init(&iter, rows->by_item);
        while (g_hash_table_iter_next(&iter, NULL, (void **) &row))
                refresh_row(row, only_ages);
}

void ald_bound_rows_set_visible(AldBoundRows *rows, bool seen)
{
        rows->seen = seen;
        if (!seen || !rows->missed)
                return;
        rows->missed = false;
        refresh_rows(rows, false);
}

void ald_bound_rows_tick(AldBoundRows *rows)
{
        if (rows->seen)
                refresh_rows(rows, true);
        else
                rows->missed = true;
}
