/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What widgets tell a screen reader. */
#include <adwaita.h>
#include <math.h>

#include "clients/desktop/live/live-cluster.h"
#include "clients/desktop/live/node-item.h"
#include "clients/desktop/tables/column-sorter.h"
#include "clients/desktop/tables/data-cell.h"
#include "clients/desktop/tables/nodes-page.h"
#include "clients/desktop/topology/matrix.h"
#include "clients/desktop/topology/memory-bar.h"
#include "clients/desktop/topology/node-card.h"
#include "clients/desktop/widgets/presence-symbol.h"
#include "clients/desktop/widgets/share-bar.h"
#include "clients/desktop/widgets/widget-words.h"
#include "tests/unit/clients/desktop/own-display.h"
#include "tests/unit/model-maker.h"

#define NOW G_GINT64_CONSTANT(1700000000000000)
#define SECOND G_TIME_SPAN_SECOND
#define MINUTE G_TIME_SPAN_MINUTE

/* A clock that the test moves. */
static gint64 now = NOW;
gint64 __wrap_g_get_real_time(void);
gint64 __wrap_g_get_real_time(void)
{
        return now;
}

#define FIGURES                                                                   \
        "'Node1.Memory':{'TotalBytes':68719476736,'AvailableBytes':17179869184}," \
        "'Node1.Backends':{'Devices':[{'Id':'0000:01:00.0','Class':'gpu'}]},"     \
        "'Node1.Compute':{'Devices':[{'Id':'0000:01:00.0','TflopsFp16':165.2,"    \
        "'MemoryBandwidthBytesPerSecond':940000000000}]}"

/* A node that was seen this long ago. */
static void put_node(AldModel *model, unsigned number, const char *name, const char *presence, gint64 ago)
{
        g_autofree char *records = g_strdup_printf(
                "{'Node1.Identity':{'FriendlyName':'%s','UpdatedUSec':%" G_GINT64_FORMAT "},"
                "'Node1.Presence':{'State':'%s','SinceUSec':%" G_GINT64_FORMAT "}," FIGURES "}",
                name, now - ago, presence, now - ago);

        model_put_node(model, number, records);
}

static GtkWidget *card_new(AldModel *model, const char *presence, gint64 ago)
{
        g_autofree char *id = model_id(1);
        g_autoptr(AldNodeItem) item = NULL;

        now = NOW;
        put_node(model, 1, "atlas", presence, ago);
        item = ald_node_item_new(model, id);
        return g_object_ref_sink(ald_node_card_new(item));
}

#define assert_name(widget, name) \
        gtk_test_accessible_assert_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name)
#define assert_role(widget, role) \
        gtk_test_accessible_assert_role(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_ROLE_##role)

/* Cards. */

static void test_card(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GtkWidget) card = card_new(model, "online", 0);

        assert_role(card, BUTTON);
        assert_name(card,
                "atlas, online, 16.0/64.0 GiB free, 165 TFLOPS · 940 GB/s, load and temperature unknown");
        assert_role(own_display_find(card, ALD_TYPE_MEMORY_BAR), METER);
}

static bool has_label(GtkWidget *widget, const char *text)
{
        if (GTK_IS_LABEL(widget) && g_str_equal(gtk_label_get_label(GTK_LABEL(widget)), text))
                return true;
        for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
                child = gtk_widget_get_next_sibling(child))
                if (has_label(child, text))
                        return true;
        return false;
}

/* The texts of a card are those of the columns of the list of nodes, above all the temperature. */
static void test_card_has_the_texts_of_the_table(void)
{
        static const struct {
                const char *gpu, *wanted;
        } cases[] = {
                { "'Usage':40.0,'TemperatureMilliCelsius':61000", "GPU 40 % · 61 °C" },
                { "'PowerState':'asleep'", "GPU asleep · 45 °C" },
                { "'TemperatureMilliCelsius':61000", "61 °C" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GtkWidget) card = card_new(model, "online", 0);
                AldNodeItem *item = ald_node_card_item(ALD_NODE_CARD(card));
                g_autofree char *heat = NULL;
                g_autofree char *system = g_strdup_printf("{'CpuUsage':7.0,'TemperatureMilliCelsius':45000,'"
                                                          "Devices':[{'Id':'0000:01:00.0',%s}]}",
                        cases[i].gpu);

                model_put(model, ald_node_item_id(item), "Node1.System", system);
                ald_node_item_refresh(item);
                g_assert_true(has_label(card, cases[i].wanted));
                heat = ald_list_column_text(
                        &ald_node_columns[ALD_NODE_COLUMN_TEMPERATURE], ald_node_item_row(item));
                g_assert_true(g_str_has_suffix(cases[i].wanted, heat));
        }
}

