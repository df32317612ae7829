/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "clients/alidadectl/verbs.h"
#include "clients/command-line/print.h"

#define PROGRAM "alidade-cluster"

/* Where this alidadectl is not the installed one, the program of the same build. */
static char *program_path(void)
{
        g_autofree char *own = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *folder = own ? g_path_get_dirname(own) : NULL;
        g_autofree char *built = folder ? g_build_filename(folder, "..", "cluster", PROGRAM, NULL) : NULL;

        if (built && strcmp(folder, ALD_BIN_DIR) != 0 && access(built, X_OK) == 0)
                return g_steal_pointer(&built);
        return g_build_filename(ALD_LIBEXEC_DIR, PROGRAM, NULL);
}

/* The administration is a program of its own, so that what all users run has no code that handles keys. */
int ald_verb_cluster(const AldCtl *ctl)
{
        static const char *const modes[] = {
                [ALD_JSON_SHORT] = "--json=short",
                [ALD_JSON_PRETTY] = "--json=pretty",
        };
        g_autoptr(GPtrArray) argv = g_ptr_array_new();
        g_autofree char *path = program_path();

        /* As other users of the machine, and a run that waits for this one, name it. */
        g_ptr_array_add(argv, (char *) "alidadectl cluster");
        if (ctl->host) {
                g_ptr_array_add(argv, (char *) "--host");
                g_ptr_array_add(argv, (char *) ctl->host);
        }
        if (ctl->json != ALD_JSON_OFF)
                g_ptr_array_add(argv, (char *) modes[ctl->json]);
        for (char **arg = ctl->args; *arg; arg++)
                g_ptr_array_add(argv, *arg);
        g_ptr_array_add(argv, NULL);
        if (!ctl->pager)
                (void) setenv("ALIDADE_PAGER", "", true);
        (void) execv(path, (char **) argv->pdata);
        ald_print_error("Cannot run %s: %s", path, strerror(errno));
        return ALD_EXIT_ERROR;
}
