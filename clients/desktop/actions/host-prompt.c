/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/connection.h"
#include "clients/desktop/actions/host-prompt.h"
#include "clients/desktop/actions/prompt.h"
#include "clients/desktop/actions/recent-hosts.h"

#define HOST_KEY "ald-host"

typedef struct HostPrompt {
        GtkWidget *prompt, *entry, *problem, *machines;
        bool has_ssh;
        AldHostChosen chosen;
        void *userdata;
} HostPrompt;

const char *ald_host_problem(const char *host)
{
        const char *at = strrchr(host, '@');

        if (ald_connection_is_host(host))
                return NULL;
        for (const char *p = host; *p; p++)
                if (g_ascii_isspace(*p))
                        return _("A host cannot contain spaces");
        if (host[0] == '-')
                return _("A host cannot begin with a hyphen");
        if (at == host)
                return _("The name of the user before “@” is missing");
        if (at && at[1] == '\0')
                return _("The host after “@” is missing");
        return _("Enter a host name or an address, such as ada@birch or ada@192.0.2.7:2222");
}

static void show_problem(HostPrompt *self, const char *problem)
{
        gtk_label_set_text(GTK_LABEL(self->problem), problem ?: "");
        gtk_widget_set_visible(self->problem, problem != NULL);
        if (problem)
                gtk_widget_add_css_class(self->entry, "error");
        else
                gtk_widget_remove_css_class(self->entry, "error");
}

static char *entered_host(HostPrompt *self)
{
        return g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(self->entry))));
}

static void on_edited(HostPrompt *self)
{
        g_autofree char *host = entered_host(self);
        const char *problem = *host ? ald_host_problem(host) : NULL;

        if (!self->has_ssh)
                return;
        show_problem(self, problem);
        ald_prompt_set_accept_enabled(self->prompt, *host && !problem);
}

static void on_accepted(void *userdata)
{
        HostPrompt *self = userdata;
        g_autofree char *host = entered_host(self);

        self->chosen(host, self->userdata);
}

static void on_row_activated(HostPrompt *self, GtkWidget *row)
{
        g_autofree char *host = g_strdup(g_object_get_data(G_OBJECT(row), HOST_KEY));
        AldHostChosen chosen = self->chosen;
        void *userdata = self->userdata;

        ald_prompt_close(self->prompt); /* frees self */
        chosen(host, userdata);
}

static void on_removed(GtkWidget *button, void *userdata)
{
        HostPrompt *self = userdata;
        GtkWidget *row = gtk_widget_get_ancestor(button, GTK_TYPE_LIST_BOX_ROW);

        ald_recent_hosts_remove(g_object_get_data(G_OBJECT(row), HOST_KEY));
        gtk_widget_grab_focus(self->entry);
        gtk_list_box_remove(GTK_LIST_BOX(self->machines), row);
}

static GtkWidget *make_removal(HostPrompt *self, const char *host)
{
        g_autofree char *label = g_strdup_printf(_("Remove %s from this list"), host);
        GtkWidget *button = gtk_button_new_from_icon_name("user-trash-symbolic");

        gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
        gtk_widget_add_css_class(button, "flat");
        gtk_widget_add_css_class(button, "circular");
        gtk_widget_set_tooltip_text(button, _("Remove from This List"));
        gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
        g_signal_connect(button, "clicked", G_CALLBACK(on_removed), self);
        return button;
}

/* Adds a row for a host, or for this machine if it is "". */
static void add_machine(HostPrompt *self, const char *host)
{
        GtkWidget *row = adw_action_row_new();
        bool usable = *host == '\0' || self->has_ssh;

        adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
        adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), *host ? host : _("This Machine"));
        adw_action_row_add_prefix(ADW_ACTION_ROW(row),
                gtk_image_new_from_icon_name(*host ? "network-server-symbolic" : "computer-symbolic"));
        gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), usable);
        if (*host)
                adw_action_row_add_suffix(ADW_ACTION_ROW(row), make_removal(self, host));
        g_object_set_data_full(G_OBJECT(row), HOST_KEY, g_strdup(host), g_free);
        gtk_list_box_append(GTK_LIST_BOX(self->machines), row);
}

static GtkWidget *list_new(void)
{
        GtkWidget *list = gtk_list_box_new();

        gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
        gtk_widget_add_css_class(list, "boxed-list");
        return list;
}

static GtkWidget *make_machines(HostPrompt *self)
{
        g_auto(GStrv) hosts = ald_recent_hosts();

        self->machines = list_new();
        gtk_accessible_update_property(
                GTK_ACCESSIBLE(self->machines), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Machines"), -1);
        add_machine(self, "");
        for (char **host = hosts; *host; host++)
                add_machine(self, *host);
        g_signal_connect_swapped(self->machines, "row-activated", G_CALLBACK(on_row_activated), self);
        return self->machines;
}

static GtkWidget *make_entry(HostPrompt *self)
{
        GtkWidget *list = list_new();

        gtk_accessible_update_property(
                GTK_ACCESSIBLE(list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Another machine, by SSH"), -1);
        self->entry = adw_entry_row_new();
        adw_preferences_row_set_title(ADW_PREFERENCES_ROW(self->entry), _("User@Host"));
        adw_entry_row_set_activates_default(ADW_ENTRY_ROW(self->entry), TRUE);
        gtk_list_box_append(GTK_LIST_BOX(list), self->entry);
        g_signal_connect_swapped(self->entry, "changed", G_CALLBACK(on_edited), self);
        gtk_widget_set_sensitive(list, self->has_ssh);
        return list;
}

static GtkWidget *make_host_content(HostPrompt *self)
{
        GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);

        self->problem = ald_prompt_problem_new();
        gtk_box_append(GTK_BOX(box), make_machines(self));
        gtk_box_append(GTK_BOX(box), make_entry(self));
        gtk_box_append(GTK_BOX(box), self->problem);
        show_problem(
                self, self->has_ssh ? NULL : _("ssh is not installed, so no other machine can be reached"));
        return box;
}

GtkWidget *ald_host_prompt_new(AldHostChosen chosen, void *userdata)
{
        HostPrompt *self = g_new0(HostPrompt, 1);

        self->has_ssh = ald_connection_has_ssh();
        self->chosen = chosen;
        self->userdata = userdata;
        self->prompt = ald_prompt_new(_("Connect to Machine"),
                _("The cluster is shown as that machine knows it. Other machines are reached by SSH, and "
                  "need Alidade and "
                  "an account for you."),
                make_host_content(self));
        g_object_set_data_full(G_OBJECT(self->prompt), "ald-host-prompt", self, g_free);
        ald_prompt_set_answer(self->prompt, _("C_onnect"), ALD_PROMPT_SUGGESTED, on_accepted, self);
        ald_prompt_set_accept_enabled(self->prompt, false);
        if (self->has_ssh)
                ald_prompt_set_focus(self->prompt, self->entry);
        return self->prompt;
}
