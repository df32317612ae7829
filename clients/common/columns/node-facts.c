/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/columns/device-columns.h"
#include "clients/common/columns/node-columns.h"
#include "clients/common/columns/node-facts.h"
#include "clients/common/columns/storage-facts.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/common/words.h"
#include "record/translate.h"
#include "state/link/interface-roles.h"

/* Returns "165 TFLOPS FP16". */
static char *format_product(double tflops, const char *precision)
{
        g_autofree char *figure = ald_format_tflops(tflops);
        g_autofree char *safe = ald_text_safe_or_null(precision),
                        *upper = safe ? g_utf8_strup(safe, -1) : NULL;

        if (isnan(tflops))
                return NULL;
        return upper ? g_strdup_printf("%s %s", figure, upper) : g_steal_pointer(&figure);
}

static char *format_rate(uint64_t rate)
{
        return ald_format_bytes_per_second(ald_uint64_to_double(rate));
}

static char *format_interval(double percent)
{
        return percent > 0 ? ald_format_interval(percent) : NULL;
}

char *ald_compute_glance(const AldComputeDevice *row)
{
        GString *text = g_string_new(NULL);

        if (isnan(row->tflops_fp16))
                ald_parts_add(text, "%s", format_product(row->gemm_tflops, row->precision));
        else
                ald_parts_add(text, "%s FP16", ald_format_tflops(row->tflops_fp16));
        ald_parts_add(text, _("%s memory bandwidth"), format_rate(row->memory_bandwidth_bytes_per_second));
        ald_parts_add(text, "%s", ald_words_list(row->flags));
        return g_string_free(text, FALSE);
}

static char *describe_gemm(const AldComputeDevice *row)
{
        GString *text = g_string_new(NULL);

        ald_parts_add(text, "%s", format_product(row->gemm_tflops, row->precision));
        ald_parts_add_text(text, _("sums in %s"), row->accumulator);
        ald_parts_add(text, _("median %s"), ald_format_tflops(row->gemm_median_tflops));
        ald_parts_add(text, "%s", format_interval(row->gemm_interval));
        ald_parts_add_text(text, _("by %s"), row->method);
        return g_string_free(text, FALSE);
}

static char *describe_rate(uint64_t rate, uint64_t median, double interval)
{
        GString *text = g_string_new(NULL);

        ald_parts_add(text, "%s", format_rate(rate));
        ald_parts_add(text, _("median %s"), format_rate(median));
        ald_parts_add(text, "%s", format_interval(interval));
        return g_string_free(text, FALSE);
}

static char *describe_device(const AldComputeDevice *row, const char *name)
{
        GString *text = g_string_new(NULL);

        ald_parts_add_text(text, "%s", row->id);
        ald_parts_add_text(text, "%s", name);
        return g_string_free(text, FALSE);
}

GPtrArray *ald_compute_facts(const AldComputeDevice *row, const char *name)
{
        GPtrArray *facts = ald_facts_new();

        ald_facts_add_known(facts, N_("Device"), describe_device(row, name));
        ald_facts_add_known(facts, N_("Matrices"), describe_gemm(row));
        ald_facts_add_known(facts, N_("Reads"),
                describe_rate(row->memory_bandwidth_bytes_per_second,
                        row->memory_bandwidth_median_bytes_per_second, row->memory_bandwidth_interval));
        ald_facts_add_known(facts, N_("Copies"),
                describe_rate(row->copy_bandwidth_bytes_per_second,
                        row->copy_bandwidth_median_bytes_per_second, row->copy_bandwidth_interval));
        ald_facts_add_known(facts, N_("To device"),
                describe_rate(row->host_to_device_bytes_per_second,
                        row->host_to_device_median_bytes_per_second, row->host_to_device_interval));
        ald_facts_add_known(facts, N_("To host"),
                describe_rate(row->device_to_host_bytes_per_second,
                        row->device_to_host_median_bytes_per_second, row->device_to_host_interval));
        ald_facts_add_known(facts, N_("Registers"), format_product(row->peak_tflops, row->peak_precision));
        ald_facts_add_known(
                facts, N_("Clock"), ald_format_figure(&ald_unit_hertz, ald_uint64_to_double(row->clock_hz)));
        ald_facts_add_known(facts, N_("Throttled"), ald_words_list(row->throttle_reasons));
        ald_facts_add_known(facts, N_("Flags"), ald_words_list(row->flags));
        ald_facts_add_known(facts, N_("Failed"), ald_text_safe_or_null(row->failure));
        return facts;
}

