/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/exporter/http-server.h"
#include "clients/exporter/shared-text.h"
#include "common/fd.h"

/* A set with a text of at least this many bytes. */
static AldMetricSet *set_make(gsize bytes)
{
        AldMetricSet *set = ald_metric_set_new();
        g_autofree char *value = g_strnfill(bytes, 'x');
        g_autoptr(GString) labels = g_string_new(NULL);

        ald_metric_label_append(labels, "a", value);
        ald_metric_add(ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE, g_strdup("a"), NULL, "A."), labels, 1);
        return set;
}

static void test_one_text_for_all(void)
{
        g_autoptr(AldSharedText) shared = ald_shared_text_new(1024);
        struct MHD_Response *text, *open;
        uint64_t number = 0, again = 0;

        g_assert_null(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &number));
        ald_shared_text_set(shared, set_make(1));
        text = ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &number);
        open = ald_shared_text_get(shared, ALD_METRIC_FORMAT_OPEN, &again);
        g_assert_true(text && open && text != open);
        g_assert_cmpuint(number, >, 0);
        g_assert_cmpuint(number, ==, again);
        g_assert_true(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &again) == text);
        ald_shared_text_set(shared, set_make(1));
        g_assert_nonnull(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &again));
        g_assert_cmpuint(again, >, number);
        ald_shared_text_set(shared, NULL);
        g_assert_null(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &again));
        g_assert_cmpuint(ald_shared_text_excess(shared), ==, 0);
}

typedef struct Reader {
        AldSharedText *shared;
        AldHttpServer *server;
        uint64_t number; /* of the text that was answered with */
        int fd;
        unsigned n_answers;
} Reader;

static enum MHD_Result on_request(
        struct MHD_Connection *connection, const char *path, AldHttpPeer *peer, void *userdata)
{
        Reader *reader = userdata;
        struct MHD_Response *response = ald_shared_text_get(
                reader->shared, ALD_METRIC_FORMAT_TEXT, &peer->text);

        reader->number = peer->text;
        reader->n_answers++;
        return MHD_queue_response(connection, MHD_HTTP_OK, response);
}

static void iterate_until(const unsigned *count, unsigned wanted)
{
        while (*count < wanted)
                g_main_context_iteration(NULL, TRUE);
}

/* Asks, and reads nothing. */
static void ask(Reader *reader, int listener)
{
        static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        struct sockaddr_in address;
        socklen_t size = sizeof(address);
        const int room = 4096;

        g_assert_cmpint(getsockname(listener, (struct sockaddr *) &address, &size), ==, 0);
        reader->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        g_assert_cmpint(setsockopt(reader->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), ==, 0);
        g_assert_cmpint(connect(reader->fd, (struct sockaddr *) &address, size), ==, 0);
        g_assert_cmpint(send(reader->fd, request, strlen(request), 0), ==, (ssize_t) strlen(request));
        iterate_until(&reader->n_answers, reader->n_answers + 1);
}

/* Until the server has closed the connection. */
static void wait_for_end(AldHttpServer *server)
{
        while (ald_http_peers_count(ald_http_server_peers(server)) > 0)
                g_main_context_iteration(NULL, TRUE);
}

/* A connection keeps the text that it began with, until all texts together are too large. */
static void test_excess(void)
{
        struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        ald_fd int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        g_autoptr(AldSharedText) shared = ald_shared_text_new(20 * 1024 * 1024);
        Reader reader = { .shared = shared };
        const AldHttpSetup setup = { .answer = on_request, .userdata = &reader };
        g_autoptr(AldHttpServer) server = NULL;
        uint64_t first, number;

        g_assert_cmpint(bind(listener, (struct sockaddr *) &any, sizeof(any)), ==, 0);
        g_assert_cmpint(listen(listener, 8), ==, 0);
        g_assert_cmpint(ald_http_server_new(listener, &setup, &server), ==, 0);
        ald_http_server_begin(server);
        ald_shared_text_set(shared, set_make(8 * 1024 * 1024));
        ask(&reader, listener);
        first = reader.number;
        for (unsigned i = 0; i < 2; i++) {
                g_assert_cmpuint(ald_shared_text_excess(shared), ==, 0);
                /* The one in between is held by nobody, and does not count. */
                ald_shared_text_set(shared, set_make((8 + 6 * i) * 1024 * 1024));
                g_assert_nonnull(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &number));
        }
        g_assert_cmpuint(ald_shared_text_excess(shared), ==, first);
        ald_http_peers_end_text(ald_http_server_peers(server), first);
        wait_for_end(server);
        g_assert_cmpuint(ald_shared_text_excess(shared), ==, 0);
        close(reader.fd);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/shared-text/one-text-for-all", test_one_text_for_all);
        g_test_add_func("/shared-text/excess", test_excess);
        return g_test_run();
}
