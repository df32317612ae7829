/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/format.h"
#include "clients/common/plan-words.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/placement/plan-rows.h"
#include "clients/desktop/placement/plan-view.h"
#include "clients/desktop/widgets/widget-words.h"

#define SECTIONS 5u

typedef struct PlanSection {
        GtkWidget *box, *list;
        AldKeyedRows *rows;
} PlanSection;

struct _AldPlanView {
        GtkBox parent;
        AldLiveCluster *cluster;
        const AldPlanReport *report; /* NULL if there is none */
        char *title;
        GtkWidget *request, *head, *speed, *certainty, *facts, *tools, *problem, *problem_title,
                *problem_text, *outdated;
        PlanSection sections[SECTIONS];
};

G_DEFINE_FINAL_TYPE(AldPlanView, ald_plan_view, GTK_TYPE_BOX)

static const struct {
        const char *title;
        AldPlanRows name_rows;
        bool has_ages;
} kinds[SECTIONS] = {
        { N_("Stages"), ald_plan_rows_stages, true },
        { N_("Transfers"), ald_plan_rows_hops, true },
        { N_("Next Best"), ald_plan_rows_alternatives, false },
        { N_("With Faster Paths"), ald_plan_rows_sensitivities, false },
        { N_("Left Out"), ald_plan_rows_left_out, false },
};

/* Appends the notes, which are sentences. */
static void append_notes(GString *text, const AldPlanRow *plan)
{
        for (size_t i = 0; plan->notes && plan->notes[i]; i++) {
                g_autofree char *note = ald_text_safe(plan->notes[i]);

                g_string_append_printf(text, "%s%s", text->len > 0 ? " " : "", note);
        }
}

static void show_facts(AldPlanView *view, double now_usec)
{
        const AldPlanRow *plan = &view->report->plan;
        g_autofree char *client = plan->client ? ald_plan_words_node(plan->client_name, plan->client) : NULL;
        g_autofree char *age = ald_format_age(ald_uint64_to_double(plan->oldest_usec), now_usec);
        g_autofree char *disturbed = ald_plan_words_disturbed(view->report);
        g_autofree char *assumed_free = ald_plan_words_assumed_free(view->report);
        g_autoptr(GString) text = g_string_new(NULL);

        if (client)
                g_string_append_printf(text, _("Client on %s. "), client);
        if (plan->oldest_usec != ALD_ABSENT_UINT64)
                g_string_append_printf(text, _("Oldest figure: measured %s."), age);
        if (plan->unmeasured != ALD_ABSENT_UINT64)
                g_string_append_printf(
                        text, " %s", _("Some paths were never measured; their figures are assumed."));
        if (disturbed)
                g_string_append_printf(text, " %s.", disturbed);
        if (assumed_free)
                g_string_append_printf(text, " %s.", assumed_free);
        append_notes(text, plan);
        ald_label_set(view->facts, text->str);
}

static void show_head(AldPlanView *view, double now_usec)
{
        const AldPlanRow *plan = &view->report->plan;
        g_autofree char *speed = ald_plan_words_speed(plan);
        g_autofree char *certainty = ald_plan_words_certainty(plan);
        g_autofree char *engine = ald_text_safe(plan->engine ? plan->engine : ALD_ABSENT_TEXT);
        g_autofree char *how = g_strdup_printf(_("with %s, %s"), engine, certainty);

        ald_label_set(view->speed, speed);
        ald_label_set(view->certainty, how);
        show_facts(view, now_usec);
}

static void show_problem(AldPlanView *view)
{
        const AldPlanRow *plan = &view->report->plan;
        g_autofree char *title = ald_plan_words_problem(plan), *text = ald_text_safe_or_null(plan->text);
        /* In English both may say the same. */
        bool is_same = text && title && g_str_has_prefix(text, title);
        g_autoptr(GString) all = g_string_new(is_same ? NULL : text);

        append_notes(all, plan);
        ald_label_show(view->problem_title, title);
        ald_label_show(view->problem_text, all->len > 0 ? all->str : NULL);
}

