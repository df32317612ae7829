/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/exporter/exporter-config.h"
#include "clients/exporter/exporter.h"
#include "clients/exporter/http-host.h"
#include "clients/exporter/http-server.h"
#include "clients/exporter/listen-sockets.h"
#include "clients/exporter/live-metrics.h"
#include "common/source.h"

#define READY_MSEC 5000u /* how long requests wait for the first reading of the state */

struct AldExporter {
        AldLiveMetrics *live;
        GArray *fds;
        AldExporterSecrets secrets;
        GPtrArray *servers;
        bool is_serving; /* requests are answered */
        GSource *patience;
        void (*ready)(void *userdata);
        void *userdata;
        AldLiveFigures figures;
        uint64_t ended_before; /* connections ended by servers that were replaced */
};

/* Refuses to serve unencrypted, or to everybody, on addresses that other machines can reach, unless the
 * configuration says so. */
static int check_sockets(const AldConfig *config, const GArray *fds, const AldExporterSecrets *secrets)
{
        bool encrypted = secrets->certificate || ald_config_boolean(config, "insecure");
        bool asked = secrets->token || ald_config_boolean(config, "anonymous");

        for (guint i = 0; i < fds->len && !(encrypted && asked); i++) {
                int fd = g_array_index(fds, int, i);
                g_autofree char *where = ald_listen_describe(fd);

                if (ald_listen_is_local(fd))
                        continue;
                if (!encrypted)
                        g_critical("Metrics are not sent unencrypted on %s: set tls-certificate= and "
                                   "tls-key=, or insecure=true",
                                where);
                if (!asked)
                        g_critical("Metrics are not served to everybody on %s: set token-file=, or "
                                   "anonymous=true",
                                where);
                return -EPERM;
        }
        return 0;
}

/* Checks the configuration, and reads the files that it names. Returns -EBADMSG, logged, if there is a
 * problem. */
static int read_secrets(const AldConfig *config, const GArray *fds, AldExporterSecrets *ret)
{
        g_auto(AldExporterSecrets) secrets = {};

        if (ald_exporter_config_check(config) < 0 || ald_exporter_secrets_read(config, &secrets) < 0 ||
                check_sockets(config, fds, &secrets) < 0)
                return -EBADMSG;
        *ret = secrets;
        secrets = (AldExporterSecrets){};
        return 0;
}

static void count_peers(AldExporter *exporter)
{
        exporter->figures.ended = exporter->ended_before;
        exporter->figures.connections = 0;
        for (guint i = 0; i < exporter->servers->len; i++) {
                AldHttpPeers *peers = ald_http_server_peers(exporter->servers->pdata[i]);

                exporter->figures.ended += ald_http_peers_ended(peers) +
                                           ald_http_server_refused(exporter->servers->pdata[i]);
                exporter->figures.connections += ald_http_peers_count(peers);
        }
}

/* Limits the texts that slow readers hold, by ending the connections with the oldest one. */
static void limit_held_texts(AldExporter *exporter)
{
        uint64_t excess = ald_live_metrics_excess(exporter->live);

        for (guint i = 0; excess != 0 && i < exporter->servers->len; i++)
                ald_http_peers_end_text(ald_http_server_peers(exporter->servers->pdata[i]), excess);
}

static AldMetricFormat wanted_format(struct MHD_Connection *connection)
{
        const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);

        return accept && strstr(accept, "application/openmetrics-text") ? ALD_METRIC_FORMAT_OPEN
                                                                        : ALD_METRIC_FORMAT_TEXT;
}

static enum MHD_Result refuse_request(AldExporter *exporter, struct MHD_Connection *connection,
        unsigned status, const char *text, const char *header, const char *value)
{
        exporter->figures.refused++;
        return ald_http_answer(connection, status, text, header, value);
}

static enum MHD_Result answer_metrics(
        AldExporter *exporter, struct MHD_Connection *connection, AldHttpPeer *peer)
{
        struct MHD_Response *response;
        g_autofree char *text = NULL;
        const char *reason;

        count_peers(exporter);
        response = ald_live_metrics_get(
                exporter->live, wanted_format(connection), &exporter->figures, &peer->text, &reason);
        if (response) {
                limit_held_texts(exporter);
                return MHD_queue_response(connection, MHD_HTTP_OK, response);
        }
        text = g_strdup_printf("The state service cannot be read: %s\n", reason);
        return refuse_request(exporter, connection, MHD_HTTP_SERVICE_UNAVAILABLE, text, NULL, NULL);
}