static void test_card_of_a_node_that_is_gone(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GtkWidget) card = card_new(model, "offline", 5 * MINUTE);

        assert_name(card, "atlas, offline for 5 min");
}

static void test_card_is_selected(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GtkWidget) card = card_new(model, "online", 0);

        for (int i = 0; i < 2; i++) {
                ald_node_card_set_selected(ALD_NODE_CARD(card), true);
                gtk_test_accessible_assert_state(GTK_ACCESSIBLE(card), GTK_ACCESSIBLE_STATE_SELECTED, TRUE);
                ald_node_card_set_selected(ALD_NODE_CARD(card), false);
                gtk_test_accessible_assert_state(GTK_ACCESSIBLE(card), GTK_ACCESSIBLE_STATE_SELECTED, FALSE);
        }
}

static void on_phase(GdkFrameClock *clock, bool *reached)
{
        *reached = true;
}

/* Whether a frame that begins now has anything to lay out or to draw. */
static bool draws(GtkWidget *window)
{
        GdkFrameClock *clock = gtk_widget_get_frame_clock(window);
        bool drawn = false, ended = false;

        g_signal_connect(clock, "layout", G_CALLBACK(on_phase), &drawn);
        g_signal_connect(clock, "paint", G_CALLBACK(on_phase), &drawn);
        g_signal_connect(clock, "after-paint", G_CALLBACK(on_phase), &ended);
        gdk_frame_clock_request_phase(clock, GDK_FRAME_CLOCK_PHASE_UPDATE);
        while (!ended)
                g_main_context_iteration(NULL, TRUE);
        g_signal_handlers_disconnect_by_func(clock, on_phase, &drawn);
        g_signal_handlers_disconnect_by_func(clock, on_phase, &ended);
        return drawn;
}

/* Handles what the display has to say of the window so far, such as its size and focus. */
static void handle_events(GtkWidget *window)
{
        gdk_display_sync(gtk_widget_get_display(window));
        while (g_main_context_iteration(NULL, FALSE))
                ;
}

/* On the screen, where nothing changes any more. */
static GtkWidget *show(GtkWidget *widget)
{
        GtkWidget *window = gtk_window_new();

        gtk_window_set_child(GTK_WINDOW(window), widget);
        gtk_window_present(GTK_WINDOW(window));
        do
                handle_events(window);
        while (!gtk_widget_get_mapped(widget) || draws(window));
        return window;
}

static bool tick_draws(GtkWidget *window, GtkWidget *card, gint64 later)
{
        now += later;
        ald_node_card_tick(ALD_NODE_CARD(card));
        return draws(window);
}

/* Whether a tick draws nothing. Something else may draw once, as long as the toolkit still has to do with
 * what is new to it, but not at each tick. */
static bool tick_is_still(GtkWidget *window, GtkWidget *card, gint64 later)
{
        for (unsigned i = 0; i < 5; i++)
                if (!tick_draws(window, card, later))
                        return true;
        return false;
}

static void test_card_follows_the_clock(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GtkWidget) card = card_new(model, "offline", 5 * MINUTE);
        GtkWidget *window = show(card);

        g_assert_true(tick_is_still(window, card, SECOND));
        assert_name(card, "atlas, offline for 5 min");
        g_assert_true(tick_draws(window, card, MINUTE));
        assert_name(card, "atlas, offline for 6 min");
        gtk_window_destroy(GTK_WINDOW(window));
}