/* Returns whether the graph has changed since the plan was made. If the present graph is yet to be read, that
 * of the plan may be newer. */
static bool is_outdated(AldPlanView *view)
{
        uint64_t now = ald_model_topology(ald_live_cluster_model(view->cluster))->revision,
                 then = view->report->plan.revision;

        return then != ALD_ABSENT_UINT64 && now > then;
}

static void update_outdated(AldPlanView *view)
{
        gtk_widget_set_visible(view->outdated, view->report && is_outdated(view));
}

static void show_section(AldPlanView *view, guint i, double now_usec)
{
        PlanSection *section = &view->sections[i];

        ald_keyed_rows_begin(section->rows);
        if (view->report)
                kinds[i].name_rows(section->rows, view->report, now_usec);
        ald_keyed_rows_end(section->rows);
        gtk_widget_set_visible(section->box, ald_keyed_rows_count(section->rows) > 0);
}

static void update_view(AldPlanView *view)
{
        double now_usec = ald_live_real_time_usec();
        bool has_plan = view->report && !view->report->plan.problem;

        gtk_widget_set_visible(GTK_WIDGET(view), view->report != NULL);
        gtk_widget_set_visible(view->head, has_plan);
        gtk_widget_set_visible(view->problem, view->report && !has_plan);
        if (view->report) {
                g_autofree char *request = ald_plan_words_request(&view->report->plan, view->title);

                ald_label_set(view->request, request);
        }
        if (has_plan)
                show_head(view, now_usec);
        else if (view->report)
                show_problem(view);
        update_outdated(view);
        for (guint i = 0; i < SECTIONS; i++)
                show_section(view, i, now_usec);
}

void ald_plan_view_show(AldPlanView *view, const AldPlanReport *report, const char *title)
{
        view->report = report;
        g_free(view->title);
        view->title = g_strdup(title ? title : "");
        update_view(view);
}

/* Updates ages. */
static void on_tick(AldPlanView *view)
{
        double now_usec = ald_live_real_time_usec();

        if (!view->report || view->report->plan.problem || !gtk_widget_get_mapped(GTK_WIDGET(view)))
                return;
        show_facts(view, now_usec);
        for (guint i = 0; i < SECTIONS; i++)
                if (kinds[i].has_ages)
                        show_section(view, i, now_usec);
}

static void on_updated(AldPlanView *view, guint parts)
{
        if (parts & ALD_LIVE_TOPOLOGY)
                update_outdated(view);
}

static GtkWidget *make_head(AldPlanView *view)
{
        GtkWidget *head = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);

        view->head = head;
        view->speed = ald_wrapping_label_new("title-2");
        view->certainty = ald_wrapping_label_new(NULL);
        view->facts = ald_wrapping_label_new("caption");
        gtk_widget_add_css_class(view->facts, "dim-label");
        view->tools = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
        gtk_widget_set_margin_top(view->tools, 6);
        gtk_widget_add_css_class(head, "card");
        gtk_widget_add_css_class(head, "plan-head");
        gtk_box_append(GTK_BOX(head), view->speed);
        gtk_box_append(GTK_BOX(head), view->certainty);
        gtk_box_append(GTK_BOX(head), view->facts);
        gtk_box_append(GTK_BOX(head), view->tools);
        return head;
}

static GtkWidget *make_problem(AldPlanView *view)
{
        GtkWidget *icon = ald_decoration_new(), *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);

        view->problem = g_object_new(
                GTK_TYPE_BOX, "spacing", 12, "accessible-role", GTK_ACCESSIBLE_ROLE_STATUS, NULL);
        view->problem_title = ald_wrapping_label_new("heading");
        view->problem_text = ald_wrapping_label_new(NULL);
        ald_decoration_show(icon, ald_tone_icon(ALD_TONE_WARNING));
        ald_widget_show_tone(icon, ALD_TONE_WARNING);
        gtk_widget_set_valign(icon, GTK_ALIGN_START);
        gtk_widget_set_hexpand(texts, TRUE);
        gtk_box_append(GTK_BOX(texts), view->problem_title);
        gtk_box_append(GTK_BOX(texts), view->problem_text);
        gtk_widget_add_css_class(view->problem, "card");
        gtk_widget_add_css_class(view->problem, "plan-head");
        gtk_box_append(GTK_BOX(view->problem), icon);
        gtk_box_append(GTK_BOX(view->problem), texts);
        return view->problem;
}

