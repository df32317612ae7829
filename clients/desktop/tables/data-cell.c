/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/desktop/tables/data-cell.h"
#include "clients/desktop/widgets/share-bar.h"
#include "clients/desktop/widgets/widget-words.h"
#include "record/figure-text.h"

#define SPACING 6
#define MARGIN 4 /* above and below */
#define BAR_WIDTH 48

static void cell_free(void *data)
{
        AldDataCell *cell = data;

        g_free(cell->symbol_name);
        g_free(cell);
}

static GQuark cell_quark(void)
{
        return g_quark_from_static_string("ald-data-cell");
}

AldDataCell *ald_data_cell_of(GtkListItem *list_item)
{
        return g_object_get_qdata(G_OBJECT(gtk_list_item_get_child(list_item)), cell_quark());
}

/* Returns whether the widget is too narrow for the text. */
static bool is_ellipsized(GtkWidget *widget, const char *text)
{
        g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(widget, text);
        int width;

        pango_layout_get_pixel_size(layout, &width, NULL);
        return width > gtk_widget_get_width(widget);
}

const char *ald_data_cell_tooltip(const AldDataCell *cell, GtkWidget *widget)
{
        const char *text = gtk_inscription_get_text(GTK_INSCRIPTION(cell->text));

        if (widget == cell->image)
                return cell->symbol_name;
        return widget == cell->text && text && is_ellipsized(widget, text) ? text : NULL;
}

static bool is_number(const AldDataColumn *column)
{
        return column->look == ALD_CELL_NUMBER || column->look == ALD_CELL_LEVEL;
}

static GtkWidget *text_new(const AldDataColumn *column)
{
        GtkWidget *text = g_object_new(GTK_TYPE_INSCRIPTION, "text-overflow",
                GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END, "min-chars", column->chars, "valign",
                GTK_ALIGN_CENTER, "margin-top", MARGIN, "margin-bottom", MARGIN, "hexpand", TRUE, NULL);

        if (is_number(column))
                gtk_widget_add_css_class(text, "numeric");
        return text;
}

static GtkWidget *bar_new(void)
{
        GtkWidget *bar = ald_share_bar_new();

        gtk_widget_set_size_request(bar, BAR_WIDTH, -1);
        gtk_widget_set_valign(bar, GTK_ALIGN_CENTER);
        return bar;
}

static GtkWidget *box_new(AldDataCell *cell)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, SPACING);

        if (cell->image)
                gtk_box_append(GTK_BOX(box), cell->image);
        gtk_box_append(GTK_BOX(box), cell->text);
        if (cell->bar)
                gtk_box_append(GTK_BOX(box), cell->bar);
        return box;
}

AldDataCell *ald_data_cell_new(const AldDataColumn *column, AldLiveCluster *cluster, GtkListItem *list_item)
{
        AldDataCell *cell = g_new0(AldDataCell, 1);
        GtkWidget *widget;

        cell->column = column;
        cell->cluster = cluster;
        cell->list_item = list_item;
        cell->text = text_new(column);
        if (column->look == ALD_CELL_SYMBOL)
                cell->image = gtk_image_new();
        if (column->look == ALD_CELL_LEVEL)
                cell->bar = bar_new();
        widget = cell->image || cell->bar ? box_new(cell) : cell->text;
        g_object_set_qdata_full(G_OBJECT(widget), cell_quark(), cell, cell_free);
        gtk_list_item_set_child(list_item, widget);
        return cell;
}

/* Finds the cell in a widget: a row contains its cells, and GTK's widget of a cell contains ours. */
static AldDataCell *find_cell_below(GtkWidget *widget)
{
        for (unsigned depth = 0; widget && depth < 3; depth++) {
                AldDataCell *cell = g_object_get_qdata(G_OBJECT(widget), cell_quark());

                if (cell)
                        return cell;
                widget = gtk_widget_get_first_child(widget);
        }
        return NULL;
}

AldDataCell *ald_data_cell_find(GtkWidget *widget)
{
        AldDataCell *cell = NULL;

        for (; !cell && widget && !GTK_IS_LIST_VIEW(widget) && !GTK_IS_COLUMN_VIEW(widget);
                widget = gtk_widget_get_parent(widget))
                cell = find_cell_below(widget);
        return cell;
}