/* A machine that is in no cluster has no presence, and its card shows no age. */
static void test_card_of_this_machine_follows_the_clock(void)
{
        g_autofree char *id = model_id(1);
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GtkWidget) card = card_new(model, "online", 40 * SECOND);
        g_autofree char *name = NULL;
        GtkWidget *window = NULL;
        gint64 before = now;

        ald_model_set_node_id(model, id);
        ald_model_remove(model, id, "Node1.Presence");
        ald_node_item_refresh(ald_node_card_item(ALD_NODE_CARD(card)));
        assert_name(card,
                "atlas, 40 s ago, 16.0/64.0 GiB free, 165 TFLOPS · 940 GB/s, load and temperature unknown");
        window = show(card);
        g_assert_true(tick_is_still(window, card, 3 * SECOND));
        name = g_strdup_printf(
                "atlas, %u s ago, 16.0/64.0 GiB free, 165 TFLOPS · 940 GB/s, load and temperature "
                "unknown",
                (unsigned) (40 + (now - before) / SECOND));
        assert_name(card, name);
        gtk_window_destroy(GTK_WINDOW(window));
}

/* The symbol of a presence. */
static void test_card_has_the_symbol_of_the_table(void)
{
        static const char *const presences[] = { "stale", "duplicate", "unknown", "offline" };

        for (size_t i = 0; i < G_N_ELEMENTS(presences); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autoptr(GtkWidget) card = card_new(model, presences[i], MINUTE);
                AldPresenceSymbol symbol = ald_presence_symbol(ald_node_card_item(ALD_NODE_CARD(card)));
                GtkWidget *name = own_display_find(card, GTK_TYPE_LABEL),
                          *image = gtk_widget_get_last_child(gtk_widget_get_parent(name));

                g_assert_cmpstr(gtk_image_get_icon_name(GTK_IMAGE(image)), ==, symbol.icon);
                g_assert_true(gtk_widget_has_css_class(image, ald_tone_class(symbol.tone)));
                g_assert_true(gtk_widget_get_visible(image));
        }
}

/* The bar. */

static void assert_used(GtkWidget *bar, double used)
{
        gtk_test_accessible_assert_property(GTK_ACCESSIBLE(bar), GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, used);
}

static void test_memory_bar(void)
{
        g_autoptr(GtkWidget) bar = g_object_ref_sink(ald_memory_bar_new());

        assert_role(bar, METER);
        assert_name(bar, "Memory in use");
        gtk_test_accessible_assert_property(GTK_ACCESSIBLE(bar), GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, 0.0);
        gtk_test_accessible_assert_property(GTK_ACCESSIBLE(bar), GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, 1.0);
        ald_memory_bar_set(ALD_MEMORY_BAR(bar), 0.75);
        assert_used(bar, 0.75);
        ald_memory_bar_set(ALD_MEMORY_BAR(bar), 1.5);
        assert_used(bar, 1);
        ald_memory_bar_set(ALD_MEMORY_BAR(bar), 0);
        assert_used(bar, 0);
}

/* A bar and a text warn where `alidadectl watch` does, and not before. */
static void test_share_bar(void)
{
        static const struct {
                double share;
                bool warns;
        } cases[] = { { 0.5, false }, { 0.896, false }, { 0.9, true }, { 1.5, true }, { NAN, false } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GtkWidget) bar = g_object_ref_sink(ald_share_bar_new());

                g_assert_cmpint(ald_share_tone(cases[i].share) == ALD_TONE_WARNING, ==, cases[i].warns);
                ald_share_bar_set(bar, cases[i].share);
                g_assert_cmpint(gtk_widget_has_css_class(bar, "nearly-full"), ==, cases[i].warns);
                ald_share_bar_set(bar, 0.1);
                g_assert_false(gtk_widget_has_css_class(bar, "nearly-full"));
        }
}

/* The matrix. */

static void add_pair(AldTopology *topology, uint64_t there, uint64_t back)
{
        static const char *const names[] = { "atlas", "borealis" };
        g_autofree char *one = model_id(1), *two = model_id(2);
        const char *const ids[] = { one, two };
        AldNodePairRow pair = ALD_NODE_PAIR_ROW_INIT;

        for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
                const AldGraphNodeRow row = { ids[i], "online", names[i], ALD_ABSENT_UINT64 };

                g_ptr_array_add(topology->nodes, ald_struct_dup(&ald_graph_node_row_struct, &row));
        }
        pair.node = one;
        pair.peer = two;
        pair.presence = "live";
        pair.to_peer_bits_per_second = there;
        pair.from_peer_bits_per_second = back;
        g_ptr_array_add(topology->pairs, ald_struct_dup(&ald_node_pair_row_struct, &pair));
        topology->n_taken++;
}

