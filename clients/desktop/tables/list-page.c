/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>

#include "clients/desktop/tables/list-page.h"
#include "clients/desktop/tables/search-terms.h"

#define SEARCH_WIDTH 400
#define BAR_KEY "ald-search-bar" /* data of the container */

struct _AldListPage {
        GtkBox parent;
        AldLiveCluster *cluster;
        const AldListPageKind *kind;
        gpointer userdata;
        GtkFilterListModel *found;
        GtkCustomFilter *filter;
        const AldListPageFilter *only; /* NULL: all are shown */
        GStrv terms;                   /* NULL: no search */
        GtkWidget *bar, *entry, *stack, *status, *scroller;
};

G_DEFINE_FINAL_TYPE(AldListPage, ald_list_page, GTK_TYPE_BOX)

static gboolean is_found(gpointer item, gpointer userdata)
{
        AldListPage *page = userdata;
        g_autofree char *words = NULL;

        if (page->only && !page->only->shows(item))
                return FALSE;
        words = page->terms ? page->kind->words(item, page->userdata) : NULL;
        return !words || ald_search_terms_match((const char *const *) page->terms, words);
}

static void show_status(AldListPage *page, const char *icon, const char *title, const char *text)
{
        AdwStatusPage *status = ADW_STATUS_PAGE(page->status);

        adw_status_page_set_icon_name(status, icon);
        adw_status_page_set_title(status, title);
        adw_status_page_set_description(status, text);
}

/* The problem is escaped because the description of a status page is markup. */
static void show_waiting_status(AldListPage *page)
{
        const char *problem = ald_live_cluster_problem(page->cluster);
        g_autofree char *text = problem ? g_markup_escape_text(problem, -1) : NULL;

        show_status(page, problem ? "network-error-symbolic" : "content-loading-symbolic", _("No Data Yet"),
                text ?: _("Waiting for the state service"));
}

static void update_status(AldListPage *page)
{
        guint n = g_list_model_get_n_items(gtk_filter_list_model_get_model(page->found));
        bool empty = g_list_model_get_n_items(G_LIST_MODEL(page->found)) == 0;

        if (empty && !ald_live_cluster_has_data(page->cluster)) {
                show_waiting_status(page);
        } else if (empty && page->terms) {
                show_status(page, "system-search-symbolic", _("No Results Found"),
                        page->only ? _(page->only->no_results_text) : _("Try a different search"));
        } else if (empty && page->only && n > 0) {
                g_autofree char *hidden = page->only->hidden_text(n);

                show_status(page, page->kind->empty_icon, _(page->only->empty_title), hidden);
        } else if (empty) {
                const char *advice = page->kind->advice ? page->kind->advice(page->cluster, page->userdata)
                                                        : NULL;

                show_status(page, page->kind->empty_icon, _(page->kind->empty_title),
                        advice ?: _(page->kind->empty_text));
        }
        gtk_stack_set_visible_child(GTK_STACK(page->stack), empty ? page->status : page->scroller);
}

static void on_search_changed(GtkSearchEntry *entry, AldListPage *page)
{
        g_auto(GStrv) before = page->terms;
        GtkFilterChange change;

        page->terms = ald_search_terms_new(gtk_editable_get_text(GTK_EDITABLE(entry)));
        change = ald_search_terms_narrow((const char *const *) before, (const char *const *) page->terms)
                         ? GTK_FILTER_CHANGE_MORE_STRICT
                         : GTK_FILTER_CHANGE_DIFFERENT;
        gtk_filter_changed(GTK_FILTER(page->filter), page->terms ? change : GTK_FILTER_CHANGE_LESS_STRICT);
        update_status(page);
}

void ald_list_page_search_again(AldListPage *page)
{
        if (page->terms || page->only)
                gtk_filter_changed(GTK_FILTER(page->filter), GTK_FILTER_CHANGE_DIFFERENT);
}

void ald_list_page_set_filter(AldListPage *page, const AldListPageFilter *filter)
{
        page->only = filter;
        gtk_filter_changed(GTK_FILTER(page->filter), GTK_FILTER_CHANGE_DIFFERENT);
        update_status(page);
}

void ald_list_page_toggle_search(AldListPage *page)
{
        GtkSearchBar *bar = GTK_SEARCH_BAR(page->bar);

        gtk_search_bar_set_search_mode(bar, !gtk_search_bar_get_search_mode(bar));
}

void ald_list_page_set_container(AldListPage *page, GtkWidget *container)
{
        g_object_set_data(G_OBJECT(container), BAR_KEY, page->bar);
}

GtkWidget *ald_list_page_search_bar(GtkWidget *container)
{
        return g_object_get_data(G_OBJECT(container), BAR_KEY);
}

/* Opens the search of the page that is visible, of several in a window. */
static gboolean on_find(GtkWidget *widget, GVariant *arguments, gpointer userdata)
{
        AldListPage *page = ALD_LIST_PAGE(widget);

        if (!gtk_widget_get_mapped(widget))
                return FALSE;
        gtk_search_bar_set_search_mode(GTK_SEARCH_BAR(page->bar), TRUE);
        gtk_widget_grab_focus(page->entry);
        return TRUE;
}

/* Moves the focus from the entry into the list, into which later versions of GTK let no arrow key. */
static gboolean on_down(GtkWidget *widget, GVariant *arguments, gpointer userdata)
{
        AldListPage *page = userdata;
        GtkWidget *list = gtk_scrolled_window_get_child(GTK_SCROLLED_WINDOW(page->scroller));

        return list && gtk_widget_get_mapped(list) && gtk_widget_child_focus(list, GTK_DIR_TAB_FORWARD);
}

