/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/connection.h"
#include "clients/desktop/actions/actions.h"
#include "clients/desktop/details/details-pane.h"
#include "clients/desktop/live/finding-item.h"
#include "clients/desktop/placement/placement-page.h"
#include "clients/desktop/tables/devices-page.h"
#include "clients/desktop/tables/findings-page.h"
#include "clients/desktop/tables/links-page.h"
#include "clients/desktop/tables/list-page.h"
#include "clients/desktop/tables/nodes-page.h"
#include "clients/desktop/topology/topology-view.h"
#include "clients/desktop/widgets/widget-words.h"
#include "clients/desktop/window.h"

#define NARROW_PX 700 /* up to this width the switcher is at the bottom, and details replace the page */
#define LEAST_PX 360
#define DETAILS_PX 420
#define TOAST_SECONDS 8u
#define TOAST_LETTERS 60

struct _AldDesktopWindow {
        AdwApplicationWindow parent;
        AldLiveCluster *cluster;
        AldActions *actions;
        GSettings *settings; /* or NULL */

        AdwToastOverlay *toasts;
        GtkStack *screen; /* "connecting" or "content" */
        AdwStatusPage *connecting;
        GtkSpinner *spinner;
        GtkWidget *banner;
        GtkLabel *banner_text;
        AdwViewStack *pages;
        AdwToast *toast; /* the last toast; a weak pointer */
        GtkWidget *switcher, *switcher_bar, *title, *search;
        GBinding *searches; /* binds the button to the search of the visible page; or NULL */
        GtkWidget *content; /* NULL before anything was read, like pages and details */
        AldPlacementPage *placement;
        AldDetailsPane *details;
        GtkWidget *details_box;
        GtkWidget *page_focus; /* widget of the pages that last had the focus, or NULL */

        gulong surface_handler;
        guint adapt_id;
        char *page; /* the page to show once there are pages, or NULL */
        int width;
        int wide_least[2]; /* minimum width of the wide layout, without and with details; 0: unknown */
        bool narrow, shows_details;
#if ADW_CHECK_VERSION(1, 4, 0)
        AdwBreakpoint *breakpoint;
        int breakpoint_width;
#endif
};

G_DEFINE_FINAL_TYPE(AldDesktopWindow, ald_desktop_window, ADW_TYPE_APPLICATION_WINDOW)

/* Narrow and wide layout. */

static void update_search_button(AldDesktopWindow *window);

static void adapt_layout(AldDesktopWindow *window)
{
        bool details_alone = window->narrow && window->shows_details;

        if (window->narrow)
                gtk_widget_add_css_class(GTK_WIDGET(window), "narrow");
        else
                gtk_widget_remove_css_class(GTK_WIDGET(window), "narrow");
        gtk_widget_set_visible(window->switcher, window->content && !window->narrow);
        gtk_widget_set_visible(window->title, !window->content || window->narrow);
        if (!window->content)
                return;
        gtk_widget_set_visible(window->details_box, window->shows_details);
        gtk_widget_set_visible(GTK_WIDGET(window->pages), !details_alone);
        update_search_button(window);
        gtk_widget_set_hexpand(window->details_box, details_alone);
        gtk_widget_set_size_request(window->details_box, window->narrow ? -1 : DETAILS_PX, -1);
        adw_view_switcher_bar_set_reveal(
                ADW_VIEW_SWITCHER_BAR(window->switcher_bar), window->narrow && !details_alone);
}

static void update_narrow_width(AldDesktopWindow *window);
static void focus_details(AldDesktopWindow *window);

static void set_narrow(AldDesktopWindow *window, bool narrow)
{
        if (window->narrow == narrow)
                return;
        window->narrow = narrow;
        adapt_layout(window);
        focus_details(window);
        update_narrow_width(window);
}

/* Returns the width up to which the window is narrow. It is larger where translations or fonts need more
 * room. */
static int narrow_width(const AldDesktopWindow *window)
{
        return MAX(NARROW_PX, window->wide_least[window->shows_details] - 1);
}

#if ADW_CHECK_VERSION(1, 4, 0)

static AdwBreakpointCondition *condition_new(AldDesktopWindow *window)
{
        window->breakpoint_width = narrow_width(window);
        return adw_breakpoint_condition_new_length(
                ADW_BREAKPOINT_CONDITION_MAX_WIDTH, window->breakpoint_width, ADW_LENGTH_UNIT_PX);
}

