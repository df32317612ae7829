/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Witnesses that answer, hang, close, flood and lie, played by the test on the other end of the socket. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "common/fd.h"
#include "record/message.h"
#include "services/common/witness-client.h"
#include "tests/unit/log-count.h"

#define PATIENT_MSEC 20000

typedef struct Played {
        char *directory, *path;
        int listener, peer;
        AldWitnessClient *client;
        unsigned n_answers, n_failures, n_processes;
} Played;

/* Pauses are short, so that tests can wait for their end. */
static const AldWitnessTiming patient = { PATIENT_MSEC, { 1000, 1000, 8000 } };
static const AldWitnessTiming hasty = { 20, { 1000, 1000, 8000 } };
static const AldWitnessTiming unforgiving = { PATIENT_MSEC,
        { G_GINT64_CONSTANT(3600) * G_USEC_PER_SEC, 1, 1 } };

static void on_answer(const AldRecord *answer, void *userdata)
{
        Played *played = userdata;

        if (!answer) {
                g_assert_nonnull(ald_witness_client_reason(played->client));
                played->n_failures++;
                return;
        }
        g_assert_null(ald_witness_client_reason(played->client));
        played->n_processes = ald_record_as(answer, PROCESSES_ANSWER, AldProcessesAnswer)->processes.n;
        played->n_answers++;
}

static void listen_again(Played *played)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        g_strlcpy(address.sun_path, played->path, sizeof address.sun_path);
        played->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        g_assert_cmpint(bind(played->listener, (struct sockaddr *) &address, sizeof address), ==, 0);
        g_assert_cmpint(listen(played->listener, 1), ==, 0);
}

static void stop_listening(Played *played)
{
        ald_fd_close(&played->peer);
        ald_fd_close(&played->listener);
        g_unlink(played->path);
}

static void set_up(Played *played, gconstpointer timing)
{
        log_count_reset();
        played->directory = g_dir_make_tmp("witness-XXXXXX", NULL);
        played->path = g_build_filename(played->directory, "processes", NULL);
        played->peer = -1;
        g_assert_true(g_setenv("ALIDADE_WITNESS_DIRECTORY", played->directory, TRUE));
        listen_again(played);
        played->client = ald_witness_client_new(
                "processes", ALD_KIND_PROCESSES_ANSWER, timing, on_answer, played);
}

static void tear_down(Played *played, gconstpointer timing)
{
        ald_witness_client_free(played->client);
        stop_listening(played);
        g_rmdir(played->directory);
        g_free(played->directory);
        g_free(played->path);
}

static int try_ask(Played *played)
{
        static const char *const pids[] = { "17", NULL };
        const AldProcessesRequest request = { .pids = pids };

        return ald_witness_client_ask(played->client, ALD_KIND_PROCESSES_REQUEST, &request);
}

/* Asks once the pause after a failure is over. */
static void ask(Played *played)
{
        int r;

        while ((r = try_ask(played)) == -EAGAIN)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpint(r, ==, 0);
}

/* Receives what the client asks. */
static void receive(Played *played)
{
        char buffer[256];
        ssize_t n;

        if (played->peer < 0)
                played->peer = accept4(played->listener, NULL, NULL, SOCK_CLOEXEC);
        n = recv(played->peer, buffer, sizeof buffer - 1, 0);
        g_assert_cmpint(n, >, 0);
        buffer[n] = '\0';
        g_assert_cmpstr(buffer, ==, "{\"Pids\":[\"17\"]}");
}

static void answer(Played *played, const char *text, size_t length)
{
        g_assert_cmpint(send(played->peer, text, length, MSG_NOSIGNAL), ==, length);
}

static void answer_text(Played *played, const char *text)
{
        answer(played, text, strlen(text));
}

static void turn_until(const unsigned *counter, unsigned n)
{
        while (*counter < n)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(*counter, ==, n);
}

static void assert_fails(Played *played, const char *reason)
{
        turn_until(&played->n_failures, played->n_failures + 1);
        g_assert_cmpstr(ald_witness_client_reason(played->client), ==, reason);
        ald_fd_close(&played->peer);
}

/* The whole exchange succeeds, whatever was before. */
static void assert_works(Played *played)
{
        ask(played);
        receive(played);
        answer_text(played, "{\"Complete\":true,\"Processes\":[{\"Id\":\"17\",\"Program\":\"train\"}]}");
        turn_until(&played->n_answers, played->n_answers + 1);
        g_assert_cmpuint(played->n_processes, ==, 1);
        g_assert_null(ald_witness_client_reason(played->client));
}

static void test_answers(Played *played, gconstpointer timing)
{
        assert_works(played);
        assert_works(played);
        ask(played);
        g_assert_cmpint(try_ask(played), ==, -EBUSY);
        g_assert_cmpuint(log_count(""), ==, 0);
}

