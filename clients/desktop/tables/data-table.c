/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#include "clients/desktop/tables/bound-rows.h"
#include "clients/desktop/tables/column-sorter.h"
#include "clients/desktop/tables/data-table.h"
#include "clients/desktop/tables/table-menus.h"
#include "clients/desktop/tables/view-columns.h"
#include "clients/desktop/widgets/widget-words.h"
#include "record/figure-text.h"

#define FACTORY_COLUMN "ald-column" /* the AldDataColumn of a factory */
#define HIDDEN_CHARS 12             /* width of a column without a given look */
#define FIRST_ROWS 50u              /* about as many as are seen */
#define MADE_ROWS 200u              /* as many as GTK makes widgets for */

#define ALD_TYPE_DATA_TABLE (ald_data_table_get_type())
G_DECLARE_FINAL_TYPE(AldDataTable, ald_data_table, ALD, DATA_TABLE, AdwBin)

struct _AldDataTable {
        AdwBin parent;
        const AldDataTableKind *kind;
        AldDataColumn *columns;
        AldListPageKind page_kind;
        AldLiveCluster *cluster;
        AldListPage *page;
        GtkColumnView *view;
        GtkSelectionModel *selection; /* NULL before the table is first shown */
        GtkSliceListModel *listed;    /* the rows that the view has so far */
        guint listing_frames;
        AldBoundRows *rows;
        GPtrArray *sorters;         /* an AldColumnSorter for each column */
        AldColumnSorter *sorted_by; /* one of them, or NULL */
        bool was_at_top;            /* it was scrolled to the top before the last sorting */
        guint scroll_tick;
        double first_at;        /* right to left: scroll position at which the first column was last shown */
        guint missed;           /* AldLivePart: parts that have changed while the table could not be seen */
        GListModel *items;      /* all items, unfiltered; owned by the cluster */
        GPtrArray *empty;       /* GtkColumnViewColumn: hidden until one of the items has a value in it */
        GtkWidget *menu;        /* menu of a row */
        GtkWidget *before_menu; /* widget that had the focus, or NULL */
        GMenuModel *sort_menu, *column_menu;
};

G_DEFINE_FINAL_TYPE(AldDataTable, ald_data_table, ADW_TYPE_BIN)

/* Search and sorting. */

static char *words_of(gpointer item, gpointer userdata)
{
        AldDataTable *table = userdata;
        GString *words = g_string_new(NULL);

        for (unsigned i = 0; i < table->kind->n_columns; i++) {
                const AldDataColumn *column = &table->columns[i];
                g_autofree char *text = column->searched ? ald_data_column_text(column, item, table->cluster)
                                                         : NULL;

                if (text)
                        g_string_append_printf(words, "%s\n", text);
        }
        return g_string_free(words, FALSE);
}

/* Runs before the list is sorted in another way. */
static void on_sorter_changed(GtkSorter *sorter, GtkSorterChange change, AldDataTable *table)
{
        table->sorted_by = ald_column_sorter_find(sorter);
        table->was_at_top = gtk_adjustment_get_value(
                                    gtk_scrollable_get_vadjustment(GTK_SCROLLABLE(table->view))) <= 0;
}

/* Runs after the list was sorted. GTK would scroll to keep showing the row that was at the top, but people
 * watch the first rows. */
static void on_sorted(GtkSorter *sorter, GtkSorterChange change, AldDataTable *table)
{
        GtkWidget *list = gtk_widget_get_last_child(GTK_WIDGET(table->view));

        if (table->was_at_top && g_list_model_get_n_items(G_LIST_MODEL(table->selection)) > 0)
                gtk_widget_activate_action(list, "list.scroll-to-item", "u", 0);
}

static void on_items_changed(
        GListModel *items, guint position, guint removed, guint added, AldDataTable *table)
{
        for (guint i = 0; removed > 0 && i < table->sorters->len; i++)
                ald_column_sorter_forget(table->sorters->pdata[i]);
}

/* Columns without any value, which would only take room from others. */