static void add_text(GPtrArray *facts, const char *label, GString *text)
{
        ald_facts_add(facts, label, g_string_free(text, FALSE));
}

/* Returns "server", "virtual machine (kvm)" or "container in a virtual machine (firecracker)", for example;
 * NULL if nothing is known. */
static char *describe_machine(const AldIdentity *identity)
{
        g_autofree char *hypervisor = ald_text_safe_or_null(identity->hypervisor);
        g_autofree char *kind = ald_text_safe_or_null(ald_word(identity->chassis));

        if (!hypervisor)
                return g_steal_pointer(&kind);
        if (!kind || g_strcmp0(identity->chassis, "vm") == 0)
                /* Translators: the name of a hypervisor. */
                return g_strdup_printf(_("virtual machine (%s)"), hypervisor);
        /* Translators: a kind of machine, such as "container", and the name of a hypervisor. */
        return g_strdup_printf(_("%s in a virtual machine (%s)"), kind, hypervisor);
}

static void add_identity(GPtrArray *facts, const AldEntity *node)
{
        static const AldIdentity unknown = ALD_IDENTITY_INIT;
        const AldIdentity *identity = ald_entity_as(node, IDENTITY, AldIdentity) ?: &unknown;
        GString *model = g_string_new(NULL), *chip = g_string_new(NULL), *system = g_string_new(NULL);

        ald_parts_add_text(model, "%s", identity->vendor);
        ald_parts_add_text(model, "%s", identity->model_id);
        ald_parts_add(model, "%s", describe_machine(identity));
        ald_parts_add_text(chip, "%s", identity->chip_id);
        ald_parts_add_text(system, "%s", identity->operating_system);
        ald_parts_add_text(system, "Linux %s", identity->kernel_release);
        ald_parts_add_text(system, "Alidade %s", identity->alidade_version);
        ald_parts_add_text(system, "%s", identity->architecture);
        add_text(facts, N_("Model"), model);
        add_text(facts, N_("Processor"), chip);
        add_text(facts, N_("System"), system);
}

static void add_memory(GPtrArray *facts, const AldEntity *node)
{
        static const AldMemory unknown = ALD_MEMORY_INIT;
        const AldMemory *memory = ald_entity_as(node, MEMORY, AldMemory) ?: &unknown;
        const AldListColumn *column = &ald_node_columns[ALD_NODE_COLUMN_MEMORY];
        AldNodeRow row = ald_node_row_last_known(node);
        GString *text = g_string_new(NULL);

        ald_parts_add(text, _("%s free"), ald_list_column_text(column, &row));
        if (memory->swap_total_bytes == 0)
                ald_parts_add(text, "%s", g_strdup(_("no swap")));
        else
                ald_parts_add(text, _("swap %s free"),
                        ald_format_bytes_of(ald_uint64_to_double(memory->swap_available_bytes),
                                ald_uint64_to_double(memory->swap_total_bytes)));
        ald_parts_add(text, _("pressure %s"), ald_format_percent(memory->pressure_some10));
        add_text(facts, column->title, text);
}

static void add_load(GPtrArray *facts, const AldEntity *node)
{
        static const AldNodeColumn shown[] = { ALD_NODE_COLUMN_CPU, ALD_NODE_COLUMN_CPU_TEMPERATURE,
                ALD_NODE_COLUMN_POWER };
        AldNodeRow row = ald_node_row_last_known(node);
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(shown); i++)
                ald_parts_add(text, "%s", ald_list_column_text(&ald_node_columns[shown[i]], &row));
        if (row.figures.power_of != ALD_POWER_OF_NOTHING)
                g_string_append_printf(text, " (%s)", ald_power_of_words(row.figures.power_of));
        add_text(facts, ald_node_columns[ALD_NODE_COLUMN_CPU].title, text);
}

