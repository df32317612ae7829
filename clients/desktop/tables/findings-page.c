/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>

#include "clients/common/finding-display.h"
#include "clients/desktop/live/event-items.h"
#include "clients/desktop/tables/finding-card.h"
#include "clients/desktop/tables/findings-page.h"
#include "clients/desktop/tables/list-page.h"
#include "clients/desktop/widgets/widget-words.h"

#define SPACING 12
#define WIDTH 760
#define CHOSEN_KEY                                                                                          \
        "ald-findings-severity"            /* data of the application, so that all windows share the choice \
                                            */
#define INDEX_KEY "ald-index"              /* data of a button */
#define REFRESH_USEC (60 * G_USEC_PER_SEC) /* between two readings of earlier findings */
#define DAY_USEC (G_GUINT64_CONSTANT(86400) * G_USEC_PER_SEC)

#define ALD_TYPE_FINDINGS_PAGE (ald_findings_page_get_type())
G_DECLARE_FINAL_TYPE(AldFindingsPage, ald_findings_page, ALD, FINDINGS_PAGE, AdwBin)

struct _AldFindingsPage {
        AdwBin parent;
        AldLiveCluster *cluster;
        AldListPage *page;
        GtkSelectionModel *selection;
        GtkWidget *list, *bar, *counts, *cut;
        AldEventList *events;
        size_t period;  /* index in `periods` */
        gint64 read_at; /* CLOCK_MONOTONIC in µs, when earlier findings were requested; 0: read again soon */
};

G_DEFINE_FINAL_TYPE(AldFindingsPage, ald_findings_page, ADW_TYPE_BIN)

static char *words_of(gpointer item, gpointer userdata)
{
        return ald_finding_card_text(item);
}

/* Rows. */

static void on_setup(GtkListItemFactory *factory, GtkListItem *list_item, AldFindingsPage *page)
{
        gtk_list_item_set_child(list_item, ald_finding_card_new(page->cluster));
}

static void on_bind(GtkListItemFactory *factory, GtkListItem *list_item, AldFindingsPage *page)
{
        GtkWidget *card = gtk_list_item_get_child(list_item), *row = gtk_widget_get_parent(card);
        AldFindingItem *item = gtk_list_item_get_item(list_item);

        ald_finding_card_set_item(ALD_FINDING_CARD(card), item);
        if (row)
                gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL,
                        ald_finding_item_text(item, ALD_FINDING_COLUMN_TEXT), -1);
}

static void on_unbind(GtkListItemFactory *factory, GtkListItem *list_item, AldFindingsPage *page)
{
        ald_finding_card_set_item(ALD_FINDING_CARD(gtk_list_item_get_child(list_item)), NULL);
}

static GtkListItemFactory *factory_new(AldFindingsPage *page)
{
        GtkListItemFactory *factory = gtk_signal_list_item_factory_new();

        g_signal_connect(factory, "setup", G_CALLBACK(on_setup), page);
        g_signal_connect(factory, "bind", G_CALLBACK(on_bind), page);
        g_signal_connect(factory, "unbind", G_CALLBACK(on_unbind), page);
        return factory;
}

static void on_activate(GtkListView *list, guint position, AldFindingsPage *page)
{
        g_autoptr(AldFindingItem) item = g_list_model_get_item(G_LIST_MODEL(page->selection), position);

        if (item)
                ald_finding_card_open(GTK_WIDGET(list), item);
}

/* Copying. */

static void append_finding(GString *out, AldFindingsPage *page, guint position)
{
        g_autoptr(AldFindingItem) item = g_list_model_get_item(G_LIST_MODEL(page->selection), position);
        g_autofree char *text = item ? ald_finding_card_text(item) : NULL;

        if (text)
                g_string_append_printf(out, "%s%s", out->len > 0 ? "\n" : "", text);
}

static void copy_text(AldFindingsPage *page, const GString *text)
{
        if (text->len == 0)
                return;
        gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(page)), text->str);
        gtk_widget_activate_action(GTK_WIDGET(page), "win.say", "s", _("Findings copied"));
}