static bool has_value(AldDataTable *table, const AldDataColumn *column)
{
        for (guint i = 0; i < g_list_model_get_n_items(table->items); i++) {
                g_autoptr(GObject) item = g_list_model_get_item(table->items, i);
                g_autofree char *text = ald_data_column_text(column, item, table->cluster);

                if (strcmp(text, ALD_ABSENT_TEXT) != 0)
                        return true;
        }
        return false;
}

/* Shows the hidden columns that have a value now. A column that was shown once stays, so that titles do not
 * jump. */
static void show_filled_columns(AldDataTable *table, guint parts)
{
        for (guint i = table->empty->len; i > 0; i--) {
                GtkColumnViewColumn *column = table->empty->pdata[i - 1];
                const AldDataColumn *described = ald_view_column_description(column);

                if (described->parts & parts && has_value(table, described))
                        gtk_column_view_column_set_visible(column, TRUE);
        }
}

/* The column was shown here or by the user, who may also hide it from now on. */
static void on_column_shown(GtkColumnViewColumn *column, GParamSpec *property, AldDataTable *table)
{
        g_ptr_array_remove(table->empty, column);
}

/* Hides columns without a value, except for the first one, which names the row. */
static void hide_empty_columns(AldDataTable *table)
{
        GListModel *columns = gtk_column_view_get_columns(table->view);

        for (guint i = 1; i < g_list_model_get_n_items(columns); i++) {
                g_autoptr(GtkColumnViewColumn) column = g_list_model_get_item(columns, i);

                if (ald_view_column_description(column)->hidden)
                        continue;
                gtk_column_view_column_set_visible(column, FALSE);
                g_ptr_array_add(table->empty, g_object_ref(column));
                g_signal_connect_object(column, "notify::visible", G_CALLBACK(on_column_shown), table, 0);
        }
        show_filled_columns(table, G_MAXUINT);
}

static void apply_changes(AldDataTable *table, guint parts)
{
        guint searched = 0;

        show_filled_columns(table, parts);
        for (guint i = 0; i < table->sorters->len; i++) {
                const AldDataColumn *column = &table->columns[i];

                if (column->searched)
                        searched |= column->parts;
                if (column->parts & parts)
                        ald_column_sorter_expire(table->sorters->pdata[i]);
        }
        if (table->sorted_by && ald_column_sorter_column(table->sorted_by)->parts & parts)
                gtk_sorter_changed(GTK_SORTER(table->sorted_by), GTK_SORTER_CHANGE_DIFFERENT);
        if (searched & parts)
                ald_list_page_search_again(table->page);
}

static void on_updated(AldLiveCluster *cluster, guint parts, AldDataTable *table)
{
        if (gtk_widget_get_mapped(GTK_WIDGET(table)))
                apply_changes(table, parts);
        else
                table->missed |= parts;
}

static void on_tick(AldLiveCluster *cluster, AldDataTable *table)
{
        ald_bound_rows_tick(table->rows);
}

/* Cells. */

static void on_setup(GtkListItemFactory *factory, GtkListItem *list_item, AldDataTable *table)
{
        ald_data_cell_new(g_object_get_data(G_OBJECT(factory), FACTORY_COLUMN), table->cluster, list_item);
}

static void on_bind(GtkListItemFactory *factory, GtkListItem *list_item, AldDataTable *table)
{
        ald_bound_rows_add(table->rows, ald_data_cell_of(list_item));
}

static void on_unbind(GtkListItemFactory *factory, GtkListItem *list_item, AldDataTable *table)
{
        ald_bound_rows_remove(table->rows, ald_data_cell_of(list_item));
}

/* Sorting by keyboard, since the titles of columns cannot have the focus. */

