/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/columns/device-columns.h"
#include "clients/common/columns/node-columns.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "record/translate.h"

#define BAR_WIDTH 10

static double find_hottest(const AldEntity *node, double own)
{
        g_autoptr(GArray) devices = ald_node_devices(node);
        double most = own;

        for (guint i = 0; i < devices->len; i++)
                most = fmax(most,
                        ald_node_device_figures(&g_array_index(devices, AldNodeDevice, i)).millicelsius);
        return most;
}

AldNodeRow ald_node_row_last_known(const AldEntity *node)
{
        AldNodeFigures figures = ald_node_figures(node);

        return (AldNodeRow){ .node = node,
                .now_usec = NAN,
                .counts = true,
                .figures = figures,
                .gpus = ald_gpu_summary(node),
                .hottest_millicelsius = find_hottest(node, figures.millicelsius) };
}

AldNodeRow ald_node_row(AldModel *model, const AldEntity *node, double now_usec)
{
        AldNodeRow row = ald_node_row_last_known(node);

        row.model = model;
        row.now_usec = now_usec;
        row.is_own = node && g_strcmp0(node->id, ald_model_node_id(model)) == 0;
        row.counts = node && !ald_node_exclusion(model, node);
        if (row.counts)
                return row;
        row.hottest_millicelsius = NAN;
        ald_node_figures_forget_samples(&row.figures);
        return row;
}

static const AldIdentity *identity_of(const void *row)
{
        static const AldIdentity unknown = ALD_IDENTITY_INIT;
        const AldNodeRow *node = row;

        return ald_entity_as(node->node, IDENTITY, AldIdentity) ?: &unknown;
}

/* These columns identify the node and show its state. */

static char *name_text(const void *row)
{
        const AldNodeRow *node = row;

        return node->node ? ald_entity_label(node->node) : NULL;
}

static bool is_own(const void *row)
{
        const AldNodeRow *node = row;

        return node->is_own;
}

static char *format_state(const AldNodeRow *row, AldTone *ret_tone)
{
        *ret_tone = ALD_TONE_FAINT;
        return row->node ? ald_format_seen(row->node, row->now_usec, ret_tone) : NULL;
}

static char *state_text(const void *row)
{
        AldTone tone;

        return format_state(row, &tone);
}

static AldTone state_tone(const void *row)
{
        AldTone tone;

        g_free(format_state(row, &tone));
        return tone;
}

static char *state_plain(const void *row)
{
        const AldNodeRow *node = row;
        const AldPresence *presence = ald_entity_as(node->node, PRESENCE, AldPresence);

        return presence ? ald_text_safe_or_null(presence->state) : NULL;
}

/* Nodes that count come first. */
static double state_number(const void *row)
{
        static const double order[ALD_PRESENCE_STATE_N] = {
                [ALD_PRESENCE_STATE_ONLINE] = 0,
                [ALD_PRESENCE_STATE_STALE] = 1,
                [ALD_PRESENCE_STATE_DUPLICATE] = 2,
                [ALD_PRESENCE_STATE_UNKNOWN] = 3,
                [ALD_PRESENCE_STATE_OFFLINE] = 4,
        };
        const AldNodeRow *node = row;
        const AldPresence *presence = ald_entity_as(node->node, PRESENCE, AldPresence);
        int state = presence && presence->state ? ald_presence_state_from_string(presence->state) : -1;

        return node->is_own ? order[ALD_PRESENCE_STATE_ONLINE]
                            : order[state >= 0 ? state : ALD_PRESENCE_STATE_UNKNOWN];
}

static char *addresses_text(const void *row)
{
        const AldNodeRow *node = row;

        return node->node ? ald_node_addresses(node->node) : NULL;
}

static char *id_text(const void *row)
{
        const AldNodeRow *node = row;

        return node->node ? g_strndup(node->node->id, ALD_SHOWN_ID_LENGTH) : NULL;
}

static char *id_plain(const void *row)
{
        const AldNodeRow *node = row;

        return node->node ? g_strdup(node->node->id) : NULL;
}

