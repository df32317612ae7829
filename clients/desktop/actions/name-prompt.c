/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#include "clients/desktop/actions/name-prompt.h"
#include "clients/desktop/actions/prompt.h"

#define NAME_MAX_CHARACTERS 64

typedef struct NamePrompt {
        GtkWidget *prompt, *entry, *problem;
        char *before;
        AldNameChosen chosen;
        void *userdata;
} NamePrompt;

/* Returns whether a character hides, or breaks or reverses the line in which it is shown. */
static bool is_control(gunichar c)
{
        GUnicodeType type = g_unichar_type(c);

        return type == G_UNICODE_CONTROL || type == G_UNICODE_LINE_SEPARATOR ||
               type == G_UNICODE_PARAGRAPH_SEPARATOR || (c >= 0x202a && c <= 0x202e) ||
               (c >= 0x2066 && c <= 0x2069);
}

const char *ald_name_problem(const char *name)
{
        bool blank = true;

        if (g_utf8_strlen(name, -1) > NAME_MAX_CHARACTERS)
                return _("A name can have at most 64 characters");
        for (const char *p = name; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (is_control(c))
                        return _("A name cannot contain control characters");
                blank = blank && g_unichar_isspace(c);
        }
        return *name && blank ? _("A name cannot consist of spaces only") : NULL;
}

static void on_edited(NamePrompt *self)
{
        const char *name = gtk_editable_get_text(GTK_EDITABLE(self->entry)),
                   *problem = ald_name_problem(name);

        gtk_label_set_text(GTK_LABEL(self->problem), problem ?: "");
        gtk_widget_set_visible(self->problem, problem != NULL);
        if (problem)
                gtk_widget_add_css_class(self->entry, "error");
        else
                gtk_widget_remove_css_class(self->entry, "error");
        ald_prompt_set_accept_enabled(self->prompt, !problem && strcmp(name, self->before) != 0);
}

static void on_accepted(void *userdata)
{
        NamePrompt *self = userdata;

        self->chosen(gtk_editable_get_text(GTK_EDITABLE(self->entry)), self->userdata);
}

static void name_prompt_free(void *data)
{
        NamePrompt *self = data;

        g_free(self->before);
        g_free(self);
}

static GtkWidget *make_content(NamePrompt *self)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *list = gtk_list_box_new();

        self->entry = adw_entry_row_new();
        adw_preferences_row_set_title(ADW_PREFERENCES_ROW(self->entry), _("Name"));
        adw_entry_row_set_activates_default(ADW_ENTRY_ROW(self->entry), TRUE);
        gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
        gtk_widget_add_css_class(list, "boxed-list");
        gtk_list_box_append(GTK_LIST_BOX(list), self->entry);
        self->problem = ald_prompt_problem_new();
        gtk_box_append(GTK_BOX(box), list);
        gtk_box_append(GTK_BOX(box), self->problem);
        return box;
}

GtkWidget *ald_name_prompt_new(const char *name, AldNameChosen chosen, void *userdata)
{
        NamePrompt *self = g_new0(NamePrompt, 1);

        self->before = g_strdup(name ?: "");
        self->chosen = chosen;
        self->userdata = userdata;
        self->prompt = ald_prompt_new(_("Name This Machine"),
                _("Every machine of the cluster shows the name. The host name stays as it is. Without a "
                  "name, "
                  "the name of the system is shown."),
                make_content(self));
        g_object_set_data_full(G_OBJECT(self->prompt), "ald-name-prompt", self, name_prompt_free);
        ald_prompt_set_answer(self->prompt, _("_Rename"), ALD_PROMPT_SUGGESTED, on_accepted, self);
        gtk_editable_set_text(GTK_EDITABLE(self->entry), self->before);
        g_signal_connect_swapped(self->entry, "changed", G_CALLBACK(on_edited), self);
        on_edited(self);
        return self->prompt;
}