/* Sorts by the given column. Reverses the direction if the table is already sorted by it. */
static void sort_by_column(GtkWidget *widget, const char *action, GVariant *parameter)
{
        AldDataTable *table = ALD_DATA_TABLE(widget);
        g_autoptr(GtkColumnViewColumn)
                column = ald_view_columns_find(table->view, g_variant_get_string(parameter, NULL));
        bool again = column && table->sorted_by &&
                     ald_column_sorter_column(table->sorted_by) == ald_view_column_description(column);
        bool descending = again && !ald_column_sorter_is_descending(table->sorted_by);

        if (!column)
                return;
        /* Without this, GTK 4.8 would keep the arrow of the former column. */
        gtk_column_view_sort_by_column(table->view, NULL, GTK_SORT_ASCENDING);
        gtk_column_view_sort_by_column(
                table->view, column, descending ? GTK_SORT_DESCENDING : GTK_SORT_ASCENDING);
}

/* Returns the cell that has the focus, or the first one of the row that has it; NULL if there is none. */
static const AldDataCell *find_focused(AldDataTable *table)
{
        GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(table->view));
        GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;
        const AldDataCell *cell = focus && gtk_widget_is_ancestor(focus, GTK_WIDGET(table->view))
                                          ? ald_data_cell_find(focus)
                                          : NULL;

        return cell && cell->item ? cell : NULL;
}

static void copy_selected(GtkWidget *widget, const char *action, GVariant *parameter)
{
        AldDataTable *table = ALD_DATA_TABLE(widget);
        g_autofree char *text = NULL, *message = NULL;
        const AldDataCell *focused = find_focused(table);
        guint n = 1;

        /* Tab moves the focus without selecting anything. */
        if (focused && !gtk_list_item_get_selected(focused->list_item))
                text = ald_view_columns_copy_item(table->view, table->cluster, focused->item);
        else
                n = ald_view_columns_copy(table->view, table->cluster, &text);
        if (n == 0)
                return;
        gdk_clipboard_set_text(gtk_widget_get_clipboard(widget), text);
        message = g_strdup_printf(ngettext("Row copied", "%u rows copied", n), n);
        gtk_widget_activate_action(widget, "win.say", "s", message);
}

static gboolean on_query_tooltip(
        GtkWidget *view, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer userdata)
{
        GtkWidget *at = keyboard ? NULL : gtk_widget_pick(view, x, y, GTK_PICK_DEFAULT);
        const AldDataCell *cell = at ? ald_data_cell_find(at) : NULL;
        const char *text = cell && cell->item ? ald_data_cell_tooltip(cell, at) : NULL;

        return text && ald_tooltip_explain(tooltip, view, at, text);
}

/* The menu of a row. */

static GMenuModel *row_menu_new(AldDataTable *table, gpointer item)
{
        GMenu *menu = g_menu_new();
        g_autoptr(GMenu) copy = g_menu_new(), view = g_menu_new();

        table->kind->fill_menu(menu, item, table->cluster);
        ald_menu_add(copy, _("Copy"), "table.copy", NULL);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(copy));
        g_menu_append_submenu(view, _("Sort By"), table->sort_menu);
        g_menu_append_submenu(view, _("Columns"), table->column_menu);
        g_menu_append_section(menu, NULL, G_MENU_MODEL(view));
        return G_MENU_MODEL(menu);
}

/* Returns the row of a cell, which gets the focus when the menu is closed. */
static GtkWidget *find_row(AldDataTable *table, const AldDataCell *cell)
{
        GtkWidget *row = cell->text;

        while (row && row != GTK_WIDGET(table->view) && !gtk_widget_get_focusable(row))
                row = gtk_widget_get_parent(row);
        return row;
}

/* Moves the focus back to the table: GTK 4.8 leaves it in the closed submenu, where no key reaches it. */
static void on_menu_closed(AldDataTable *table)
{
        if (table->before_menu && gtk_widget_get_mapped(table->before_menu))
                gtk_widget_grab_focus(table->before_menu);
        else if (ald_widget_has_focus_within(table->menu))
                gtk_widget_grab_focus(gtk_widget_get_last_child(GTK_WIDGET(table->view)));
        g_clear_weak_pointer(&table->before_menu);
}

