/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/desktop/live/bus-error-words.h"
#include "clients/desktop/placement/export-button.h"
#include "clients/desktop/placement/order-form.h"
#include "clients/desktop/placement/placement-page.h"
#include "clients/desktop/placement/plan-run.h"
#include "clients/desktop/placement/plan-view.h"
#include "clients/desktop/widgets/widget-words.h"
#include "common/bus-names.h"
#include "placement/plan/workload.h"

#define SPACING 12
#define WIDTH 760

struct _AldPlacementPage {
        AdwBin parent;
        AldHostBus *bus;
        AldOrderForm *form;
        AldPlanView *view;
        AldExportButton *export;
        GtkWidget *box, *start, *message, *toggle;
        GtkWidget *running, *progress; /* NULL if no plan is being made */
        AldPlanRun *run;               /* NULL if no plan is being made */
        AldPlanReport *report;         /* NULL if there is none */
        char *asked, *title;           /* what the run places, and what the report places */
        char *path;                    /* path of the run's model; NULL: none */
};

G_DEFINE_FINAL_TYPE(AldPlacementPage, ald_placement_page, ADW_TYPE_BIN)

enum { OVERLAY_CHANGED, N_SIGNALS };

static guint signals[N_SIGNALS];

static void show_message(AldPlacementPage *page, const char *text, AldTone tone)
{
        ald_widget_show_tone(page->message, tone);
        ald_label_show(page->message, text);
}

static void update_start(AldPlacementPage *page)
{
        gtk_widget_set_sensitive(page->start, !page->run && !ald_order_form_problem(page->form));
}

static void on_cancel(AldPlacementPage *page);

static GtkWidget *make_running(AldPlacementPage *page)
{
        GtkWidget *running = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, SPACING),
                  *cancel = gtk_button_new_with_label(_("Cancel"));

        page->progress = gtk_progress_bar_new();
        gtk_widget_set_hexpand(page->progress, TRUE);
        gtk_widget_set_valign(page->progress, GTK_ALIGN_CENTER);
        ald_widget_describe(page->progress, _("Planning"), NULL);
        ald_widget_describe(cancel, _("Cancel Planning"), NULL);
        g_signal_connect_swapped(cancel, "clicked", G_CALLBACK(on_cancel), page);
        gtk_box_append(GTK_BOX(running), page->progress);
        gtk_box_append(GTK_BOX(running), cancel);
        return running;
}

/* Makes the widgets anew each time: screen readers do not notice in GTK 4.8 that one widget is shown while
 * another is hidden. */
static void show_running(AldPlacementPage *page)
{
        bool had_focus = gtk_widget_has_focus(page->start);

        page->running = make_running(page);
        gtk_box_insert_child_after(GTK_BOX(page->box), page->running, page->start);
        update_start(page);
        if (had_focus)
                gtk_widget_child_focus(page->running, GTK_DIR_TAB_FORWARD);
}

static void hide_running(AldPlacementPage *page)
{
        bool had_focus = ald_widget_has_focus_within(page->running);

        update_start(page);
        gtk_box_remove(GTK_BOX(page->box), page->running);
        page->running = page->progress = NULL;
        if (had_focus)
                gtk_widget_grab_focus(page->start);
}

/* Replaces the report. Everything that refers to the one before is cleared first. */
static void replace_report(AldPlacementPage *page, AldPlanReport *report)
{
        ald_placement_page_clear_overlay(page);
        ald_plan_view_show(page->view, NULL, NULL);
        ald_export_button_set_plan(page->export, NULL, NULL);
        ald_plan_report_free(page->report);
        g_free(page->title);
        page->report = report;
        page->title = g_steal_pointer(&page->asked);
        ald_plan_view_show(page->view, report, page->title);
        ald_export_button_set_plan(page->export, report, page->path);
}

static void on_progressed(double fraction, void *userdata)
{
        gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(ALD_PLACEMENT_PAGE(userdata)->progress), fraction);
}

static void on_ended(AldPlanReport *report, const sd_bus_error *error, void *userdata)
{
        AldPlacementPage *page = userdata;
        g_autofree char *why = NULL, *words = NULL;

        page->run = NULL;
        hide_running(page);
        if (report) {
                replace_report(page, report);
                return;
        }
        why = ald_bus_error_words(error, ALD_PLACEMENT_UNIT);
        words = g_strdup_printf(_("Cannot plan: %s"), why);
        show_message(page, words, ALD_TONE_ERROR);
}

static void start_planning(AldPlacementPage *page)
{
        static const AldPlanRunHandler handler = { .progressed = on_progressed, .ended = on_ended };
        g_auto(AldPlanWorkload) workload = ALD_PLAN_WORKLOAD_INIT;
        AldPlanOptions options;
        AldPlanOrder order;
        g_autofree char *error = NULL;

        if (page->run || ald_order_form_problem(page->form))
                return;
        order = ald_order_form_order(page->form);
        options = ald_order_form_options(page->form);
        if (ald_plan_order_workload(&order, &workload, &error) < 0) {
                show_message(page, error, ALD_TONE_ERROR);
                return;
        }
        g_free(page->asked);
        g_free(page->path);
        page->asked = ald_plan_order_title(&order);
        page->path = g_strdup(ald_order_form_path(page->form));
        show_message(page, NULL, ALD_TONE_PLAIN);
        page->run = ald_plan_run_start(page->bus, &workload, &options, &handler, page);
        show_running(page);
}

