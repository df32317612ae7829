/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/common/wait.h"
#include "probes/compute/run/contention.h"
#include "probes/compute/run/runner.h"

#define ANSWER_FD 3
#define BYTES_MAX (16u * 1024 * 1024)
#define KILLED_MSEC 3000u
#define OTHERS_MIN 0.5 /* of the processors */

typedef struct Child {
        const AldRunner *runner;
        pid_t pid;
        int pidfd, answers;
        uint64_t deadline;
        GString *text; /* the incomplete line */
        size_t bytes;
} Child;

static char **make_arguments(const AldRunner *runner, const char *const *arguments)
{
        GPtrArray *all = g_ptr_array_new();

        g_ptr_array_add(all, g_strdup("alidade-probe-compute"));
        g_ptr_array_add(all, g_strdup("--child"));
        g_ptr_array_add(all, g_strdup_printf("--answer-fd=%d", ANSWER_FD));
        g_ptr_array_add(all, g_strdup_printf("--parent=%d", (int) getpid()));
        g_ptr_array_add(all, g_strdup_printf("--timeout=%u", runner->timeout));
        for (const char *const *argument = arguments; *argument; argument++)
                g_ptr_array_add(all, g_strdup(*argument));
        g_ptr_array_add(all, NULL);
        return (char **) g_ptr_array_free(all, FALSE);
}