static void pop_up_menu(AldDataTable *table, const AldDataCell *cell, const GdkRectangle *where)
{
        guint position = gtk_list_item_get_position(cell->list_item);
        g_autoptr(GMenuModel) menu = row_menu_new(table, cell->item);

        if (!gtk_selection_model_is_selected(table->selection, position))
                gtk_selection_model_select_item(table->selection, position, TRUE);
        g_set_weak_pointer(&table->before_menu, find_row(table, cell));
        gtk_popover_menu_set_menu_model(GTK_POPOVER_MENU(table->menu), menu);
        gtk_popover_set_pointing_to(GTK_POPOVER(table->menu), where);
        gtk_popover_popup(GTK_POPOVER(table->menu));
}

static bool pop_up_menu_at(AldDataTable *table, double x, double y)
{
        const AldDataCell *cell = ald_data_cell_find(
                gtk_widget_pick(GTK_WIDGET(table->view), x, y, GTK_PICK_DEFAULT));
        graphene_point_t there;

        if (!cell || !cell->item ||
                !gtk_widget_compute_point(GTK_WIDGET(table->view), GTK_WIDGET(table),
                        &GRAPHENE_POINT_INIT((float) x, (float) y), &there))
                return false;
        pop_up_menu(table, cell, &(GdkRectangle){ (int) there.x, (int) there.y, 1, 1 });
        return true;
}

static void on_secondary_pressed(
        GtkGestureClick *gesture, int n_press, double x, double y, AldDataTable *table)
{
        if (pop_up_menu_at(table, x, y))
                gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_CLAIMED);
}

static void on_long_pressed(GtkGestureLongPress *gesture, double x, double y, AldDataTable *table)
{
        if (pop_up_menu_at(table, x, y))
                gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_CLAIMED);
}

/* Opens the menu at the start of the row that has the focus. */
static gboolean on_menu_key(GtkWidget *widget, GVariant *arguments, gpointer userdata)
{
        AldDataTable *table = userdata;
        const AldDataCell *cell = find_focused(table);
        graphene_rect_t bounds;

        if (!cell || !gtk_widget_compute_bounds(cell->text, GTK_WIDGET(table), &bounds))
                return FALSE;
        pop_up_menu(table, cell,
                &(GdkRectangle){ (int) bounds.origin.x, (int) bounds.origin.y,
                        (int) MIN(bounds.size.width, 24), (int) bounds.size.height });
        return TRUE;
}

static void add_gesture(AldDataTable *table, GtkGesture *gesture)
{
        gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(gesture), GTK_PHASE_CAPTURE);
        gtk_widget_add_controller(GTK_WIDGET(table->view), GTK_EVENT_CONTROLLER(gesture));
}

static void add_row_menu(AldDataTable *table)
{
        GtkGesture *click = gtk_gesture_click_new(), *press = gtk_gesture_long_press_new();
        GtkEventController *keys = gtk_shortcut_controller_new();

        table->menu = gtk_popover_menu_new_from_model(NULL);
        gtk_popover_set_has_arrow(GTK_POPOVER(table->menu), FALSE);
        gtk_widget_set_halign(table->menu, GTK_ALIGN_START);
        g_signal_connect_swapped(table->menu, "closed", G_CALLBACK(on_menu_closed), table);
        gtk_widget_set_parent(table->menu, GTK_WIDGET(table));

        gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(click), GDK_BUTTON_SECONDARY);
        g_signal_connect(click, "pressed", G_CALLBACK(on_secondary_pressed), table);
        add_gesture(table, click);
        gtk_gesture_single_set_touch_only(GTK_GESTURE_SINGLE(press), TRUE);
        g_signal_connect(press, "pressed", G_CALLBACK(on_long_pressed), table);
        add_gesture(table, press);

        gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys),
                gtk_shortcut_new(gtk_alternative_trigger_new(gtk_keyval_trigger_new(GDK_KEY_Menu, 0),
                                         gtk_keyval_trigger_new(GDK_KEY_F10, GDK_SHIFT_MASK)),
                        gtk_callback_action_new(on_menu_key, table, NULL)));
        gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys),
                gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_c, GDK_CONTROL_MASK),
                        gtk_named_action_new("table.copy")));
        gtk_widget_add_controller(GTK_WIDGET(table->view), keys);
}

/* Columns. */