/* Measures the content, since with a breakpoint the window itself only reports its least width. */
static void update_narrow_width(AldDesktopWindow *window)
{
        g_autoptr(AdwBreakpointCondition) condition = NULL;

        if (!window->narrow)
                gtk_widget_measure(GTK_WIDGET(window->toasts), GTK_ORIENTATION_HORIZONTAL, -1,
                        &window->wide_least[window->shows_details], NULL, NULL, NULL);
        if (narrow_width(window) == window->breakpoint_width)
                return;
        condition = condition_new(window);
        adw_breakpoint_set_condition(window->breakpoint, condition);
}

static void on_narrow(AdwBreakpoint *breakpoint, AldDesktopWindow *window)
{
        set_narrow(window, true);
}

static void on_wide(AdwBreakpoint *breakpoint, AldDesktopWindow *window)
{
        set_narrow(window, false);
}

static void watch_width(AldDesktopWindow *window)
{
        window->breakpoint = adw_breakpoint_new(condition_new(window));
        g_signal_connect(window->breakpoint, "apply", G_CALLBACK(on_narrow), window);
        g_signal_connect(window->breakpoint, "unapply", G_CALLBACK(on_wide), window);
        adw_application_window_add_breakpoint(ADW_APPLICATION_WINDOW(window), window->breakpoint);
}

#else

static bool must_be_narrow(const AldDesktopWindow *window)
{
        return window->width <= narrow_width(window);
}

static gboolean on_adapt(void *userdata)
{
        AldDesktopWindow *window = userdata;

        window->adapt_id = 0;
        set_narrow(window, must_be_narrow(window));
        return G_SOURCE_REMOVE;
}

/* Changes the layout later, since widgets must not change during an allocation. */
static void ald_desktop_window_size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(widget);

        GTK_WIDGET_CLASS(ald_desktop_window_parent_class)->size_allocate(widget, width, height, baseline);
        window->width = width;
        if (must_be_narrow(window) != window->narrow && !window->adapt_id)
                window->adapt_id = g_idle_add_full(G_PRIORITY_HIGH, on_adapt, window, NULL);
}

/* Reports a small minimum while wide; otherwise the window could never shrink enough to become narrow. */
static void ald_desktop_window_measure(GtkWidget *widget, GtkOrientation orientation, int for_size,
        int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(widget);

        GTK_WIDGET_CLASS(ald_desktop_window_parent_class)
                ->measure(
                        widget, orientation, for_size, minimum, natural, minimum_baseline, natural_baseline);
        if (orientation != GTK_ORIENTATION_HORIZONTAL || window->narrow)
                return;
        window->wide_least[window->shows_details] = *minimum;
        *minimum = MIN(*minimum, LEAST_PX);
}

static void update_narrow_width(AldDesktopWindow *window)
{
}

static void watch_width(AldDesktopWindow *window)
{
}

#endif

/* Following the cluster only while the window can be seen. */

static bool is_seen(AldDesktopWindow *window)
{
        GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
        GdkToplevelState state, hidden = GDK_TOPLEVEL_STATE_MINIMIZED;

#if GTK_CHECK_VERSION(4, 12, 0)
        hidden |= GDK_TOPLEVEL_STATE_SUSPENDED;
#endif
        if (!gtk_widget_get_mapped(GTK_WIDGET(window)) || !GDK_IS_TOPLEVEL(surface))
                return false;
        state = gdk_toplevel_get_state(GDK_TOPLEVEL(surface));
        return !(state & hidden);
}

static void update_wanted(AldDesktopWindow *window)
{
        ald_live_cluster_set_wanted(window->cluster, is_seen(window));
}

static void ald_desktop_window_realize(GtkWidget *widget)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(widget);

        GTK_WIDGET_CLASS(ald_desktop_window_parent_class)->realize(widget);
        window->surface_handler = g_signal_connect_swapped(gtk_native_get_surface(GTK_NATIVE(widget)),
                "notify::state", G_CALLBACK(update_wanted), window);
}