/* Returns the finding whose row has, or contains, the focus, if that row is not selected: Tab moves the focus
 * without selecting anything. Else NULL. */
static AldFindingItem *find_focused(AldFindingsPage *page)
{
        GtkRoot *root = gtk_widget_get_root(page->list);
        GtkWidget *row = root ? gtk_root_get_focus(root) : NULL, *card;

        while (row && gtk_widget_get_parent(row) != page->list)
                row = gtk_widget_get_parent(row);
        if (!row || gtk_widget_get_state_flags(row) & GTK_STATE_FLAG_SELECTED)
                return NULL;
        card = gtk_widget_get_first_child(row);
        return ALD_IS_FINDING_CARD(card) ? ald_finding_card_item(ALD_FINDING_CARD(card)) : NULL;
}

static void copy_selected(GtkWidget *widget, const char *action, GVariant *parameter)
{
        AldFindingsPage *page = ALD_FINDINGS_PAGE(widget);
        g_autoptr(GtkBitset) selected = gtk_selection_model_get_selection(page->selection);
        g_autoptr(GString) out = g_string_new(NULL);
        AldFindingItem *focused = find_focused(page);
        g_autofree char *text = focused ? ald_finding_card_text(focused) : NULL;

        if (text)
                g_string_append(out, text);
        for (guint i = 0; !text && i < gtk_bitset_get_size(selected); i++)
                append_finding(out, page, gtk_bitset_get_nth(selected, i));
        copy_text(page, out);
}

static void copy_all(GtkWidget *widget, const char *action, GVariant *parameter)
{
        AldFindingsPage *page = ALD_FINDINGS_PAGE(widget);
        g_autoptr(GString) out = g_string_new(NULL);

        for (guint i = 0; i < g_list_model_get_n_items(G_LIST_MODEL(page->selection)); i++)
                append_finding(out, page, i);
        copy_text(page, out);
}

/* By severity. */

static bool is_error(gpointer item)
{
        return ald_finding_item_severity(item) == ALD_FINDING_ROW_SEVERITY_ERROR;
}

static bool is_warning(gpointer item)
{
        return ald_finding_item_severity(item) == ALD_FINDING_ROW_SEVERITY_WARNING;
}

static char *hidden_text(guint n)
{
        return g_strdup_printf(ngettext("%u other finding is hidden", "%u other findings are hidden", n), n);
}

static const struct {
        const char *title;
        AldListPageFilter filter; /* the first choice has none */
} severities[] = {
        { N_("All"), { NULL, NULL, NULL, NULL } },
        { N_("Errors"), { is_error, N_("No Errors"), N_("Only errors are searched"), hidden_text } },
        { N_("Warnings"), { is_warning, N_("No Warnings"), N_("Only warnings are searched"), hidden_text } },
};

static void show_severity(AldFindingsPage *page, size_t chosen)
{
        const AldListPageFilter *filter = &severities[chosen].filter;

        ald_list_page_set_filter(page->page, filter->shows ? filter : NULL);
}

static void on_severity_toggled(GtkToggleButton *button, AldFindingsPage *page)
{
        GApplication *application = g_application_get_default();
        gpointer chosen = g_object_get_data(G_OBJECT(button), INDEX_KEY);

        if (!gtk_toggle_button_get_active(button))
                return;
        if (application)
                g_object_set_data(G_OBJECT(application), CHOSEN_KEY, chosen);
        show_severity(page, GPOINTER_TO_SIZE(chosen));
}

