/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/summary.h"
#include "clients/alidadectl/text.h"

static const AldFigures nothing = { NAN, NAN, NAN, NAN, NAN, NAN, NAN };

/* Adds what is known; unknown plus known is known. */
static double plus(double sum, double value)
{
        return isnan(sum) ? value : isnan(value) ? sum : sum + value;
}

static bool has_device(const GArray *devices, const char *id)
{
        for (guint i = 0; i < devices->len; i++)
                if (g_strcmp0(ald_device_id(&g_array_index(devices, AldDevice, i)), id) == 0)
                        return true;
        return false;
}

GArray *ald_devices_of(const AldEntity *node)
{
        json_t *backends = ald_field_array(ald_entity_record(node, "Node1.Backends"), "Devices");
        json_t *systems = ald_field_array(ald_entity_record(node, "Node1.System"), "Devices");
        json_t *computes = ald_field_array(ald_entity_record(node, "Node1.Compute"), "Devices");
        json_t *const lists[] = { backends, systems, computes };
        GArray *devices = g_array_new(FALSE, FALSE, sizeof(AldDevice));

        for (size_t l = 0; l < G_N_ELEMENTS(lists); l++) {
                size_t i;
                json_t *row;

                json_array_foreach(lists[l], i, row) {
                        const char *id = ald_field_text(row, "Id");
                        AldDevice device = { .backend = ald_row_by_id(backends, id),
                                .system = ald_row_by_id(systems, id),
                                .compute = ald_row_by_id(computes, id) };

                        if (devices->len >= ALD_DEVICES_MAX)
                                return devices;
                        if (id && !has_device(devices, id))
                                g_array_append_val(devices, device);
                }
        }
        return devices;
}

const char *ald_device_id(const AldDevice *device)
{
        return ald_field_text(device->backend  ? device->backend
                              : device->system ? device->system
                                               : device->compute,
                "Id");
}

const char *ald_device_class(const AldDevice *device)
{
        const char *class = ald_field_text(device->backend, "Class");

        return class ? class : "gpu";
}

static bool is_gpu(const AldDevice *device)
{
        return strcmp(ald_device_class(device), "cpu") != 0;
}

/* A device without a backend may be of either class. */
static bool has_class(const AldDevice *device)
{
        return ald_field_text(device->backend, "Class");
}

char *ald_device_name(const AldDevice *device)
{
        const char *name = ald_field_text(device->backend, "Name"), *id = ald_device_id(device);

        return ald_text_safe(name ? name : id ? id : "");
}

bool ald_device_is_asleep(const AldDevice *device)
{
        return g_strcmp0(ald_field_text(device->system, "PowerState"), "asleep") == 0;
}

bool ald_device_is_unified(const AldDevice *device)
{
        return json_is_true(json_object_get(device->backend, "Unified"));
}

bool ald_device_is_instance(const AldDevice *device)
{
        return ald_field_text(device->backend, "Parent");
}

AldFigures ald_device_figures(const AldDevice *device)
{
        AldFigures figures = {
                .memory_total = ald_field_number(device->backend, "MemoryTotalBytes"),
                .usage = ald_field_number(device->system, "Usage"),
                .millicelsius = ald_field_number(device->system, "TemperatureMilliCelsius"),
                .microwatts = ald_field_number(device->system, "PowerMicroWatts"),
                .tflops = ald_field_number(device->compute, "TflopsFp16"),
                .bandwidth = ald_field_number(device->compute, "MemoryBandwidthBytesPerSecond"),
        };

        figures.memory_available = figures.memory_total - ald_field_number(device->system, "MemoryUsedBytes");
        if (figures.memory_available < 0)
                figures.memory_available = NAN;
        return figures;
}

static bool is_measured(const AldDevice *device)
{
        AldFigures figures = ald_device_figures(device);

        return !isnan(figures.tflops) || !isnan(figures.bandwidth) ||
               !isnan(ald_field_number(device->compute, "GemmTflops"));
}

/* A device that is split into instances is never measured as a whole. */
static bool is_split(const GArray *devices, const AldDevice *device)
{
        const char *id = ald_device_id(device);

        for (guint i = 0; i < devices->len; i++) {
                const AldDevice *other = &g_array_index(devices, AldDevice, i);

                if (id && g_strcmp0(ald_field_text(other->backend, "Parent"), id) == 0)
                        return true;
        }
        return false;
}

/* Whether the sums of a node are over its GPUs and accelerators rather than its processors. */
static bool sums_gpus(const GArray *devices)
{
        for (guint i = 0; i < devices->len; i++) {
                const AldDevice *device = &g_array_index(devices, AldDevice, i);

                if (has_class(device) && is_gpu(device) && !is_split(devices, device) && is_measured(device))
                        return true;
        }
        return false;
}

