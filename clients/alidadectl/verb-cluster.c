/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "clients/alidadectl/verbs.h"
#include "clients/command-line/print.h"

#define PROGRAM "alidade-cluster"

/* Returns true if only the owner of this alidadectl, or the administrator, can have put the file there. */
static bool is_as_trusted(const char *path, uid_t owner)
{
        struct stat st;

        return lstat(path, &st) == 0 && (st.st_uid == owner || st.st_uid == 0) && !S_ISLNK(st.st_mode) &&
               !(st.st_mode & S_IWOTH);
}

/* Returns the program of the same build, or NULL if this alidadectl does not run from its build folder. */
static char *built_program(void)
{
        g_autofree char *own = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *folder = NULL, *program = NULL;
        struct stat st;

        if (!own || !g_str_has_suffix(own, "/clients/alidadectl/alidadectl") ||
                stat("/proc/self/exe", &st) < 0)
                return NULL;
        own[strlen(own) - strlen("/alidadectl/alidadectl")] = '\0';
        folder = g_build_filename(own, "cluster", NULL);
        program = g_build_filename(folder, PROGRAM, NULL);
        return is_as_trusted(own, st.st_uid) && is_as_trusted(folder, st.st_uid) &&
                               is_as_trusted(program, st.st_uid)
                       ? g_steal_pointer(&program)
                       : NULL;
}

/* Administration is a separate program, so that the program that all users run has no code that handles
 * keys. */
int ald_verb_cluster(const AldCtl *ctl)
{
        static const char *const modes[] = {
                [ALD_JSON_SHORT] = "--json=short",
                [ALD_JSON_PRETTY] = "--json=pretty",
        };
        g_autoptr(GPtrArray) argv = g_ptr_array_new();
        g_autofree char *built = built_program();
        const char *path = built ?: ALD_LIBEXEC_DIR "/" PROGRAM;

        /* The name under which other users of the machine, and a run that waits for this one, see it. */
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
