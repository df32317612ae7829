/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/alidadectl/agent.h"

#define NOTIFY_FD 3

/* The agent must use the bus on which polkit and the services are. */
static char **agent_environment(void)
{
        const char *address = getenv("ALIDADE_BUS_ADDRESS");
        char **env = g_get_environ();

        return address && address[0] ? g_environ_setenv(env, "DBUS_SYSTEM_BUS_ADDRESS", address, true) : env;
}

/* The agent closes the other end once it is registered, or when it fails. */
static void await_close(int fd)
{
        ssize_t n;
        char byte;

        do
                n = read(fd, &byte, 1);
        while (n > 0 || (n < 0 && errno == EINTR));
}

bool ald_agent_may_ask(const AldCtl *ctl)
{
        return ctl->ask_password && isatty(STDIN_FILENO);
}

int ald_agent_start(const AldCtl *ctl)
{
        static const char *const argv[] = { "pkttyagent", "--notify-fd", G_STRINGIFY(NOTIFY_FD), "--fallback",
                NULL };
        GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_CHILD_INHERITS_STDIN;
        g_auto(GStrv) env = agent_environment();
        const int target = NOTIFY_FD;
        int fds[2];
        GPid pid = 0;

        if (!ald_agent_may_ask(ctl) || ctl->host || geteuid() == 0 || pipe2(fds, O_CLOEXEC) < 0)
                return 0;
        if (!g_spawn_async_with_pipes_and_fds(NULL, argv, (const char *const *) env, flags, NULL, NULL, -1,
                    -1, -1, &fds[1], &target, 1, &pid, NULL, NULL, NULL, NULL))
                pid = 0;
        (void) close(fds[1]);
        if (pid > 0)
                await_close(fds[0]);
        (void) close(fds[0]);
        return pid;
}

void ald_agent_stop(int pid)
{
        if (pid <= 0)
                return;
        /* The agent may have been stopped while it held the terminal, so it also gets SIGCONT. */
        (void) kill(pid, SIGTERM);
        (void) kill(pid, SIGCONT);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
}
