/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/common/link-summary.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/common/shown-series.h"
#include "record/docs.h"
#include "record/translate.h"

void ald_shown_series_free(AldShownSeries *series)
{
        if (!series)
                return;
        g_free(series->group);
        g_free(series->place);
        g_free(series->label);
        g_free(series->node);
        g_free(series->key);
        g_free(series->field);
        g_clear_pointer(&series->points, g_array_unref);
        g_free(series);
}

GPtrArray *ald_shown_series_list_new(void)
{
        return g_ptr_array_new_with_free_func((GDestroyNotify) ald_shown_series_free);
}

bool ald_shown_series_is_probed(const AldShownSeries *series)
{
        return ald_struct_find(series->type, "MeasuredUSec");
}

const char *ald_shown_series_unit(const AldShownSeries *series)
{
        return series->number->unit ? series->number->unit->name : NULL;
}

bool ald_shown_series_is_share(const AldShownSeries *series)
{
        return series->number->unit == &ald_unit_percent;
}

/* The record or row that a series comes from. */
typedef struct Source {
        const char *node;
        AldKind kind;
        const char *key;
        const AldField *rows; /* NULL: the record itself */
        const char *row;      /* its Id */
} Source;

static AldShownSeries *series_new(
        const Source *source, const AldField *number, const char *group, const char *label)
{
        AldShownSeries *series = g_new0(AldShownSeries, 1);

        series->group = g_strdup(group);
        series->label = ald_text_safe(label);
        series->node = g_strdup(source->node);
        series->kind = source->kind;
        series->key = g_strdup(source->key);
        series->field = source->rows
                                ? g_strdup_printf("%s[%s].%s", source->rows->name, source->row, number->name)
                                : g_strdup(number->name);
        series->type = source->rows ? source->rows->rows : ald_kinds[source->kind].type;
        series->number = number;
        series->scale = 1;
        return series;
}

/*
 * The figures that all clients show of a node, of each of its devices and file systems and of a link, if
 * nothing else is asked for. The unit is that of the field.
 */

typedef struct ShownFigure {
        AldKind kind;     /* of a link, either of both */
        const char *rows; /* NULL: a field of the record */
        const char *field, *title;
        bool is_halved; /* a round trip is shown as the time in one direction */
        AldShownFlow flow;
} ShownFigure;

static const ShownFigure node_figures[] = {
        { .kind = ALD_KIND_MEMORY, .field = "AvailableBytes", .title = N_("Memory free") },
        { .kind = ALD_KIND_SYSTEM, .field = "CpuUsage", .title = N_("CPU") },
        { .kind = ALD_KIND_SYSTEM, .field = "TemperatureMilliCelsius", .title = N_("Temperature") },
        { .kind = ALD_KIND_SYSTEM, .field = "PowerMicroWatts", .title = N_("Power") },
};

#define OF_SYSTEM .kind = ALD_KIND_SYSTEM, .rows = "Devices"
#define OF_PROCESSES .kind = ALD_KIND_PROCESSES, .rows = "Devices"
#define OF_COMPUTE .kind = ALD_KIND_COMPUTE, .rows = "Devices"

static const ShownFigure device_figures[] = {
        { OF_SYSTEM, .field = "Usage", .title = N_("Load") },
        { OF_SYSTEM, .field = "MemoryUsedBytes", .title = N_("Memory in use") },
        { OF_SYSTEM, .field = "TemperatureMilliCelsius", .title = N_("Temperature") },
        { OF_SYSTEM, .field = "PowerMicroWatts", .title = N_("Power") },
        { OF_PROCESSES, .field = "Holders", .title = N_("Holders") },
        { OF_PROCESSES, .field = "HeldBytes", .title = N_("Memory held") },
        { OF_COMPUTE, .field = "GemmTflops", .title = N_("Matrices") },
        { OF_COMPUTE, .field = "MemoryBandwidthBytesPerSecond", .title = N_("Reads") },
        { OF_COMPUTE, .field = "CopyBandwidthBytesPerSecond", .title = N_("Copies") },
        { OF_COMPUTE, .field = "HostToDeviceBytesPerSecond", .title = N_("To device") },
        { OF_COMPUTE, .field = "DeviceToHostBytesPerSecond", .title = N_("To host") },
};

