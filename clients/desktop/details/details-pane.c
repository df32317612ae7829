/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>

#include "clients/common/node-summary.h"
#include "clients/desktop/details/details-header.h"
#include "clients/desktop/details/details-notice.h"
#include "clients/desktop/details/details-pane.h"
#include "clients/desktop/details/sections.h"
#include "clients/desktop/widgets/widget-words.h"

#define LEAST_PX 340 /* the rest of 360 px beside a separator */
#define MOST_PX 640
#define EVERYTHING (~0u)

struct _AldDetailsPane {
        GtkBox parent;
        AldLiveCluster *cluster;
        char *a, *b; /* ids; a is NULL if nothing is shown, b if one node is */

        GtkWidget *header, *notice, *page, *status, *close, *content;
        GtkStack *stack; /* the page or the status */
        GPtrArray *sections;
        GtkWidget *opened; /* the row to scroll to, or NULL */
        guint scroll_tick, scroll_frames;
        bool watching;
};

G_DEFINE_FINAL_TYPE(AldDetailsPane, ald_details_pane, GTK_TYPE_BOX)

/* The sections in the order in which they are shown. */
static GtkWidget *(*const node_sections[])(void) = {
        ald_about_section_new,
        ald_facts_section_new,
        ald_devices_section_new,
        ald_history_section_new,
        ald_joins_section_new,
        ald_peers_section_new,
        ald_fields_section_new,
};

static GtkWidget *(*const pair_sections[])(void) = {
        ald_best_section_new,
        ald_about_section_new,
        ald_paths_section_new,
        ald_history_section_new,
        ald_fields_section_new,
};

static bool is_away(AldModel *model, const AldEntity *node)
{
        return node && (ald_node_exclusion(model, node) || ald_node_is_stale(model, node));
}

static AldDetailsSubject make_subject(AldDetailsPane *pane)
{
        AldModel *model = ald_live_cluster_model(pane->cluster);
        const AldEntity *a = ald_model_get(model, pane->a), *b = ald_model_get(model, pane->b);

        return (AldDetailsSubject){ .cluster = pane->cluster,
                .model = model,
                .a = pane->a,
                .b = pane->b,
                .node_a = a,
                .node_b = b,
                .now = ald_live_real_time_usec(),
                .outdated = ald_live_cluster_problem(pane->cluster) || is_away(model, a) ||
                            is_away(model, b) };
}

/* Returns what is shown in place of the page; NULL for the page. */
static const char *describe_absence(AldDetailsPane *pane, const AldDetailsSubject *subject)
{
        if (!pane->a)
                return _("Nothing Selected");
        if (subject->node_a && (!subject->b || subject->node_b))
                return NULL;
        if (!ald_live_cluster_has_data(pane->cluster))
                return _("Nothing Known Yet");
        return subject->b ? _("One of These Nodes Is No Longer Known") : _("This Node Is No Longer Known");
}

/* Returns whether the focus is on something visible in the pane, and not on an area that merely scrolls. */
static bool has_visible_focus(AldDetailsPane *pane)
{
        GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(pane));
        GtkWidget *focus = root ? gtk_root_get_focus(root) : NULL;

        return focus && gtk_widget_is_ancestor(focus, GTK_WIDGET(pane)) && gtk_widget_get_mapped(focus) &&
               !GTK_IS_SCROLLED_WINDOW(focus);
}

/* Returns the index of the section that has the focus, or 0. */
static guint focused_section(AldDetailsPane *pane)
{
        for (guint i = 0; i < pane->sections->len; i++)
                if (ald_widget_has_focus_within(pane->sections->pdata[i]))
                        return i;
        return 0;
}

static bool focus_section(AldDetailsPane *pane, guint i)
{
        return gtk_widget_get_visible(pane->sections->pdata[i]) &&
               gtk_widget_child_focus(pane->sections->pdata[i], GTK_DIR_TAB_FORWARD);
}

/* Gives the focus to this section, otherwise to the next one that takes it, otherwise to one before. */
static bool focus_page(AldDetailsPane *pane, guint section)
{
        for (guint i = section; i < pane->sections->len; i++)
                if (focus_section(pane, i))
                        return true;
        for (guint i = MIN(section, pane->sections->len); i > 0; i--)
                if (focus_section(pane, i - 1))
                        return true;
        return false;
}

static bool shows_page(AldDetailsPane *pane)
{
        return gtk_stack_get_visible_child(pane->stack) == pane->page;
}

static void focus_content(AldDetailsPane *pane, guint section)
{
        if (!shows_page(pane) || !focus_page(pane, section))
                gtk_widget_child_focus(shows_page(pane) ? pane->header : pane->status, GTK_DIR_TAB_FORWARD);
}

