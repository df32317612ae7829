/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/rdma/driver-process.h"

/* Far beyond what any of these takes. */
#define LONG_NS (60 * ALD_NSEC_PER_SEC)

static void hang(void)
{
        for (;;)
                pause();
}

static void work_well(int answer, int stop, void *userdata)
{
        ald_driver_process_answer(answer, 1, "all is said");
}

/* As a driver that does not let go of a device. */
static void work_and_hang(int answer, int stop, void *userdata)
{
        ald_driver_process_answer(answer, 0, "");
        hang();
}

static void work_never(int answer, int stop, void *userdata)
{
        hang();
}

static void crash(int answer, int stop, void *userdata)
{
        (void) signal(SIGABRT, SIG_DFL);
        abort();
}

static void say_nothing(int answer, int stop, void *userdata)
{
}

static int run(AldDriverWork work, int stop, uint64_t nsec, char **ret_text, AldFailure *ret_failure)
{
        int fd = stop >= 0 ? stop : eventfd(0, EFD_CLOEXEC);
        int code = ald_driver_process_run(work, NULL, fd, ald_now() + nsec, ret_text, ret_failure);

        close(fd);
        return code;
}

static void test_answer(void)
{
        g_autofree char *text = NULL, *empty = NULL;
        AldFailure failure = {};

        g_assert_cmpint(run(work_well, -1, LONG_NS, &text, &failure), ==, 1);
        g_assert_cmpstr(text, ==, "all is said");
        g_assert_cmpint(run(work_and_hang, -1, LONG_NS, &empty, &failure), ==, 0);
        g_assert_cmpstr(empty, ==, "");
        g_assert_null(failure.message);
}

static void assert_fails(AldDriverWork work, int stop, uint64_t nsec, AldFailureKind kind)
{
        g_autofree char *text = NULL;
        AldFailure failure = {};

        g_assert_cmpint(run(work, stop, nsec, &text, &failure), <, 0);
        g_assert_null(text);
        g_assert_nonnull(failure.message);
        g_test_message("%s", failure.message);
        g_assert_cmpstr(ald_failure_to_string(failure.kind), ==, ald_failure_to_string(kind));
        ald_failure_clear(&failure);
}

static void test_no_answer(void)
{
        assert_fails(work_never, -1, 100 * ALD_NSEC_PER_MSEC, ALD_FAILURE_TIMEOUT);
        assert_fails(crash, -1, LONG_NS, ALD_FAILURE_CRASHED);
        assert_fails(say_nothing, -1, LONG_NS, ALD_FAILURE_CRASHED);
}

static bool in_the_kernel;
static pid_t left;

int __real_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal);
int __wrap_kill(pid_t pid, int signal)
{
        if (!in_the_kernel)
                return __real_kill(pid, signal);
        left = pid;
        return 0;
}

/* As a driver that does not come back from the kernel: its process cannot be killed, and is not waited for.
 */
static void test_left_behind(void)
{
        in_the_kernel = true;
        assert_fails(work_never, -1, 100 * ALD_NSEC_PER_MSEC, ALD_FAILURE_TIMEOUT);
        in_the_kernel = false;
        g_assert_cmpint(left, >, 0);
        g_assert_cmpint(__real_kill(left, SIGKILL), ==, 0);
        g_assert_cmpint(waitpid(left, NULL, 0), ==, left);
}

/* One that does not listen to a signal either. */
static void test_stopped(void)
{
        assert_fails(work_never, eventfd(1, EFD_CLOEXEC), LONG_NS, ALD_FAILURE_ABORTED);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/driver-process/answer", test_answer);
        g_test_add_func("/rdma/driver-process/no-answer", test_no_answer);
        g_test_add_func("/rdma/driver-process/left-behind", test_left_behind);
        g_test_add_func("/rdma/driver-process/stopped", test_stopped);
        return g_test_run();
}