static const ShownFigure storage_figures[] = {
        { .kind = ALD_KIND_STORAGE,
                .rows = "FileSystems",
                .field = "ReadBytesPerSecond",
                .title = N_("Loading") },
};

static const ShownFigure link_figures[] = {
        { .field = "UploadBitsPerSecond", .title = N_("Up"), .flow = ALD_SHOWN_FLOW_UP },
        { .field = "DownloadBitsPerSecond", .title = N_("Down"), .flow = ALD_SHOWN_FLOW_DOWN },
        { .field = "RttP50NSec", .title = N_("RTT/2"), .is_halved = true },
        { .field = "JitterNSec", .title = N_("Jitter/2"), .is_halved = true },
};

static void add_figure(
        GPtrArray *list, Source source, const ShownFigure *figure, const char *group, const char *place)
{
        const AldStruct *type = ald_kinds[source.kind].type;
        AldShownSeries *series;

        if (figure->rows) {
                source.rows = ald_struct_find(type, figure->rows);
                type = source.rows->rows;
        }
        series = series_new(&source, ald_struct_find(type, figure->field), group, _(figure->title));
        series->place = g_strdup(place);
        series->flow = figure->flow;
        series->scale = figure->is_halved ? 0.5 : 1;
        series->optional = true;
        g_ptr_array_add(list, series);
}

/* Nothing is recorded of a device that is missing from the record of this kind. Nodes of older versions do
 * not say who holds their devices. */
static bool may_be_recorded(const AldEntity *node, const AldNodeDevice *device, AldKind kind)
{
        const AldProcesses *processes = ald_entity_as(node, PROCESSES, AldProcesses);

        if (kind == ALD_KIND_PROCESSES)
                return processes && ald_rows_find(&processes->devices, ald_node_device_id(device));
        return !ald_entity_record(node, kind) ||
               (kind == ALD_KIND_SYSTEM ? (const void *) device->system : device->compute);
}

static void add_device(GPtrArray *list, const AldEntity *node, const AldNodeDevice *device)
{
        const char *id = ald_node_device_id(device);
        g_autofree char *safe = ald_text_safe(id), *name = ald_node_device_name(device);
        g_autofree char *group = strcmp(name, safe) == 0 ? g_strdup(name)
                                                         : g_strdup_printf("%s (%s)", name, safe);

        for (size_t i = 0; i < G_N_ELEMENTS(device_figures); i++) {
                const Source source = { node->id, device_figures[i].kind, "", NULL, id };

                if (may_be_recorded(node, device, source.kind))
                        add_figure(list, source, &device_figures[i], group, name);
        }
}

static void add_file_system(GPtrArray *list, const AldEntity *node, const AldStorageFileSystem *row)
{
        g_autofree char *title = ald_text_safe(row->id);

        for (size_t i = 0; i < G_N_ELEMENTS(storage_figures); i++) {
                const Source source = { node->id, storage_figures[i].kind, "", NULL, row->id };

                add_figure(list, source, &storage_figures[i], title, title);
        }
}

GPtrArray *ald_shown_series_of_node(const AldEntity *node)
{
        const AldStorage *storage = ald_entity_as(node, STORAGE, AldStorage);
        g_autoptr(GArray) devices = ald_node_devices(node);
        GPtrArray *list = ald_shown_series_list_new();

        for (size_t i = 0; i < G_N_ELEMENTS(node_figures); i++) {
                const Source source = { .node = node->id, .kind = node_figures[i].kind, .key = "" };

                add_figure(list, source, &node_figures[i], NULL, NULL);
        }
        for (guint i = 0; i < devices->len; i++)
                add_device(list, node, &g_array_index(devices, AldNodeDevice, i));
        for (size_t i = 0; storage && i < storage->file_systems.n; i++)
                add_file_system(list, node, ald_rows_at(&storage->file_systems, i));
        return list;
}

/* Links */

/* Returns the AldLinkSummaries of two nodes, whichever of them measured. */
static GPtrArray *links_between(
        AldModel *model, const AldEntity *node, const AldEntity *peer, double now_usec)
{
        g_autoptr(GPtrArray) all = ald_link_summaries(model, node, now_usec);
        GPtrArray *links = g_ptr_array_new_with_free_func((GDestroyNotify) ald_link_summary_free);

        for (guint i = 0; i < all->len; i++) {
                const AldLinkSummary *link = all->pdata[i];

                if (strcmp(link->source_id, peer->id) == 0 || strcmp(link->sink_id, peer->id) == 0)
                        g_ptr_array_add(links, g_ptr_array_steal_index(all, i--));
        }
        return links;
}

