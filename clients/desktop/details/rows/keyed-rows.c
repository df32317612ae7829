/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>

#include "clients/desktop/details/rows/keyed-rows.h"

typedef struct KeyedRow {
        char *key;
        GtkWidget *widget;
        guint pass; /* the last pass that named it */
} KeyedRow;

struct AldKeyedRows {
        GtkWidget *container;
        GPtrArray *shown;   /* KeyedRow, in the order of the container */
        GPtrArray *named;   /* KeyedRow, in the order of this pass */
        GHashTable *by_key; /* key → KeyedRow, owned */
        guint pass;
};

static void row_free(gpointer data)
{
        KeyedRow *row = data;

        g_free(row->key);
        g_object_unref(row->widget);
        g_free(row);
}

AldKeyedRows *ald_keyed_rows_new(GtkWidget *container)
{
        AldKeyedRows *rows = g_new0(AldKeyedRows, 1);

        rows->container = container;
        rows->shown = g_ptr_array_new();
        rows->named = g_ptr_array_new();
        rows->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, row_free);
        return rows;
}

void ald_keyed_rows_free(AldKeyedRows *rows)
{
        if (!rows)
                return;
        g_ptr_array_unref(rows->shown);
        g_ptr_array_unref(rows->named);
        g_hash_table_unref(rows->by_key);
        g_free(rows);
}

void ald_keyed_rows_begin(AldKeyedRows *rows)
{
        g_ptr_array_set_size(rows->named, 0);
        rows->pass++;
}

static void append_row(AldKeyedRows *rows, GtkWidget *widget)
{
        if (GTK_IS_LIST_BOX(rows->container))
                gtk_list_box_append(GTK_LIST_BOX(rows->container), widget);
        else
                adw_expander_row_add_row(ADW_EXPANDER_ROW(rows->container), widget);
}

static void detach_row(AldKeyedRows *rows, GtkWidget *widget)
{
        if (GTK_IS_LIST_BOX(rows->container))
                gtk_list_box_remove(GTK_LIST_BOX(rows->container), widget);
        else
                adw_expander_row_remove(ADW_EXPANDER_ROW(rows->container), widget);
}

/* Finds the row with this key, and makes the key unique within the pass: two things that other machines
 * report may have the same one. */
static KeyedRow *find_row(AldKeyedRows *rows, const char *key, char **ret_key)
{
        KeyedRow *row;

        *ret_key = g_strdup(key);
        while ((row = g_hash_table_lookup(rows->by_key, *ret_key)) && row->pass == rows->pass) {
                char *next = g_strconcat(*ret_key, "\n", NULL);

                g_free(*ret_key);
                *ret_key = next;
        }
        return row;
}

GtkWidget *ald_keyed_rows_next(AldKeyedRows *rows, const char *key, AldRowMaker make)
{
        g_autofree char *unique = NULL;
        KeyedRow *row = find_row(rows, key, &unique);

        if (!row) {
                row = g_new0(KeyedRow, 1);
                row->key = g_steal_pointer(&unique);
                row->widget = g_object_ref_sink(make());
                g_hash_table_insert(rows->by_key, row->key, row);
        }
        row->pass = rows->pass;
        g_ptr_array_add(rows->named, row);
        return row->widget;
}

static void remove_unnamed(AldKeyedRows *rows)
{
        guint kept = 0;

        for (guint i = 0; i < rows->shown->len; i++) {
                KeyedRow *row = rows->shown->pdata[i];

                if (row->pass == rows->pass) {
                        rows->shown->pdata[kept++] = row;
                        continue;
                }
                detach_row(rows, row->widget);
                g_hash_table_remove(rows->by_key, row->key);
        }
        g_ptr_array_set_size(rows->shown, (gint) kept);
}

static GtkWidget *find_focus(AldKeyedRows *rows)
{
        GtkRoot *root = gtk_widget_get_root(rows->container);
        GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;

        return focus && gtk_widget_is_ancestor(focus, rows->container) ? focus : NULL;
}

/* Appends again the rows from the first one that is new or has moved, because an AdwExpanderRow cannot insert
 * rows. */
static void place_rows(AldKeyedRows *rows)
{
        GtkWidget *focus = find_focus(rows);
        guint same = 0;

        while (same < rows->shown->len && rows->shown->pdata[same] == rows->named->pdata[same])
                same++;
        for (guint i = same; i < rows->shown->len; i++)
                detach_row(rows, ((KeyedRow *) rows->shown->pdata[i])->widget);
        for (guint i = same; i < rows->named->len; i++)
                append_row(rows, ((KeyedRow *) rows->named->pdata[i])->widget);
        if (focus && same < rows->shown->len && gtk_widget_is_ancestor(focus, rows->container))
                gtk_widget_grab_focus(focus);
}

/* Returns the index of the row that has the focus and is about to go; G_MAXUINT if there is none. */
static guint find_lost_focus(AldKeyedRows *rows)
{
        GtkWidget *focus = find_focus(rows);

        for (guint i = 0; focus && i < rows->shown->len; i++) {
                const KeyedRow *row = rows->shown->pdata[i];

                if (row->pass != rows->pass &&
                        (focus == row->widget || gtk_widget_is_ancestor(focus, row->widget)))
                        return i;
        }
        return G_MAXUINT;
}

void ald_keyed_rows_end(AldKeyedRows *rows)
{
        GPtrArray *named = rows->named;
        guint lost = find_lost_focus(rows);

        remove_unnamed(rows);
        place_rows(rows);
        rows->named = rows->shown;
        rows->shown = named;
        if (lost != G_MAXUINT && named->len > 0)
                gtk_widget_grab_focus(((KeyedRow *) named->pdata[MIN(lost, named->len - 1)])->widget);
}

GtkWidget *ald_keyed_rows_find(const AldKeyedRows *rows, const char *key)
{
        const KeyedRow *row = g_hash_table_lookup(rows->by_key, key);

        return row ? row->widget : NULL;
}

guint ald_keyed_rows_count(const AldKeyedRows *rows)
{
        return rows->shown->len;
}