/* Completes the looks with the columns that they are for. */
static AldDataColumn *columns_new(const AldDataTableKind *kind)
{
        AldDataColumn *columns = g_memdup2(kind->columns, kind->n_columns * sizeof(AldDataColumn));

        for (unsigned i = 0; kind->list && i < kind->n_columns; i++) {
                AldDataColumn *column = &columns[i];

                column->column = &kind->list->columns[i];
                column->row = kind->row;
                column->whole = kind->whole;
                column->id = column->column->id;
                column->title = column->column->title;
                column->long_title = column->column->long_title;
                column->tooltip = column->column->description;
                if (column->chars > 0)
                        continue;
                column->hidden = true;
                column->chars = HIDDEN_CHARS;
                column->look = column->column->is_number ? ALD_CELL_NUMBER : ALD_CELL_TEXT;
                column->parts = G_MAXUINT;
        }
        return columns;
}

static GtkListItemFactory *factory_new(AldDataTable *table, const AldDataColumn *column)
{
        GtkListItemFactory *factory = gtk_signal_list_item_factory_new();

        g_object_set_data(G_OBJECT(factory), FACTORY_COLUMN, (gpointer) column);
        g_signal_connect(factory, "setup", G_CALLBACK(on_setup), table);
        g_signal_connect(factory, "bind", G_CALLBACK(on_bind), table);
        g_signal_connect(factory, "unbind", G_CALLBACK(on_unbind), table);
        return factory;
}

static GtkColumnViewColumn *column_new(AldDataTable *table, const AldDataColumn *described)
{
        GtkColumnViewColumn *column = gtk_column_view_column_new(
                _(described->title), factory_new(table, described));
        AldColumnSorter *sorter = ald_column_sorter_new(described, table->cluster);

        ald_view_column_set_description(column, described);
        gtk_column_view_column_set_resizable(column, TRUE);
        gtk_column_view_column_set_expand(column, described->expands);
        gtk_column_view_column_set_visible(column, !described->hidden);
        gtk_column_view_column_set_sorter(column, GTK_SORTER(sorter));
        g_ptr_array_add(table->sorters, sorter);
        return column;
}

static void add_columns(AldDataTable *table)
{
        g_autoptr(GSimpleActionGroup) shown = g_simple_action_group_new();

        for (unsigned i = 0; i < table->kind->n_columns; i++) {
                const AldDataColumn *described = &table->columns[i];
                g_autoptr(GtkColumnViewColumn) column = column_new(table, described);
                g_autoptr(GPropertyAction) action = g_property_action_new(described->id, column, "visible");

                gtk_column_view_column_set_header_menu(column, table->column_menu);
                g_action_map_add_action(G_ACTION_MAP(shown), G_ACTION(action));
                gtk_column_view_append_column(table->view, column);
        }
        gtk_widget_insert_action_group(GTK_WIDGET(table), "column", G_ACTION_GROUP(shown));
}

static void sort_at_first(AldDataTable *table)
{
        g_autoptr(GtkColumnViewColumn) column = g_list_model_get_item(
                gtk_column_view_get_columns(table->view), table->kind->sorted_by);

        gtk_column_view_sort_by_column(table->view, column, GTK_SORT_ASCENDING);
}

/* The table. */

static void toggle_search(GtkWidget *widget, const char *action, GVariant *parameter)
{
        ald_list_page_toggle_search(ALD_DATA_TABLE(widget)->page);
}

static double max_scroll_value(GtkAdjustment *adjustment)
{
        return MAX(gtk_adjustment_get_upper(adjustment) - gtk_adjustment_get_page_size(adjustment), 0);
}

static gboolean scroll_to_first_column(GtkWidget *widget, GdkFrameClock *clock, void *userdata)
{
        AldDataTable *table = ALD_DATA_TABLE(widget);
        GtkAdjustment *adjustment = gtk_scrollable_get_hadjustment(GTK_SCROLLABLE(table->view));

        table->scroll_tick = 0;
        table->first_at = max_scroll_value(adjustment);
        gtk_adjustment_set_value(adjustment, table->first_at);
        return G_SOURCE_REMOVE;
}