static GtkWidget *make_outdated(AldPlanView *view)
{
        GtkWidget *icon = ald_decoration_new(), *text = ald_wrapping_label_new("caption");

        view->outdated = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
        gtk_label_set_label(GTK_LABEL(text),
                _("Nodes, links or figures have changed since this plan was made. Plan again."));
        ald_decoration_show(icon, "dialog-information-symbolic");
        gtk_box_append(GTK_BOX(view->outdated), icon);
        gtk_box_append(GTK_BOX(view->outdated), text);
        return view->outdated;
}

static void on_row_activated(GtkListBox *list, GtkListBoxRow *row)
{
        ald_plan_row_open(row);
}

static void add_section(AldPlanView *view, guint i)
{
        PlanSection *section = &view->sections[i];
        GtkWidget *title = ald_wrapping_label_new("heading");

        section->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
        section->list = gtk_list_box_new();
        section->rows = ald_keyed_rows_new(section->list);
        gtk_label_set_label(GTK_LABEL(title), _(kinds[i].title));
        gtk_list_box_set_selection_mode(GTK_LIST_BOX(section->list), GTK_SELECTION_NONE);
        gtk_widget_add_css_class(section->list, "boxed-list");
        ald_widget_describe(section->list, _(kinds[i].title), NULL);
        g_signal_connect(section->list, "row-activated", G_CALLBACK(on_row_activated), NULL);
        gtk_box_append(GTK_BOX(section->box), title);
        gtk_box_append(GTK_BOX(section->box), section->list);
        gtk_box_append(GTK_BOX(view), section->box);
}

static void ald_plan_view_dispose(GObject *object)
{
        g_clear_object(&ALD_PLAN_VIEW(object)->cluster);
        ALD_PLAN_VIEW(object)->report = NULL;
        G_OBJECT_CLASS(ald_plan_view_parent_class)->dispose(object);
}

static void ald_plan_view_finalize(GObject *object)
{
        AldPlanView *view = ALD_PLAN_VIEW(object);

        for (guint i = 0; i < SECTIONS; i++)
                ald_keyed_rows_free(view->sections[i].rows);
        g_free(view->title);
        G_OBJECT_CLASS(ald_plan_view_parent_class)->finalize(object);
}

static void ald_plan_view_class_init(AldPlanViewClass *class)
{
        G_OBJECT_CLASS(class)->dispose = ald_plan_view_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_plan_view_finalize;
}

static void ald_plan_view_init(AldPlanView *view)
{
        gtk_orientable_set_orientation(GTK_ORIENTABLE(view), GTK_ORIENTATION_VERTICAL);
        gtk_box_set_spacing(GTK_BOX(view), 12);
        view->request = ald_wrapping_label_new("heading");
        gtk_box_append(GTK_BOX(view), view->request);
        gtk_box_append(GTK_BOX(view), make_outdated(view));
        gtk_box_append(GTK_BOX(view), make_head(view));
        gtk_box_append(GTK_BOX(view), make_problem(view));
        for (guint i = 0; i < SECTIONS; i++)
                add_section(view, i);
}

GtkWidget *ald_plan_view_new(AldLiveCluster *cluster)
{
        AldPlanView *view = g_object_new(ALD_TYPE_PLAN_VIEW, NULL);

        view->cluster = g_object_ref(cluster);
        g_signal_connect_object(cluster, "tick", G_CALLBACK(on_tick), view, G_CONNECT_SWAPPED);
        g_signal_connect_object(cluster, "updated", G_CALLBACK(on_updated), view, G_CONNECT_SWAPPED);
        update_view(view);
        return GTK_WIDGET(view);
}

void ald_plan_view_add_tool(AldPlanView *view, GtkWidget *tool)
{
        gtk_box_append(GTK_BOX(view->tools), tool);
}
