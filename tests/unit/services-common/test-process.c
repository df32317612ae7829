/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "services/common/process.h"

#define DEADLINE_MSEC 20000

/* A process that traces another one until its end of the pipe is closed. *ret_r is why it does not. */
static pid_t begin_to_trace(pid_t traced, int *ret_end, int *ret_r)
{
        int lifeline[2], answer[2], r;
        pid_t tracer;

        g_assert_cmpint(pipe2(lifeline, O_CLOEXEC), ==, 0);
        g_assert_cmpint(pipe2(answer, O_CLOEXEC), ==, 0);
        tracer = fork();
        g_assert_cmpint(tracer, >=, 0);
        if (tracer == 0) {
                close(lifeline[1]);
                r = ptrace(PTRACE_SEIZE, traced, NULL, NULL) < 0 ? -errno : 0;
                if (write(answer[1], &r, sizeof r) == sizeof r && read(lifeline[0], &r, 1) == 0)
                        _exit(0);
                _exit(1);
        }
        close(lifeline[0]);
        g_assert_cmpint(read(answer[0], ret_r, sizeof *ret_r), ==, sizeof *ret_r);
        close(answer[0]);
        close(answer[1]);
        *ret_end = lifeline[1];
        return tracer;
}

static gboolean on_deadline(gpointer unused)
{
        g_error("It was never reaped");
        return G_SOURCE_REMOVE;
}

/* As by strace or gdb: the kernel lets nobody reap it before the tracer has. */
static void test_one_that_is_traced_is_reaped_later(void)
{
        char *arguments[] = { (char *) "/bin/sleep", (char *) "1000", NULL };
        AldProcess process;
        guint deadline;
        siginfo_t end;
        pid_t pid, tracer;
        int lifeline, r;

        g_assert_cmpint(ald_process_spawn(arguments, environ, NULL, 0, &process), ==, 0);
        pid = process.pid;
        tracer = begin_to_trace(pid, &lifeline, &r);
        ald_process_kill(&process);
        ald_process_wait(&process, DEADLINE_MSEC);
        ald_process_reap(&process, &end);
        g_assert_cmpint(process.pid, ==, 0);
        if (r == 0) {
                g_autofree char *text = ald_process_describe_end(&end);

                g_assert_cmpstr(text, ==, "it was ended by signal 9 (Killed)");
                g_assert_cmpint(kill(pid, 0), ==, 0);
        }
        close(lifeline);
        g_assert_cmpint(waitpid(tracer, NULL, 0), ==, tracer);
        if (r < 0) {
                g_test_skip("this kernel or container lets nobody trace");
                return;
        }
        deadline = g_timeout_add(DEADLINE_MSEC, on_deadline, NULL);
        while (kill(pid, 0) == 0)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpint(errno, ==, ESRCH);
        g_source_remove(deadline);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/process/traced", test_one_that_is_traced_is_reaped_later);
        return g_test_run();
}
