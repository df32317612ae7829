/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/details/details-section.h"
#include <glib/gi18n.h>

#include "clients/common/node-summary.h"
#include "clients/desktop/widgets/widget-words.h"

typedef struct AldDetailsSectionPrivate {
        GtkWidget *heading, *title, *note, *list;
        AldKeyedRows *rows;
} AldDetailsSectionPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(AldDetailsSection, ald_details_section, GTK_TYPE_BOX)

static AldDetailsSectionPrivate *get_private(AldDetailsSection *section)
{
        return ald_details_section_get_instance_private(section);
}

bool ald_details_subject_is_own(const AldDetailsSubject *subject, const char *node_id)
{
        return node_id && g_strcmp0(node_id, ald_model_node_id(subject->model)) == 0;
}

char *ald_details_subject_name(const AldDetailsSubject *subject, const char *node_id)
{
        return ald_node_name(subject->model, node_id);
}

static void ald_details_section_finalize(GObject *object)
{
        g_clear_pointer(&get_private(ALD_DETAILS_SECTION(object))->rows, ald_keyed_rows_free);
        G_OBJECT_CLASS(ald_details_section_parent_class)->finalize(object);
}

static void ald_details_section_class_init(AldDetailsSectionClass *class)
{
        G_OBJECT_CLASS(class)->finalize = ald_details_section_finalize;
        gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_GROUP);
}

/* Moves the focus from the last row into the next list, and back, as if both were one list. */
static gboolean on_keynav_failed(GtkWidget *list, GtkDirectionType direction)
{
        GtkRoot *root = gtk_widget_get_root(list);

        if (!root || (direction != GTK_DIR_UP && direction != GTK_DIR_DOWN))
                return FALSE;
        return gtk_widget_child_focus(
                GTK_WIDGET(root), direction == GTK_DIR_UP ? GTK_DIR_TAB_BACKWARD : GTK_DIR_TAB_FORWARD);
}

static void ald_details_section_init(AldDetailsSection *section)
{
        AldDetailsSectionPrivate *private = get_private(section);

        gtk_orientable_set_orientation(GTK_ORIENTABLE(section), GTK_ORIENTATION_VERTICAL);
        gtk_box_set_spacing(GTK_BOX(section), 6);
        gtk_widget_set_visible(GTK_WIDGET(section), FALSE);
        private->heading = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
        private->title = ald_wrapping_label_new("heading");
        gtk_widget_set_hexpand(private->title, TRUE);
        gtk_widget_set_valign(private->title, GTK_ALIGN_CENTER);
        gtk_box_append(GTK_BOX(private->heading), private->title);
        private->note = ald_wrapping_label_new("dim-label");
        gtk_widget_set_visible(private->note, FALSE);
        private->list = gtk_list_box_new();
        gtk_list_box_set_selection_mode(GTK_LIST_BOX(private->list), GTK_SELECTION_NONE);
        gtk_widget_add_css_class(private->list, "boxed-list");
        gtk_widget_set_valign(private->list, GTK_ALIGN_START);
        g_signal_connect(private->list, "keynav-failed", G_CALLBACK(on_keynav_failed), NULL);
        private->rows = ald_keyed_rows_new(private->list);
        gtk_box_append(GTK_BOX(section), private->heading);
        gtk_box_append(GTK_BOX(section), private->note);
        gtk_box_append(GTK_BOX(section), private->list);
}

void ald_details_section_set_title(AldDetailsSection *section, const char *title)
{
        AldDetailsSectionPrivate *private = get_private(section);

        ald_label_show(private->title, title);
        gtk_accessible_update_property(GTK_ACCESSIBLE(section), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
        gtk_accessible_update_property(
                GTK_ACCESSIBLE(private->list), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
}

void ald_details_section_add_suffix(AldDetailsSection *section, GtkWidget *widget)
{
        gtk_widget_set_valign(widget, GTK_ALIGN_CENTER);
        gtk_box_append(GTK_BOX(get_private(section)->heading), widget);
}

AldKeyedRows *ald_details_section_rows(AldDetailsSection *section)
{
        return get_private(section)->rows;
}

void ald_details_section_set_note(AldDetailsSection *section, const char *note)
{
        ald_label_show(get_private(section)->note, note);
}

void ald_details_section_update(AldDetailsSection *section, const AldDetailsSubject *subject, guint parts)
{
        AldDetailsSectionClass *class = ALD_DETAILS_SECTION_GET_CLASS(section);
        AldDetailsSectionPrivate *private = get_private(section);
        bool any;

        if (!(parts & class->parts))
                return;
        if (class->shows_telemetry)
                ald_details_section_set_note(section, subject->outdated ? _("Last known figures") : NULL);
        class->update(section, subject);
        any = ald_keyed_rows_count(private->rows) > 0;
        gtk_widget_set_visible(private->list, any);
        gtk_widget_set_visible(GTK_WIDGET(section),
                any || (!class->shows_telemetry && gtk_widget_get_visible(private->note)));
        /* A problem already dims the whole window. */
        ald_widget_dim(private->list,
                class->shows_telemetry && subject->outdated && !ald_live_cluster_problem(subject->cluster));
}