static const char *get_header(struct MHD_Connection *connection, const char *name)
{
        return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Returns whether a browser sends the request for a page of another site. A request with the token cannot be
 * one, since no browser sends a token by itself. */
static bool is_from_another_site(const AldExporter *exporter, struct MHD_Connection *connection)
{
        return !exporter->secrets.token &&
               g_strcmp0(get_header(connection, "Sec-Fetch-Site"), "cross-site") == 0;
}

static bool is_for_this_machine(const AldExporter *exporter, struct MHD_Connection *connection)
{
        return exporter->secrets.token || ald_http_host_is_own(get_header(connection, MHD_HTTP_HEADER_HOST),
                                                  (const char *const *) exporter->secrets.host_names);
}

static enum MHD_Result on_request(
        struct MHD_Connection *connection, const char *path, AldHttpPeer *peer, void *userdata)
{
        AldExporter *exporter = userdata;

        exporter->figures.requests++;
        if (!ald_exporter_may_answer(
                    &exporter->secrets, get_header(connection, MHD_HTTP_HEADER_AUTHORIZATION)))
                return refuse_request(exporter, connection, MHD_HTTP_UNAUTHORIZED, "A token is needed.\n",
                        MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
        if (!is_for_this_machine(exporter, connection))
                return refuse_request(exporter, connection, MHD_HTTP_MISDIRECTED_REQUEST,
                        "Without a token, this name is not answered: use an address, or name it in "
                        "host-names= of "
                        "[exporter] in alidade.conf.\n",
                        NULL, NULL);
        if (is_from_another_site(exporter, connection))
                return refuse_request(exporter, connection, MHD_HTTP_FORBIDDEN,
                        "Without a token, no page of another site is answered.\n", NULL, NULL);
        ald_http_peer_set_rank(peer, ALD_HTTP_ANSWERED);
        if (strcmp(path, "/metrics") == 0)
                return answer_metrics(exporter, connection, peer);
        if (strcmp(path, "/") == 0)
                return ald_http_answer(connection, MHD_HTTP_OK,
                        "alidade-exporter " ALD_VERSION ": metrics are at /metrics\n", NULL, NULL);
        return refuse_request(
                exporter, connection, MHD_HTTP_NOT_FOUND, "Metrics are at /metrics.\n", NULL, NULL);
}

static int open_servers(AldExporter *exporter, const AldExporterSecrets *secrets, GPtrArray **ret)
{
        g_autoptr(GPtrArray) servers = g_ptr_array_new_with_free_func((GDestroyNotify) ald_http_server_free);
        const AldHttpSetup setup = { .certificate = secrets->certificate,
                .key = secrets->key,
                .answer = on_request,
                .userdata = exporter };

        for (guint i = 0; i < exporter->fds->len; i++) {
                int fd = g_array_index(exporter->fds, int, i);
                AldHttpServer *server;
                int r = ald_http_server_new(fd, &setup, &server);

                if (r < 0) {
                        g_autofree char *where = ald_listen_describe(fd);

                        g_critical("Cannot serve on %s%s: %s", where,
                                setup.certificate ? " with this certificate and key" : "", g_strerror(-r));
                        return setup.certificate && r == -EINVAL ? -EBADMSG : r;
                }
                g_ptr_array_add(servers, server);
        }
        *ret = g_steal_pointer(&servers);
        return 0;
}

static void begin_servers(AldExporter *exporter)
{
        for (guint i = 0; i < exporter->servers->len; i++)
                ald_http_server_begin(exporter->servers->pdata[i]);
}

static void on_live(void *userdata)
{
        AldExporter *exporter = userdata;

        ald_source_clear(&exporter->patience);
        if (exporter->is_serving)
                return;
        exporter->is_serving = true;
        begin_servers(exporter);
        exporter->ready(exporter->userdata);
}

static gboolean on_patience(void *userdata)
{
        on_live(userdata);
        return G_SOURCE_REMOVE;
}

int ald_exporter_new(const AldConfig *config, const GArray *fds, void (*ready)(void *userdata),
        void *userdata, AldExporter **ret)
{
        g_autoptr(AldExporter) exporter = g_new0(AldExporter, 1);
        int r;

        exporter->ready = ready;
        exporter->userdata = userdata;
        exporter->fds = g_array_copy((GArray *) fds);
        r = read_secrets(config, fds, &exporter->secrets);
        if (r >= 0)
                r = open_servers(exporter, &exporter->secrets, &exporter->servers);
        if (r < 0)
                return r;
        exporter->live = ald_live_metrics_new(on_live, exporter);
        exporter->patience = g_timeout_source_new(READY_MSEC);
        g_source_set_callback(exporter->patience, on_patience, exporter, NULL);
        g_source_attach(exporter->patience, g_main_context_get_thread_default());
        *ret = g_steal_pointer(&exporter);
        return 0;
}

void ald_exporter_free(AldExporter *exporter)
{
        if (!exporter)
                return;
        ald_source_clear(&exporter->patience);
        g_clear_pointer(&exporter->servers, g_ptr_array_unref);
        ald_live_metrics_free(exporter->live);
        ald_exporter_secrets_clear(&exporter->secrets);
        g_array_unref(exporter->fds);
        g_free(exporter);
}

int ald_exporter_reload(AldExporter *exporter, const AldConfig *config)
{
        g_auto(AldExporterSecrets) fresh = {}, old = {};
        GPtrArray *servers = NULL;
        int r;

        r = read_secrets(config, exporter->fds, &fresh);
        if (r >= 0)
                r = open_servers(exporter, &fresh, &servers);
        if (r < 0)
                return r;
        count_peers(exporter);
        exporter->ended_before = exporter->figures.ended;
        g_ptr_array_unref(exporter->servers);
        exporter->servers = servers;
        old = exporter->secrets;
        exporter->secrets = fresh;
        fresh = (AldExporterSecrets){};
        if (exporter->is_serving)
                begin_servers(exporter);
        return 0;
}