static GtkWidget *toggle_group_new(const char *name)
{
        GtkWidget *box = g_object_new(GTK_TYPE_BOX, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP, NULL);

        gtk_widget_add_css_class(box, "linked");
        gtk_accessible_update_property(GTK_ACCESSIBLE(box), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
        return box;
}

static void add_toggle(GtkWidget *box, const char *title, size_t index, bool active, GCallback toggled,
        AldFindingsPage *page)
{
        GtkWidget *button = gtk_toggle_button_new(), *label = gtk_label_new(title),
                  *first = gtk_widget_get_first_child(box);

        /* The text may be cut, so that the window can be narrow. */
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        gtk_button_set_child(GTK_BUTTON(button), label);
        gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
        g_object_set_data(G_OBJECT(button), INDEX_KEY, GSIZE_TO_POINTER(index));
        gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(button), GTK_TOGGLE_BUTTON(first));
        gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(button), active);
        g_signal_connect(button, "toggled", toggled, page);
        gtk_box_append(GTK_BOX(box), button);
}

/* Creates the buttons for severities. The one last chosen in any window is active. */
static GtkWidget *severities_new(AldFindingsPage *page)
{
        GApplication *application = g_application_get_default();
        gpointer chosen = application ? g_object_get_data(G_OBJECT(application), CHOSEN_KEY) : NULL;
        GtkWidget *box = toggle_group_new(_("Severity"));

        for (size_t i = 0; i < G_N_ELEMENTS(severities); i++)
                add_toggle(box, _(severities[i].title), i, i == GPOINTER_TO_SIZE(chosen),
                        G_CALLBACK(on_severity_toggled), page);
        show_severity(page, GPOINTER_TO_SIZE(chosen));
        return box;
}

/* Counts above the list. */

/* Returns the findings or events of the chosen period, before they are filtered. */
static GListModel *unfiltered_items(AldFindingsPage *page)
{
        return page->period == 0 ? ald_live_cluster_findings(page->cluster)
                                 : ald_event_list_model(page->events);
}

static unsigned count_findings(AldFindingsPage *page, AldFindingRowSeverity severity)
{
        GListModel *items = unfiltered_items(page);
        uint64_t n = 0;

        for (guint i = 0; i < g_list_model_get_n_items(items); i++) {
                g_autoptr(AldFindingItem) item = g_list_model_get_item(items, i);

                if (ald_finding_item_severity(item) == severity)
                        n += ald_finding_item_n_left_out(item) ?: 1;
        }
        return (unsigned) MIN(n, UINT_MAX);
}

static void update_counts(AldFindingsPage *page)
{
        g_autoptr(GString) text = g_string_new(NULL);

        for (AldFindingRowSeverity severity = 0; severity < ALD_FINDING_ROW_SEVERITY_N; severity++) {
                unsigned n = count_findings(page, severity);
                g_autofree char *words = ald_findings_count_words(severity, n);

                if (n > 0)
                        g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", words);
        }
        gtk_label_set_text(GTK_LABEL(page->counts), text->str);
        gtk_widget_set_visible(page->bar, text->len > 0);
        ald_label_show(page->cut, page->period > 0 && ald_event_list_is_truncated(page->events)
                                          ? _("There were more than can be shown. The last ones are missing.")
                                          : NULL);
}

static void on_updated(AldLiveCluster *cluster, guint parts, AldFindingsPage *page)
{
        if (page->period > 0 || !(parts & (ALD_LIVE_FINDINGS | ALD_LIVE_NODE_SET)))
                return;
        update_counts(page);
        ald_list_page_search_again(page->page);
}

/* Earlier findings. */

static const char *reading_failure(AldLiveCluster *cluster, gpointer userdata)
{
        return ald_event_list_failure(ALD_FINDINGS_PAGE(userdata)->events);
}

enum { PRESENT, EARLIER, UNREAD };

static const AldListPageKind kinds[] = {
        [PRESENT] = { .placeholder = N_("Search findings"),
                .empty_title = N_("No Findings"),
                .empty_text = N_(
                        "Nothing that Alidade checks is wrong with the nodes and links that it knows"),
                .empty_icon = "object-select-symbolic",
                .words = words_of },
        [EARLIER] = { .placeholder = N_("Search earlier findings"),
                .empty_title = N_("No Earlier Findings"),
                .empty_text = N_("No finding began or lasted in this time"),
                .empty_icon = "object-select-symbolic",
                .advice = reading_failure,
                .words = words_of },
        [UNREAD] = { .placeholder = N_("Search earlier findings"),
                .empty_title = N_("No Data Yet"),
                .empty_text = N_("Waiting for the history service"),
                .empty_icon = "content-loading-symbolic",
                .words = words_of },
};

