/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/exporter/live-metrics.h"
#include "clients/common/connection.h"
#include "clients/common/open-metrics.h"
#include "common/bus-cleanup.h"
#include "common/source.h"
#include "state-client/state-client.h"

#define PREFIX "alidade_exporter_"
#define TEXTS_BYTES_MAX (64u * 1024 * 1024)
#define RECONNECT_MSEC 3000u
#define REFRESH_MSEC 30000u /* for values without a signal; this also shows whether the service hangs */

struct AldLiveMetrics {
        AldModel *model;
        AldStateClient *client;
        AldSharedText *shared;
        AldLiveReady ready; /* NULL after it was called */
        void *userdata;
        GSource *reconnect, *refresh;
        char *lost;    /* why the state service cannot be read; NULL: it can */
        char *refused; /* why it does not send all changes; NULL: it does */
        gint64 set_at; /* when the text was set, CLOCK_MONOTONIC in µs; 0: it must be written anew */
        gint64 took;   /* how long rendering took, in µs */
        uint64_t renderings, losses;
        AldLiveFigures figures; /* figures in the present text */
};

static GSource *add_timer(unsigned msec, GSourceFunc callback, AldLiveMetrics *live)
{
        GSource *source = g_timeout_source_new(msec);

        g_source_set_callback(source, callback, live, NULL);
        g_source_attach(source, g_main_context_get_thread_default());
        return source;
}

static void become_ready(AldLiveMetrics *live)
{
        AldLiveReady ready = live->ready;

        live->ready = NULL;
        if (ready)
                ready(live->userdata);
}

static void set_reason(char **reason, const char *text)
{
        g_free(*reason);
        *reason = g_strdup(text);
}

/* Logs each reason once, and withdraws the text. */
static void set_lost(AldLiveMetrics *live, const char *reason)
{
        if (g_strcmp0(live->lost, reason) != 0)
                g_warning("The state service cannot be read: %s", reason);
        set_reason(&live->lost, reason);
        ald_shared_text_set(live->shared, NULL);
}

static const char *describe_error(const sd_bus_error *error)
{
        return error->message ?: error->name ?: "unknown error";
}

static gboolean on_reconnect(void *userdata)
{
        AldLiveMetrics *live = userdata;
        int r;

        ald_source_clear(&live->reconnect);
        r = ald_state_client_resume(live->client);
        if (r >= 0)
                return G_SOURCE_REMOVE;
        set_lost(live, g_strerror(-r));
        live->reconnect = add_timer(RECONNECT_MSEC, on_reconnect, live);
        become_ready(live);
        return G_SOURCE_REMOVE;
}

static void on_synced(AldFollow *follow, void *userdata)
{
        AldLiveMetrics *live = userdata;

        if (live->lost)
                g_info("The state service can be read");
        g_clear_pointer(&live->lost, g_free);
        live->set_at = 0;
        become_ready(live);
}

static void on_lost(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        const char *reason = error ? describe_error(error) : "The state service has left the bus";
        AldLiveMetrics *live = userdata;

        set_lost(live, reason);
        live->losses++;
        if (error && sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED) && !live->reconnect)
                live->reconnect = add_timer(RECONNECT_MSEC, on_reconnect, live);
        become_ready(live);
}

static void on_refused(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        AldLiveMetrics *live = userdata;

        if (error && !live->refused)
                g_warning("The state service does not send all changes: %s", describe_error(error));
        set_reason(&live->refused, error ? describe_error(error) : NULL);
}

static int open_bus(sd_bus **ret, void *userdata)
{
        g_autoptr(AldBus) bus = NULL;
        int r = ald_connection_open(NULL, &bus);

        if (r < 0)
                return r;
        *ret = g_steal_pointer(&bus);
        return 0;
}

static gboolean on_refresh(void *userdata)
{
        AldLiveMetrics *live = userdata;
        AldFollow *follow = ald_state_client_follow(live->client);

        if (follow)
                ald_follow_refresh(follow);
        return G_SOURCE_CONTINUE;
}

AldLiveMetrics *ald_live_metrics_new(AldLiveReady ready, void *userdata)
{
        static const AldFollowHandler handler = {
                .synced = on_synced, .lost = on_lost, .refused = on_refused
        };
        AldLiveMetrics *live = g_new0(AldLiveMetrics, 1);
        const AldStateClientSetup setup = {
                .open = open_bus, .handler = &handler, .userdata = live, .subscribe = true
        };

        live->ready = ready;
        live->userdata = userdata;
        live->lost = g_strdup("The state service has not been read yet");
        live->shared = ald_shared_text_new(TEXTS_BYTES_MAX);
        live->model = ald_model_new();
        live->client = ald_state_client_new_paused(live->model, &setup);
        live->reconnect = add_timer(0, on_reconnect, live);
        live->refresh = add_timer(REFRESH_MSEC, on_refresh, live);
        return live;
}

