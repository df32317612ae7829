/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/command-line/pager.h"

/* Returns the command to run, or NULL if no pager is wanted. */
static char **pager_command(void)
{
        static const char *const variables[] = { "ALIDADE_PAGER", "PAGER" };
        char **argv = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(variables); i++) {
                const char *value = getenv(variables[i]);

                if (!value)
                        continue;
                if (!value[0] || strcmp(value, "cat") == 0)
                        return NULL;
                if (g_shell_parse_argv(value, NULL, &argv, NULL))
                        return argv;
        }
        return g_strsplit("less", " ", -1);
}

/* A reader who quits early breaks the pipe, which is not an error. */
static void write_all(int fd, const char *text)
{
        size_t left = strlen(text);

        while (left > 0) {
                ssize_t n = write(fd, text, left);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return;
                text += n;
                left -= (size_t) n;
        }
}

int ald_pager_show(const char *text)
{
        GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD;
        g_auto(GStrv) argv = pager_command();
        g_auto(GStrv) env = g_get_environ();
        void (*old_int)(int), (*old_pipe)(int);
        GPid pid;
        int fd;

        if (!argv)
                return -ENOENT;
        /* less quits if the text fits on a screen, shows colours, and leaves the text on the screen;
         * LESSSECURE prevents starting a shell from within. */
        env = g_environ_setenv(env, "LESS", "FRSXMK", true);
        env = g_environ_setenv(env, "LESSSECURE", "1", true);
        if (!g_spawn_async_with_pipes(NULL, argv, env, flags, NULL, NULL, &pid, &fd, NULL, NULL, NULL))
                return -ENOENT;
        old_int = signal(SIGINT, SIG_IGN); /* the pager handles it */
        old_pipe = signal(SIGPIPE, SIG_IGN);
        write_all(fd, text);
        (void) close(fd);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        (void) signal(SIGINT, old_int);
        (void) signal(SIGPIPE, old_pipe);
        return 0;
}