static void test_matrix(void)
{
        g_autofree char *one = model_id(1), *two = model_id(2);
        g_autoptr(AldLiveCluster) cluster = ald_live_cluster_new(NULL);
        g_autoptr(GtkWidget) widget = g_object_ref_sink(ald_matrix_view_new(cluster));
        AldMatrixView *view = ALD_MATRIX_VIEW(widget);
        GtkAccessible *grid = GTK_ACCESSIBLE(gtk_widget_get_first_child(widget));

        add_pair(ald_model_topology(ald_live_cluster_model(cluster)), 9410000000, ALD_ABSENT_UINT64);
        ald_matrix_view_set_used(view, true);
        assert_role(grid, GROUP);
        assert_name(grid, "Rates between all nodes; the arrow keys move from cell to cell");
        gtk_test_accessible_assert_property(grid, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                "Rates from the node at the left to the one at the top");
        ald_matrix_view_select(view, one, two);
        gtk_test_accessible_assert_property(
                grid, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "atlas → borealis: 9.41 Gb/s");
        ald_matrix_view_select(view, two, one);
        gtk_test_accessible_assert_property(
                grid, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, "borealis → atlas: not measured");
}

/* Tables. */

/* Of a row that was made. */
static AldDataCell *find_cell(GtkWidget *widget, const char *id)
{
        AldDataCell *cell = GTK_IS_INSCRIPTION(widget) ? ald_data_cell_find(widget) : NULL;

        if (cell && cell->item && g_str_equal(cell->column->id, id))
                return cell;
        cell = NULL;
        for (GtkWidget *child = gtk_widget_get_first_child(widget); child && !cell;
                child = gtk_widget_get_next_sibling(child))
                cell = find_cell(child, id);
        return cell;
}

static AldDataCell *await_cell(GtkWidget *widget, const char *id)
{
        AldDataCell *cell;

        while (!(cell = find_cell(widget, id)))
                g_main_context_iteration(NULL, TRUE);
        return cell;
}

static GtkWidget *row_of(const AldDataCell *cell)
{
        GtkWidget *parent = gtk_widget_get_parent(gtk_list_item_get_child(cell->list_item));

        return gtk_widget_get_parent(parent);
}

static void test_table(void)
{
        g_autoptr(AldLiveCluster) cluster = ald_live_cluster_new(NULL);
        GtkWidget *window = gtk_window_new(), *page = ald_nodes_page_new(cluster);
        AldDataCell *name, *memory, *state;

        now = NOW;
        put_node(ald_live_cluster_model(cluster), 1, "atlas", "offline", 40 * SECOND);
        put_node(ald_live_cluster_model(cluster), 2, "borealis", "online", 0);
        gtk_window_set_child(GTK_WINDOW(window), page);
        gtk_window_present(GTK_WINDOW(window));
        name = await_cell(page, "name");
        memory = await_cell(page, "memory");
        state = await_cell(page, "state");
        assert_role(own_display_find(page, GTK_TYPE_COLUMN_VIEW), TREE_GRID);
        assert_name(own_display_find(page, GTK_TYPE_COLUMN_VIEW), "Nodes");
        assert_role(row_of(name), ROW);
        assert_name(row_of(name), "atlas, offline for 40 s");
        assert_name(name->text, "atlas");
        assert_name(name->image, "Computer");
        assert_name(state->text, "offline for 40 s");
        assert_name(state->image, "Offline");
        assert_role(state->image, IMG);
        assert_role(memory->bar, METER);
        now += 2 * SECOND;
        g_signal_emit_by_name(cluster, "tick");
        assert_name(state->text, "offline for 42 s");
        assert_name(row_of(name), "atlas, offline for 42 s");
        gtk_window_destroy(GTK_WINDOW(window));
}