void ald_live_metrics_free(AldLiveMetrics *live)
{
        if (!live)
                return;
        ald_source_clear(&live->reconnect);
        ald_source_clear(&live->refresh);
        ald_state_client_free(live->client);
        ald_model_free(live->model);
        ald_shared_text_free(live->shared);
        g_free(live->lost);
        g_free(live->refused);
        g_free(live);
}

static void add_figure(
        AldMetricSet *set, AldMetricType type, const char *name, const char *help, uint64_t value)
{
        AldMetricFamily *family = ald_metric_set_add(set, type, g_strdup(name), NULL, help);

        ald_metric_add(family, NULL, (int64_t) value);
}

static void add_info(
        AldMetricSet *set, const char *name, const char *help, const char *label, const char *value)
{
        AldMetricFamily *family = ald_metric_set_add(set, ALD_METRIC_TYPE_INFO, g_strdup(name), NULL, help);
        g_autoptr(GString) labels = g_string_new(NULL);

        ald_metric_label_append(labels, label, value);
        ald_metric_add(family, labels, 1);
}

/* Adds metrics of the exporter itself. */
static void add_own_metrics(AldMetricSet *set, const AldLiveMetrics *live)
{
        AldMetricFamily *took;

        add_info(set, "alidade_exporter", "The program that wrote these metrics.", "version", ALD_VERSION);
        add_figure(set, ALD_METRIC_TYPE_GAUGE, PREFIX "up_to_date",
                "Whether the state service sends all changes: if 0, figures may be late.", !live->refused);
        if (live->refused)
                add_info(set, PREFIX "problem", "Why figures may be late.", "reason", live->refused);
        add_figure(set, ALD_METRIC_TYPE_COUNTER, PREFIX "state_losses",
                "How often the state service could not be read since this program started.", live->losses);
        add_figure(set, ALD_METRIC_TYPE_COUNTER, PREFIX "renderings",
                "How often these metrics were written since this program started.", live->renderings);
        took = ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE, g_strdup(PREFIX "rendering_seconds"), "seconds",
                "How long it took to write the metrics before these.");
        if (live->took > 0)
                ald_metric_add_decimal(took, NULL, live->took, 6);
        add_figure(set, ALD_METRIC_TYPE_COUNTER, PREFIX "requests",
                "Number of requests answered since this program started.", live->figures.requests);
        add_figure(set, ALD_METRIC_TYPE_COUNTER, PREFIX "refused_requests",
                "Number of these that got no metrics.", live->figures.refused);
        add_figure(set, ALD_METRIC_TYPE_COUNTER, PREFIX "ended_connections",
                "Number of connections ended because they took too long or were too many.",
                live->figures.ended);
        add_figure(set, ALD_METRIC_TYPE_GAUGE, PREFIX "connections", "Number of open connections.",
                live->figures.connections);
}

static void render(AldLiveMetrics *live, const AldLiveFigures *figures, gint64 now)
{
        AldMetricSet *set = ald_open_metrics_new(live->model);

        live->set_at = now;
        live->figures = *figures;
        live->renderings++;
        add_own_metrics(set, live);
        ald_shared_text_set(live->shared, set);
}

struct MHD_Response *ald_live_metrics_get(AldLiveMetrics *live, AldMetricFormat format,
        const AldLiveFigures *figures, uint64_t *ret_number, const char **ret_reason)
{
        gint64 now = g_get_monotonic_time();
        struct MHD_Response *response;
        bool due = live->set_at == 0 || now - live->set_at >= ALD_LIVE_METRICS_USEC;

        if (live->lost) {
                *ret_reason = live->lost;
                return NULL;
        }
        /* Each request changes the text, which counts them, so it is not written for each. */
        if (due)
                render(live, figures, now);
        response = ald_shared_text_get(live->shared, format, ret_number);
        if (due)
                live->took = g_get_monotonic_time() - now;
        return response;
}

uint64_t ald_live_metrics_excess(AldLiveMetrics *live)
{
        return ald_shared_text_excess(live->shared);
}
