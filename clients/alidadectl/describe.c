/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/describe.h"
#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/format.h"
#include "clients/alidadectl/links/compute-text.h"
#include "clients/alidadectl/seen.h"
#include "clients/alidadectl/summary.h"
#include "clients/alidadectl/text.h"

#define LABEL_WIDTH 10
#define NARROW 60

void ald_describe_entry(GString *out, const char *label, unsigned label_width, unsigned columns, char *text)
{
        g_autofree char *value = text;
        bool narrow = columns > 0 && columns < NARROW;
        unsigned indent = narrow ? 2 : label_width + 2;

        if (narrow)
                g_string_append_printf(out, "%s:\n  ", label);
        else
                g_string_append_printf(out, "%*s: ", (int) label_width, label);
        ald_text_wrap(out, value && value[0] ? value : ALD_ABSENT_TEXT, columns, indent);
        g_string_append_c(out, '\n');
}

static void entry(GString *out, const char *label, unsigned columns, char *text)
{
        ald_describe_entry(out, label, LABEL_WIDTH, columns, text);
}

/* Adds a part to a list with commas; takes the part; leaves out what is absent. */
static void add_part(GString *list, const char *before, char *part, const char *after)
{
        g_autofree char *text = part;

        if (!text || !text[0] || strcmp(text, ALD_ABSENT_TEXT) == 0)
                return;
        g_string_append_printf(list, "%s%s%s%s", list->len > 0 ? ", " : "", before, text, after);
}

static void add_text(
        GString *list, const char *before, const json_t *fields, const char *name, const char *after)
{
        const char *text = ald_field_text(fields, name);

        add_part(list, before, text ? ald_text_safe(text) : NULL, after);
}

static void describe_identity(GString *out, const AldEntity *node, unsigned columns)
{
        json_t *identity = ald_entity_record(node, "Node1.Identity");
        GString *model = g_string_new(NULL), *chip = g_string_new(NULL), *system = g_string_new(NULL);

        add_text(model, "", identity, "Vendor", "");
        add_text(model, "", identity, "ModelId", "");
        add_text(model, model->len > 0 ? "" : "chassis ", identity, "Chassis", "");
        add_text(model, "virtual machine of ", identity, "Hypervisor", "");
        add_text(chip, "", identity, "ChipId", "");
        add_text(system, "", identity, "OperatingSystem", "");
        add_text(system, "Linux ", identity, "KernelRelease", "");
        add_text(system, "Alidade ", identity, "AlidadeVersion", "");
        add_text(system, "", identity, "Architecture", "");
        entry(out, "Model", columns, g_string_free(model, FALSE));
        entry(out, "Processor", columns, g_string_free(chip, FALSE));
        entry(out, "System", columns, g_string_free(system, FALSE));
}

static void describe_memory(GString *out, const AldEntity *node, unsigned columns)
{
        json_t *memory = ald_entity_record(node, "Node1.Memory");
        double swap = ald_field_number(memory, "SwapTotalBytes");
        GString *text = g_string_new(NULL);

        add_part(text, "",
                ald_format_bytes_of(
                        ald_field_number(memory, "AvailableBytes"), ald_field_number(memory, "TotalBytes")),
                " free");
        if (swap == 0)
                add_part(text, "", g_strdup("no swap"), "");
        else
                add_part(text, "swap ",
                        ald_format_bytes_of(ald_field_number(memory, "SwapAvailableBytes"), swap), " free");
        add_part(text, "pressure ", ald_format_percent(ald_field_number(memory, "PressureSome10")), "");
        entry(out, "Memory", columns, g_string_free(text, FALSE));
}

static void describe_load(GString *out, const AldEntity *node, unsigned columns)
{
        AldFigures figures = ald_node_figures(node);
        GString *text = g_string_new(NULL);

        add_part(text, "", ald_format_percent(figures.usage), "");
        add_part(text, "", ald_format_celsius(figures.millicelsius), "");
        add_part(text, "", ald_format_watts(figures.microwatts), "");
        entry(out, "CPU", columns, g_string_free(text, FALSE));
}

/* What belongs to the device alone, then what it shares. */
static void add_device_memory(GString *text, const AldDevice *device, const AldFigures *figures)
{
        g_autofree char *shared = ald_format_bytes(ald_field_number(device->backend, "SharedBytes"));
        bool has_own = !isnan(figures->memory_total);

        if (has_own || !ald_device_is_unified(device))
                add_part(text, "", ald_format_bytes_of(figures->memory_available, figures->memory_total),
                        " free");
        if (!ald_device_is_unified(device))
                return;
        if (has_own && strcmp(shared, ALD_ABSENT_TEXT) != 0)
                add_part(text, "shares ", g_steal_pointer(&shared), " of the memory of the host");
        else
                add_part(text, "", g_strdup("shares the memory of the host"), "");
}

