/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "common/fd.h"
#include "services/common/process.h"

#define FDS_MAX 8u
#define REAP_SECONDS 1u

char **ald_process_environment(void)
{
        static const char *const own[] = { "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC" };
        char **environment = g_get_environ();

        for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
                environment = g_environ_unsetenv(environment, own[i]);
        return environment;
}

/* Copies the descriptors beyond the numbers that the child uses, so that dup2() overwrites none that is still
 * needed. */
static int copy_fds(const int *fds, size_t n_fds, int copies[static FDS_MAX])
{
        for (size_t i = 0; i < n_fds; i++) {
                if (fds[i] < 0)
                        continue;
                copies[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, (int) FDS_MAX);
                if (copies[i] < 0)
                        return -errno;
        }
        return 0;
}

static int prepare_files(posix_spawn_file_actions_t *actions, const int *copies, size_t n_fds)
{
        int r = 0;

        for (int i = 0; r == 0 && i < (int) n_fds; i++)
                r = copies[i] < 0 ? posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0)
                                  : posix_spawn_file_actions_adddup2(actions, copies[i], i);
        if (r == 0)
                r = posix_spawn_file_actions_addclosefrom_np(actions, (int) n_fds);
        return -r;
}

static int prepare_attributes(posix_spawnattr_t *attributes)
{
        sigset_t none, all;

        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setpgroup(attributes, 0);
        posix_spawnattr_setsigmask(attributes, &none);
        posix_spawnattr_setsigdefault(attributes, &all);
        return -posix_spawnattr_setflags(
                attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn_with_files(
        char *const *arguments, char *const *environment, const int *copies, size_t n_fds, pid_t *ret)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        int r;

        if (posix_spawn_file_actions_init(&actions) != 0)
                return -ENOMEM;
        if (posix_spawnattr_init(&attributes) != 0) {
                posix_spawn_file_actions_destroy(&actions);
                return -ENOMEM;
        }
        r = prepare_files(&actions, copies, n_fds);
        if (r >= 0)
                r = prepare_attributes(&attributes);
        if (r >= 0)
                r = -posix_spawn(ret, arguments[0], &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return r;
}

int ald_process_spawn(
        char *const *arguments, char *const *environment, const int *fds, size_t n_fds, AldProcess *ret)
{
        int copies[FDS_MAX] = { -1, -1, -1, -1, -1, -1, -1, -1 };
        AldProcess process = ALD_PROCESS_NONE;
        int r;

        g_assert(n_fds <= FDS_MAX);
        r = copy_fds(fds, n_fds, copies);
        if (r >= 0)
                r = spawn_with_files(arguments, environment, copies, n_fds, &process.pid);
        for (size_t i = 0; i < n_fds; i++)
                ald_fd_close(&copies[i]);
        if (r < 0)
                return r;
        process.pidfd = pidfd_open(process.pid, 0);
        if (process.pidfd < 0) {
                r = -errno;
                kill(-process.pid, SIGKILL);
                waitpid(process.pid, NULL, 0);
                return r;
        }
        *ret = process;
        return 0;
}

void ald_process_kill(const AldProcess *process)
{
        if (process->pid != 0)
                kill(-process->pid, SIGKILL);
}

static bool reap_if_ended(idtype_t type, int id, siginfo_t *ret)
{
        *ret = (siginfo_t){ 0 };
        return waitid(type, (id_t) id, ret, WEXITED | WNOHANG) < 0 || ret->si_pid != 0;
}

static gboolean on_reap_later(gpointer pid)
{
        siginfo_t unused;

        return !reap_if_ended(P_PID, GPOINTER_TO_INT(pid), &unused);
}

void ald_process_reap(AldProcess *process, siginfo_t *ret)
{
        /* The group is killed first, while its number cannot be reused. */
        ald_process_kill(process);
        /* A debugger or a leak sanitizer that traces the process reaps it first. */
        if (!reap_if_ended(P_PIDFD, process->pidfd, ret)) {
                g_timeout_add_seconds(REAP_SECONDS, on_reap_later, GINT_TO_POINTER((int) process->pid));
                ret->si_code = CLD_KILLED;
                ret->si_status = SIGKILL;
        }
        ald_fd_close(&process->pidfd);
        process->pid = 0;
}

void ald_process_wait(const AldProcess *process, int msec)
{
        struct pollfd wait = { .fd = process->pidfd, .events = POLLIN };

        (void) poll(&wait, 1, msec);
}

char *ald_process_describe_end(const siginfo_t *end)
{
        if (end->si_code == CLD_EXITED && end->si_status == 127)
                return g_strdup("it could not be run");
        if (end->si_code == CLD_EXITED)
                return g_strdup_printf("it ended with status %d", end->si_status);
        return g_strdup_printf("it was ended by signal %d (%s)", end->si_status, strsignal(end->si_status));
}