/* Sets up what the child inherits: no blocked or ignored signals, and no open files except the pipe. */
static void prepare_spawn(posix_spawn_file_actions_t *files, posix_spawnattr_t *how, int answers)
{
        sigset_t none, usual;

        sigemptyset(&none);
        sigemptyset(&usual);
        sigaddset(&usual, SIGPIPE);
        posix_spawn_file_actions_init(files);
        posix_spawn_file_actions_adddup2(files, answers, ANSWER_FD);
        posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addclosefrom_np(files, ANSWER_FD + 1);
        posix_spawnattr_init(how);
        posix_spawnattr_setpgroup(how, 0);
        posix_spawnattr_setsigmask(how, &none);
        posix_spawnattr_setsigdefault(how, &usual);
        posix_spawnattr_setflags(how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn_child(Child *child, const char *const *arguments, const char *drivers)
{
        g_auto(GStrv) all = make_arguments(child->runner, arguments);
        g_auto(GStrv) environment = g_strdupv(child->runner->environment);
        posix_spawn_file_actions_t files;
        posix_spawnattr_t how;
        int ends[2], r;

        if (drivers)
                environment = g_environ_setenv(environment, "OCL_ICD_VENDORS", drivers, TRUE);
        if (pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        prepare_spawn(&files, &how, ends[1]);
        r = -posix_spawn(&child->pid, "/proc/self/exe", &files, &how, all, environment);
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&how);
        close(ends[1]);
        if (r < 0) {
                close(ends[0]);
                return r;
        }
        child->answers = ends[0];
        child->pidfd = pidfd_open(child->pid, 0);
        return 0;
}

/* Kills the child and waits for it. A process that hangs in the kernel is abandoned, since waiting for it
 * would hang as well. */
static int end_child(Child *child, int *ret_status)
{
        struct pollfd fd = { child->pidfd, POLLIN, 0 };

        (void) kill(-child->pid, SIGKILL);
        if (child->pidfd >= 0 && ald_wait(&fd, 1, ald_now() + KILLED_MSEC * ALD_NSEC_PER_MSEC) <= 0)
                return -ETIMEDOUT;
        return waitpid(child->pid, ret_status, 0) < 0 ? -errno : 0;
}

/* Fails after the child has closed the pipe. Waits for its end first, since killing it meanwhile would lose
 * its own status. */
static int fail_of_end(Child *child, AldFailure *failure)
{
        int r = ald_wait_for(child->pidfd, POLLIN, child->runner->stop, child->deadline,
                "waited for a process to exit", failure);
        int status = 0;

        if (r < 0)
                return r;
        if (end_child(child, &status) < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "a process did not exit when killed");
        child->pid = -1;
        if (WIFSIGNALED(status))
                return ald_fail(
                        failure, ALD_FAILURE_CRASHED, "the driver crashed: %s", strsignal(WTERMSIG(status)));
        return ald_fail(failure, ALD_FAILURE_CRASHED, "the driver ended the process with status %d",
                WEXITSTATUS(status));
}

/* Handles a line. Returns 1 with the answer, 0 if more is to come. */
static int handle_line(const char *line, size_t length, AldRunnerCallback callback, void *userdata,
        AldRecord **ret, AldFailure *failure)
{
        g_autoptr(AldRecord) answer = NULL;
        int r;

        if (ald_answer_parse(line, length, &answer) < 0)
                return ald_fail(failure, ALD_FAILURE_CRASHED, "the process sent an invalid message");
        if (answer->kind == ALD_KIND_COMPUTE_STEP) {
                if (callback)
                        callback(ald_record_as(answer, COMPUTE_STEP, AldComputeStep), userdata);
                return 0;
        }
        r = ald_answer_fail(answer, failure);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&answer);
        return 1;
}

static int handle_text(Child *child, const char *text, size_t length, AldRunnerCallback callback,
        void *userdata, AldRecord **ret, AldFailure *failure)
{
        const char *newline;
        int r = 0;

        child->bytes += length;
        g_string_append_len(child->text, text, (gssize) length);
        while (r == 0 && (newline = memchr(child->text->str, '\n', child->text->len))) {
                size_t size = (size_t) (newline - child->text->str);

                r = handle_line(child->text->str, size, callback, userdata, ret, failure);
                g_string_erase(child->text, 0, (gssize) size + 1);
        }
        if (r == 0 && (child->text->len > ALD_ANSWER_LINE_MAX || child->bytes > BYTES_MAX))
                return ald_fail(failure, ALD_FAILURE_CRASHED, "the process sent too much");
        return r;
}

static int follow_child(
        Child *child, AldRunnerCallback callback, void *userdata, AldRecord **ret, AldFailure *failure)
{
        g_autofree char *wait = g_strdup_printf("waited %u s for the driver", child->runner->timeout);
        char buffer[16 * 1024];
        int r;

        do {
                ssize_t n;

                r = ald_wait_for(child->answers, POLLIN, child->runner->stop, child->deadline, wait, failure);
                if (r < 0)
                        return r;
                n = read(child->answers, buffer, sizeof buffer);
                if (n == 0)
                        return fail_of_end(child, failure);
                if (n < 0)
                        return ald_fail(failure, ALD_FAILURE_INTERNAL, "reading from a process: %s",
                                g_strerror(errno));
                r = handle_text(child, buffer, (size_t) n, callback, userdata, ret, failure);
        } while (r == 0);
        return r;
}

/* Returns the processor time of children that were reaped, in µs. */
static uint64_t children_usec(void)
{
        struct rusage usage = {};

        getrusage(RUSAGE_CHILDREN, &usage);
        return (uint64_t) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
               (uint64_t) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void read_times(AldProcessorTimes *ret)
{
        ald_processor_times_read("/", ret);
        ret->own = children_usec();
}

/* Checks the reason of a timeout, which is not a hang if no processor was free. */
static int check_timeout(const Child *child, const AldProcessorTimes *before, AldFailure *failure)
{
        AldProcessorTimes after;

        read_times(&after);
        if (ald_contention_share(before, &after) < OTHERS_MIN)
                return -ETIMEDOUT;
        ald_failure_clear(failure);
        return ald_fail(
                failure, ALD_FAILURE_BUSY, "other work used the machine for %u s", child->runner->timeout);
}

int ald_runner_run(const AldRunner *runner, const char *const *arguments, const char *drivers,
        AldRunnerCallback callback, void *userdata, AldRecord **ret, AldFailure *failure)
{
        Child child = { .runner = runner, .pid = -1, .pidfd = -1, .answers = -1 };
        AldProcessorTimes before;
        AldRecord *answer = NULL;
        int r;

        read_times(&before);
        child.deadline = ald_now() + runner->timeout * ALD_NSEC_PER_SEC;
        r = spawn_child(&child, arguments, drivers);
        if (r < 0)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "starting a process: %s", g_strerror(-r));
        child.text = g_string_new(NULL);
        r = follow_child(&child, callback, userdata, &answer, failure);
        if (child.pid > 0)
                (void) end_child(&child, &(int){ 0 });
        if (r == -ETIMEDOUT)
                r = check_timeout(&child, &before, failure);
        g_string_free(child.text, TRUE);
        ald_fd_close(&child.answers);
        ald_fd_close(&child.pidfd);
        if (r < 0)
                return r;
        *ret = answer;
        return 0;
}