static const struct {
        const char *title;
        guint64 usec;
} periods[] = {
        { N_("Now"), 0 },
        { N_("Last Day"), DAY_USEC },
        { N_("Last Week"), 7 * DAY_USEC },
};

static void show_items(AldFindingsPage *page)
{
        int kind = page->period == 0 ? PRESENT : ald_event_list_is_read(page->events) ? EARLIER : UNREAD;

        ald_list_page_set_items(page->page, unfiltered_items(page), &kinds[kind]);
        update_counts(page);
}

/* Shows the events that were read. If the connection ended before any were read, the next tick tries again.
 */
static void on_events_changed(void *userdata)
{
        AldFindingsPage *page = userdata;

        if (!ald_event_list_is_read(page->events))
                page->read_at = 0;
        show_items(page);
}

static void read_events(AldFindingsPage *page)
{
        page->read_at = ald_event_list_read(page->events, periods[page->period].usec) ? g_get_monotonic_time()
                                                                                      : 0;
}

static void on_tick(AldFindingsPage *page)
{
        if (page->period > 0 && gtk_widget_get_mapped(GTK_WIDGET(page)) &&
                ald_live_cluster_is_wanted(page->cluster) &&
                g_get_monotonic_time() - page->read_at >= REFRESH_USEC)
                read_events(page);
}

static void on_period_toggled(GtkToggleButton *button, AldFindingsPage *page)
{
        if (!gtk_toggle_button_get_active(button))
                return;
        page->period = GPOINTER_TO_SIZE(g_object_get_data(G_OBJECT(button), INDEX_KEY));
        ald_event_list_clear(page->events);
        show_items(page);
        if (page->period > 0)
                read_events(page);
}

static GtkWidget *periods_new(AldFindingsPage *page)
{
        GtkWidget *box = toggle_group_new(_("Time"));

        for (size_t i = 0; i < G_N_ELEMENTS(periods); i++)
                add_toggle(box, _(periods[i].title), i, i == 0, G_CALLBACK(on_period_toggled), page);
        gtk_widget_set_halign(box, GTK_ALIGN_CENTER);
        gtk_widget_set_margin_top(box, SPACING / 2);
        return box;
}

/* The bar. */

static GtkWidget *bar_new(AldFindingsPage *page)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, SPACING), *clamp = adw_clamp_new();
        GtkWidget *button = gtk_button_new_from_icon_name("edit-copy-symbolic");

        page->counts = gtk_label_new(NULL);
        gtk_label_set_xalign(GTK_LABEL(page->counts), 0);
        gtk_label_set_ellipsize(GTK_LABEL(page->counts), PANGO_ELLIPSIZE_END);
        gtk_widget_add_css_class(page->counts, "heading");
        gtk_widget_set_hexpand(page->counts, TRUE);
        gtk_widget_add_css_class(button, "flat");
        ald_button_name(button, _("Copy All"));
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "findings.copy-all");
        gtk_box_append(GTK_BOX(box), page->counts);
        gtk_box_append(GTK_BOX(box), severities_new(page));
        gtk_box_append(GTK_BOX(box), button);
        gtk_widget_set_margin_top(box, SPACING / 2);
        gtk_widget_set_margin_bottom(box, SPACING / 2);
        gtk_widget_set_margin_start(box, SPACING);
        gtk_widget_set_margin_end(box, SPACING / 2);
        adw_clamp_set_maximum_size(ADW_CLAMP(clamp), WIDTH);
        adw_clamp_set_child(ADW_CLAMP(clamp), box);
        return clamp;
}

