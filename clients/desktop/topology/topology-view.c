/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>

#include "clients/common/safe-text.h"
#include "clients/desktop/layout/positions.h"
#include "clients/desktop/topology/canvas.h"
#include "clients/desktop/topology/matrix.h"
#include "clients/desktop/topology/plan-marks.h"
#include "clients/desktop/topology/signs.h"
#include "clients/desktop/topology/tiles.h"
#include "clients/desktop/topology/topology-view.h"
#include "clients/desktop/widgets/widget-words.h"

struct _AldTopologyView {
        GtkBox parent;
        AldLiveCluster *cluster;
        GtkWidget *notice, *notice_text, *plan, *plan_text;
        GtkStack *stack; /* "canvas", "matrix" or "empty" */
        AldTopologyCanvas *canvas;
        AldMatrixView *matrix;
};

G_DEFINE_FINAL_TYPE(AldTopologyView, ald_topology_view, GTK_TYPE_BOX)

/* Gives nodes only to the one that is shown, since a canvas without cards and a matrix without rows cost
 * nothing. */
static void show_map_or_matrix(AldTopologyView *view)
{
        guint n = g_list_model_get_n_items(ald_live_cluster_nodes(view->cluster));
        bool many = n > ALD_GRAPH_NODES;

        ald_topology_canvas_set_used(view->canvas, !many);
        ald_matrix_view_set_used(view->matrix, many);
        gtk_stack_set_visible_child_name(view->stack, n == 0 ? "empty" : many ? "matrix" : "canvas");
}

/* Reports a graph that cannot be read; otherwise nodes without lines would suggest that no paths join them.
 */
static void update_notice(AldTopologyView *view)
{
        const AldTopology *topology = ald_model_topology(ald_live_cluster_model(view->cluster));
        g_autofree char *why = ald_text_safe_or_null(topology->failure), *text = NULL;

        if (why)
                text = g_strdup_printf(_("The graph of the paths between nodes cannot be read: %s"), why);
        ald_label_show(view->notice_text, text);
        gtk_widget_set_visible(view->notice, why != NULL);
}

static void on_updated(AldTopologyView *view, guint parts)
{
        if (parts & ALD_LIVE_NODE_SET)
                show_map_or_matrix(view);
        if (parts & (ALD_LIVE_NODE_SET | ALD_LIVE_TOPOLOGY))
                update_notice(view);
}

void ald_topology_view_select(AldTopologyView *view, const char *a, const char *b)
{
        ald_topology_canvas_select(view->canvas, a, b);
        ald_matrix_view_select(view->matrix, a, b);
}

/* Shows the order of stages in words as well, since a matrix does not show it. */
void ald_topology_view_show_plan(AldTopologyView *view, const AldPlanReport *report, const char *title)
{
        AldPlanMarks *marks = report ? ald_plan_marks_new(report) : NULL;
        g_autofree char *text = marks ? g_strdup_printf(
                                                _("Plan for %s: %s"), title, ald_plan_marks_order(marks))
                                      : NULL;

        ald_label_show(view->plan_text, text);
        gtk_widget_set_visible(view->plan, text != NULL);
        ald_topology_canvas_show_plan(view->canvas, marks);
}

static void on_button_clicked(GtkButton *button, AldTopologyView *view)
{
        gtk_widget_activate_action(
                GTK_WIDGET(view->canvas), g_object_get_data(G_OBJECT(button), "action"), NULL);
}

/* Activates the action from the canvas, whose class has it, since the button is outside it. */
static void add_button(
        GtkWidget *box, AldTopologyView *view, const char *icon, const char *title, const char *action)
{
        GtkWidget *button = gtk_button_new_from_icon_name(icon);

        gtk_widget_add_css_class(button, "osd");
        gtk_widget_add_css_class(button, "circular");
        ald_button_name(button, title);
        g_object_set_data(G_OBJECT(button), "action", (gpointer) action);
        gtk_box_append(GTK_BOX(box), button);
        g_signal_connect_object(button, "clicked", G_CALLBACK(on_button_clicked), view, 0);
}

static GtkWidget *make_buttons(AldTopologyView *view)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);

        gtk_box_append(GTK_BOX(box), ald_signs_button_new());
        add_button(box, view, "zoom-out-symbolic", _("Zoom Out"), "canvas.zoom-out");
        add_button(box, view, "zoom-in-symbolic", _("Zoom In"), "canvas.zoom-in");
        add_button(box, view, "zoom-fit-best-symbolic", _("Show Everything"), "canvas.fit");
        add_button(box, view, "view-refresh-symbolic", _("Arrange Nodes Anew"), "canvas.rearrange");
        gtk_widget_set_halign(box, GTK_ALIGN_END);
        gtk_widget_set_valign(box, GTK_ALIGN_END);
        gtk_widget_add_css_class(box, "canvas-buttons");
        return box;
}

