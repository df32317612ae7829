/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <locale.h>

#include "clients/desktop/actions/ssh-environment.h"
#include "clients/desktop/application.h"

int main(int argc, char **argv)
{
        g_autoptr(AldDesktopApplication) application = NULL;

        /* This changes the environment, so no thread may exist yet. */
        ald_ssh_prepare_environment();
        setlocale(LC_ALL, "");
        bindtextdomain("alidade", ALD_LOCALE_DIR);
        bind_textdomain_codeset("alidade", "UTF-8");
        textdomain("alidade");
        g_set_prgname("alidade");
        application = ald_desktop_application_new();
        return g_application_run(G_APPLICATION(application), argc, argv);
}