static void add_entry_shortcut(AldListPage *page)
{
        GtkEventController *controller = gtk_shortcut_controller_new();

        gtk_event_controller_set_propagation_phase(controller, GTK_PHASE_CAPTURE);
        gtk_shortcut_controller_add_shortcut(
                GTK_SHORTCUT_CONTROLLER(controller), gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_Down, 0),
                                                             gtk_callback_action_new(on_down, page, NULL)));
        gtk_widget_add_controller(page->entry, controller);
}

static void add_find_shortcut(AldListPage *page)
{
        GtkEventController *controller = gtk_shortcut_controller_new();

        gtk_shortcut_controller_set_scope(GTK_SHORTCUT_CONTROLLER(controller), GTK_SHORTCUT_SCOPE_GLOBAL);
        gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(controller),
                gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_f, GDK_CONTROL_MASK),
                        gtk_callback_action_new(on_find, NULL, NULL)));
        gtk_widget_add_controller(GTK_WIDGET(page), controller);
}

static void ald_list_page_dispose(GObject *object)
{
        AldListPage *page = ALD_LIST_PAGE(object);

        g_clear_object(&page->found);
        g_clear_object(&page->filter);
        g_clear_object(&page->cluster);
        G_OBJECT_CLASS(ald_list_page_parent_class)->dispose(object);
}

static void ald_list_page_finalize(GObject *object)
{
        g_strfreev(ALD_LIST_PAGE(object)->terms);
        G_OBJECT_CLASS(ald_list_page_parent_class)->finalize(object);
}

static void ald_list_page_class_init(AldListPageClass *class)
{
        G_OBJECT_CLASS(class)->dispose = ald_list_page_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_list_page_finalize;
}

static GtkWidget *search_bar_new(AldListPage *page)
{
        GtkWidget *bar = gtk_search_bar_new(), *clamp = adw_clamp_new();

        page->entry = gtk_search_entry_new();
        adw_clamp_set_maximum_size(ADW_CLAMP(clamp), SEARCH_WIDTH);
        adw_clamp_set_child(ADW_CLAMP(clamp), page->entry);
        gtk_widget_set_hexpand(clamp, TRUE);
        gtk_search_bar_set_child(GTK_SEARCH_BAR(bar), clamp);
        gtk_search_bar_connect_entry(GTK_SEARCH_BAR(bar), GTK_EDITABLE(page->entry));
        gtk_search_bar_set_key_capture_widget(GTK_SEARCH_BAR(bar), GTK_WIDGET(page));
        add_entry_shortcut(page);
        g_signal_connect(page->entry, "search-changed", G_CALLBACK(on_search_changed), page);
        return bar;
}

static void ald_list_page_init(AldListPage *page)
{
        gtk_orientable_set_orientation(GTK_ORIENTABLE(page), GTK_ORIENTATION_VERTICAL);
        page->bar = search_bar_new(page);
        page->stack = gtk_stack_new();
        page->status = adw_status_page_new();
        page->scroller = gtk_scrolled_window_new();
        gtk_widget_set_vexpand(page->stack, TRUE);
        gtk_stack_add_child(GTK_STACK(page->stack), page->scroller);
        gtk_stack_add_child(GTK_STACK(page->stack), page->status);
        gtk_box_append(GTK_BOX(page), page->bar);
        gtk_box_append(GTK_BOX(page), page->stack);
        add_find_shortcut(page);
}

static void set_kind(AldListPage *page, const AldListPageKind *kind)
{
        page->kind = kind;
        g_object_set(page->entry, "placeholder-text", _(kind->placeholder), NULL);
        gtk_accessible_update_property(
                GTK_ACCESSIBLE(page->entry), GTK_ACCESSIBLE_PROPERTY_LABEL, _(kind->placeholder), -1);
}

void ald_list_page_set_items(AldListPage *page, GListModel *items, const AldListPageKind *kind)
{
        set_kind(page, kind);
        gtk_filter_list_model_set_model(page->found, items);
        update_status(page);
}

AldListPage *ald_list_page_new(
        AldLiveCluster *cluster, GListModel *items, const AldListPageKind *kind, gpointer userdata)
{
        AldListPage *page = g_object_new(ALD_TYPE_LIST_PAGE, NULL);

        page->cluster = g_object_ref(cluster);
        page->userdata = userdata;
        page->filter = gtk_custom_filter_new(is_found, page, NULL);
        page->found = gtk_filter_list_model_new(g_object_ref(items), g_object_ref(GTK_FILTER(page->filter)));
        set_kind(page, kind);
        g_signal_connect_object(
                page->found, "items-changed", G_CALLBACK(update_status), page, G_CONNECT_SWAPPED);
        g_signal_connect_object(cluster, "updated", G_CALLBACK(update_status), page, G_CONNECT_SWAPPED);
        g_signal_connect_object(
                cluster, "notify::problem", G_CALLBACK(update_status), page, G_CONNECT_SWAPPED);
        update_status(page);
        return page;
}

GListModel *ald_list_page_items(AldListPage *page)
{
        return G_LIST_MODEL(page->found);
}

void ald_list_page_set_list(AldListPage *page, GtkWidget *list)
{
        gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(page->scroller), list);
}