/* These columns have the figures. */

static const AldNodeFigures *figures_of(const void *row)
{
        return &((const AldNodeRow *) row)->figures;
}

static char *memory_text(const void *row)
{
        return ald_format_bytes_of(figures_of(row)->memory_available, figures_of(row)->memory_total);
}

static double memory_number(const void *row)
{
        return figures_of(row)->memory_available;
}

static double total_memory_number(const void *row)
{
        return figures_of(row)->memory_total;
}

static double used_share(const void *row)
{
        return ald_node_figures_used(figures_of(row));
}

static double used_number(const void *row)
{
        return used_share(row) * 100;
}

static AldTone used_tone(const void *row)
{
        return ald_share_tone(used_share(row));
}

static double cpu_number(const void *row)
{
        return figures_of(row)->usage;
}

static double gpus_number(const void *row)
{
        const AldNodeRow *node = row;

        return node->gpus.known || node->gpus.n > 0 ? node->gpus.n : (double) ALD_ABSENT_DOUBLE;
}

static char *gpus_text(const void *row)
{
        return gpus_number(row) == 0 ? g_strdup(_("none")) : ald_format_count(gpus_number(row));
}

static double gpu_load_number(const void *row)
{
        const AldNodeRow *node = row;

        return node->counts ? node->gpus.usage : (double) ALD_ABSENT_DOUBLE;
}

static char *gpu_load_text(const void *row)
{
        const AldNodeRow *node = row;

        return node->counts && node->gpus.n > 0 && node->gpus.n_asleep == node->gpus.n
                       ? g_strdup(_("asleep"))
                       : ald_format_percent(gpu_load_number(row));
}

/* Returns "2 × 12 %". */
static char *gpu_text(const void *row)
{
        const AldNodeRow *node = row;
        g_autofree char *load = NULL;

        if (node->gpus.n == 0)
                return gpus_text(row);
        load = gpu_load_text(row);
        return node->gpus.n == 1 ? g_steal_pointer(&load) : g_strdup_printf("%u × %s", node->gpus.n, load);
}

static double temperature_number(const void *row)
{
        const AldNodeRow *node = row;

        return node->hottest_millicelsius;
}

static double cpu_temperature_number(const void *row)
{
        return figures_of(row)->millicelsius;
}

static double power_number(const void *row)
{
        return figures_of(row)->microwatts;
}

static char *power_of_text(const void *row)
{
        return g_strdup(ald_power_of_words(figures_of(row)->power_of));
}

static char *power_of_plain(const void *row)
{
        return g_strdup(ald_power_of_to_string(figures_of(row)->power_of));
}

static double tflops_number(const void *row)
{
        return figures_of(row)->tflops;
}

static char *tflops_text(const void *row)
{
        return ald_node_compute(figures_of(row));
}

static double tflops_fp32_number(const void *row)
{
        return figures_of(row)->tflops_fp32;
}

static double bandwidth_number(const void *row)
{
        return figures_of(row)->bandwidth;
}

/* The sum is unknown if the memory of one device is. */
static double device_memory_number(const void *row)
{
        const AldNodeRow *node = row;
        const AldBackends *backends = ald_entity_as(node->node, BACKENDS, AldBackends);
        double sum = backends ? 0 : ALD_ABSENT_DOUBLE;

        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *device = ald_rows_at(&backends->devices, i);

                if (g_strcmp0(device->class, "cpu") != 0 && device->unified != 1 && !device->parent)
                        sum += ald_uint64_to_double(device->memory_total_bytes);
        }
        return sum;
}

static double rdma_number(const void *row)
{
        const AldNodeRow *node = row;
        const AldFabric *fabric = ald_entity_as(node->node, FABRIC, AldFabric);
        double n = fabric ? 0 : ALD_ABSENT_DOUBLE;

        for (size_t i = 0; fabric && i < fabric->rdma_ports.n; i++) {
                const AldRdmaPort *port = ald_rows_at(&fabric->rdma_ports, i);

                n += g_strcmp0(port->state, "active") == 0 && !port->problem;
        }
        return n;
}