/* The column of a share warns in its text, and the bar beside the free memory by its color. */
static void test_table_warns(void)
{
        g_autoptr(AldLiveCluster) cluster = ald_live_cluster_new(NULL);
        GtkWidget *window = gtk_window_new(), *page = ald_nodes_page_new(cluster);

        model_put_node(ald_live_cluster_model(cluster), 1,
                "{'Node1.Memory':{'TotalBytes':1000,'AvailableBytes':100}}");
        gtk_window_set_child(GTK_WINDOW(window), page);
        g_assert_true(gtk_widget_activate_action(page, "column.used", NULL));
        gtk_window_present(GTK_WINDOW(window));
        g_assert_true(gtk_widget_has_css_class(await_cell(page, "used")->text, "warning"));
        g_assert_true(gtk_widget_has_css_class(await_cell(page, "memory")->bar, "nearly-full"));
        gtk_window_destroy(GTK_WINDOW(window));
}

static guint n_asked;

static double ask_number(gpointer item)
{
        n_asked++;
        return GPOINTER_TO_INT(g_object_get_data(item, "number"));
}

static bool is_sorted(GListModel *items)
{
        for (guint i = 0; i < g_list_model_get_n_items(items); i++) {
                g_autoptr(GObject) item = g_list_model_get_item(items, i);

                if (GPOINTER_TO_INT(g_object_get_data(item, "number")) != (int) i)
                        return false;
        }
        return true;
}

/* However many items it is compared with, and again only once it may have changed. */
static void test_sorter_asks_each_item_once(void)
{
        static const AldDataColumn column = { .id = "number", .title = "Number", .number = ask_number };
        enum { N = 101 };
        g_autoptr(AldLiveCluster) cluster = ald_live_cluster_new(NULL);
        AldColumnSorter *sorter = ald_column_sorter_new(&column, cluster);
        GListStore *store = g_list_store_new(G_TYPE_OBJECT);
        g_autoptr(GtkSortListModel) sorted = NULL;

        for (int i = 0; i < N; i++) {
                g_autoptr(GObject) item = g_object_new(G_TYPE_OBJECT, NULL);

                g_object_set_data(item, "number", GINT_TO_POINTER(i * 37 % N));
                g_list_store_append(store, item);
        }
        n_asked = 0;
        sorted = gtk_sort_list_model_new(G_LIST_MODEL(store), g_object_ref(GTK_SORTER(sorter)));
        g_assert_true(is_sorted(G_LIST_MODEL(sorted)));
        g_assert_cmpuint(n_asked, ==, N);
        for (int i = 0; i < N; i++) {
                g_autoptr(GObject) item = g_list_model_get_item(G_LIST_MODEL(store), (guint) i);

                g_object_set_data(item, "number", GINT_TO_POINTER(i * 53 % N));
        }
        ald_column_sorter_expire(sorter);
        gtk_sorter_changed(GTK_SORTER(sorter), GTK_SORTER_CHANGE_DIFFERENT);
        g_assert_true(is_sorted(G_LIST_MODEL(sorted)));
        g_assert_cmpuint(n_asked, ==, 2 * N);
        g_object_unref(sorter);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        if (!own_display_open()) {
                g_print("1..0 # SKIP Xvfb is not installed\n");
                return 0;
        }
        g_test_add_func("/desktop-widgets/card", test_card);
        g_test_add_func(
                "/desktop-widgets/card-has-the-texts-of-the-table", test_card_has_the_texts_of_the_table);
        g_test_add_func("/desktop-widgets/card-of-a-node-that-is-gone", test_card_of_a_node_that_is_gone);
        g_test_add_func("/desktop-widgets/card-is-selected", test_card_is_selected);
        g_test_add_func("/desktop-widgets/card-follows-the-clock", test_card_follows_the_clock);
        g_test_add_func("/desktop-widgets/card-of-this-machine-follows-the-clock",
                test_card_of_this_machine_follows_the_clock);
        g_test_add_func(
                "/desktop-widgets/card-has-the-symbol-of-the-table", test_card_has_the_symbol_of_the_table);
        g_test_add_func("/desktop-widgets/memory-bar", test_memory_bar);
        g_test_add_func("/desktop-widgets/share-bar", test_share_bar);
        g_test_add_func("/desktop-widgets/matrix", test_matrix);
        g_test_add_func("/desktop-widgets/table", test_table);
        g_test_add_func("/desktop-widgets/table-warns", test_table_warns);
        g_test_add_func("/desktop-widgets/sorter-asks-each-item-once", test_sorter_asks_each_item_once);
        return g_test_run();
}