static void add_processes(GString *text, const AldDevice *device)
{
        double n = ald_field_number(device->system, "ComputeProcesses");

        if (n > 0)
                add_part(text, "", g_strdup_printf("%.0f compute process%s", n, n == 1 ? "" : "es"), "");
}

static void describe_device(GString *out, const AldDevice *device, unsigned columns)
{
        AldFigures figures = ald_device_figures(device);
        GString *text = g_string_new(NULL);
        const char *class = ald_device_class(device);

        add_part(text, "", ald_device_name(device), "");
        if (ald_device_is_asleep(device))
                add_part(text, "", g_strdup("asleep"), "");
        add_part(text, "", ald_format_percent(figures.usage), "");
        add_processes(text, device);
        add_device_memory(text, device, &figures);
        add_part(text, "", ald_format_celsius(figures.millicelsius), "");
        add_part(text, "", ald_format_watts(figures.microwatts), "");
        add_part(text, "", ald_compute_glance(device->compute), "");
        add_text(text, "last attempt failed: ", device->compute, "Failure", "");
        entry(out,
                strcmp(class, "gpu") == 0   ? "GPU"
                : strcmp(class, "cpu") == 0 ? "Measured"
                                            : "Device",
                columns, g_string_free(text, FALSE));
}

static void describe_devices(GString *out, const AldEntity *node, unsigned columns)
{
        g_autoptr(GArray) devices = ald_devices_of(node);
        unsigned n_gpus = 0;

        for (guint i = 0; i < devices->len; i++) {
                const AldDevice *device = &g_array_index(devices, AldDevice, i);
                bool is_cpu = strcmp(ald_device_class(device), "cpu") == 0;

                /* A processor as a compute device is worth a line once it was measured. */
                if (!is_cpu || device->compute)
                        describe_device(out, device, columns);
                n_gpus += !is_cpu;
        }
        if (n_gpus == 0)
                entry(out, "GPU", columns, ald_gpu_summary(node).known ? g_strdup("none") : NULL);
}

static void describe_network(GString *out, const AldEntity *node, unsigned columns)
{
        json_t *interfaces = ald_field_array(ald_entity_record(node, "Node1.Network"), "Interfaces");
        size_t i, n = 0;
        json_t *row;

        json_array_foreach(interfaces, i, row) {
                const char *type = ald_field_text(row, "Type");
                GString *text;

                if (g_strcmp0(type, "loopback") == 0 || !json_is_true(json_object_get(row, "Carrier")))
                        continue;
                text = g_string_new(NULL);
                add_text(text, "", row, "Id", "");
                add_text(text, "", row, "Type", "");
                add_part(text, "", ald_format_bits_per_second(ald_field_number(row, "SpeedBitsPerSecond")),
                        "");
                add_part(text, "", ald_format_field("Addresses", json_object_get(row, "Addresses"), NAN), "");
                entry(out, "Network", columns, g_string_free(text, FALSE));
                n++;
        }
        if (n == 0)
                entry(out, "Network", columns, NULL);
}

static void describe_disks(GString *out, const AldEntity *node, unsigned columns)
{
        json_t *paths = ald_field_array(ald_entity_record(node, "Node1.Disk"), "Paths");
        size_t i;
        json_t *row;

        json_array_foreach(paths, i, row) {
                GString *text = g_string_new(NULL);

                add_text(text, "", row, "Id", "");
                add_part(text, "",
                        ald_format_bytes_of(
                                ald_field_number(row, "AvailableBytes"), ald_field_number(row, "TotalBytes")),
                        " free");
                entry(out, "Disk", columns, g_string_free(text, FALSE));
        }
}

static void describe_title(GString *out, const AldEntity *node, unsigned columns)
{
        g_string_append(out, ALD_STYLE_BOLD);
        ald_text_wrap(out, node->label, columns, 0);
        g_string_append(out, ALD_STYLE_NORMAL);
        if (columns == 0 || ald_text_width(node->label) + 1 + strlen(node->id) <= columns)
                g_string_append_c(out, ' ');
        else
                g_string_append_c(out, '\n');
        g_string_append_printf(out, ALD_STYLE_DIM "%s" ALD_STYLE_NORMAL "\n", node->id);
}

void ald_describe_node(GString *out, const AldEntity *node, unsigned columns, double now_usec)
{
        describe_title(out, node, columns);
        describe_identity(out, node, columns);
        describe_memory(out, node, columns);
        describe_load(out, node, columns);
        describe_devices(out, node, columns);
        describe_network(out, node, columns);
        describe_disks(out, node, columns);
        entry(out, "Seen", columns, ald_format_seen(node, now_usec));
}