static GtkWidget *cut_label_new(void)
{
        GtkWidget *label = ald_wrapping_label_new("dim-label");

        gtk_label_set_justify(GTK_LABEL(label), GTK_JUSTIFY_CENTER);
        gtk_label_set_xalign(GTK_LABEL(label), 0.5f);
        gtk_widget_set_visible(label, FALSE);
        return label;
}

/* The page. */

static void toggle_search(GtkWidget *widget, const char *action, GVariant *parameter)
{
        ald_list_page_toggle_search(ALD_FINDINGS_PAGE(widget)->page);
}

static void ald_findings_page_dispose(GObject *object)
{
        AldFindingsPage *page = ALD_FINDINGS_PAGE(object);

        adw_bin_set_child(ADW_BIN(page), NULL);
        g_clear_pointer(&page->events, ald_event_list_free);
        g_clear_object(&page->selection);
        g_clear_object(&page->cluster);
        G_OBJECT_CLASS(ald_findings_page_parent_class)->dispose(object);
}

static void ald_findings_page_class_init(AldFindingsPageClass *class)
{
        GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

        G_OBJECT_CLASS(class)->dispose = ald_findings_page_dispose;
        gtk_widget_class_install_action(widget_class, "findings.copy", NULL, copy_selected);
        gtk_widget_class_install_action(widget_class, "findings.copy-all", NULL, copy_all);
        gtk_widget_class_install_action(widget_class, ALD_LIST_SEARCH_ACTION, NULL, toggle_search);
}

static void ald_findings_page_init(AldFindingsPage *page)
{
}

static GtkWidget *list_new(AldFindingsPage *page)
{
        GtkWidget *clamp = adw_clamp_scrollable_new();
        GtkEventController *keys = gtk_shortcut_controller_new();

        page->selection = GTK_SELECTION_MODEL(
                gtk_multi_selection_new(g_object_ref(ald_list_page_items(page->page))));
        page->list = gtk_list_view_new(g_object_ref(page->selection), factory_new(page));
        gtk_list_view_set_show_separators(GTK_LIST_VIEW(page->list), TRUE);
        gtk_widget_add_css_class(page->list, "card");
        gtk_accessible_update_property(
                GTK_ACCESSIBLE(page->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Findings"), -1);
        g_signal_connect(page->list, "activate", G_CALLBACK(on_activate), page);
        gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys),
                gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_c, GDK_CONTROL_MASK),
                        gtk_named_action_new("findings.copy")));
        gtk_widget_add_controller(page->list, keys);
        adw_clamp_scrollable_set_maximum_size(ADW_CLAMP_SCROLLABLE(clamp), WIDTH);
        adw_clamp_scrollable_set_child(ADW_CLAMP_SCROLLABLE(clamp), page->list);
        return clamp;
}

GtkWidget *ald_findings_page_new(AldLiveCluster *cluster)
{
        AldFindingsPage *page = g_object_new(ALD_TYPE_FINDINGS_PAGE, NULL);
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);

        page->cluster = g_object_ref(cluster);
        page->events = ald_event_list_new(cluster, on_events_changed, page);
        page->page = ald_list_page_new(cluster, ald_live_cluster_findings(cluster), &kinds[PRESENT], page);
        page->bar = bar_new(page);
        page->cut = cut_label_new();
        ald_list_page_set_list(page->page, list_new(page));
        gtk_box_append(GTK_BOX(box), periods_new(page));
        gtk_box_append(GTK_BOX(box), page->bar);
        gtk_box_append(GTK_BOX(box), page->cut);
        gtk_widget_set_vexpand(GTK_WIDGET(page->page), TRUE);
        gtk_box_append(GTK_BOX(box), GTK_WIDGET(page->page));
        adw_bin_set_child(ADW_BIN(page), box);
        ald_list_page_set_container(page->page, GTK_WIDGET(page));
        g_signal_connect_object(cluster, "updated", G_CALLBACK(on_updated), page, 0);
        g_signal_connect_object(cluster, "tick", G_CALLBACK(on_tick), page, G_CONNECT_SWAPPED);
        update_counts(page);
        return GTK_WIDGET(page);
}