static void ald_desktop_window_unrealize(GtkWidget *widget)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(widget);

        g_clear_signal_handler(&window->surface_handler, gtk_native_get_surface(GTK_NATIVE(widget)));
        GTK_WIDGET_CLASS(ald_desktop_window_parent_class)->unrealize(widget);
}

static void ald_desktop_window_map(GtkWidget *widget)
{
        GTK_WIDGET_CLASS(ald_desktop_window_parent_class)->map(widget);
        update_wanted(ALD_DESKTOP_WINDOW(widget));
}

static void ald_desktop_window_unmap(GtkWidget *widget)
{
        GTK_WIDGET_CLASS(ald_desktop_window_parent_class)->unmap(widget);
        update_wanted(ALD_DESKTOP_WINDOW(widget));
}

/* The keyboard focus moves into the details and back to where it was. */

/* Remembers the focused widget of the pages, unless it is in a menu, which will close. */
static void on_focus(AldDesktopWindow *window)
{
        GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(window));

        if (window->content && ald_widget_has_focus_within(GTK_WIDGET(window->pages)) &&
                gtk_widget_get_native(focus) == GTK_NATIVE(window))
                g_set_weak_pointer(&window->page_focus, focus);
}

static void restore_page_focus(AldDesktopWindow *window)
{
        if (!window->page_focus || !gtk_widget_get_mapped(window->page_focus) ||
                !gtk_widget_grab_focus(window->page_focus))
                gtk_widget_child_focus(GTK_WIDGET(window->pages), GTK_DIR_TAB_FORWARD);
}

/* Moves the focus to the details where they replace the page. */
static void focus_details(AldDesktopWindow *window)
{
        if (window->narrow && window->shows_details && !ald_widget_has_focus_within(window->details_box))
                ald_details_pane_grab_focus(window->details);
}

/* Actions. */

static AldTopologyView *topology_of(AldDesktopWindow *window)
{
        return ALD_TOPOLOGY_VIEW(adw_view_stack_get_child_by_name(window->pages, "topology"));
}

static void open_details(AldDesktopWindow *window, bool open)
{
        if (!window->content)
                return;
        window->shows_details = open;
        if (!open)
                ald_details_pane_clear(window->details);
        ald_topology_view_select(topology_of(window), NULL, NULL);
        adapt_layout(window);
        update_narrow_width(window);
}

static void select_in_topology(AldDesktopWindow *window, const char *a, const char *b)
{
        ald_topology_view_select(topology_of(window), a, b);
}

static void on_overlay_changed(AldDesktopWindow *window)
{
        const char *title;
        const AldPlanReport *report = ald_placement_page_overlay(window->placement, &title);

        ald_topology_view_show_plan(topology_of(window), report, title);
        if (report)
                ald_desktop_window_show_page(window, "topology");
}

static void on_clear_plan(GtkWidget *widget, const char *name, GVariant *parameter)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(widget);

        if (window->placement)
                ald_placement_page_clear_overlay(window->placement);
}

static void close_details(AldDesktopWindow *window)
{
        bool had_focus = window->content && ald_widget_has_focus_within(window->details_box);

        open_details(window, false);
        if (had_focus)
                restore_page_focus(window);
}

/* Shows a node, at one of its devices unless that is NULL. */
static void show_node(AldDesktopWindow *window, const char *id, const char *device)
{
        if (!window->content)
                return;
        open_details(window, true);
        ald_details_pane_show_node(window->details, id);
        if (device)
                ald_details_pane_open_device(window->details, device);
        select_in_topology(window, id, NULL);
        focus_details(window);
}

static void on_show_node(GtkWidget *widget, const char *name, GVariant *parameter)
{
        show_node(ALD_DESKTOP_WINDOW(widget), g_variant_get_string(parameter, NULL), NULL);
}

static void on_show_device(GtkWidget *widget, const char *name, GVariant *parameter)
{
        const char *node, *device;

        g_variant_get(parameter, "(&s&s)", &node, &device);
        show_node(ALD_DESKTOP_WINDOW(widget), node, device);
}

static void on_show_pair(GtkWidget *widget, const char *name, GVariant *parameter)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(widget);
        const char *a, *b;

        if (!window->content)
                return;
        g_variant_get(parameter, "(&s&s)", &a, &b);
        open_details(window, true);
        ald_details_pane_show_pair(window->details, a, b);
        select_in_topology(window, a, b);
        focus_details(window);
}