AldFigures ald_node_figures(const AldEntity *node)
{
        json_t *memory = ald_entity_record(node, "Node1.Memory");
        json_t *system = ald_entity_record(node, "Node1.System");
        g_autoptr(GArray) devices = ald_devices_of(node);
        AldFigures figures = nothing;
        bool gpus = sums_gpus(devices);

        figures.memory_total = ald_field_number(memory, "TotalBytes");
        figures.memory_available = ald_field_number(memory, "AvailableBytes");
        figures.usage = ald_field_number(system, "CpuUsage");
        figures.millicelsius = ald_field_number(system, "TemperatureMilliCelsius");
        figures.microwatts = ald_field_number(system, "PowerMicroWatts");
        for (guint i = 0; i < devices->len; i++) {
                const AldDevice *device = &g_array_index(devices, AldDevice, i);
                AldFigures own = ald_device_figures(device);

                if (!has_class(device) || is_gpu(device) != gpus || is_split(devices, device))
                        continue;
                figures.tflops = plus(figures.tflops, own.tflops);
                figures.bandwidth = plus(figures.bandwidth, own.bandwidth);
        }
        return figures;
}

AldGpuSummary ald_gpu_summary(const AldEntity *node)
{
        g_autoptr(GArray) devices = ald_devices_of(node);
        AldGpuSummary summary = { .usage = NAN };
        json_t *backends = ald_entity_record(node, "Node1.Backends");
        unsigned n_usage = 0;

        summary.known = ald_field_array(backends, "Devices");
        for (guint i = 0; i < devices->len; i++) {
                const AldDevice *device = &g_array_index(devices, AldDevice, i);
                double usage = ald_device_figures(device).usage;

                if (!is_gpu(device) || ald_device_is_instance(device))
                        continue;
                summary.n++;
                summary.n_asleep += ald_device_is_asleep(device);
                n_usage += !isnan(usage);
                summary.usage = plus(summary.usage, usage);
        }
        if (n_usage > 0)
                summary.usage /= n_usage;
        return summary;
}

/* Whether an address says nothing about how to reach the node. */
static bool is_local_address(const char *address)
{
        return g_str_has_prefix(address, "fe80:") || g_str_has_prefix(address, "169.254.") ||
               g_str_has_prefix(address, "127.") || g_str_has_prefix(address, "::1/");
}

static void append_addresses(GString *out, json_t *interface, bool veth)
{
        const char *type = ald_field_text(interface, "Type");
        size_t i;
        json_t *item;

        if (g_strcmp0(type, "loopback") == 0 || (g_strcmp0(type, "veth") == 0) != veth)
                return;
        json_array_foreach(ald_field_array(interface, "Addresses"), i, item) {
                const char *address = json_string_value(item);
                g_autofree char *safe = NULL;

                if (!address || is_local_address(address))
                        continue;
                safe = ald_text_safe(address);
                *strchrnul(safe, '/') = '\0';
                g_string_append_printf(out, "%s%s", out->len > 0 ? " " : "", safe);
        }
}

char *ald_node_addresses(const AldEntity *node)
{
        json_t *interfaces = ald_field_array(ald_entity_record(node, "Node1.Network"), "Interfaces");
        g_autoptr(GString) out = g_string_new(NULL);
        size_t i;
        json_t *row;

        json_array_foreach(interfaces, i, row)
                append_addresses(out, row, false);
        /* That of a container on a host says nothing about the host, yet a container has no other. */
        if (out->len == 0)
                json_array_foreach(interfaces, i, row)
                        append_addresses(out, row, true);
        return out->len > 0 ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

unsigned ald_count_findings(const json_t *findings, const char *severity)
{
        unsigned n = 0;
        size_t i;
        json_t *row;

        json_array_foreach(findings, i, row)
                n += g_strcmp0(ald_field_text(row, "Severity"), severity) == 0;
        return n;
}

char *ald_findings_summary(const json_t *findings)
{
        static const struct {
                const char *severity, *style;
        } parts[] = {
                { "error", ALD_STYLE_ERROR },
                { "warning", ALD_STYLE_WARNING },
                { "notice", "" },
        };
        g_autoptr(GString) out = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
                unsigned n = ald_count_findings(findings, parts[i].severity);

                if (n > 0)
                        g_string_append_printf(out, "%s%s%u %s%s%s", out->len > 0 ? ", " : "", parts[i].style,
                                n, parts[i].severity, n == 1 ? "" : "s", ALD_STYLE_NORMAL);
        }
        return out->len > 0 ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}