/* These functions return since when numbers are known. */

static double since_record(const AldNodeRow *row, AldKind kind)
{
        const AldRecord *record = ald_entity_record(row->node, kind);

        return record ? (double) record->updated_usec : ALD_ABSENT_DOUBLE;
}

static double since_memory(const void *row)
{
        return since_record(row, ALD_KIND_MEMORY);
}

static double since_backends(const void *row)
{
        return since_record(row, ALD_KIND_BACKENDS);
}

static double since_fabric(const void *row)
{
        return since_record(row, ALD_KIND_FABRIC);
}

/* The sum is as old as the oldest figure in it. */
static double since_compute(const void *row)
{
        const AldNodeRow *node = row;
        const AldCompute *record = ald_entity_as(node->node, COMPUTE, AldCompute);
        double since = ALD_ABSENT_DOUBLE;

        for (size_t i = 0; record && i < record->devices.n; i++) {
                const AldComputeDevice *device = ald_rows_at(&record->devices, i);

                if (isfinite(device->tflops_fp16))
                        since = fmin(since, ald_uint64_to_double(device->measured_usec));
        }
        return since;
}

/* These columns describe the machine. */

static char *model_text(const void *row)
{
        const AldIdentity *identity = identity_of(row);
        GString *text = g_string_new(NULL);

        ald_parts_add_text(text, "%s", identity->vendor);
        ald_parts_add_text(text, "%s", identity->model_id);
        ald_parts_add_text(text, _("virtual machine (%s)"), identity->hypervisor);
        return g_string_free(text, text->len == 0);
}

static char *processor_text(const void *row)
{
        return ald_text_safe_or_null(identity_of(row)->chip_id);
}

static char *system_text(const void *row)
{
        return ald_text_safe_or_null(identity_of(row)->operating_system);
}

static char *version_text(const void *row)
{
        return ald_text_safe_or_null(identity_of(row)->alidade_version);
}