static void on_close_details(GtkWidget *widget, const char *name, GVariant *parameter)
{
        close_details(ALD_DESKTOP_WINDOW(widget));
}

/* Closes the details of a node that was forgotten here. */
static void on_leave_node(GtkWidget *widget, const char *name, GVariant *parameter)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(widget);

        if (window->content &&
                ald_details_pane_is_about(window->details, g_variant_get_string(parameter, NULL)))
                close_details(window);
}

static void on_say(GtkWidget *widget, const char *name, GVariant *parameter)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(widget);
        const char *text = g_variant_get_string(parameter, NULL);
        g_autofree char *markup = g_markup_escape_text(text, -1);
        AdwToast *toast = adw_toast_new(markup);

        adw_toast_set_timeout(toast, TOAST_SECONDS);
        /* A toast has one line, and is cut at its end. */
        if (g_utf8_strlen(text, -1) > TOAST_LETTERS) {
                adw_toast_set_button_label(toast, _("Details"));
                adw_toast_set_action_name(toast, "win.tell");
                adw_toast_set_action_target(toast, "s", text);
        }
        /* With normal priority it would wait until all earlier toasts have been seen; those return after it.
         */
        adw_toast_set_priority(toast, ADW_TOAST_PRIORITY_HIGH);
        if (window->toast && strcmp(adw_toast_get_title(window->toast), markup) == 0)
                adw_toast_dismiss(window->toast);
        g_set_weak_pointer(&window->toast, toast);
        adw_toast_overlay_add_toast(window->toasts, toast);
}

static void on_retry(GtkWidget *widget, const char *name, GVariant *parameter)
{
        ald_live_cluster_retry(ALD_DESKTOP_WINDOW(widget)->cluster);
}

/* Loads the shortcuts when they are requested; GTK would load them with each window. */
G_GNUC_BEGIN_IGNORE_DEPRECATIONS /* since 4.18; the replacement needs libadwaita 1.8 */
        static void
        on_show_shortcuts(GtkWidget *widget, const char *name, GVariant *parameter)
{
        GtkApplicationWindow *window = GTK_APPLICATION_WINDOW(widget);

        if (!gtk_application_window_get_help_overlay(window)) {
                g_autoptr(GtkBuilder)
                        builder = gtk_builder_new_from_resource("/org/alidade/Alidade/shortcuts.ui");

                gtk_application_window_set_help_overlay(
                        window, GTK_SHORTCUTS_WINDOW(gtk_builder_get_object(builder, "shortcuts")));
        }
        gtk_window_present(GTK_WINDOW(gtk_application_window_get_help_overlay(window)));
}
G_GNUC_END_IGNORE_DEPRECATIONS

static void on_show_page(GtkWidget *widget, const char *name, GVariant *parameter)
{
        ald_desktop_window_show_page(ALD_DESKTOP_WINDOW(widget), g_variant_get_string(parameter, NULL));
}

void ald_desktop_window_show_page(AldDesktopWindow *window, const char *page)
{
        if (!window->pages) {
                g_free(window->page);
                window->page = g_strdup(page);
        } else if (adw_view_stack_get_child_by_name(window->pages, page)) {
                adw_view_stack_set_visible_child_name(window->pages, page);
        }
}

/* Widgets. */

static GtkWidget *make_menu_button(void)
{
        g_autoptr(GMenu) menu = g_menu_new(), look = g_menu_new(), settings = g_menu_new(),
                         about = g_menu_new();
        GtkWidget *button = gtk_menu_button_new();

        g_menu_append(look, _("_Rename This Machine…"), "win.set-name");
        g_menu_append(look, _("_Connect to Another Machine…"), "win.connect");
        g_menu_append_section(menu, NULL, G_MENU_MODEL(look));
        g_menu_append(settings, _("_Hold Off Measurements"), "win.hold-off");
        g_menu_append(settings, _("_Notify of Findings"), "app.notify-findings");
        g_menu_append(settings, _("Keep Running in the _Background"), "app.run-in-background");
        g_menu_append_section(menu, NULL, G_MENU_MODEL(settings));
        g_menu_append(about, _("_Keyboard Shortcuts"), "win.show-shortcuts");
        g_menu_append(about, _("_About Alidade"), "app.about");
        g_menu_append_section(menu, NULL, G_MENU_MODEL(about));
        gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(button), G_MENU_MODEL(menu));
        gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(button), "open-menu-symbolic");
        gtk_menu_button_set_primary(GTK_MENU_BUTTON(button), TRUE);
        ald_button_name(button, _("Main Menu"));
        return button;
}