/* In a right-to-left layout, Pango aligns a line of Latin letters at the opposite side. */
static bool is_alignment_mirrored(GtkWidget *widget, const char *text)
{
        g_autoptr(PangoLayout) layout = NULL;

        if (gtk_widget_get_direction(widget) != GTK_TEXT_DIR_RTL)
                return false;
        layout = gtk_widget_create_pango_layout(widget, text);
        return pango_layout_line_get_resolved_direction(pango_layout_get_line_readonly(layout, 0)) ==
               PANGO_DIRECTION_LTR;
}

static void set_text(AldDataCell *cell, const char *text)
{
        GtkInscription *inscription = GTK_INSCRIPTION(cell->text);

        if (g_strcmp0(gtk_inscription_get_text(inscription), text) == 0)
                return;
        gtk_inscription_set_text(inscription, text);
        gtk_inscription_set_xalign(
                inscription, is_number(cell->column) == is_alignment_mirrored(cell->text, text) ? 0 : 1);
}

static void set_strong(AldDataCell *cell, bool strong)
{
        g_autoptr(PangoAttrList) attributes = strong ? pango_attr_list_new() : NULL;

        if (cell->is_strong == strong)
                return;
        cell->is_strong = strong;
        if (strong)
                pango_attr_list_insert(attributes, pango_attr_weight_new(PANGO_WEIGHT_BOLD));
        gtk_inscription_set_attributes(GTK_INSCRIPTION(cell->text), attributes);
}

/* Replaces a style class. Only static strings are stored. */
static void set_class(GtkWidget *widget, const char **current, const char *wanted)
{
        if (g_strcmp0(*current, wanted) == 0)
                return;
        if (*current)
                gtk_widget_remove_css_class(widget, *current);
        if (wanted)
                gtk_widget_add_css_class(widget, wanted);
        *current = wanted;
}

static void refresh_symbol(AldDataCell *cell, const AldCellSymbol *symbol)
{
        if (g_strcmp0(cell->icon, symbol->icon) != 0) {
                cell->icon = symbol->icon;
                gtk_image_set_from_icon_name(GTK_IMAGE(cell->image), symbol->icon);
        }
        if (g_strcmp0(cell->symbol_name, symbol->name) != 0) {
                g_free(cell->symbol_name);
                cell->symbol_name = g_strdup(symbol->name);
                gtk_accessible_update_property(
                        GTK_ACCESSIBLE(cell->image), GTK_ACCESSIBLE_PROPERTY_LABEL, symbol->name ?: "", -1);
        }
        set_class(cell->image, &cell->image_class, ald_tone_class(symbol->tone));
}

static void refresh_bar(AldDataCell *cell)
{
        double level = ald_data_column_level(cell->column, cell->item, cell->cluster);

        gtk_widget_set_opacity(cell->bar, isnan(level) ? 0 : 1);
        ald_share_bar_set(cell->bar, level);
}

/* Labels the row by its first cell, since GTK supports labels of rows only from 4.12 on. */
static void refresh_row_label(AldDataCell *cell)
{
        g_autofree char *label = cell->column->row_label(cell->item, cell->cluster);
        GtkWidget *parent = gtk_widget_get_parent(gtk_list_item_get_child(cell->list_item));
        GtkWidget *row = parent ? gtk_widget_get_parent(parent) : NULL;

        if (row)
                ald_widget_describe(row, label, NULL);
}

void ald_data_cell_refresh(AldDataCell *cell)
{
        const AldDataColumn *column = cell->column;
        g_autofree char *text = ald_data_column_text(column, cell->item, cell->cluster);
        bool absent = strcmp(text, ALD_ABSENT_TEXT) == 0;

        set_text(cell, text);
        set_class(cell->text, &cell->text_class,
                absent ? "dim-label"
                       : ald_tone_class(ald_data_column_tone(column, cell->item, cell->cluster)));
        set_strong(cell, ald_data_column_is_strong(column, cell->item, cell->cluster));
        if (cell->image) {
                AldCellSymbol symbol = column->symbol(cell->item, cell->cluster);

                refresh_symbol(cell, &symbol);
        }
        if (cell->bar)
                refresh_bar(cell);
        if (column->row_label)
                refresh_row_label(cell);
}
