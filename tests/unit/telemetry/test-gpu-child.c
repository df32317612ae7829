/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers that answer, hang, crash and talk nonsense. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "common/fd.h"
#include "services/telemetry/helper/helper.h"
#include "tests/unit/gpu-roots.h"
#include "tests/unit/log-count.h"

#define NAME "fake-helper"
#define POLL_MS 20000

/* Short where the helper hangs anyway; elsewhere long enough for a busy machine. */
static const AldChildTiming hasty = { .first = 50, .answer = 50, .retry = 1, .retry_max = 8 };
static const AldChildTiming hasty_later = { .first = 20000, .answer = 50, .retry = 1, .retry_max = 8 };
static const AldChildTiming patient = { .first = 20000, .answer = 20000, .retry = 1, .retry_max = 8 };
static const AldChildTiming unforgiving = {
        .first = 20000, .answer = 20000, .retry = 1, .retry_max = 8, .healthy = 3600000
};

typedef struct Told {
        AldChild *child;
        FakeRoot *root; /* for its folder alone */
        char *answer;
        char *failure;
        unsigned n_failures;
        bool gone;
        const char *refuse; /* what to say of the next answer */
} Told;

static char *on_answer(const char *text, size_t length, void *userdata)
{
        Told *told = userdata;

        g_assert_cmpuint(strlen(text), ==, length);
        g_free(told->answer);
        told->answer = g_strdup(text);
        return g_strdup(told->refuse);
}

static void on_failure(const char *reason, void *userdata)
{
        Told *told = userdata;

        g_free(told->failure);
        told->failure = g_strdup(reason);
        told->n_failures++;
}

static void on_gone(void *userdata)
{
        ((Told *) userdata)->gone = true;
}

static const AldChildInfo info = {
        .program = NAME,
        .answered = on_answer,
        .failed = on_failure,
        .gone = on_gone,
};

static void set_up(Told *told, gconstpointer timing)
{
        log_count_reset();
        told->root = fake_root_new();
        told->child = ald_child_new(&info, timing, g_getenv("ALIDADE_TEST_HELPERS"), told);
}

static void tear_down(Told *told, gconstpointer timing)
{
        ald_child_free(told->child);
        fake_root_free(told->root);
        g_free(told->answer);
        g_free(told->failure);
}

static bool has_answer(void *userdata)
{
        return ((Told *) userdata)->answer != NULL;
}

static bool has_failed(void *userdata)
{
        return ((Told *) userdata)->failure != NULL;
}

static bool is_gone(void *userdata)
{
        return ((Told *) userdata)->gone;
}

static bool may_start(void *userdata)
{
        return ald_child_may_start(((Told *) userdata)->child);
}

static void ask(Told *told, const char *request)
{
        g_clear_pointer(&told->answer, g_free);
        g_clear_pointer(&told->failure, g_free);
        told->gone = false;
        g_assert_cmpint(ald_child_ask(told->child, request), ==, 0);
}

static void assert_fails(Told *told, const char *request, const char *reason)
{
        gpu_wait(may_start, told);
        ask(told, request);
        gpu_wait(has_failed, told);
        g_assert_nonnull(strstr(told->failure, reason));
        g_assert_cmpstr(ald_child_reason(told->child), ==, told->failure);
        gpu_wait(is_gone, told);
        g_assert_false(ald_child_alive(told->child));
}

static void test_answers(Told *told, gconstpointer timing)
{
        g_assert_false(ald_child_alive(told->child));
        ask(told, "echo one");
        g_assert_cmpint(ald_child_ask(told->child, "echo two"), ==, -EBUSY);
        gpu_wait(has_answer, told);
        g_assert_cmpstr(told->answer, ==, "echo one");
        ask(told, "echo three");
        gpu_wait(has_answer, told);
        g_assert_cmpstr(told->answer, ==, "echo three");
        g_assert_null(ald_child_reason(told->child));
        g_assert_cmpuint(log_count(""), ==, 0);
}

/* What binds and limits a helper. */
static void test_facts(Told *told, gconstpointer timing)
{
        ald_fd int stray = open("/dev/null", O_RDONLY); /* without CLOEXEC */
        json_t *facts;

        g_assert_cmpint(stray, >=, 0);
        ask(told, "facts");
        gpu_wait(has_answer, told);
        facts = json_loads(told->answer, 0, NULL);
        g_assert_cmpint(json_integer_value(json_object_get(facts, "death")), ==, SIGKILL);
        g_assert_cmpint(json_integer_value(json_object_get(facts, "core")), ==, 0);
        g_assert_true(json_is_true(json_object_get(facts, "leads")));
        g_assert_true(json_is_true(json_object_get(facts, "nnp")));
        /* The three usual ones and where the answers go. */
        g_assert_cmpuint(json_array_size(json_object_get(facts, "files")), ==, 4);
        json_decref(facts);
}