static GtkWidget *make_header(AldDesktopWindow *window)
{
        GtkWidget *header = adw_header_bar_new(), *hold_off = gtk_toggle_button_new(),
                  *titles = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);

        window->switcher = g_object_new(
                ADW_TYPE_VIEW_SWITCHER, "policy", ADW_VIEW_SWITCHER_POLICY_WIDE, NULL);
        window->title = adw_window_title_new("Alidade", ald_live_cluster_host(window->cluster) ?: "");
        gtk_box_append(GTK_BOX(titles), window->switcher);
        gtk_box_append(GTK_BOX(titles), window->title);
        adw_header_bar_set_title_widget(ADW_HEADER_BAR(header), titles);
        gtk_button_set_icon_name(GTK_BUTTON(hold_off), "alidade-hold-off-symbolic");
        ald_button_name(hold_off, _("Hold Off Measurements"));
        gtk_actionable_set_action_name(GTK_ACTIONABLE(hold_off), "win.hold-off");
        adw_header_bar_pack_start(ADW_HEADER_BAR(header), hold_off);
        window->search = gtk_toggle_button_new();
        gtk_button_set_icon_name(GTK_BUTTON(window->search), "system-search-symbolic");
        gtk_widget_set_visible(window->search, FALSE);
        ald_button_name(window->search, _("Search"));
        adw_header_bar_pack_end(ADW_HEADER_BAR(header), make_menu_button());
        adw_header_bar_pack_end(ADW_HEADER_BAR(header), window->search);
        return header;
}

static GtkWidget *make_banner(
        GtkLabel *text, const char *icon, const char *class, const char *button, const char *action)
{
        GtkWidget *banner = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12),
                  *press = gtk_button_new_with_label(button), *image = ald_decoration_new();

        gtk_label_set_wrap(text, TRUE);
        gtk_label_set_xalign(text, 0);
        gtk_widget_set_hexpand(GTK_WIDGET(text), TRUE);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(press), action);
        gtk_widget_set_valign(press, GTK_ALIGN_CENTER);
        gtk_widget_add_css_class(banner, class);
        ald_decoration_show(image, icon);
        gtk_box_append(GTK_BOX(banner), image);
        gtk_box_append(GTK_BOX(banner), GTK_WIDGET(text));
        gtk_box_append(GTK_BOX(banner), press);
        return banner;
}

static GtkWidget *make_problem_banner(AldDesktopWindow *window)
{
        window->banner_text = GTK_LABEL(gtk_label_new(NULL));
        window->banner = make_banner(window->banner_text, "dialog-warning-symbolic", "problem-banner",
                _("Try Again"), "win.retry");
        return window->banner;
}

static GtkWidget *make_held_off_banner(AldDesktopWindow *window)
{
        GtkWidget *text = gtk_label_new(
                _("Measurements of this machine are held off until you resume them or quit Alidade"));
        GtkWidget *banner = make_banner(
                GTK_LABEL(text), "alidade-hold-off-symbolic", "held-off-banner", _("Resume"), "win.hold-off");

        g_object_bind_property(
                ald_actions_hold_off(window->actions), "held", banner, "visible", G_BINDING_SYNC_CREATE);
        return banner;
}

static GtkWidget *make_connecting(AldDesktopWindow *window)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 24),
                  *retry = gtk_button_new_with_label(_("Try Again"));

        window->connecting = ADW_STATUS_PAGE(adw_status_page_new());
        window->spinner = GTK_SPINNER(gtk_spinner_new());
        adw_status_page_set_icon_name(window->connecting, "alidade-topology-symbolic");
        gtk_widget_set_size_request(GTK_WIDGET(window->spinner), 32, 32);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(retry), "win.retry");
        gtk_widget_add_css_class(retry, "pill");
        gtk_widget_set_halign(retry, GTK_ALIGN_CENTER);
        gtk_box_append(GTK_BOX(box), GTK_WIDGET(window->spinner));
        gtk_box_append(GTK_BOX(box), retry);
        adw_status_page_set_child(window->connecting, box);
        return GTK_WIDGET(window->connecting);
}

