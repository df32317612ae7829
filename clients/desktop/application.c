/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/connection.h"
#include "clients/desktop/actions/hold-off.h"
#include "clients/desktop/application.h"
#include "clients/desktop/notifier.h"
#include "clients/desktop/window.h"
#include "record/closest-name.h"

#define RECENT_HOSTS_MAX 10u

struct _AldDesktopApplication {
        AdwApplication parent;
        GSettings *settings;   /* NULL if the schema is not installed */
        AldNotifier *notifier; /* NULL while notifications are switched off */
        AldLiveCluster *local; /* of this machine; NULL before it is first needed */
        bool held;             /* keeps running without a window */
};

G_DEFINE_FINAL_TYPE(AldDesktopApplication, ald_desktop_application, ADW_TYPE_APPLICATION)

static AldLiveCluster *local_cluster(AldDesktopApplication *application)
{
        if (!application->local)
                application->local = ald_live_cluster_new(NULL);
        return application->local;
}

static bool get_setting(AldDesktopApplication *application, const char *key)
{
        return application->settings && g_settings_get_boolean(application->settings, key);
}

/* Windows. */

static AldDesktopWindow *find_window(AldDesktopApplication *application, const char *host)
{
        for (GList *at = gtk_application_get_windows(GTK_APPLICATION(application)); at; at = at->next)
                if (ALD_IS_DESKTOP_WINDOW(at->data) &&
                        g_strcmp0(ald_live_cluster_host(ald_desktop_window_cluster(at->data)), host) == 0)
                        return at->data;
        return NULL;
}

/* Puts the host first, as the most recent one. */
static void remember_host(AldDesktopApplication *application, const char *host)
{
        g_autoptr(GPtrArray) hosts = g_ptr_array_new();
        g_auto(GStrv) before = application->settings
                                       ? g_settings_get_strv(application->settings, "recent-hosts")
                                       : NULL;

        if (!before)
                return;
        g_ptr_array_add(hosts, (gpointer) host);
        for (char **at = before; *at && hosts->len < RECENT_HOSTS_MAX; at++)
                if (strcmp(*at, host) != 0)
                        g_ptr_array_add(hosts, *at);
        g_ptr_array_add(hosts, NULL);
        g_settings_set_strv(application->settings, "recent-hosts", (const char *const *) hosts->pdata);
}

static AldDesktopWindow *present_window(AldDesktopApplication *application, const char *host)
{
        AldDesktopWindow *window = find_window(application, host);

        if (!window) {
                g_autoptr(AldLiveCluster) cluster = host ? ald_live_cluster_new(host)
                                                         : g_object_ref(local_cluster(application));

                window = ald_desktop_window_new(ADW_APPLICATION(application), cluster, application->settings);
                if (host)
                        remember_host(application, host);
        }
        gtk_window_present(GTK_WINDOW(window));
        return window;
}

/* Running without a window. */

static void update_background(AldDesktopApplication *application)
{
        bool notifies = get_setting(application, "notify-findings");
        bool held = notifies && get_setting(application, "run-in-background");

        if (notifies && !application->notifier)
                application->notifier = ald_notifier_new(
                        G_APPLICATION(application), local_cluster(application));
        else if (!notifies)
                g_clear_pointer(&application->notifier, ald_notifier_free);
        /* The background also applies while a window is minimized. */
        if (application->local || notifies)
                ald_live_cluster_set_background(local_cluster(application), notifies);
        if (held == application->held)
                return;
        application->held = held;
        if (held)
                g_application_hold(G_APPLICATION(application));
        else
                g_application_release(G_APPLICATION(application));
}

/* Actions. */

/* Closes the windows, so that each saves its size; the program ends with the last one. */
static void on_quit(GSimpleAction *action, GVariant *parameter, gpointer userdata)
{
        g_autoptr(GList) windows = g_list_copy(gtk_application_get_windows(userdata));

        for (GList *at = windows; at; at = at->next)
                gtk_window_close(at->data);
        g_application_quit(userdata);
}

static void on_connect_to(GSimpleAction *action, GVariant *parameter, gpointer userdata)
{
        const char *host = g_variant_get_string(parameter, NULL);

        if (!*host)
                present_window(userdata, NULL);
        else if (ald_connection_is_host(host))
                present_window(userdata, host);
}

static void on_show_findings(GSimpleAction *action, GVariant *parameter, gpointer userdata)
{
        ald_desktop_window_show_page(present_window(userdata, NULL), "findings");
}

