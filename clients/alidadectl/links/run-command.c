/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/alidadectl/links/run-command.h"
#include "clients/command-line/print.h"

#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127
#define EXIT_SIGNALED 128

static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };

static _Noreturn void become(char **argv, const sigset_t *mask, pid_t parent)
{
        int r;

        (void) sigprocmask(SIG_SETMASK, mask, NULL);
        (void) prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
                _exit(EXIT_CANNOT_RUN); /* it died before that, and the lock with it */
        execvp(argv[0], argv);
        r = errno;
        ald_complain("Cannot run %s: %s", argv[0], strerror(r));
        _exit(r == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

/* What a terminal sends it sends to the command as well, being in the same group of processes. */
static bool is_for_us_alone(const siginfo_t *info)
{
        return info->si_code <= 0;
}

static int await_end(pid_t pid, const sigset_t *awaited)
{
        siginfo_t info;
        int status;

        for (;;) {
                int number = sigwaitinfo(awaited, &info);

                if (number > 0 && number != SIGCHLD && is_for_us_alone(&info))
                        (void) kill(pid, number);
                if (number != SIGCHLD || waitpid(pid, &status, WNOHANG) != pid)
                        continue;
                return WIFSIGNALED(status) ? EXIT_SIGNALED + WTERMSIG(status) : WEXITSTATUS(status);
        }
}

int ald_run_command(char **argv)
{
        sigset_t awaited, before;
        pid_t parent = getpid(), pid;

        (void) signal(SIGCHLD, SIG_DFL); /* our parent may have ignored it */
        sigemptyset(&awaited);
        sigaddset(&awaited, SIGCHLD);
        for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
                sigaddset(&awaited, forwarded[i]);
        (void) sigprocmask(SIG_BLOCK, &awaited, &before);
        pid = fork();
        if (pid == 0)
                become(argv, &before, parent);
        if (pid < 0) {
                ald_complain("Cannot run %s: %s", argv[0], strerror(errno));
                return EXIT_CANNOT_RUN;
        }
        return await_end(pid, &awaited);
}