static void add_page(
        AldDesktopWindow *window, GtkWidget *page, const char *name, const char *title, const char *icon)
{
        AdwViewStackPage *added = adw_view_stack_add_titled(window->pages, page, name, title);

        adw_view_stack_page_set_icon_name(added, icon);
}

/* Shows the search button for pages that can be searched, and binds it to the page's search. */
static void update_search_button(AldDesktopWindow *window)
{
        GtkWidget *page = adw_view_stack_get_visible_child(window->pages),
                  *bar = page ? ald_list_page_search_bar(page) : NULL;
        bool details_alone = window->narrow && window->shows_details;

        g_clear_pointer(&window->searches, g_binding_unbind);
        gtk_widget_set_visible(window->search, bar && !details_alone);
        if (bar)
                window->searches = g_object_bind_property(bar, "search-mode-enabled", window->search,
                        "active", G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
}

static void make_pages(AldDesktopWindow *window)
{
        window->pages = ADW_VIEW_STACK(adw_view_stack_new());
        gtk_widget_set_hexpand(GTK_WIDGET(window->pages), TRUE);
        add_page(window, ald_topology_view_new(window->cluster, window->settings), "topology", _("Topology"),
                "alidade-topology-symbolic");
        add_page(window, ald_nodes_page_new(window->cluster), "nodes", _("Nodes"), "network-server-symbolic");
        add_page(window, ald_devices_page_new(window->cluster), "devices", _("Devices"),
                "alidade-devices-symbolic");
        add_page(window, ald_links_page_new(window->cluster), "links", _("Links"), "alidade-links-symbolic");
        add_page(window, ald_findings_page_new(window->cluster), "findings", _("Findings"),
                "alidade-findings-symbolic");
        window->placement = ALD_PLACEMENT_PAGE(
                ald_placement_page_new(window->cluster, ald_actions_bus(window->actions)));
        add_page(window, GTK_WIDGET(window->placement), "placement", _("Placement"),
                "alidade-placement-symbolic");
        g_signal_connect_swapped(
                window->placement, "overlay-changed", G_CALLBACK(on_overlay_changed), window);
        g_signal_connect_swapped(
                window->pages, "notify::visible-child", G_CALLBACK(update_search_button), window);
}

static GtkWidget *make_content(AldDesktopWindow *window)
{
        GtkWidget *separator = gtk_separator_new(GTK_ORIENTATION_VERTICAL);

        window->content = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
        window->details_box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
        window->details = ALD_DETAILS_PANE(ald_details_pane_new(window->cluster));
        gtk_widget_set_hexpand(GTK_WIDGET(window->details), TRUE);
        gtk_box_append(GTK_BOX(window->details_box), separator);
        gtk_box_append(GTK_BOX(window->details_box), GTK_WIDGET(window->details));
        gtk_box_append(GTK_BOX(window->content), GTK_WIDGET(window->pages));
        gtk_box_append(GTK_BOX(window->content), window->details_box);
        gtk_widget_set_vexpand(window->content, TRUE);
        return window->content;
}

static void build_window(AldDesktopWindow *window)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);

        window->toasts = ADW_TOAST_OVERLAY(adw_toast_overlay_new());
        window->screen = GTK_STACK(gtk_stack_new());
        gtk_stack_set_hhomogeneous(window->screen, FALSE);
        gtk_stack_set_vhomogeneous(window->screen, FALSE);
        gtk_stack_add_named(window->screen, make_connecting(window), "connecting");
        window->switcher_bar = adw_view_switcher_bar_new();
        gtk_box_append(GTK_BOX(box), make_header(window));
        gtk_box_append(GTK_BOX(box), make_problem_banner(window));
        gtk_box_append(GTK_BOX(box), make_held_off_banner(window));
        gtk_box_append(GTK_BOX(box), GTK_WIDGET(window->screen));
        gtk_box_append(GTK_BOX(box), ald_actions_job_bar(window->actions));
        gtk_box_append(GTK_BOX(box), window->switcher_bar);
        adw_toast_overlay_set_child(window->toasts, box);
        adw_application_window_set_content(ADW_APPLICATION_WINDOW(window), GTK_WIDGET(window->toasts));
        watch_width(window);
        adapt_layout(window);
}