/* Scrolls to the first column in a right-to-left layout, where GTK shows the last columns first. Columns may
 * be added later, until the user has scrolled away from the first one. The signal comes during a layout, when
 * a new value would not be drawn, so this waits for the next frame. */
static void show_first_column(GtkAdjustment *adjustment, AldDataTable *table)
{
        double at = MIN(table->first_at, max_scroll_value(adjustment));

        if (gtk_widget_get_direction(GTK_WIDGET(table)) == GTK_TEXT_DIR_RTL && !table->scroll_tick &&
                gtk_adjustment_get_value(adjustment) >= at)
                table->scroll_tick = gtk_widget_add_tick_callback(
                        GTK_WIDGET(table), scroll_to_first_column, NULL, NULL);
}

static void on_activate(GtkColumnView *view, guint position, AldDataTable *table)
{
        g_autoptr(GObject) item = g_list_model_get_item(G_LIST_MODEL(table->selection), position);

        if (item)
                table->kind->activate(GTK_WIDGET(table), item);
}

/* Lists more rows in each frame after the first one. GTK makes widgets for far more rows than are seen, which
 * takes longer than all else. */
static gboolean list_more_rows(GtkWidget *widget, GdkFrameClock *clock, void *userdata)
{
        AldDataTable *table = ALD_DATA_TABLE(widget);
        guint size = gtk_slice_list_model_get_size(table->listed) * 2;

        if (table->listing_frames++ == 0)
                return G_SOURCE_CONTINUE;
        gtk_slice_list_model_set_size(table->listed, size < MADE_ROWS ? size : G_MAXUINT);
        return size < MADE_ROWS;
}

/* Gives the view its rows, which only a shown table has. on_sorter_changed() must be called before the sorted
 * list is sorted, and on_sorted() after it, so the order of connecting matters. */
static void attach_model(AldDataTable *table)
{
        GtkSorter *sorter = gtk_column_view_get_sorter(table->view);
        GtkSortListModel *sorted = gtk_sort_list_model_new(
                g_object_ref(ald_list_page_items(table->page)), g_object_ref(sorter));

        table->listed = gtk_slice_list_model_new(G_LIST_MODEL(sorted), 0, FIRST_ROWS);
        table->selection = GTK_SELECTION_MODEL(
                gtk_multi_selection_new(g_object_ref(G_LIST_MODEL(table->listed))));
        gtk_widget_add_tick_callback(GTK_WIDGET(table), list_more_rows, NULL, NULL);
        gtk_column_view_set_model(table->view, table->selection);
        g_signal_connect_object(sorter, "changed", G_CALLBACK(on_sorted), table, 0);
}

static void ald_data_table_map(GtkWidget *widget)
{
        AldDataTable *table = ALD_DATA_TABLE(widget);

        if (table->kind->want)
                table->kind->want(table->cluster, true);
        /* Columns that have a value now come before the first rows. */
        apply_changes(table, table->missed);
        table->missed = 0;
        if (!table->selection)
                attach_model(table);
        GTK_WIDGET_CLASS(ald_data_table_parent_class)->map(widget);
        ald_bound_rows_set_visible(table->rows, true);
}

static void ald_data_table_unmap(GtkWidget *widget)
{
        AldDataTable *table = ALD_DATA_TABLE(widget);

        ald_bound_rows_set_visible(table->rows, false);
        GTK_WIDGET_CLASS(ald_data_table_parent_class)->unmap(widget);
        if (table->kind->want)
                table->kind->want(table->cluster, false);
}

static void ald_data_table_dispose(GObject *object)
{
        AldDataTable *table = ALD_DATA_TABLE(object);

        if (table->menu)
                g_signal_handlers_disconnect_by_data(table->menu, table);
        g_clear_weak_pointer(&table->before_menu);
        g_clear_pointer(&table->menu, gtk_widget_unparent);
        /* The sorter emits "changed" once more as its columns go. */
        if (table->cluster)
                g_signal_handlers_disconnect_by_data(gtk_column_view_get_sorter(table->view), table);
        adw_bin_set_child(ADW_BIN(table), NULL);
        table->sorted_by = NULL;
        g_clear_object(&table->selection);
        g_clear_object(&table->listed);
        g_clear_object(&table->sort_menu);
        g_clear_object(&table->column_menu);
        g_clear_object(&table->cluster);
        G_OBJECT_CLASS(ald_data_table_parent_class)->dispose(object);
}