/* Makes a line of text with a symbol, for the space above the map. */
static GtkWidget *make_banner(const char *icon, AldTone tone, GtkWidget **ret_text)
{
        GtkWidget *line = g_object_new(
                GTK_TYPE_BOX, "spacing", 12, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS, NULL);
        GtkWidget *symbol = ald_decoration_new(), *text = ald_wrapping_label_new(NULL);

        ald_decoration_show(symbol, icon);
        ald_widget_show_tone(symbol, tone);
        gtk_widget_set_hexpand(text, TRUE);
        gtk_widget_add_css_class(line, "card");
        gtk_widget_add_css_class(line, "topology-notice");
        gtk_box_append(GTK_BOX(line), symbol);
        gtk_box_append(GTK_BOX(line), text);
        *ret_text = text;
        return line;
}

static GtkWidget *make_plan_banner(AldTopologyView *view)
{
        GtkWidget *clear = gtk_button_new_with_label(_("Clear"));

        view->plan = make_banner("alidade-placement-symbolic", ALD_TONE_PLAIN, &view->plan_text);
        gtk_widget_set_valign(clear, GTK_ALIGN_CENTER);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(clear), "win.clear-plan");
        ald_widget_describe(clear, _("Clear the plan"), NULL);
        gtk_box_append(GTK_BOX(view->plan), clear);
        gtk_widget_set_visible(view->plan, FALSE);
        return view->plan;
}

static GtkWidget *make_empty_page(void)
{
        GtkWidget *page = adw_status_page_new();

        adw_status_page_set_icon_name(ADW_STATUS_PAGE(page), "alidade-topology-symbolic");
        adw_status_page_set_title(ADW_STATUS_PAGE(page), _("No Nodes"));
        adw_status_page_set_description(ADW_STATUS_PAGE(page),
                _("The state service does not know any node yet, not even this machine."));
        return page;
}

static void ald_topology_view_dispose(GObject *object)
{
        g_clear_object(&ALD_TOPOLOGY_VIEW(object)->cluster);
        G_OBJECT_CLASS(ald_topology_view_parent_class)->dispose(object);
}

static void ald_topology_view_class_init(AldTopologyViewClass *class)
{
        G_OBJECT_CLASS(class)->dispose = ald_topology_view_dispose;
}

static void ald_topology_view_init(AldTopologyView *view)
{
        gtk_orientable_set_orientation(GTK_ORIENTABLE(view), GTK_ORIENTATION_VERTICAL);
}

GtkWidget *ald_topology_view_new(AldLiveCluster *cluster, GSettings *settings)
{
        AldTopologyView *view = g_object_new(ALD_TYPE_TOPOLOGY_VIEW, NULL);
        GtkWidget *overlay = gtk_overlay_new(), *canvas, *matrix;

        view->cluster = g_object_ref(cluster);
        /* This handler is connected first, so that the choice between canvas and matrix is made before they
         * update. */
        g_signal_connect_object(cluster, "updated", G_CALLBACK(on_updated), view, G_CONNECT_SWAPPED);
        canvas = ald_topology_canvas_new(cluster, settings);
        matrix = ald_matrix_view_new(cluster);
        view->canvas = ALD_TOPOLOGY_CANVAS(canvas);
        view->matrix = ALD_MATRIX_VIEW(matrix);
        view->stack = GTK_STACK(gtk_stack_new());
        gtk_stack_set_hhomogeneous(view->stack, FALSE);
        gtk_stack_set_vhomogeneous(view->stack, FALSE);
        gtk_overlay_set_child(GTK_OVERLAY(overlay), canvas);
        gtk_overlay_add_overlay(GTK_OVERLAY(overlay), make_buttons(view));
        gtk_stack_add_named(view->stack, make_empty_page(), "empty");
        gtk_stack_add_named(view->stack, overlay, "canvas");
        gtk_stack_add_named(view->stack, matrix, "matrix");
        gtk_widget_set_vexpand(GTK_WIDGET(view->stack), TRUE);
        gtk_box_append(GTK_BOX(view), ald_tiles_new(cluster));
        view->notice = make_banner(ald_tone_icon(ALD_TONE_WARNING), ALD_TONE_WARNING, &view->notice_text);
        gtk_box_append(GTK_BOX(view), view->notice);
        gtk_box_append(GTK_BOX(view), make_plan_banner(view));
        gtk_box_append(GTK_BOX(view), GTK_WIDGET(view->stack));
        show_map_or_matrix(view);
        update_notice(view);
        return GTK_WIDGET(view);
}
