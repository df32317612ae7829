/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/unit/clients/desktop/own-display.h"

/* What libraries keep until the end. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
        return "leak:libfontconfig\nleak:libpango\nleak:libcairo\nleak:librsvg\nleak:libX11\n"
               "leak:libgdk_pixbuf\nleak:libharfbuzz\n";
}

static void run_server(int displays)
{
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(displays, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execlp("Xvfb", "Xvfb", "-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp",
                "-noreset", NULL);
        _exit(127);
}

/* ":5", or NULL. The server ends with this process. */
static char *start_server(void)
{
        char number[16] = "";
        size_t length = 0;
        int ends[2];

        g_assert_cmpint(pipe2(ends, O_CLOEXEC), ==, 0);
        if (fork() == 0)
                run_server(ends[1]);
        close(ends[1]);
        while (length < sizeof number - 1 && !strchr(number, '\n')) {
                ssize_t n = read(ends[0], number + length, sizeof number - 1 - length);

                if (n <= 0)
                        break;
                length += (size_t) n;
        }
        close(ends[0]);
        return strchr(number, '\n') ? g_strdup_printf(":%s", g_strchomp(number)) : NULL;
}

gboolean own_display_open(void)
{
        static const char *const settings[][2] = {
                { "XDG_CONFIG_HOME", "/nonexistent" },
                { "XDG_DATA_HOME", "/nonexistent" },
                { "LC_ALL", "C.UTF-8" },
                { "GDK_BACKEND", "x11" },
                { "GDK_DEBUG", "gl-disable" },
                { "GSK_RENDERER", "cairo" },
                { "GTK_A11Y", "test" },
                { "GTK_USE_PORTAL", "0" },
                { "ADW_DISABLE_PORTAL", "1" },
                { "GSETTINGS_BACKEND", "memory" },
                { "DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent" },
        };
        g_autofree char *display = start_server();

        if (!display)
                return FALSE;
        for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
                g_setenv(settings[i][0], settings[i][1], TRUE);
        g_setenv("DISPLAY", display, TRUE);
        adw_init();
        return TRUE;
}

static GtkWidget *find(GtkWidget *widget, GType type)
{
        GtkWidget *found = G_TYPE_CHECK_INSTANCE_TYPE(widget, type) ? widget : NULL;

        for (GtkWidget *child = gtk_widget_get_first_child(widget); child && !found;
                child = gtk_widget_get_next_sibling(child))
                found = find(child, type);
        return found;
}

GtkWidget *own_display_find(GtkWidget *widget, GType type)
{
        GtkWidget *found = find(widget, type);

        if (!found)
                g_error("no %s in %s", g_type_name(type), G_OBJECT_TYPE_NAME(widget));
        return found;
}
