/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>

#include "clients/common/node-summary.h"
#include "clients/desktop/details/details-notice.h"
#include "clients/desktop/widgets/widget-words.h"

struct _AldDetailsNotice {
        GtkBox parent;
        GtkWidget *icon, *title, *text, *forget;
};

G_DEFINE_FINAL_TYPE(AldDetailsNotice, ald_details_notice, GTK_TYPE_BOX)

static void ald_details_notice_class_init(AldDetailsNoticeClass *class)
{
        gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(class), GTK_ACCESSIBLE_ROLE_STATUS);
}

static void ald_details_notice_init(AldDetailsNotice *notice)
{
        GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);

        notice->icon = ald_decoration_new();
        notice->title = ald_wrapping_label_new("heading");
        notice->text = ald_wrapping_label_new(NULL);
        notice->forget = gtk_button_new_with_mnemonic(_("_Forget…"));
        gtk_widget_add_css_class(GTK_WIDGET(notice), "card");
        gtk_widget_add_css_class(GTK_WIDGET(notice), "details-notice");
        gtk_box_set_spacing(GTK_BOX(notice), 12);
        gtk_widget_set_valign(notice->icon, GTK_ALIGN_START);
        gtk_widget_set_hexpand(texts, TRUE);
        gtk_widget_set_halign(notice->forget, GTK_ALIGN_START);
        gtk_widget_set_margin_top(notice->forget, 6);
        gtk_box_append(GTK_BOX(texts), notice->title);
        gtk_box_append(GTK_BOX(texts), notice->text);
        gtk_box_append(GTK_BOX(texts), notice->forget);
        gtk_box_append(GTK_BOX(notice), notice->icon);
        gtk_box_append(GTK_BOX(notice), texts);
        gtk_widget_set_visible(GTK_WIDGET(notice), FALSE);
}

GtkWidget *ald_details_notice_new(void)
{
        return g_object_new(ALD_TYPE_DETAILS_NOTICE, NULL);
}

static bool is_away(const AldDetailsSubject *subject, const AldEntity *node)
{
        return node && (ald_node_exclusion(subject->model, node) || ald_node_is_stale(subject->model, node));
}

/* Returns a text like "birch: offline for 5 min". */
static char *describe_node(const AldDetailsSubject *subject, const AldEntity *node, AldTone *tone)
{
        AldTone own;
        g_autofree char *seen = ald_format_seen(node, subject->now, &own);
        g_autofree char *name = ald_details_subject_name(subject, node->id);

        *tone = MAX(*tone, own);
        return g_strdup_printf("%s: %s", name, seen);
}

static char *describe_nodes(const AldDetailsSubject *subject, AldTone *tone)
{
        const AldEntity *const nodes[] = { subject->node_a, subject->node_b };
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(nodes); i++) {
                g_autofree char *words = is_away(subject, nodes[i]) ? describe_node(subject, nodes[i], tone)
                                                                    : NULL;

                if (words)
                        g_string_append_printf(text, "%s%s", text->len > 0 ? "\n" : "", words);
        }
        return g_string_free(text, FALSE);
}

static void show_forget(AldDetailsNotice *notice, const AldDetailsSubject *subject)
{
        bool offline = !subject->b && ald_node_exclusion(subject->model, subject->node_a);

        gtk_widget_set_visible(notice->forget, offline);
        if (!offline)
                return;
        gtk_actionable_set_action_target(GTK_ACTIONABLE(notice->forget), "s", subject->a);
        /* Without a target the action would be of another type, which GTK warns of. */
        if (!gtk_actionable_get_action_name(GTK_ACTIONABLE(notice->forget)))
                gtk_actionable_set_action_name(GTK_ACTIONABLE(notice->forget), "win.forget");
}

void ald_details_notice_show(AldDetailsNotice *notice, const AldDetailsSubject *subject)
{
        AldTone tone = ALD_TONE_WARNING;
        g_autofree char *nodes = describe_nodes(subject, &tone);

        gtk_widget_set_visible(GTK_WIDGET(notice), nodes[0] != '\0');
        if (!nodes[0])
                return;
        ald_label_show(notice->title, nodes);
        ald_label_show(notice->text, subject->b ? _("Figures that depend on this are the last ones known.")
                                                : _("The figures below are the last ones known."));
        ald_decoration_show(notice->icon, ald_tone_icon(tone));
        ald_widget_show_tone(notice->icon, tone);
        show_forget(notice, subject);
}