static Source source_of_link(const AldLinkSummary *link)
{
        return (Source){ .node = link->source_id,
                .kind = link->rdma ? ALD_KIND_LINK_RDMA : ALD_KIND_LINK_SOCKET,
                .key = link->key };
}

/* Returns "atlas → borealis: socket, 192.0.2.2, eth0". */
static char *link_heading(const AldLinkSummary *link)
{
        return g_strdup_printf("%s → %s: %s, %s%s%s", link->source, link->sink,
                link->rdma ? "rdma" : "socket", link->path, link->interface ? ", " : "",
                link->interface ?: "");
}

GPtrArray *ald_shown_series_of_links(
        AldModel *model, const AldEntity *node, const AldEntity *peer, double now_usec)
{
        g_autoptr(GPtrArray) links = links_between(model, node, peer, now_usec);
        GPtrArray *list = ald_shown_series_list_new();

        for (guint i = 0; i < links->len; i++) {
                const AldLinkSummary *link = links->pdata[i];
                g_autofree char *heading = link_heading(link);

                for (size_t k = 0; k < G_N_ELEMENTS(link_figures); k++)
                        add_figure(list, source_of_link(link), &link_figures[k], heading, link->path);
        }
        return list;
}

/* All possible series */

static void add_figures(GPtrArray *list, const Source *source, const char *group)
{
        const AldStruct *type = source->rows ? source->rows->rows : ald_kinds[source->kind].type;

        for (size_t i = 0; i < type->n_fields; i++)
                if (ald_docs_is_series(type, &type->fields[i]))
                        g_ptr_array_add(
                                list, series_new(source, &type->fields[i], group, type->fields[i].name));
}

static void add_row(GPtrArray *list, Source source, const AldField *rows, const char *id)
{
        g_autofree char *safe = ald_text_safe(id);
        g_autofree char *group = g_strdup_printf("%s %s[%s]", ald_kinds[source.kind].name, rows->name, safe);

        source.rows = rows;
        source.row = id;
        add_figures(list, &source, group);
}

/* Adds the series of the rows that the record has now. */
static void add_rows(GPtrArray *list, const Source *source, const AldRecord *record)
{
        const AldStruct *type = ald_record_type(record);

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldRows *rows = ald_record_field(record, &type->fields[i]);

                if (type->fields[i].type != ALD_TYPE_ROWS)
                        continue;
                for (size_t k = 0; k < rows->n; k++) {
                        const void *row = ald_rows_at(rows, k);

                        add_row(list, *source, &type->fields[i],
                                *(const char *const *) ald_field_of(&rows->type->fields[0], row));
                }
        }
}

GPtrArray *ald_shown_series_all_of_node(const AldEntity *node)
{
        GPtrArray *list = ald_shown_series_list_new();

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                const AldRecord *record = ald_entity_record(node, kind);
                const Source source = { .node = node->id, .kind = kind, .key = "" };

                if (ald_kinds[kind].is_link)
                        continue;
                add_figures(list, &source, ald_kinds[kind].name);
                if (record)
                        add_rows(list, &source, record);
        }
        return list;
}

GPtrArray *ald_shown_series_all_of_links(
        AldModel *model, const AldEntity *node, const AldEntity *peer, double now_usec)
{
        g_autoptr(GPtrArray) links = links_between(model, node, peer, now_usec);
        GPtrArray *list = ald_shown_series_list_new();

        for (guint i = 0; i < links->len; i++) {
                const Source source = source_of_link(links->pdata[i]);
                g_autofree char *heading = link_heading(links->pdata[i]);

                add_figures(list, &source, heading);
        }
        return list;
}

GPtrArray *ald_shown_series_of_row(const AldEntity *node, AldKind kind, const AldField *rows, const char *id)
{
        const Source source = { .node = node->id, .kind = kind, .key = "" };
        GPtrArray *list = ald_shown_series_list_new();

        add_row(list, source, rows, id);
        return list;
}