static void ald_data_table_finalize(GObject *object)
{
        AldDataTable *table = ALD_DATA_TABLE(object);

        ald_bound_rows_free(table->rows);
        g_free(table->columns);
        g_ptr_array_unref(table->sorters);
        g_ptr_array_unref(table->empty);
        G_OBJECT_CLASS(ald_data_table_parent_class)->finalize(object);
}

static void ald_data_table_class_init(AldDataTableClass *class)
{
        GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

        G_OBJECT_CLASS(class)->dispose = ald_data_table_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_data_table_finalize;
        widget_class->map = ald_data_table_map;
        widget_class->unmap = ald_data_table_unmap;
        gtk_widget_class_install_action(widget_class, "table.copy", NULL, copy_selected);
        gtk_widget_class_install_action(widget_class, "table.sort", "s", sort_by_column);
        gtk_widget_class_install_action(widget_class, ALD_LIST_SEARCH_ACTION, NULL, toggle_search);
}

static void ald_data_table_init(AldDataTable *table)
{
        table->rows = ald_bound_rows_new();
        table->sorters = g_ptr_array_new_with_free_func(g_object_unref);
        table->empty = g_ptr_array_new_with_free_func(g_object_unref);
        table->view = GTK_COLUMN_VIEW(gtk_column_view_new(NULL));
        gtk_widget_set_has_tooltip(GTK_WIDGET(table->view), TRUE);
        g_signal_connect(table->view, "query-tooltip", G_CALLBACK(on_query_tooltip), NULL);
}

GtkWidget *ald_data_table_new(AldLiveCluster *cluster, GListModel *items, const AldDataTableKind *kind)
{
        AldDataTable *table = g_object_new(ALD_TYPE_DATA_TABLE, NULL);

        table->kind = kind;
        table->columns = columns_new(kind);
        table->cluster = g_object_ref(cluster);
        table->page_kind = kind->page;
        table->page_kind.words = words_of;
        table->page = ald_list_page_new(cluster, items, &table->page_kind, table);
        table->sort_menu = ald_sort_menu_new(table->columns, kind->n_columns);
        table->column_menu = ald_column_menu_new(table->columns, kind->n_columns);
        add_columns(table);
        ald_view_columns_describe_titles(table->view, table->columns, kind->n_columns);
        g_signal_connect_object(
                gtk_column_view_get_sorter(table->view), "changed", G_CALLBACK(on_sorter_changed), table, 0);
        g_signal_connect_object(items, "items-changed", G_CALLBACK(on_items_changed), table, G_CONNECT_AFTER);
        table->items = items;
        hide_empty_columns(table);
        sort_at_first(table);
        add_row_menu(table);
        gtk_widget_add_css_class(GTK_WIDGET(table->view), "data-table");
        gtk_accessible_update_property(
                GTK_ACCESSIBLE(table->view), GTK_ACCESSIBLE_PROPERTY_LABEL, _(kind->label), -1);
        g_signal_connect(table->view, "activate", G_CALLBACK(on_activate), table);
        g_signal_connect_object(cluster, "updated", G_CALLBACK(on_updated), table, 0);
        g_signal_connect_object(cluster, "tick", G_CALLBACK(on_tick), table, 0);
        ald_list_page_set_list(table->page, GTK_WIDGET(table->view));
        g_signal_connect_object(gtk_scrollable_get_hadjustment(GTK_SCROLLABLE(table->view)), "changed",
                G_CALLBACK(show_first_column), table, 0);
        adw_bin_set_child(ADW_BIN(table), GTK_WIDGET(table->page));
        ald_list_page_set_container(table->page, GTK_WIDGET(table));
        return GTK_WIDGET(table);
}