static void test_hangs(Played *played, gconstpointer timing)
{
        ask(played);
        assert_fails(played, "it did not answer in time");
        ask(played);
        assert_fails(played, "it did not answer in time");
        g_assert_cmpuint(log_count("values are omitted"), ==, 1);
}

static void test_closes_while_it_is_asked(Played *played, gconstpointer timing)
{
        ask(played);
        receive(played);
        ald_fd_close(&played->peer);
        assert_fails(played, "it closed the connection");
        assert_works(played);
        g_assert_cmpuint(log_count("processes works again"), ==, 1);
}

/* A witness without work ends, and is started by the next request. */
static void test_ends_between_requests(Played *played, gconstpointer timing)
{
        assert_works(played);
        ald_fd_close(&played->peer);
        assert_works(played);
        ald_fd_close(&played->peer);
        while (g_main_context_iteration(NULL, FALSE))
                ;
        assert_works(played);
        g_assert_cmpuint(played->n_failures, ==, 0);
}

static void test_floods(Played *played, gconstpointer timing)
{
        assert_works(played);
        for (unsigned i = 0; i < 8; i++)
                answer_text(played, "{}");
        assert_fails(played, "it sent an unexpected message");
        assert_works(played);
}

static void test_lies(Played *played, gconstpointer timing)
{
        static const char *const lies[] = { "{", "[]", "\xff\xfe", "{\"Complete\":true}trailing", "17" };

        for (size_t i = 0; i < G_N_ELEMENTS(lies); i++) {
                ask(played);
                receive(played);
                answer_text(played, lies[i]);
                assert_fails(played, "its answer is invalid");
        }
        g_assert_cmpuint(played->n_answers, ==, 0);
        assert_works(played);
}

static void test_answers_too_much(Played *played, gconstpointer timing)
{
        g_autofree char *large = g_strnfill(ALD_WITNESS_ANSWER_MAX + 1, ' ');

        ask(played);
        receive(played);
        answer(played, large, ALD_WITNESS_ANSWER_MAX + 1);
        assert_fails(played, "its answer is too long");
        assert_works(played);
}

/* Rows beyond the limit of the message are dropped. */
static void test_claims_too_many_processes(Played *played, gconstpointer timing)
{
        GString *rows = g_string_new("{\"Processes\":[{\"Id\":\"1\"}");

        for (unsigned i = 2; i <= 4096; i++)
                g_string_append_printf(rows, ",{\"Id\":\"%u\"}", i);
        g_string_append(rows, "]}");
        ask(played);
        receive(played);
        answer_text(played, rows->str);
        turn_until(&played->n_answers, 1);
        g_assert_cmpuint(played->n_processes, ==, 1024);
        g_string_free(rows, TRUE);
}

static void test_is_not_installed(Played *played, gconstpointer timing)
{
        stop_listening(played);
        g_assert_cmpint(try_ask(played), ==, -ENOENT);
        g_assert_cmpuint(played->n_failures, ==, 1);
        g_assert_cmpstr(ald_witness_client_reason(played->client), ==,
                "alidade-witness-processes.socket is not active");
        listen_again(played);
        assert_works(played);
}

static void test_pauses_after_a_failure(Played *played, gconstpointer timing)
{
        ask(played);
        receive(played);
        answer_text(played, "no");
        assert_fails(played, "its answer is invalid");
        g_assert_cmpint(try_ask(played), ==, -EAGAIN);
        g_assert_cmpuint(played->n_failures, ==, 1);
}

/* Nothing is read or called afterwards. */
static void test_is_freed_while_it_waits(Played *played, gconstpointer timing)
{
        ask(played);
        receive(played);
        answer_text(played, "{}");
        g_clear_pointer(&played->client, ald_witness_client_free);
        while (g_main_context_iteration(NULL, FALSE))
                ;
        g_assert_cmpuint(played->n_answers + played->n_failures, ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_log_set_always_fatal(G_LOG_FATAL_MASK);
        log_count_install();
#define ADD(name, timing, function) \
        g_test_add("/witness-client/" name, Played, &(timing), set_up, function, tear_down)
        ADD("answers", patient, test_answers);
        ADD("hangs", hasty, test_hangs);
        ADD("closes-while-it-is-asked", patient, test_closes_while_it_is_asked);
        ADD("ends-between-requests", patient, test_ends_between_requests);
        ADD("floods", patient, test_floods);
        ADD("lies", patient, test_lies);
        ADD("answers-too-much", patient, test_answers_too_much);
        ADD("claims-too-many-processes", patient, test_claims_too_many_processes);
        ADD("is-not-installed", patient, test_is_not_installed);
        ADD("pauses-after-a-failure", unforgiving, test_pauses_after_a_failure);
        ADD("is-freed-while-it-waits", patient, test_is_freed_while_it_waits);
#undef ADD
        return g_test_run();
}