static char *device_text(const AldDeviceRow *row, AldDeviceColumn column)
{
        return ald_list_column_text(&ald_device_columns[column], row);
}

/* Adds the device's own memory, then what it shares with the host. */
static void add_device_memory(GString *text, const AldNodeDevice *device, const AldDeviceRow *row)
{
        double shared = device->backend ? ald_uint64_to_double(device->backend->shared_bytes) : (double) NAN;
        bool has_own = !isnan(row->figures.memory_total), unified = ald_node_device_is_unified(device);

        if (has_own || !unified)
                ald_parts_add(text, _("%s free"), device_text(row, ALD_DEVICE_COLUMN_MEMORY));
        if (!unified)
                return;
        if (has_own && !isnan(shared))
                ald_parts_add(text, _("shares %s of the memory of the host"), ald_format_bytes(shared));
        else
                ald_parts_add(text, "%s", g_strdup(_("shares the memory of the host")));
}

/* Adds "3 processes hold 41.0 GiB (python3, ollama.service)". */
static void add_processes(GString *text, const AldDeviceRow *row)
{
        g_autofree char *processes = ald_device_row_processes(row);
        g_autofree char *names = ald_device_columns[ALD_DEVICE_COLUMN_HELD_BY].text(row);

        if (processes)
                ald_parts_add(text, "%s",
                        names ? g_strdup_printf("%s (%s)", processes, names) : g_steal_pointer(&processes));
}

static char *busy_percent(double usage)
{
        return usage > 0 ? ald_format_percent(usage) : NULL;
}

/* Adds what the driver reports at the moment besides load and heat, where there is something to say. */
static void add_live_figures(GString *text, const AldDeviceRow *row)
{
        const AldDevice *device = row->device.system;

        if (!device)
                return;
        ald_parts_add(text, _("memory at %s"),
                ald_format_figure(&ald_unit_millicelsius,
                        ald_int64_to_double(device->memory_temperature_milli_celsius)));
        ald_parts_add(text, _("fan %s"),
                isnan(device->fan_percent) ? ald_format_figure(&ald_unit_revolutions_per_minute,
                                                     ald_uint64_to_double(device->fan_rpm))
                                           : ald_format_percent(device->fan_percent));
        ald_parts_add(text, _("encoder %s"), busy_percent(device->encoder_usage));
        ald_parts_add(text, _("decoder %s"), busy_percent(device->decoder_usage));
        if (device->throttled == 1)
                ald_parts_add(text, _("throttled: %s"), device_text(row, ALD_DEVICE_COLUMN_THROTTLED));
}

static bool is_measured(const AldNodeDevice *device)
{
        AldNodeFigures figures = ald_node_device_figures(device);

        return !isnan(figures.tflops) || !isnan(figures.bandwidth) ||
               (device->compute && device->compute->measured_usec != ALD_ABSENT_UINT64);
}

/* The line "Processor" already describes a processor as such. */
static const char *device_label(const AldNodeDevice *device)
{
        const char *class = ald_node_device_class(device);

        if (ald_node_device_is_processor(device))
                return is_measured(device) ? N_("Measured") : N_("Not measured");
        return strcmp(class, ald_backend_class_to_string(ALD_BACKEND_CLASS_GPU)) == 0 ? N_("GPU")
                                                                                      : N_("Device");
}

/* Takes the remedy, which says how to get the device measured, or NULL. */
static void add_device(GPtrArray *facts, const AldEntity *node, const AldNodeDevice *device, char *remedy)
{
        AldDeviceRow row = ald_device_row(node, device, true);
        GString *text = g_string_new(NULL);

        ald_parts_add(text, "%s", device_text(&row, ALD_DEVICE_COLUMN_NAME));
        ald_parts_add(text, "%s", device_text(&row, ALD_DEVICE_COLUMN_LOAD));
        add_processes(text, &row);
        add_device_memory(text, device, &row);
        ald_parts_add(text, "%s", device_text(&row, ALD_DEVICE_COLUMN_TEMPERATURE));
        ald_parts_add(text, "%s", device_text(&row, ALD_DEVICE_COLUMN_POWER));
        add_live_figures(text, &row);
        if (device->compute) {
                ald_parts_add(text, "%s", ald_compute_glance(device->compute));
                ald_parts_add(text, "%s", ald_node_device_doubts(device));
                ald_parts_add_text(text, _("last attempt failed: %s"), device->compute->failure);
        }
        ald_parts_add(text, "%s", remedy);
        add_text(facts, device_label(device), text);
}