/* An answer counts though the helper ended right behind it. */
static void test_answer_and_end(Told *told, gconstpointer timing)
{
        for (int i = 0; i < 20; i++) {
                gpu_wait(may_start, told);
                ask(told, "last");
                gpu_wait(is_gone, told);
                g_assert_cmpstr(told->answer, ==, "last");
        }
}

static void test_hang(Told *told, gconstpointer timing)
{
        assert_fails(told, "mute", "did not answer in time");
        g_assert_cmpuint(log_count(NAME " failed"), ==, 1);
}

static void test_hang_later(Told *told, gconstpointer timing)
{
        ask(told, "echo");
        gpu_wait(has_answer, told);
        ask(told, "mute");
        gpu_wait(has_failed, told);
        gpu_wait(is_gone, told);
}

static void test_closes(Told *told, gconstpointer timing)
{
        assert_fails(told, "close", "did not answer in time");
}

static void test_ends(Told *told, gconstpointer timing)
{
        assert_fails(told, "crash", "signal 6");
        assert_fails(told, "exit", "status 3");
        assert_fails(told, "long", "too long");
        told->refuse = "it is a lie";
        assert_fails(told, "echo", "it is a lie");
        told->refuse = NULL;
        /* One line for the whole time of failure. */
        g_assert_cmpuint(told->n_failures, ==, 4);
        g_assert_cmpuint(log_count("; its values are omitted"), ==, 1);

        gpu_wait(may_start, told);
        ask(told, "echo again");
        gpu_wait(has_answer, told);
        g_assert_null(ald_child_reason(told->child));
        g_assert_cmpuint(log_count(NAME " works again"), ==, 1);
}

static void test_speaks_unasked(Told *told, gconstpointer timing)
{
        ask(told, "twice");
        gpu_wait(has_failed, told);
        g_assert_cmpstr(told->failure, ==, "it sent an unexpected message");
        gpu_wait(is_gone, told);
}

/* The pause doubles up to its limit; only a long time of health forgives. */
static void test_back_off(Told *told, gconstpointer timing)
{
        static const unsigned pauses[] = { 1, 2, 4, 8, 8 };

        g_assert_cmpuint(ald_child_pause(told->child), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(pauses); i++) {
                assert_fails(told, "exit", "status 3");
                g_assert_cmpuint(ald_child_pause(told->child), ==, pauses[i]);
        }
        gpu_wait(may_start, told);
        ask(told, "echo");
        gpu_wait(has_answer, told);
        g_assert_cmpuint(ald_child_pause(told->child), ==, 8);
}

static void test_health_forgives(Told *told, gconstpointer timing)
{
        assert_fails(told, "exit", "status 3");
        gpu_wait(may_start, told);
        ask(told, "echo");
        gpu_wait(has_answer, told);
        /* This timing calls any answer health. */
        g_assert_cmpuint(ald_child_pause(told->child), ==, 0);
}

static void test_too_soon(void)
{
        static const AldChildTiming slow = {
                .first = 20000, .answer = 20000, .retry = 3600000, .retry_max = 3600000
        };
        Told told = {};

        set_up(&told, &slow);
        assert_fails(&told, "exit", "status 3");
        g_assert_false(ald_child_may_start(told.child));
        g_assert_cmpint(ald_child_ask(told.child, "echo"), ==, -EAGAIN);
        tear_down(&told, &slow);
}

static void test_no_program(void)
{
        AldChildInfo missing = info;
        Told told = {};

        log_count_reset();
        missing.program = "no-such-helper";
        told.child = ald_child_new(&missing, &patient, g_getenv("ALIDADE_TEST_HELPERS"), &told);
        g_assert_cmpint(ald_child_ask(told.child, "echo"), ==, -ENOENT);
        g_assert_cmpuint(told.n_failures, ==, 1);
        g_assert_cmpuint(log_count("no-such-helper failed"), ==, 1);
        g_assert_false(ald_child_alive(told.child));
        ald_child_free(told.child);
        g_free(told.failure);
}

/* Opens a FIFO that the helper will hold; returns the end to read from. */
static int make_fifo(Told *told)
{
        g_autofree char *path = g_build_filename(told->root->dir, "held", NULL);
        int fd;

        fake_root_fifo(told->root, "held");
        fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        g_assert_cmpint(fd, >=, 0);
        ald_child_setenv(told->child, "FAKE_HELPER_FIFO", path);
        return fd;
}

