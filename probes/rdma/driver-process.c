/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/common/process-limits.h"
#include "probes/common/wait.h"
#include "probes/rdma/driver-process.h"

#define ANSWER_MAX (64u * 1024)
#define END_NS (1 * ALD_NSEC_PER_SEC)    /* for returning the device */
#define NOTIFY_NS (2 * ALD_NSEC_PER_SEC) /* for informing the other side after a signal */

typedef struct DriverProcess {
        pid_t pid;
        int pidfd, answer;
        GString *text; /* the code, then the text, then a NUL */
        bool stopped;
} DriverProcess;

void ald_driver_process_answer(int answer, int code, const char *text)
{
        g_autofree char *all = g_strdup_printf("%c%s", '0' + code, text);
        size_t size = strlen(all) + 1, done = 0;

        while (done < size) {
                ssize_t n = write(answer, all + done, size - done);

                if (n < 0 && errno != EINTR)
                        return;
                done += n > 0 ? (size_t) n : 0;
        }
}

static void run_child(AldDriverWork work, void *userdata, int answer, pid_t parent)
{
        int stop;

        if (ald_process_limits_apply(&ald_process_limits_rdma, SIGKILL, parent) < 0)
                _exit(EXIT_FAILURE);
        stop = ald_stop_fd();
        if (stop >= 0)
                work(answer, stop, userdata);
        _exit(EXIT_SUCCESS);
}

static int start_process(DriverProcess *process, AldDriverWork work, void *userdata, int stop)
{
        pid_t parent = getpid();
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        process->pid = fork();
        if (process->pid == 0) {
                close(ends[0]);
                close(stop);
                run_child(work, userdata, ends[1], parent);
        }
        close(ends[1]);
        process->answer = ends[0];
        if (process->pid < 0)
                return -errno;
        process->pidfd = pidfd_open(process->pid, 0);
        return 0;
}

/* Returns 1 if the answer is complete, 0 if not yet. */
static int read_answer(DriverProcess *process, AldFailure *failure)
{
        struct pollfd ended = { process->pidfd, POLLIN, 0 };
        char buffer[4096];
        ssize_t n = read(process->answer, buffer, sizeof buffer);
        int status = 0;

        if (n < 0)
                return errno == EINTR ? 0 : ald_fail(failure, ALD_FAILURE_INTERNAL, "no answer was read");
        g_string_append_len(process->text, buffer, n);
        if (process->text->len > ANSWER_MAX)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "the answer of the process is too long");
        if (n > 0)
                return buffer[n - 1] == '\0' && process->text->len > 1;
        (void) ald_wait(&ended, 1, ald_now() + END_NS);
        if (waitpid(process->pid, &status, WNOHANG) == process->pid)
                process->pid = -1;
        if (process->stopped)
                return ald_fail(failure, ALD_FAILURE_ABORTED, "stopped by a signal");
        return ald_fail(failure, ALD_FAILURE_CRASHED, WIFSIGNALED(status) ? "the driver crashed: %s" : "%s",
                WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "the process ended without an answer");
}

static int wait_for_answer(DriverProcess *process, int stop, uint64_t deadline, AldFailure *failure)
{
        int r = 0;

        while (r == 0) {
                struct pollfd fds[] = { { process->answer, POLLIN, 0 }, { stop, POLLIN, 0 } };

                r = ald_wait(fds, process->stopped ? 1 : 2, deadline);
                if (r < 0)
                        return ald_fail(failure, ALD_FAILURE_INTERNAL, "waiting failed");
                if (r == 0)
                        return process->stopped
                                       ? ald_fail(failure, ALD_FAILURE_ABORTED, "stopped by a signal")
                                       : ald_fail(failure, ALD_FAILURE_TIMEOUT,
                                                 "the process did not end in time");
                r = 0;
                if (fds[0].revents)
                        r = read_answer(process, failure);
                else if (fds[1].revents) {
                        process->stopped = true;
                        (void) kill(process->pid, SIGTERM);
                        deadline = MIN(deadline, ald_now() + NOTIFY_NS);
                }
        }
        return r;
}

/* Ends the process. One that hangs in the kernel is left behind, since waiting for it would hang, too. */
static void end_process(DriverProcess *process)
{
        struct pollfd fd = { process->pidfd, POLLIN, 0 };

        if (process->pid > 0 && ald_wait(&fd, 1, ald_now() + END_NS) <= 0) {
                (void) kill(process->pid, SIGKILL);
                (void) ald_wait(&fd, 1, ald_now() + END_NS);
        }
        if (process->pid > 0)
                (void) waitpid(process->pid, NULL, WNOHANG);
        ald_fd_close(&process->pidfd);
        ald_fd_close(&process->answer);
}

int ald_driver_process_run(
        AldDriverWork work, void *userdata, int stop, uint64_t deadline, char **ret_text, AldFailure *failure)
{
        g_autoptr(GString) text = g_string_new(NULL);
        DriverProcess process = { .pid = -1, .pidfd = -1, .answer = -1, .text = text };
        int r = start_process(&process, work, userdata, stop);

        if (r < 0)
                r = ald_fail(failure, ALD_FAILURE_INTERNAL, "no process: %s", g_strerror(-r));
        else
                r = wait_for_answer(&process, stop, deadline, failure);
        if (r < 0 && process.pid > 0)
                (void) kill(process.pid, SIGKILL);
        end_process(&process);
        if (r < 0)
                return r;
        *ret_text = g_strdup(text->str + 1);
        return text->str[0] - '0';
}