/* Keeps the focus inside the pane if its widget goes; the toolkit would move it elsewhere. */
static void update_content(AldDetailsPane *pane, guint parts)
{
        AldDetailsSubject subject = make_subject(pane);
        const char *absence = describe_absence(pane, &subject);
        bool focused = has_visible_focus(pane);
        guint section = focused_section(pane);

        ald_details_header_show(ALD_DETAILS_HEADER(pane->header), pane->a ? &subject : NULL);
        gtk_stack_set_visible_child(pane->stack, absence ? pane->status : pane->page);
        if (absence) {
                adw_status_page_set_title(ADW_STATUS_PAGE(pane->status), absence);
                ald_widget_describe(pane->close, _("Close Details"), absence);
        } else {
                ald_details_notice_show(ALD_DETAILS_NOTICE(pane->notice), &subject);
                for (guint i = 0; i < pane->sections->len; i++)
                        ald_details_section_update(pane->sections->pdata[i], &subject, parts);
        }
        if (focused && pane->a && !has_visible_focus(pane))
                focus_content(pane, section);
}

static void on_tick(AldDetailsPane *pane)
{
        update_content(pane, ALD_DETAILS_TICK);
}

static void on_problem(AldDetailsPane *pane)
{
        update_content(pane, EVERYTHING);
}

static void watch_cluster(AldDetailsPane *pane, bool watching)
{
        if (watching == pane->watching)
                return;
        pane->watching = watching;
        if (!watching) {
                g_signal_handlers_disconnect_by_data(pane->cluster, pane);
                return;
        }
        g_signal_connect_swapped(pane->cluster, "updated", G_CALLBACK(update_content), pane);
        g_signal_connect_swapped(pane->cluster, "tick", G_CALLBACK(on_tick), pane);
        g_signal_connect_swapped(pane->cluster, "notify::problem", G_CALLBACK(on_problem), pane);
}

static void on_refresh(GtkWidget *widget, const char *name, GVariant *parameter)
{
        update_content(ALD_DETAILS_PANE(widget), EVERYTHING);
}

static void add_sections(AldDetailsPane *pane, GtkWidget *(*const makers[])(void), size_t n)
{
        for (size_t i = 0; i < n; i++) {
                GtkWidget *section = makers[i]();

                gtk_box_append(GTK_BOX(pane->content), section);
                g_ptr_array_add(pane->sections, section);
        }
}

static void replace_sections(AldDetailsPane *pane)
{
        GtkAdjustment *place = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(pane->page));

        for (guint i = 0; i < pane->sections->len; i++)
                gtk_box_remove(GTK_BOX(pane->content), pane->sections->pdata[i]);
        g_ptr_array_set_size(pane->sections, 0);
        if (pane->b)
                add_sections(pane, pair_sections, G_N_ELEMENTS(pair_sections));
        else if (pane->a)
                add_sections(pane, node_sections, G_N_ELEMENTS(node_sections));
        gtk_adjustment_set_value(place, gtk_adjustment_get_lower(place));
}

static void show_subject(AldDetailsPane *pane, const char *a, const char *b)
{
        bool same = g_strcmp0(a, pane->a) == 0 && g_strcmp0(b, pane->b) == 0,
             focused = ald_widget_has_focus_within(GTK_WIDGET(pane->stack));

        if (!same) {
                g_free(pane->a);
                g_free(pane->b);
                pane->a = g_strdup(a);
                pane->b = g_strdup(b);
                replace_sections(pane);
        }
        if (pane->watching)
                update_content(pane, EVERYTHING);
        /* The widget that had the focus is gone. */
        if (!same && focused && a)
                focus_content(pane, 0);
}

void ald_details_pane_show_node(AldDetailsPane *pane, const char *id)
{
        show_subject(pane, id, NULL);
}

void ald_details_pane_show_pair(AldDetailsPane *pane, const char *a, const char *b)
{
        show_subject(pane, a, b);
}

/* Scrolls in the second frame, since a new row has a place only after the layout of the first one. */
static gboolean scroll_to_opened(GtkWidget *widget, GdkFrameClock *clock, void *userdata)
{
        AldDetailsPane *pane = ALD_DETAILS_PANE(widget);
        graphene_rect_t bounds;

        if (pane->scroll_frames-- > 0)
                return G_SOURCE_CONTINUE;
        if (pane->opened && gtk_widget_compute_bounds(pane->opened, pane->content, &bounds))
                gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(pane->page)),
                        (double) bounds.origin.y);
        g_clear_weak_pointer(&pane->opened);
        pane->scroll_tick = 0;
        return G_SOURCE_REMOVE;
}

void ald_details_pane_open_device(AldDetailsPane *pane, const char *id)
{
        GtkWidget *row = NULL;

        for (guint i = 0; !row && i < pane->sections->len; i++)
                row = ald_keyed_rows_find(ald_details_section_rows(pane->sections->pdata[i]), id);
        if (!row || !ADW_IS_EXPANDER_ROW(row))
                return;
        adw_expander_row_set_expanded(ADW_EXPANDER_ROW(row), TRUE);
        g_set_weak_pointer(&pane->opened, row);
        pane->scroll_frames = 1;
        if (!pane->scroll_tick)
                pane->scroll_tick = gtk_widget_add_tick_callback(
                        GTK_WIDGET(pane), scroll_to_opened, NULL, NULL);
}

