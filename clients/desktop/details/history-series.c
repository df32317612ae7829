/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/details/history-series.h"
#include "clients/desktop/details/path-rows.h"
#include "record/id.h"

#define DEVICES_MAX 16u
#define PATHS_MAX 16u

/* A field of a record, or of one of its rows. */
typedef struct RecordedField {
        const char *kind, *field, *title;
        char *(*format)(double);
        bool is_share;
} RecordedField;

static const RecordedField node_fields[] = {
        { "Node1.Memory", "AvailableBytes", N_("Memory free"), ald_format_bytes, false },
        { "Node1.System", "CpuUsage", N_("Load"), ald_format_percent, true },
};

/* A processor as a device reports the first three as the machine. */
static const RecordedField device_fields[] = {
        { "Node1.System", "Usage", N_("Load"), ald_format_percent, true },
        { "Node1.System", "TemperatureMilliCelsius", N_("Temperature"), ald_format_celsius, false },
        { "Node1.System", "PowerMicroWatts", N_("Power"), ald_format_watts, false },
        { "Node1.Compute", "GemmTflops", N_("Matrices"), ald_format_tflops, false },
};

static void series_free(gpointer data)
{
        AldHistorySeries *series = data;

        g_free(series->node);
        g_free(series->key);
        g_free(series->field);
        g_free(series->name);
        g_free(series->detail);
        if (series->points)
                g_array_unref(series->points);
        g_free(series);
}

static AldHistorySeries *add(
        GPtrArray *all, const RecordedField *recorded, const char *node, const char *key, const char *detail)
{
        AldHistorySeries *series = g_new0(AldHistorySeries, 1);

        series->node = g_strdup(node);
        series->kind = recorded->kind;
        series->key = g_strdup(key);
        series->field = g_strdup(recorded->field);
        series->title = recorded->title ? _(recorded->title) : NULL;
        series->detail = g_strdup(detail);
        series->is_share = recorded->is_share;
        series->format = recorded->format;
        g_ptr_array_add(all, series);
        return series;
}

/* Of a node. */

static const char *id_of(const AldNodeDevice *device)
{
        return device->backend  ? device->backend->id
               : device->system ? device->system->id
                                : device->compute->id;
}

static void add_device(GPtrArray *all, const AldDetailsSubject *subject, const AldNodeDevice *device)
{
        g_autofree char *name = ald_node_device_name(device);
        bool processor = ald_node_device_is_processor(device);

        for (size_t i = 0; i < G_N_ELEMENTS(device_fields); i++) {
                bool measured = g_str_equal(device_fields[i].kind, "Node1.Compute");
                AldHistorySeries *series;

                if (measured ? !device->compute : processor || !device->system)
                        continue;
                series = add(all, &device_fields[i], subject->a, "", name);
                g_free(series->field);
                series->field = g_strdup_printf("Devices[%s].%s", id_of(device), device_fields[i].field);
        }
}

static void add_node(GPtrArray *all, const AldDetailsSubject *subject)
{
        g_autoptr(GArray) devices = ald_node_devices(subject->node_a);

        for (size_t i = 0; i < G_N_ELEMENTS(node_fields); i++)
                add(all, &node_fields[i], subject->a, "", NULL);
        for (guint i = 0; i < MIN(devices->len, DEVICES_MAX); i++)
                add_device(all, subject, &g_array_index(devices, AldNodeDevice, i));
}

/* Of a pair. */

static char *format_half(double nsec)
{
        return ald_format_nsec(nsec / 2);
}

/* "From alder: 192.0.2.2"; NULL if the record is not of such a link. */
static char *describe_path(const AldEntity *link, const char *source_name, const char *sink)
{
        const AldLinkSocket *socket = ald_entity_as(link, LINK_SOCKET, AldLinkSocket);
        const AldLinkRdma *rdma = ald_entity_as(link, LINK_RDMA, AldLinkRdma);
        g_autofree char *path = NULL;

        if (socket && g_strcmp0(socket->sink, sink) == 0) {
                path = ald_text_safe(socket->sink_address ?: ALD_ABSENT_TEXT);
        } else if (rdma && g_strcmp0(rdma->sink, sink) == 0) {
                g_autofree char *from = ald_text_safe(rdma->source_port ?: ALD_ABSENT_TEXT);
                g_autofree char *to = ald_text_safe(rdma->sink_port ?: ALD_ABSENT_TEXT);

                path = g_strdup_printf("%s → %s", from, to);
        } else {
                return NULL;
        }
        return g_strdup_printf(_("From %s: %s"), source_name, path);
}

static void add_direction(GPtrArray *all, const AldEntity *link, const RecordedField *recorded,
        const char *source, const char *detail, char *name)
{
        AldHistorySeries *series = add(all, recorded, source, link->id + ALD_ID_STRING_SIZE, detail);

        series->name = name;
}

/* Whichever end has measured, what flows from the first node comes first. */
static void add_link(GPtrArray *all, const AldDetailsSubject *subject, const AldEntity *link,
        const char *source, const char *sink)
{
        const char *kind = ald_entity_record(link, ALD_KIND_LINK_RDMA) ? "Link1.Rdma" : "Link1.Socket";
        const RecordedField rates[] = {
                { kind, "UploadBitsPerSecond", NULL, ald_format_bits_per_second, false },
                { kind, "DownloadBitsPerSecond", NULL, ald_format_bits_per_second, false },
        };
        const RecordedField rtt = { kind, "RttP50NSec", N_("RTT/2"), format_half, false };
        g_autofree char *from = ald_details_subject_name(subject, source);
        g_autofree char *to = ald_details_subject_name(subject, sink);
        g_autofree char *detail = describe_path(link, from, sink);
        bool from_first = g_str_equal(source, subject->a);

        if (!detail)
                return;
        add_direction(all, link, &rates[!from_first], source, detail,
                from_first ? ald_direction_words(from, to) : ald_direction_words(to, from));
        add_direction(all, link, &rates[from_first], source, detail,
                from_first ? ald_direction_words(to, from) : ald_direction_words(from, to));
        add_direction(all, link, &rtt, source, detail, NULL);
}

static void add_pair(GPtrArray *all, const AldDetailsSubject *subject)
{
        const GPtrArray *links = ald_model_shown_links(subject->model);
        guint before = all->len;

        for (guint i = 0; i < links->len && all->len - before < 3 * PATHS_MAX; i++) {
                const AldEntity *link = links->pdata[i];

                if (g_str_has_prefix(link->id, subject->a))
                        add_link(all, subject, link, subject->a, subject->b);
                else if (g_str_has_prefix(link->id, subject->b))
                        add_link(all, subject, link, subject->b, subject->a);
        }
}

GPtrArray *ald_history_series_of(const AldDetailsSubject *subject)
{
        GPtrArray *all = g_ptr_array_new_with_free_func(series_free);

        if (subject->b)
                add_pair(all, subject);
        else
                add_node(all, subject);
        return all;
}

bool ald_history_series_is_known(const AldHistorySeries *series)
{
        return series->points &&
               !isnan(ald_sparkline_summary(
                       (const AldSparkPoint *) (const void *) series->points->data, series->points->len)
                               .mean);
}