static void on_cancel(AldPlacementPage *page)
{
        g_clear_pointer(&page->run, ald_plan_run_cancel);
        hide_running(page);
        show_message(page, _("Planning was canceled"), ALD_TONE_FAINT);
}

static void on_toggled(AldPlacementPage *page)
{
        g_signal_emit(page, signals[OVERLAY_CHANGED], 0);
}

const AldPlanReport *ald_placement_page_overlay(AldPlacementPage *page, const char **ret_title)
{
        bool shown = gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(page->toggle));

        *ret_title = page->title;
        return shown ? page->report : NULL;
}

void ald_placement_page_clear_overlay(AldPlacementPage *page)
{
        gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(page->toggle), FALSE);
}

/* A window may have several pages; the shortcut is for the visible one. */
static gboolean on_shortcut(GtkWidget *widget, GVariant *arguments, gpointer userdata)
{
        if (!gtk_widget_get_mapped(widget))
                return FALSE;
        start_planning(ALD_PLACEMENT_PAGE(widget));
        return TRUE;
}

static void add_shortcuts(AldPlacementPage *page)
{
        static const guint keys[] = { GDK_KEY_Return, GDK_KEY_KP_Enter };
        GtkEventController *controller = gtk_shortcut_controller_new();

        gtk_shortcut_controller_set_scope(GTK_SHORTCUT_CONTROLLER(controller), GTK_SHORTCUT_SCOPE_GLOBAL);
        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(controller),
                        gtk_shortcut_new(gtk_keyval_trigger_new(keys[i], GDK_CONTROL_MASK),
                                gtk_callback_action_new(on_shortcut, NULL, NULL)));
        gtk_widget_add_controller(GTK_WIDGET(page), controller);
}

static GtkWidget *make_start(AldPlacementPage *page)
{
        page->start = gtk_button_new_with_mnemonic(_("_Plan"));
        gtk_widget_add_css_class(page->start, "suggested-action");
        gtk_widget_add_css_class(page->start, "pill");
        gtk_widget_set_halign(page->start, GTK_ALIGN_CENTER);
        g_signal_connect_swapped(page->start, "clicked", G_CALLBACK(start_planning), page);
        return page->start;
}

static void add_tools(AldPlacementPage *page)
{
        page->toggle = gtk_toggle_button_new_with_label(_("Show on Topology"));
        g_signal_connect_swapped(page->toggle, "toggled", G_CALLBACK(on_toggled), page);
        page->export = ALD_EXPORT_BUTTON(ald_export_button_new());
        ald_plan_view_add_tool(page->view, page->toggle);
        ald_plan_view_add_tool(page->view, GTK_WIDGET(page->export));
}

static GtkWidget *make_content(AldPlacementPage *page, AldLiveCluster *cluster)
{
        GtkWidget *box = page->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, SPACING), *clamp = adw_clamp_new(),
                  *scroller = gtk_scrolled_window_new();

        page->form = ALD_ORDER_FORM(ald_order_form_new());
        page->view = ALD_PLAN_VIEW(ald_plan_view_new(cluster));
        page->message = ald_wrapping_label_new(NULL);
        gtk_widget_set_visible(page->message, FALSE);
        gtk_widget_add_css_class(box, "placement");
        gtk_box_append(GTK_BOX(box), GTK_WIDGET(page->form));
        gtk_box_append(GTK_BOX(box), make_start(page));
        gtk_box_append(GTK_BOX(box), page->message);
        gtk_box_append(GTK_BOX(box), GTK_WIDGET(page->view));
        add_tools(page);
        adw_clamp_set_maximum_size(ADW_CLAMP(clamp), WIDTH);
        adw_clamp_set_child(ADW_CLAMP(clamp), box);
        gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
        gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), clamp);
        return scroller;
}

/* Abandons a running plan without canceling it: the service gives it up when the connection ends. */
static void ald_placement_page_dispose(GObject *object)
{
        AldPlacementPage *page = ALD_PLACEMENT_PAGE(object);

        g_clear_pointer(&page->run, ald_plan_run_free);
        adw_bin_set_child(ADW_BIN(page), NULL);
        G_OBJECT_CLASS(ald_placement_page_parent_class)->dispose(object);
}

static void ald_placement_page_finalize(GObject *object)
{
        AldPlacementPage *page = ALD_PLACEMENT_PAGE(object);

        ald_plan_report_free(page->report);
        g_free(page->asked);
        g_free(page->title);
        g_free(page->path);
        G_OBJECT_CLASS(ald_placement_page_parent_class)->finalize(object);
}

static void ald_placement_page_class_init(AldPlacementPageClass *class)
{
        G_OBJECT_CLASS(class)->dispose = ald_placement_page_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_placement_page_finalize;
        signals[OVERLAY_CHANGED] = g_signal_new("overlay-changed", G_TYPE_FROM_CLASS(class),
                G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void ald_placement_page_init(AldPlacementPage *page)
{
}

GtkWidget *ald_placement_page_new(AldLiveCluster *cluster, AldHostBus *bus)
{
        AldPlacementPage *page = g_object_new(ALD_TYPE_PLACEMENT_PAGE, NULL);

        page->bus = bus;
        adw_bin_set_child(ADW_BIN(page), make_content(page, cluster));
        add_shortcuts(page);
        g_signal_connect_swapped(page->form, "changed", G_CALLBACK(update_start), page);
        g_signal_connect_swapped(page->form, "submitted", G_CALLBACK(start_planning), page);
        update_start(page);
        return GTK_WIDGET(page);
}
