/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#include "clients/desktop/actions/prompt.h"
#include "clients/desktop/actions/silence-prompt.h"

#define REASON_MAX 256 /* bytes; the limit of the service */
#define HOUR_USEC (G_GUINT64_CONSTANT(3600) * G_USEC_PER_SEC)

typedef struct SilencePrompt {
        GtkWidget *prompt, *duration, *reason, *problem;
        AldSilenceChosen chosen;
        void *userdata;
} SilencePrompt;

static const struct {
        const char *title;
        guint64 usec;
} durations[] = {
        { N_("1 Hour"), HOUR_USEC },
        { N_("1 Day"), 24 * HOUR_USEC },
        { N_("Until Stopped"), UINT64_MAX },
};

static void on_edited(SilencePrompt *self)
{
        bool valid = strlen(gtk_editable_get_text(GTK_EDITABLE(self->reason))) <= REASON_MAX;

        gtk_label_set_text(GTK_LABEL(self->problem), valid ? "" : _("The reason is too long"));
        gtk_widget_set_visible(self->problem, !valid);
        if (valid)
                gtk_widget_remove_css_class(self->reason, "error");
        else
                gtk_widget_add_css_class(self->reason, "error");
        ald_prompt_set_accept_enabled(self->prompt, valid);
}

static void on_accepted(void *userdata)
{
        SilencePrompt *self = userdata;
        guint i = adw_combo_row_get_selected(ADW_COMBO_ROW(self->duration));

        if (i < G_N_ELEMENTS(durations))
                self->chosen(
                        durations[i].usec, gtk_editable_get_text(GTK_EDITABLE(self->reason)), self->userdata);
}

static GtkWidget *make_duration(void)
{
        GtkWidget *row = adw_combo_row_new();
        g_autoptr(GtkStringList) titles = gtk_string_list_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(durations); i++)
                gtk_string_list_append(titles, _(durations[i].title));
        adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), _("Duration"));
        adw_combo_row_set_model(ADW_COMBO_ROW(row), G_LIST_MODEL(titles));
        return row;
}

static GtkWidget *make_silence_content(SilencePrompt *self)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *list = gtk_list_box_new();

        self->duration = make_duration();
        self->reason = adw_entry_row_new();
        adw_preferences_row_set_title(ADW_PREFERENCES_ROW(self->reason), _("Reason"));
        adw_entry_row_set_activates_default(ADW_ENTRY_ROW(self->reason), TRUE);
        gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
        gtk_widget_add_css_class(list, "boxed-list");
        gtk_list_box_append(GTK_LIST_BOX(list), self->duration);
        gtk_list_box_append(GTK_LIST_BOX(list), self->reason);
        self->problem = ald_prompt_problem_new();
        gtk_widget_set_visible(self->problem, FALSE);
        gtk_box_append(GTK_BOX(box), list);
        gtk_box_append(GTK_BOX(box), self->problem);
        return box;
}

GtkWidget *ald_silence_prompt_new(const char *about, AldSilenceChosen chosen, void *userdata)
{
        SilencePrompt *self = g_new0(SilencePrompt, 1);
        /* Translators: the name of a node, or of two. */
        g_autofree char *heading = g_strdup_printf(_("Silence Findings About %s?"), about);

        self->chosen = chosen;
        self->userdata = userdata;
        self->prompt = ald_prompt_new(heading,
                _("They are still listed, but neither notifications nor the journal of that machine report "
                  "them."),
                make_silence_content(self));
        g_object_set_data_full(G_OBJECT(self->prompt), "ald-silence-prompt", self, g_free);
        ald_prompt_set_answer(self->prompt, _("_Silence"), ALD_PROMPT_SUGGESTED, on_accepted, self);
        ald_prompt_set_focus(self->prompt, self->reason);
        g_signal_connect_swapped(self->reason, "changed", G_CALLBACK(on_edited), self);
        return self->prompt;
}