static void add_devices(GPtrArray *facts, const AldEntity *node)
{
        g_autoptr(GArray) devices = ald_node_devices(node);
        unsigned n_gpus = 0;

        for (guint i = 0; i < devices->len; i++) {
                const AldNodeDevice *device = &g_array_index(devices, AldNodeDevice, i);
                bool is_processor = ald_node_device_is_processor(device);

                g_autofree char *remedy = is_measured(device) ? NULL : ald_node_device_remedy(node, device);

                /* A processor is shown as a compute device only once it was measured, the measurement failed,
                 * or it is known what the measurement needs. */
                if (!is_processor || is_measured(device) || remedy ||
                        (device->compute && device->compute->failure))
                        add_device(facts, node, device, g_steal_pointer(&remedy));
                n_gpus += !is_processor;
        }
        if (n_gpus == 0)
                ald_facts_add(facts, N_("GPU"), ald_gpu_summary(node).known ? g_strdup(_("none")) : NULL);
}

static void add_interface(GPtrArray *facts, const AldInterface *interface)
{
        GString *text = g_string_new(NULL);

        ald_parts_add_text(text, "%s", interface->id);
        ald_parts_add_text(text, "%s", interface->type);
        ald_parts_add(text, "%s",
                ald_format_bits_per_second(ald_uint64_to_double(interface->speed_bits_per_second)));
        ald_parts_add(text, "%s", ald_format_list(interface->addresses));
        add_text(facts, N_("Network"), text);
}

static void add_network(GPtrArray *facts, const AldEntity *node)
{
        const AldNetwork *network = ald_entity_as(node, NETWORK, AldNetwork);
        size_t n = 0;

        for (size_t i = 0; network && i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                if (ald_interface_is(interface, ALD_INTERFACE_TYPE_LOOPBACK) || interface->carrier != 1)
                        continue;
                add_interface(facts, interface);
                n++;
        }
        if (n == 0)
                ald_facts_add(facts, N_("Network"), NULL);
}

static void add_disks(GPtrArray *facts, const AldEntity *node)
{
        const AldDisk *disk = ald_entity_as(node, DISK, AldDisk);

        for (size_t i = 0; disk && i < disk->paths.n; i++) {
                const AldDiskPath *path = ald_rows_at(&disk->paths, i);
                GString *text = g_string_new(NULL);

                ald_parts_add_text(text, "%s", path->id);
                ald_parts_add(text, _("%s free"),
                        ald_format_bytes_of(ald_uint64_to_double(path->available_bytes),
                                ald_uint64_to_double(path->total_bytes)));
                add_text(facts, N_("Disk"), text);
        }
}

static void add_storage(GPtrArray *facts, const AldEntity *node, double now_usec)
{
        const AldStorage *storage = ald_entity_as(node, STORAGE, AldStorage);

        for (size_t i = 0; storage && i < storage->file_systems.n; i++)
                ald_facts_add_known(facts, N_("Loading"),
                        ald_storage_summary(ald_rows_at(&storage->file_systems, i), now_usec));
}

GPtrArray *ald_node_facts(const AldEntity *node, double now_usec)
{
        GPtrArray *facts = ald_facts_new();
        AldTone tone;
        char *seen;

        add_identity(facts, node);
        add_memory(facts, node);
        add_load(facts, node);
        add_devices(facts, node);
        add_network(facts, node);
        add_disks(facts, node);
        add_storage(facts, node, now_usec);
        seen = ald_format_seen(node, now_usec, &tone);
        ald_facts_add_toned(facts, N_("Seen"), seen, tone);
        return facts;
}
