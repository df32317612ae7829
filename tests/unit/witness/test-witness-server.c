/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "common/fd.h"
#include "services/common/witness-client.h"
#include "services/witness/witness-server.h"
#include "tests/unit/log-count.h"

#define IDLE_MSEC 1500
#define WAIT_MSEC 60000
#define REQUEST "{\"Pids\":[\"17\"]}"

typedef struct Served {
        char *directory;
        struct sockaddr_un address;
        int listener;
        GThread *thread;
        unsigned n_requests; /* read after the thread has ended */
        bool answers_much;
} Served;

static char *on_request(void *userdata, const AldRecord *request, size_t max_bytes)
{
        Served *served = userdata;
        const AldProcessesRequest *asked = ald_record_as(request, PROCESSES_REQUEST, AldProcessesRequest);

        served->n_requests++;
        return served->answers_much ? g_strnfill(max_bytes, ' ') : g_strdup(asked->pids[0]);
}

static gpointer serve(gpointer userdata)
{
        const AldWitnessTask task = { ALD_KIND_PROCESSES_REQUEST, on_request, userdata };

        return GINT_TO_POINTER(ald_witness_serve(((Served *) userdata)->listener, &task, IDLE_MSEC));
}

static void set_up(Served *served, gconstpointer unused)
{
        g_autofree char *path = NULL;

        log_count_reset();
        served->directory = g_dir_make_tmp("witness-XXXXXX", NULL);
        path = g_build_filename(served->directory, "processes", NULL);
        served->address.sun_family = AF_UNIX;
        g_strlcpy(served->address.sun_path, path, sizeof served->address.sun_path);
        served->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        g_assert_cmpint(
                bind(served->listener, (struct sockaddr *) &served->address, sizeof served->address), ==, 0);
        g_assert_cmpint(listen(served->listener, 16), ==, 0);
}

static void tear_down(Served *served, gconstpointer unused)
{
        ald_fd_close(&served->listener);
        g_unlink(served->address.sun_path);
        g_rmdir(served->directory);
        g_free(served->directory);
}

static void start(Served *served)
{
        served->thread = g_thread_new("witness", serve, served);
}

/* It ends by itself. */
static void assert_ends(Served *served, unsigned n_requests)
{
        g_assert_cmpint(GPOINTER_TO_INT(g_thread_join(served->thread)), ==, 0);
        g_assert_cmpuint(served->n_requests, ==, n_requests);
}

static int dial(const Served *served)
{
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        g_assert_cmpint(
                connect(fd, (const struct sockaddr *) &served->address, sizeof served->address), ==, 0);
        return fd;
}

static void say(int fd, const char *text, size_t length)
{
        g_assert_cmpint(send(fd, text, length, MSG_NOSIGNAL), ==, length);
}

/* Returns the length of the next message; 0: the connection was closed. */
static ssize_t hear(int fd, char *buffer, size_t size)
{
        struct pollfd polled = { .fd = fd, .events = POLLIN };
        ssize_t n;

        g_assert_cmpint(poll(&polled, 1, WAIT_MSEC), ==, 1);
        n = recv(fd, buffer, size, 0);
        return n < 0 ? 0 : n;
}

static void assert_answered(int fd)
{
        char answer[16];

        say(fd, REQUEST, strlen(REQUEST));
        g_assert_cmpint(hear(fd, answer, sizeof answer), ==, 2);
        g_assert_cmpint(memcmp(answer, "17", 2), ==, 0);
}

static void assert_closed(int fd)
{
        char answer[16];

        g_assert_cmpint(hear(fd, answer, sizeof answer), ==, 0);
}

static void test_answers(Served *served, gconstpointer unused)
{
        ald_fd int first = dial(served), second = dial(served);

        start(served);
        assert_answered(first);
        assert_answered(second);
        assert_answered(first);
        assert_ends(served, 3);
        g_assert_cmpuint(log_count(""), ==, 0);
}

static void test_ends_without_a_request(Served *served, gconstpointer unused)
{
        ald_fd int idle = dial(served);

        start(served);
        assert_ends(served, 0);
        assert_closed(idle);
}

static void test_rubbish_is_closed(Served *served, gconstpointer unused)
{
        g_autofree char *large = g_strnfill(ALD_WITNESS_REQUEST_MAX + 1, ' ');
        static const char *const rubbish[] = { "{", "null", "\xff", "{\"Pids\":17}", "GET / HTTP/1.1\r\n\r\n",
                "{\"Pids\":[17]}" };

        start(served);
        for (size_t i = 0; i <= G_N_ELEMENTS(rubbish); i++) {
                ald_fd int fd = dial(served);
                const char *text = i < G_N_ELEMENTS(rubbish) ? rubbish[i] : large;

                say(fd, text, strlen(text));
                assert_closed(fd);
        }
        /* And it goes on to answer. */
        ald_fd int fd = dial(served);
        assert_answered(fd);
        assert_ends(served, 1);
        g_assert_cmpuint(log_count("Closed a connection"), ==, G_N_ELEMENTS(rubbish) + 1);
}

/* Connections that say nothing, or take nothing, keep nobody else from being answered. */
static void test_silent_connections_make_room(Served *served, gconstpointer unused)
{
        int silent[12];

        start(served);
        for (size_t i = 0; i < G_N_ELEMENTS(silent); i++)
                silent[i] = dial(served);
        ald_fd int fd = dial(served);
        assert_answered(fd);
        assert_closed(silent[0]);
        assert_ends(served, 1);
        for (size_t i = 0; i < G_N_ELEMENTS(silent); i++)
                ald_fd_close(&silent[i]);
}

static void test_answers_are_not_waited_for(Served *served, gconstpointer unused)
{
        ald_fd int deaf = dial(served);
        char answer[16];

        served->answers_much = true;
        start(served);
        for (unsigned i = 0; i < 8; i++)
                (void) send(deaf, REQUEST, strlen(REQUEST), MSG_NOSIGNAL);
        ald_fd int fd = dial(served);
        say(fd, REQUEST, strlen(REQUEST));
        g_assert_cmpint(hear(fd, answer, sizeof answer), ==, sizeof answer);
        g_assert_cmpint(GPOINTER_TO_INT(g_thread_join(served->thread)), ==, 0);
        g_assert_cmpuint(served->n_requests, <, 9);
}

/* Not even root is answered in the place of the owner. */
static void test_others_are_refused(Served *served, gconstpointer unused)
{
        ald_fd int fd = -1;

        if (geteuid() != 0) {
                g_test_skip("only root can give the socket to another user");
                return;
        }
        g_assert_cmpint(chown(served->address.sun_path, 1234, 0), ==, 0);
        start(served);
        for (unsigned i = 0; i < 20; i++) {
                ald_fd_close(&fd);
                fd = dial(served);
                (void) send(fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL);
                assert_closed(fd);
        }
        assert_ends(served, 0);
        g_assert_cmpuint(log_count("not of the user who is answered"), ==, 8);
        g_assert_cmpuint(log_count("Closed 20 connections"), ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_log_set_always_fatal(G_LOG_FATAL_MASK);
        log_count_install();
#define ADD(name, function) g_test_add("/witness-server/" name, Served, NULL, set_up, function, tear_down)
        ADD("answers", test_answers);
        ADD("ends-without-a-request", test_ends_without_a_request);
        ADD("rubbish-is-closed", test_rubbish_is_closed);
        ADD("silent-connections-make-room", test_silent_connections_make_room);
        ADD("answers-are-not-waited-for", test_answers_are_not_waited_for);
        ADD("others-are-refused", test_others_are_refused);
#undef ADD
        return g_test_run();
}
