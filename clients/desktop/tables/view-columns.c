/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "clients/desktop/tables/view-columns.h"

static GQuark column_quark(void)
{
        return g_quark_from_static_string("ald-data-column");
}

void ald_view_column_set_description(GtkColumnViewColumn *column, const AldDataColumn *described)
{
        g_object_set_qdata(G_OBJECT(column), column_quark(), (gpointer) described);
}

const AldDataColumn *ald_view_column_description(GtkColumnViewColumn *column)
{
        return g_object_get_qdata(G_OBJECT(column), column_quark());
}

GtkColumnViewColumn *ald_view_columns_find(GtkColumnView *view, const char *id)
{
        GListModel *columns = gtk_column_view_get_columns(view);

        for (guint i = 0; i < g_list_model_get_n_items(columns); i++) {
                g_autoptr(GtkColumnViewColumn) column = g_list_model_get_item(columns, i);

                if (strcmp(ald_view_column_description(column)->id, id) == 0)
                        return g_steal_pointer(&column);
        }
        return NULL;
}

/* Aligns the title of a column of numbers at its end, after the arrow that shows the order. */
static void align_title(GtkWidget *title)
{
        GtkWidget *content = gtk_widget_get_first_child(title);

        if (!GTK_IS_BOX(content))
                return;
        gtk_widget_set_halign(content, GTK_ALIGN_END);
        gtk_box_reorder_child_after(GTK_BOX(content), gtk_widget_get_last_child(content), NULL);
}

/* GTK has no function for titles, so their widgets are found in the header. */
void ald_view_columns_describe_titles(GtkColumnView *view, const AldDataColumn *columns, unsigned n_columns)
{
        GtkWidget *header = gtk_widget_get_first_child(GTK_WIDGET(view));
        GtkWidget *title = header ? gtk_widget_get_first_child(header) : NULL;

        for (unsigned i = 0; title && i < n_columns; i++) {
                AldCellLook look = columns[i].look;

                if (look == ALD_CELL_NUMBER || look == ALD_CELL_LEVEL)
                        align_title(title);
                if (columns[i].tooltip)
                        gtk_widget_set_tooltip_text(title, _(columns[i].tooltip));
                title = gtk_widget_get_next_sibling(title);
        }
}

static void append_titles(GString *out, GListModel *columns)
{
        gsize begin = out->len;

        for (guint i = 0; i < g_list_model_get_n_items(columns); i++) {
                g_autoptr(GtkColumnViewColumn) column = g_list_model_get_item(columns, i);

                if (gtk_column_view_column_get_visible(column))
                        g_string_append_printf(out, "%s%s", out->len == begin ? "" : "\t",
                                ald_data_column_long_title(ald_view_column_description(column)));
        }
        g_string_append_c(out, '\n');
}

static void append_row(GString *out, GListModel *columns, gpointer item, AldLiveCluster *cluster)
{
        gsize begin = out->len;

        for (guint i = 0; i < g_list_model_get_n_items(columns); i++) {
                g_autoptr(GtkColumnViewColumn) column = g_list_model_get_item(columns, i);
                g_autofree char *text = NULL;

                if (!gtk_column_view_column_get_visible(column))
                        continue;
                text = ald_data_column_text(ald_view_column_description(column), item, cluster);
                g_string_append_printf(out, "%s%s", out->len == begin ? "" : "\t", text);
        }
}

char *ald_view_columns_copy_item(GtkColumnView *view, AldLiveCluster *cluster, gpointer item)
{
        GString *out = g_string_new(NULL);

        append_row(out, gtk_column_view_get_columns(view), item, cluster);
        return g_string_free(out, FALSE);
}

guint ald_view_columns_copy(GtkColumnView *view, AldLiveCluster *cluster, char **ret)
{
        GtkSelectionModel *rows = gtk_column_view_get_model(view);
        g_autoptr(GtkBitset) selected = gtk_selection_model_get_selection(rows);
        GListModel *columns = gtk_column_view_get_columns(view);
        guint n = (guint) gtk_bitset_get_size(selected);
        GString *out = g_string_new(NULL);

        if (n > 1)
                append_titles(out, columns);
        for (guint i = 0; i < n; i++) {
                g_autoptr(GObject)
                        item = g_list_model_get_item(G_LIST_MODEL(rows), gtk_bitset_get_nth(selected, i));

                append_row(out, columns, item, cluster);
                if (n > 1)
                        g_string_append_c(out, '\n');
        }
        *ret = g_string_free(out, FALSE);
        return n;
}