const AldListColumn ald_node_columns[ALD_NODE_N_COLUMNS] = {
        [ALD_NODE_COLUMN_NAME] = { .id = "name",
                .key = "Name",
                .heading = "NAME",
                .title = N_("Name"),
                .description = N_("The name of the node, or the first digits of its id"),
                .flexible = true,
                .least = 12,
                .text = name_text,
                .is_strong = is_own,
                .below = &ald_device_columns[ALD_DEVICE_COLUMN_NAME] },
        [ALD_NODE_COLUMN_STATE] = { .id = "state",
                .key = "State",
                .heading = "SEEN",
                .title = N_("State"),
                .description = N_("Whether the node is online, and since when it is not"),
                .least = 9,
                .text = state_text,
                .plain = state_plain,
                .number = state_number,
                .tone = state_tone },
        [ALD_NODE_COLUMN_MEMORY] = { .id = "memory",
                .key = "MemoryAvailableBytes",
                .heading = "FREE MEMORY",
                .title = N_("Memory"),
                .description = N_("The memory that programs can still use, and all of it"),
                .is_number = true,
                .least = 13,
                .text = memory_text,
                .number = memory_number,
                .required = "available",
                .since = since_memory,
                .below = &ald_device_columns[ALD_DEVICE_COLUMN_MEMORY] },
        [ALD_NODE_COLUMN_CPU] = { .id = "cpu",
                .key = "CpuUsage",
                .heading = "CPU",
                .title = N_("CPU"),
                .description = N_("The load of the processors, in percent"),
                .is_number = true,
                .least = 5,
                .priority = 1,
                .number = cpu_number },
        [ALD_NODE_COLUMN_TFLOPS] = { .id = "tflops",
                .key = "TflopsFp16",
                .heading = "FP16",
                .title = N_("FP16 Compute"),
                .description = N_("The measured rate of FP16 matrix products; of FP32, so marked, where no "
                                  "device has a figure of FP16"),
                .is_number = true,
                .least = 11,
                .priority = 3,
                .text = tflops_text,
                .number = tflops_number,
                .required = "compute",
                .since = since_compute,
                .is_measured = true,
                .below = &ald_device_columns[ALD_DEVICE_COLUMN_TFLOPS] },
        [ALD_NODE_COLUMN_BANDWIDTH] = { .id = "bandwidth",
                .key = "MemoryBandwidthBytesPerSecond",
                .heading = "BANDWIDTH",
                .title = N_("Memory Bandwidth"),
                .description = N_("The measured memory bandwidth of the same devices"),
                .is_number = true,
                .least = 9,
                .priority = 6,
                .number = bandwidth_number,
                .below = &ald_device_columns[ALD_DEVICE_COLUMN_BANDWIDTH] },
        [ALD_NODE_COLUMN_ADDRESSES] = { .id = "addresses",
                .key = "Addresses",
                .heading = "ADDRESSES",
                .title = N_("Addresses"),
                .description = N_("The addresses of the interfaces that lead out of the machine"),
                .flexible = true,
                .least = 15,
                .priority = 7,
                .text = addresses_text },
        [ALD_NODE_COLUMN_GPUS] = { .id = "gpus",
                .key = "Gpus",
                .heading = "GPUS",
                .title = N_("GPUs"),
                .description = N_("The number of GPUs and accelerators"),
                .is_number = true,
                .least = 5,
                .priority = 2,
                .text = gpus_text,
                .number = gpus_number,
                .required = "gpus",
                .since = since_backends },
        [ALD_NODE_COLUMN_GPU_LOAD] = { .id = "gpu-load",
                .key = "GpuUsage",
                .heading = "GPU LOAD",
                .title = N_("GPU Load"),
                .description = N_("The mean load of the GPUs and accelerators, in percent"),
                .is_number = true,
                .least = 6,
                .priority = 2,
                .text = gpu_load_text,
                .number = gpu_load_number,
                .below = &ald_device_columns[ALD_DEVICE_COLUMN_LOAD] },
        [ALD_NODE_COLUMN_TEMPERATURE] = { .id = "temperature",
                .key = "TemperatureMilliCelsius",
                .heading = "TEMP",
                .title = N_("Temperature"),
                .description = N_("The temperature of the hottest processor or device"),
                .is_number = true,
                .least = 5,
                .priority = 4,
                .number = temperature_number,
                .below = &ald_device_columns[ALD_DEVICE_COLUMN_TEMPERATURE] },
        [ALD_NODE_COLUMN_POWER] = { .id = "power",
                .key = "PowerMicroWatts",
                .heading = "POWER",
                .title = N_("Power"),
                .description = N_(
                        "The power of the whole machine, if it is measured, else of its processors and "
                        "GPUs together"),
                .is_number = true,
                .least = 5,
                .priority = 5,
                .number = power_number,
                .below = &ald_device_columns[ALD_DEVICE_COLUMN_POWER] },
        [ALD_NODE_COLUMN_MODEL] = { .id = "model",
                .key = "Model",
                .heading = "MODEL",
                .title = N_("Model"),
                .description = N_("The vendor and model of the machine"),
                .flexible = true,
                .least = 15,
                .priority = 9,
                .text = model_text },
        [ALD_NODE_COLUMN_PROCESSOR] = { .id = "processor",
                .key = "Processor",
                .heading = "PROCESSOR",
                .title = N_("Processor"),
                .description = N_("The model of the processor"),
                .flexible = true,
                .least = 15,
                .priority = 9,
                .text = processor_text },
        [ALD_NODE_COLUMN_SYSTEM] = { .id = "system",
                .key = "OperatingSystem",
                .heading = "SYSTEM",
                .title = N_("Operating System"),
                .description = N_("The name and version of the operating system"),
                .flexible = true,
                .least = 15,
                .priority = 9,
                .text = system_text },
        [ALD_NODE_COLUMN_VERSION] = { .id = "version",
                .key = "AlidadeVersion",
                .heading = "ALIDADE",
                .title = N_("Alidade"),
                .long_title = N_("Version of Alidade"),
                .description = N_("The version of Alidade on the node"),
                .least = 8,
                .priority = 9,
                .text = version_text },
        [ALD_NODE_COLUMN_ID] = { .id = "id",
                .key = "Id",
                .heading = "ID",
                .title = N_("ID"),
                .description = N_("The first digits of the id of the node; in JSON and CSV, all of it"),
                .least = ALD_SHOWN_ID_LENGTH,
                .priority = 8,
                .text = id_text,
                .plain = id_plain },
        [ALD_NODE_COLUMN_TOTAL_MEMORY] = { .id = "total-memory",
                .key = "MemoryTotalBytes",
                .heading = "MEMORY",
                .title = N_("Total Memory"),
                .description = N_("All memory of the machine"),
                .is_number = true,
                .least = 8,
                .priority = 9,
                .number = total_memory_number,
                .required = "memory",
                .since = since_memory },
        [ALD_NODE_COLUMN_USED] = { .id = "used",
                .key = "MemoryUsedPercent",
                .heading = "USED",
                .title = N_("Memory in use"),
                .description = N_("How much of the memory is in use, with a warning once it is nearly full"),
                .is_number = true,
                .least = BAR_WIDTH,
                .priority = 8,
                .number = used_number,
                .share = used_share,
                .tone = used_tone,
                .below = &ald_device_columns[ALD_DEVICE_COLUMN_USED] },
        [ALD_NODE_COLUMN_GPU] = { .id = "gpu",
                .key = "Gpu",
                .heading = "GPU",
                .title = N_("Number and Load of GPUs"),
                .description = N_("The number of GPUs and accelerators, if there are several, and their mean "
                                  "load"),
                .is_number = true,
                .least = 5,
                .priority = 2,
                .text = gpu_text,
                .plain = gpu_text,
                .number = gpu_load_number,
                .below = &ald_device_columns[ALD_DEVICE_COLUMN_LOAD] },
        [ALD_NODE_COLUMN_TFLOPS_FP32] = { .id = "tflops-fp32",
                .key = "TflopsFp32",
                .heading = "FP32",
                .title = N_("FP32 Compute"),
                .description = N_("The measured rate of FP32 matrix products of devices without a figure "
                                  "of FP16"),
                .is_number = true,
                .least = 11,
                .priority = 9,
                .number = tflops_fp32_number },
        [ALD_NODE_COLUMN_CPU_TEMPERATURE] = { .id = "cpu-temperature",
                .key = "CpuTemperatureMilliCelsius",
                .heading = "CPU TEMP",
                .title = N_("CPU Temperature"),
                .description = N_("The temperature of the hottest processor"),
                .is_number = true,
                .least = 5,
                .priority = 9,
                .number = cpu_temperature_number },
        [ALD_NODE_COLUMN_DEVICE_MEMORY] = { .id = "device-memory",
                .key = "DeviceMemoryTotalBytes",
                .heading = "DEVICE MEMORY",
                .title = N_("Device Memory"),
                .description = N_("All memory of the GPUs and accelerators, without what they share with the "
                                  "host"),
                .is_number = true,
                .least = 8,
                .priority = 9,
                .number = device_memory_number,
                .required = "device-memory",
                .since = since_backends },
        [ALD_NODE_COLUMN_RDMA] = { .id = "rdma",
                .key = "RdmaPorts",
                .heading = "RDMA",
                .title = N_("RDMA Ports"),
                .description = N_("The number of active RDMA ports without a problem"),
                .is_number = true,
                .least = 4,
                .priority = 9,
                .number = rdma_number,
                .required = "rdma",
                .since = since_fabric },
        [ALD_NODE_COLUMN_POWER_OF] = { .id = "power-of",
                .key = "PowerOf",
                .heading = "POWER OF",
                .title = N_("Power of"),
                .description = N_("What the power was measured of: the whole machine, or which of its parts"),
                .least = 10,
                .priority = 9,
                .text = power_of_text,
                .plain = power_of_plain },
};

const AldColumnList ald_node_column_list = {
        .name = "nodes", .columns = ald_node_columns, .n_columns = ALD_NODE_N_COLUMNS
};
