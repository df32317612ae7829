/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "clients/exporter/handshake-limit.h"
#include "clients/exporter/http-prefix.h"
#include "clients/exporter/http-server.h"
#include "common/fd.h"
#include "common/source.h"

#define IDLE_SEC 10u               /* after which a connection without any traffic is closed */
#define REQUEST_BYTES (16u * 1024) /* memory of one connection, for its request and the answer */
#define SWEEP_MSEC 1000u           /* interval of the check for old connections */

/* Limit beyond which the library refuses every connection. Peers are ended earlier, but only when the library
 * next handles them, so many may have connected meanwhile. */
#define CONNECTIONS_MAX (4 * (ALD_HTTP_PEERS_MAX + ALD_HTTP_ANSWERED_MAX))

struct AldHttpServer {
        AldHttpSetup setup;
        AldHttpPeers *peers;
        AldHandshakeLimit *limit; /* NULL without TLS */
        struct MHD_Daemon *daemon;
        GSource *source, *sweep;
};

/* An event source for the library, which has one descriptor for everything that it waits for, and a
 * timeout. */
typedef struct HttpSource {
        GSource source;
        struct MHD_Daemon *daemon;
        void *tag;
} HttpSource;

static gboolean http_prepare(GSource *source, int *ret_msec)
{
        MHD_UNSIGNED_LONG_LONG msec;

        *ret_msec = MHD_get_timeout(((HttpSource *) source)->daemon, &msec) == MHD_YES
                            ? (int) MIN(msec, INT_MAX)
                            : -1;
        return *ret_msec == 0;
}

static gboolean http_check(GSource *source)
{
        MHD_UNSIGNED_LONG_LONG msec;

        return g_source_query_unix_fd(source, ((HttpSource *) source)->tag) != 0 ||
               (MHD_get_timeout(((HttpSource *) source)->daemon, &msec) == MHD_YES && msec == 0);
}

static gboolean http_dispatch(GSource *source, GSourceFunc callback, void *userdata)
{
        (void) MHD_run(((HttpSource *) source)->daemon);
        return G_SOURCE_CONTINUE;
}

void ald_http_server_begin(AldHttpServer *server)
{
        static GSourceFuncs funcs = { http_prepare, http_check, http_dispatch, NULL, NULL, NULL };
        const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
        HttpSource *http;

        server->source = g_source_new(&funcs, sizeof(HttpSource));
        http = (HttpSource *) server->source;
        http->daemon = server->daemon;
        http->tag = g_source_add_unix_fd(server->source, info->epoll_fd, G_IO_IN);
        g_source_attach(server->source, g_main_context_get_thread_default());
}

static gboolean on_sweep(void *userdata)
{
        AldHttpServer *server = userdata;

        ald_http_peers_end_old(server->peers, g_get_monotonic_time());
        if (ald_http_peers_count(server->peers) > 0)
                return G_SOURCE_CONTINUE;
        g_clear_pointer(&server->sweep, g_source_unref);
        return G_SOURCE_REMOVE;
}

static void begin_sweep(AldHttpServer *server)
{
        if (server->sweep)
                return;
        server->sweep = g_timeout_source_new(SWEEP_MSEC);
        g_source_set_callback(server->sweep, on_sweep, server, NULL);
        g_source_attach(server->sweep, g_main_context_get_thread_default());
}

static enum MHD_Result on_accept(void *userdata, const struct sockaddr *address, socklen_t size)
{
        AldHttpServer *server = userdata;

        return !server->limit || ald_handshake_limit_allows(
                                         server->limit, ald_http_prefix(address), g_get_monotonic_time())
                       ? MHD_YES
                       : MHD_NO;
}

static void on_connection(void *userdata, struct MHD_Connection *connection, void **context,
        enum MHD_ConnectionNotificationCode code)
{
        AldHttpServer *server = userdata;

        if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
                ald_http_peers_remove(server->peers, *context);
                return;
        }
        *context = ald_http_peers_add(server->peers,
                MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
                MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr,
                g_get_monotonic_time());
        begin_sweep(server);
}

enum MHD_Result ald_http_answer(struct MHD_Connection *connection, unsigned status, const char *text,
        const char *header, const char *value)
{
        struct MHD_Response *response = MHD_create_response_from_buffer(
                strlen(text), (void *) text, MHD_RESPMEM_MUST_COPY);
        enum MHD_Result r;

        (void) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
        (void) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
        if (header)
                (void) MHD_add_response_header(response, header, value);
        r = MHD_queue_response(connection, status, response);
        MHD_destroy_response(response);
        return r;
}

/* Called when the headers are complete. It answers at once, so no body is ever read. */
static enum MHD_Result on_request(void *userdata, struct MHD_Connection *connection, const char *path,
        const char *method, const char *version, const char *data, size_t *size, void **context)
{
        AldHttpServer *server = userdata;
        AldHttpPeer *peer =
                MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
        enum MHD_Result r;

        ald_http_peer_set_rank(peer, ALD_HTTP_REFUSED);
        if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
                return ald_http_answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                        "Only GET and HEAD are allowed.\n", MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
        r = server->setup.answer(connection, path, peer, server->setup.userdata);
        if (server->limit && peer->rank == ALD_HTTP_ANSWERED)
                ald_handshake_limit_set_answered(server->limit, peer->prefix);
        return r;
}

int ald_http_server_new(int fd, const AldHttpSetup *setup, AldHttpServer **ret)
{
        g_autoptr(AldHttpServer) server = g_new0(AldHttpServer, 1);
        bool tls = setup->certificate != NULL;
        struct MHD_OptionItem options[] = {
                { MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, NULL },
                { MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SEC, NULL },
                { MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES, NULL },
                { MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL },
                { tls ? MHD_OPTION_HTTPS_MEM_KEY : MHD_OPTION_END, 0, (void *) setup->key },
                { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *) setup->certificate },
                { MHD_OPTION_END, 0, NULL },
        };
        ald_fd int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

        if (own < 0)
                return -errno;
        server->setup = *setup;
        server->peers = ald_http_peers_new();
        server->limit = tls ? ald_handshake_limit_new() : NULL;
        server->daemon = MHD_start_daemon(MHD_USE_EPOLL | (tls ? MHD_USE_TLS : 0), 0, on_accept, server,
                on_request, server, MHD_OPTION_LISTEN_SOCKET, own, MHD_OPTION_NOTIFY_CONNECTION,
                on_connection, server, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
        if (!server->daemon)
                return -EINVAL;
        ald_fd_steal(&own);
        *ret = g_steal_pointer(&server);
        return 0;
}

void ald_http_server_free(AldHttpServer *server)
{
        if (!server)
                return;
        ald_source_clear(&server->source);
        ald_source_clear(&server->sweep);
        if (server->daemon)
                MHD_stop_daemon(server->daemon);
        ald_http_peers_free(server->peers);
        ald_handshake_limit_free(server->limit);
        g_free(server);
}

AldHttpPeers *ald_http_server_peers(AldHttpServer *server)
{
        return server->peers;
}

uint64_t ald_http_server_refused(const AldHttpServer *server)
{
        return server->limit ? ald_handshake_limit_refused(server->limit) : 0;
}