/* Waits until nobody holds the FIFO. */
static void assert_let_go(int fifo)
{
        struct pollfd wait = { .fd = fifo, .events = POLLIN };

        g_assert_cmpint(poll(&wait, 1, POLL_MS), ==, 1);
        g_assert_true(wait.revents & POLLHUP);
}

/* With the helper goes what it started. */
static void test_end_of_family(Told *told, gconstpointer timing)
{
        ald_fd int fifo = make_fifo(told);

        ask(told, "family");
        gpu_wait(has_answer, told);
        ald_child_end(told->child);
        gpu_wait(is_gone, told);
        assert_let_go(fifo);
        g_assert_cmpuint(told->n_failures, ==, 0);
        g_assert_null(ald_child_reason(told->child));
        /* And may come back at once. */
        g_assert_true(ald_child_may_start(told->child));
}

static void test_free_while_running(Told *told, gconstpointer timing)
{
        ald_fd int fifo = make_fifo(told);

        ask(told, "family");
        gpu_wait(has_answer, told);
        g_clear_pointer(&told->child, ald_child_free);
        assert_let_go(fifo);
}

/* A daemon that is killed takes its helper along, even one that hangs. */
static void test_death_of_the_parent(Told *told, gconstpointer timing)
{
        ald_fd int fifo = make_fifo(told);
        int ready[2];
        char byte;
        pid_t pid;

        g_assert_cmpint(pipe(ready), ==, 0);
        pid = fork();
        g_assert_cmpint(pid, >=, 0);
        if (pid == 0) {
                /* The first answer tells that the helper runs. */
                ask(told, "echo");
                gpu_wait(has_answer, told);
                ask(told, "mute");
                (void) !write(ready[1], "x", 1);
                for (;;)
                        pause();
        }
        close(ready[1]);
        g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
        close(ready[0]);
        g_assert_cmpint(kill(pid, SIGKILL), ==, 0);
        g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
        assert_let_go(fifo);
}

/* A helper whose parent died before it was tied to it finds so by itself. Here its parent is not who made the
 * socket, which looks the same. */
static void test_orphan(void)
{
        g_autofree char *path = g_build_filename(g_getenv("ALIDADE_TEST_HELPERS"), NAME, NULL);
        struct pollfd wait = { .events = POLLIN };
        int ends[2];
        pid_t pid;

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), ==, 0);
        pid = fork();
        g_assert_cmpint(pid, >=, 0);
        if (pid == 0) {
                if (fork() == 0) {
                        dup2(ends[1], STDIN_FILENO);
                        dup2(ends[1], STDOUT_FILENO);
                        execl(path, path, NULL);
                }
                _exit(0);
        }
        g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
        close(ends[1]);
        wait.fd = ends[0];
        g_assert_cmpint(poll(&wait, 1, POLL_MS), ==, 1);
        g_assert_true(wait.revents & POLLHUP);
        close(ends[0]);
}

int main(int argc, char *argv[])
{
        static const struct {
                const char *path;
                const AldChildTiming *timing;
                void (*run)(Told *told, gconstpointer timing);
        } tests[] = {
                { "/gpu-child/answers", &patient, test_answers },
                { "/gpu-child/facts", &patient, test_facts },
                { "/gpu-child/answer-and-end", &patient, test_answer_and_end },
                { "/gpu-child/hang", &hasty, test_hang },
                { "/gpu-child/hang-later", &hasty_later, test_hang_later },
                { "/gpu-child/closes", &hasty, test_closes },
                { "/gpu-child/ends", &patient, test_ends },
                { "/gpu-child/speaks-unasked", &patient, test_speaks_unasked },
                { "/gpu-child/back-off", &unforgiving, test_back_off },
                { "/gpu-child/health-forgives", &patient, test_health_forgives },
                { "/gpu-child/end-of-family", &patient, test_end_of_family },
                { "/gpu-child/free-while-running", &patient, test_free_while_running },
                { "/gpu-child/death-of-the-parent", &patient, test_death_of_the_parent },
        };

        g_test_init(&argc, &argv, NULL);
        log_count_install();
        for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
                g_test_add(tests[i].path, Told, tests[i].timing, set_up, tests[i].run, tear_down);
        g_test_add_func("/gpu-child/too-soon", test_too_soon);
        g_test_add_func("/gpu-child/orphan", test_orphan);
        g_test_add_func("/gpu-child/no-program", test_no_program);
        return g_test_run();
}
