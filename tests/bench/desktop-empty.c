/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What any program of this kind takes: an AdwApplicationWindow with nothing in it. */
#include "tests/bench/desktop-moment.h"

static void on_activate(GApplication *application)
{
        GtkWidget *window = g_object_new(ADW_TYPE_APPLICATION_WINDOW, "application", application,
                "default-width", 1100, "default-height", 760, NULL);

        moment_print_first_frame(window);
        gtk_window_present(GTK_WINDOW(window));
}

int main(int argc, char **argv)
{
        g_autoptr(AdwApplication)
                application = adw_application_new("org.alidade.Empty", G_APPLICATION_DEFAULT_FLAGS);

        g_signal_connect(application, "activate", G_CALLBACK(on_activate), NULL);
        return g_application_run(G_APPLICATION(application), argc, argv);
}