/* Creates the pages once there is data, so that the window appears sooner. */
static void create_content(AldDesktopWindow *window)
{
        g_autofree char *page = g_steal_pointer(&window->page);

        if (!page && window->settings)
                page = g_settings_get_string(window->settings, "page");
        make_pages(window);
        adw_view_switcher_set_stack(ADW_VIEW_SWITCHER(window->switcher), window->pages);
        adw_view_switcher_bar_set_stack(ADW_VIEW_SWITCHER_BAR(window->switcher_bar), window->pages);
        gtk_stack_add_named(window->screen, make_content(window), "content");
        if (page)
                ald_desktop_window_show_page(window, page);
        adapt_layout(window);
        update_narrow_width(window);
}

/* The state of the connection. */

static void update_problem(AldDesktopWindow *window)
{
        const char *problem = ald_live_cluster_problem(window->cluster);
        g_autofree char *markup = g_markup_escape_text(problem ?: "", -1);
        bool has_data = ald_live_cluster_has_data(window->cluster);

        if (has_data && !window->content)
                create_content(window);
        if (has_data && g_strcmp0(gtk_stack_get_visible_child_name(window->screen), "content") != 0) {
                gtk_stack_set_visible_child_name(window->screen, "content");
                gtk_widget_child_focus(GTK_WIDGET(window->pages), GTK_DIR_TAB_FORWARD);
        }
        gtk_spinner_set_spinning(window->spinner, !has_data && g_strcmp0(problem, _("Connecting")) == 0);
        adw_status_page_set_title(
                window->connecting, ald_connection_place(ald_live_cluster_host(window->cluster)));
        adw_status_page_set_description(window->connecting, markup);
        gtk_label_set_label(window->banner_text, problem ?: "");
        gtk_widget_set_visible(window->banner, has_data && problem);
        if (window->content && problem)
                gtk_widget_add_css_class(window->content, "outdated");
        else if (window->content)
                gtk_widget_remove_css_class(window->content, "outdated");
}

static guint count_urgent_findings(AldLiveCluster *cluster)
{
        GListModel *findings = ald_live_cluster_findings(cluster);
        guint count = 0;

        for (guint i = 0; i < g_list_model_get_n_items(findings); i++) {
                g_autoptr(AldFindingItem) item = g_list_model_get_item(findings, i);

                count += ald_finding_item_severity(item) != ALD_FINDING_ROW_SEVERITY_NOTICE &&
                         !ald_finding_item_is_silent(item);
        }
        return count;
}

static void update_badge(AldDesktopWindow *window)
{
        GtkWidget *child = adw_view_stack_get_child_by_name(window->pages, "findings");
        AdwViewStackPage *page = adw_view_stack_get_page(window->pages, child);
        guint count = count_urgent_findings(window->cluster);

        adw_view_stack_page_set_badge_number(page, count);
        adw_view_stack_page_set_needs_attention(page, count > 0);
        update_narrow_width(window);
}

static void on_updated(AldDesktopWindow *window, guint parts)
{
        bool filled = window->pages != NULL;

        update_problem(window);
        if (window->pages && (!filled || parts & ALD_LIVE_FINDINGS))
                update_badge(window);
}

static void restore_size(AldDesktopWindow *window)
{
        if (!window->settings)
                return;
        gtk_window_set_default_size(GTK_WINDOW(window), g_settings_get_int(window->settings, "window-width"),
                g_settings_get_int(window->settings, "window-height"));
        if (g_settings_get_boolean(window->settings, "window-maximized"))
                gtk_window_maximize(GTK_WINDOW(window));
}

static gboolean ald_desktop_window_close_request(GtkWindow *base)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(base);
        int width, height;

        if (window->settings) {
                gtk_window_get_default_size(base, &width, &height);
                g_settings_set_int(window->settings, "window-width", width);
                g_settings_set_int(window->settings, "window-height", height);
                g_settings_set_boolean(window->settings, "window-maximized", gtk_window_is_maximized(base));
                if (window->pages)
                        g_settings_set_string(window->settings, "page",
                                adw_view_stack_get_visible_child_name(window->pages));
        }
        return GTK_WINDOW_CLASS(ald_desktop_window_parent_class)->close_request(base);
}