void ald_details_pane_clear(AldDetailsPane *pane)
{
        show_subject(pane, NULL, NULL);
}

bool ald_details_pane_is_about(AldDetailsPane *pane, const char *id)
{
        return g_strcmp0(id, pane->a) == 0 || g_strcmp0(id, pane->b) == 0;
}

void ald_details_pane_grab_focus(AldDetailsPane *pane)
{
        focus_content(pane, 0);
}

static void ald_details_pane_map(GtkWidget *widget)
{
        AldDetailsPane *pane = ALD_DETAILS_PANE(widget);

        watch_cluster(pane, true);
        update_content(pane, EVERYTHING);
        GTK_WIDGET_CLASS(ald_details_pane_parent_class)->map(widget);
}

static void ald_details_pane_unmap(GtkWidget *widget)
{
        watch_cluster(ALD_DETAILS_PANE(widget), false);
        GTK_WIDGET_CLASS(ald_details_pane_parent_class)->unmap(widget);
}

static void ald_details_pane_dispose(GObject *object)
{
        AldDetailsPane *pane = ALD_DETAILS_PANE(object);

        if (pane->cluster)
                watch_cluster(pane, false);
        g_clear_weak_pointer(&pane->opened);
        g_clear_object(&pane->cluster);
        g_ptr_array_set_size(pane->sections, 0);
        G_OBJECT_CLASS(ald_details_pane_parent_class)->dispose(object);
}

static void ald_details_pane_finalize(GObject *object)
{
        AldDetailsPane *pane = ALD_DETAILS_PANE(object);

        g_ptr_array_unref(pane->sections);
        g_free(pane->a);
        g_free(pane->b);
        G_OBJECT_CLASS(ald_details_pane_parent_class)->finalize(object);
}

static void ald_details_pane_class_init(AldDetailsPaneClass *class)
{
        GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

        G_OBJECT_CLASS(class)->dispose = ald_details_pane_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_details_pane_finalize;
        widget_class->map = ald_details_pane_map;
        widget_class->unmap = ald_details_pane_unmap;
        gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_REGION);
        gtk_widget_class_install_action(widget_class, "details.refresh", NULL, on_refresh);
        gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "win.close-details", NULL);
}

static GtkWidget *make_page(AldDetailsPane *pane)
{
        GtkWidget *clamp = adw_clamp_new();

        pane->content = gtk_box_new(GTK_ORIENTATION_VERTICAL, 24);
        gtk_widget_set_margin_start(pane->content, 12);
        gtk_widget_set_margin_end(pane->content, 12);
        gtk_widget_set_margin_top(pane->content, 12);
        gtk_widget_set_margin_bottom(pane->content, 24);
        pane->notice = ald_details_notice_new();
        gtk_box_append(GTK_BOX(pane->content), pane->notice);
        adw_clamp_set_maximum_size(ADW_CLAMP(clamp), MOST_PX);
        adw_clamp_set_child(ADW_CLAMP(clamp), pane->content);
        pane->page = gtk_scrolled_window_new();
        gtk_scrolled_window_set_policy(
                GTK_SCROLLED_WINDOW(pane->page), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
        gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(pane->page), clamp);
        return pane->page;
}

static GtkWidget *make_status(AldDetailsPane *pane)
{
        pane->status = adw_status_page_new();
        pane->close = gtk_button_new_with_label(_("Close Details"));
        gtk_actionable_set_action_name(GTK_ACTIONABLE(pane->close), "win.close-details");
        gtk_widget_add_css_class(pane->close, "pill");
        gtk_widget_set_halign(pane->close, GTK_ALIGN_CENTER);
        adw_status_page_set_icon_name(ADW_STATUS_PAGE(pane->status), "network-server-symbolic");
        adw_status_page_set_child(ADW_STATUS_PAGE(pane->status), pane->close);
        gtk_widget_add_css_class(pane->status, "compact");
        return pane->status;
}

static void ald_details_pane_init(AldDetailsPane *pane)
{
        pane->sections = g_ptr_array_new();
        gtk_orientable_set_orientation(GTK_ORIENTABLE(pane), GTK_ORIENTATION_VERTICAL);
        gtk_widget_set_size_request(GTK_WIDGET(pane), LEAST_PX, -1);
        gtk_accessible_update_property(GTK_ACCESSIBLE(pane), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Details"), -1);
        pane->header = ald_details_header_new();
        pane->stack = GTK_STACK(gtk_stack_new());
        gtk_stack_add_child(pane->stack, make_page(pane));
        gtk_stack_add_child(pane->stack, make_status(pane));
        gtk_widget_set_vexpand(GTK_WIDGET(pane->stack), TRUE);
        gtk_box_append(GTK_BOX(pane), pane->header);
        gtk_box_append(GTK_BOX(pane), GTK_WIDGET(pane->stack));
}

GtkWidget *ald_details_pane_new(AldLiveCluster *cluster)
{
        AldDetailsPane *pane = g_object_new(ALD_TYPE_DETAILS_PANE, NULL);

        pane->cluster = g_object_ref(cluster);
        return GTK_WIDGET(pane);
}