static void on_about(GSimpleAction *action, GVariant *parameter, gpointer userdata)
{
        GtkWindow *window = gtk_application_get_active_window(userdata);
        static const char *const developers[] = { "The Alidade developers", NULL };

#if ADW_CHECK_VERSION(1, 5, 0)
        adw_show_about_dialog(GTK_WIDGET(window),
#else
        adw_show_about_window(window,
#endif
                "application-name", "Alidade", "application-icon", ALD_APPLICATION_ID, "version", ALD_VERSION,
                "developer-name", _("The Alidade developers"), "developers", developers, "license-type",
                GTK_LICENSE_LGPL_2_1, "comments",
                _("Shows what every node of a Linux cluster is and can do, and how the links between them "
                  "really "
                  "perform."),
                "translator-credits", _("translator-credits"), NULL);
}

static const GActionEntry actions[] = {
        { "quit", on_quit, NULL, NULL, NULL, { 0 } },
        { "about", on_about, NULL, NULL, NULL, { 0 } },
        { "connect-to", on_connect_to, "s", NULL, NULL, { 0 } },
        { "show-findings", on_show_findings, NULL, NULL, NULL, { 0 } },
};

static const struct {
        const char *action;
        const char *keys[3];
} accelerators[] = {
        { "app.quit", { "<Control>q" } },
        { "window.close", { "<Control>w" } },
        { "win.show-shortcuts", { "<Control>question" } },
        { "win.show-page::topology", { "<Alt>1" } },
        { "win.show-page::nodes", { "<Alt>2" } },
        { "win.show-page::devices", { "<Alt>3" } },
        { "win.show-page::links", { "<Alt>4" } },
        { "win.show-page::findings", { "<Alt>5" } },
        { "win.show-page::placement", { "<Alt>6" } },
        { "win.connect", { "<Control>n" } },
        { "win.retry", { "<Control>r", "F5" } },
        { "win.hold-off", { "<Control>h" } },
};

/* Returns NULL if the schema is not installed, for which g_settings_new() would abort. */
static GSettings *find_settings(void)
{
        GSettingsSchemaSource *source = g_settings_schema_source_get_default();
        g_autoptr(GSettingsSchema)
                schema = source ? g_settings_schema_source_lookup(source, ALD_APPLICATION_ID, TRUE) : NULL;

        return schema ? g_settings_new_full(schema, NULL, NULL) : NULL;
}

static void add_settings(AldDesktopApplication *application)
{
        static const char *const keys[] = { "notify-findings", "run-in-background" };

        application->settings = find_settings();
        for (size_t i = 0; application->settings && i < G_N_ELEMENTS(keys); i++) {
                g_autoptr(GAction) action = g_settings_create_action(application->settings, keys[i]);

                g_action_map_add_action(G_ACTION_MAP(application), action);
        }
        if (application->settings)
                g_signal_connect_swapped(
                        application->settings, "changed", G_CALLBACK(update_background), application);
}

static void notify_of_hold_off(AldDesktopApplication *application, const char *text)
{
        g_autoptr(GNotification) notification = g_notification_new(text);

        g_application_send_notification(G_APPLICATION(application), "hold-off", notification);
}

/* Notifies only without a window, which would show a toast. */
static void on_hold_off_said(AldDesktopApplication *application, const char *text)
{
        if (!find_window(application, NULL))
                notify_of_hold_off(application, text);
}

static void add_hold_off_action(AldDesktopApplication *application)
{
        AldHoldOff *hold_off = ald_hold_off_get(G_APPLICATION(application), NULL);
        g_autoptr(GAction) action = ald_hold_off_action_new(hold_off, "hold-off");

        g_action_map_add_action(G_ACTION_MAP(application), action);
        g_signal_connect_object(
                hold_off, "said", G_CALLBACK(on_hold_off_said), application, G_CONNECT_SWAPPED);
}

static void ald_desktop_application_startup(GApplication *base)
{
        AldDesktopApplication *application = ALD_DESKTOP_APPLICATION(base);

        G_APPLICATION_CLASS(ald_desktop_application_parent_class)->startup(base);
        g_action_map_add_action_entries(G_ACTION_MAP(base), actions, G_N_ELEMENTS(actions), application);
        for (size_t i = 0; i < G_N_ELEMENTS(accelerators); i++)
                gtk_application_set_accels_for_action(
                        GTK_APPLICATION(base), accelerators[i].action, accelerators[i].keys);
        gtk_window_set_default_icon_name(ALD_APPLICATION_ID);
        add_settings(application);
        add_hold_off_action(application);
        update_background(application);
}

static void ald_desktop_application_activate(GApplication *base)
{
        present_window(ALD_DESKTOP_APPLICATION(base), NULL);
}

static int ald_desktop_application_command_line(GApplication *base, GApplicationCommandLine *line)
{
        GVariantDict *given = g_application_command_line_get_options_dict(line);
        const char *host = NULL;

        if (!g_variant_dict_lookup(given, "host", "&s", &host)) {
                g_application_activate(base);
                return 0;
        }
        if (!ald_connection_is_host(host)) {
                g_autofree char *why = g_strdup_printf(_("\"%s\" is not a host: [USER@]HOST[:PORT]"), host);

                g_application_command_line_printerr(line, "alidade: %s\n", why);
                return 2;
        }
        present_window(ALD_DESKTOP_APPLICATION(base), host);
        return 0;
}

static const GOptionEntry options[] = {
        { "host", 'H', 0, G_OPTION_ARG_STRING, NULL, N_("Look at another machine, over ssh"),
                N_("USER@HOST") },
        { "version", 0, 0, G_OPTION_ARG_NONE, NULL, N_("Show the version"), NULL },
        { NULL, 0, 0, 0, NULL, NULL, NULL },
};

/* Prints a suggestion for an unknown option, for which GOption only reports an error. */
static gboolean ald_desktop_application_local_command_line(
        GApplication *base, char ***arguments, int *ret_status)
{
        const GOptionEntry *const tables[] = { options, NULL };
        g_autofree char *suggestion = ald_option_suggestion(tables, *arguments + 1);

        if (!suggestion)
                return G_APPLICATION_CLASS(ald_desktop_application_parent_class)
                        ->local_command_line(base, arguments, ret_status);
        g_printerr("%s\n", suggestion);
        *ret_status = 1;
        return TRUE;
}

static int ald_desktop_application_handle_local_options(GApplication *base, GVariantDict *given)
{
        if (!g_variant_dict_contains(given, "version"))
                return -1;
        g_print("alidade " ALD_VERSION "\n");
        return 0;
}

/* Cleans up while there still is a connection for notifications. */
static void ald_desktop_application_shutdown(GApplication *base)
{
        AldDesktopApplication *application = ALD_DESKTOP_APPLICATION(base);

        g_clear_pointer(&application->notifier, ald_notifier_free);
        if (ald_hold_off_held(ald_hold_off_get(base, NULL)))
                notify_of_hold_off(
                        application, _("Measurements are no longer held off, as Alidade has ended"));
        G_APPLICATION_CLASS(ald_desktop_application_parent_class)->shutdown(base);
}

static void ald_desktop_application_dispose(GObject *object)
{
        AldDesktopApplication *application = ALD_DESKTOP_APPLICATION(object);

        g_clear_pointer(&application->notifier, ald_notifier_free);
        g_clear_object(&application->local);
        g_clear_object(&application->settings);
        G_OBJECT_CLASS(ald_desktop_application_parent_class)->dispose(object);
}

static void ald_desktop_application_class_init(AldDesktopApplicationClass *class)
{
        GApplicationClass *application_class = G_APPLICATION_CLASS(class);

        G_OBJECT_CLASS(class)->dispose = ald_desktop_application_dispose;
        application_class->shutdown = ald_desktop_application_shutdown;
        application_class->startup = ald_desktop_application_startup;
        application_class->activate = ald_desktop_application_activate;
        application_class->command_line = ald_desktop_application_command_line;
        application_class->local_command_line = ald_desktop_application_local_command_line;
        application_class->handle_local_options = ald_desktop_application_handle_local_options;
}

static void ald_desktop_application_init(AldDesktopApplication *application)
{
        g_application_add_main_option_entries(G_APPLICATION(application), options);
}

AldDesktopApplication *ald_desktop_application_new(void)
{
        return g_object_new(ALD_TYPE_DESKTOP_APPLICATION, "application-id", ALD_APPLICATION_ID, "flags",
                G_APPLICATION_HANDLES_COMMAND_LINE | G_APPLICATION_CAN_OVERRIDE_APP_ID, "resource-base-path",
                "/org/alidade/Alidade", NULL);
}