static void ald_desktop_window_dispose(GObject *object)
{
        AldDesktopWindow *window = ALD_DESKTOP_WINDOW(object);

        g_clear_handle_id(&window->adapt_id, g_source_remove);
        g_signal_handlers_disconnect_by_func(window, on_focus, NULL);
        g_clear_weak_pointer(&window->page_focus);
        if (window->pages)
                g_signal_handlers_disconnect_by_data(window->pages, window);
        if (window->placement)
                g_signal_handlers_disconnect_by_data(window->placement, window);
        window->placement = NULL;
        g_clear_pointer(&window->searches, g_binding_unbind);
        if (window->cluster) {
                g_signal_handlers_disconnect_by_data(window->cluster, window);
                ald_live_cluster_set_wanted(window->cluster, false);
        }
        g_clear_weak_pointer(&window->toast);
        g_clear_pointer(&window->actions, ald_actions_free);
        G_OBJECT_CLASS(ald_desktop_window_parent_class)->dispose(object);
        g_clear_object(&window->cluster);
        g_clear_object(&window->settings);
        g_clear_pointer(&window->page, g_free);
}

static void ald_desktop_window_class_init(AldDesktopWindowClass *class)
{
        GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

        G_OBJECT_CLASS(class)->dispose = ald_desktop_window_dispose;
        GTK_WINDOW_CLASS(class)->close_request = ald_desktop_window_close_request;
        widget_class->realize = ald_desktop_window_realize;
        widget_class->unrealize = ald_desktop_window_unrealize;
        widget_class->map = ald_desktop_window_map;
        widget_class->unmap = ald_desktop_window_unmap;
#if !ADW_CHECK_VERSION(1, 4, 0)
        widget_class->measure = ald_desktop_window_measure;
        widget_class->size_allocate = ald_desktop_window_size_allocate;
#endif
        gtk_widget_class_install_action(widget_class, "win.show-node", "s", on_show_node);
        gtk_widget_class_install_action(widget_class, "win.show-device", "(ss)", on_show_device);
        gtk_widget_class_install_action(widget_class, "win.show-pair", "(ss)", on_show_pair);
        gtk_widget_class_install_action(widget_class, "win.close-details", NULL, on_close_details);
        gtk_widget_class_install_action(widget_class, "win.leave-node", "s", on_leave_node);
        gtk_widget_class_install_action(widget_class, "win.say", "s", on_say);
        gtk_widget_class_install_action(widget_class, "win.retry", NULL, on_retry);
        gtk_widget_class_install_action(widget_class, "win.show-page", "s", on_show_page);
        gtk_widget_class_install_action(widget_class, "win.clear-plan", NULL, on_clear_plan);
        gtk_widget_class_install_action(widget_class, "win.show-shortcuts", NULL, on_show_shortcuts);
        /* The key applies only if the focused widget, such as a search, has not used it. */
        gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Escape, 0, "win.close-details", NULL);
}

static void ald_desktop_window_init(AldDesktopWindow *window)
{
}

AldDesktopWindow *ald_desktop_window_new(
        AdwApplication *application, AldLiveCluster *cluster, GSettings *settings)
{
        AldDesktopWindow *window = g_object_new(ALD_TYPE_DESKTOP_WINDOW, "application", application, "title",
                "Alidade", "default-width", 1100, "default-height", 760, "width-request", LEAST_PX,
                "height-request", LEAST_PX, NULL);

        window->cluster = g_object_ref(cluster);
        window->settings = settings ? g_object_ref(settings) : NULL;
        window->actions = ald_actions_new(GTK_APPLICATION_WINDOW(window), cluster);
        build_window(window);
        restore_size(window);
        g_signal_connect_swapped(cluster, "updated", G_CALLBACK(on_updated), window);
        g_signal_connect_swapped(cluster, "notify::problem", G_CALLBACK(update_problem), window);
        g_signal_connect(window, "notify::focus-widget", G_CALLBACK(on_focus), NULL);
        update_problem(window);
        return window;
}

AldLiveCluster *ald_desktop_window_cluster(AldDesktopWindow *window)
{
        return window->cluster;
}
