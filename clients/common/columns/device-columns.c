/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/columns/column-order.h"
#include "clients/common/columns/device-columns.h"
#include "clients/common/columns/holder-columns.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "clients/common/words.h"
#include "record/translate.h"

#define BAR_WIDTH 10
#define NAMED_HOLDERS 3u /* the others are counted */

AldDeviceRow ald_device_row(const AldEntity *node, const AldNodeDevice *device, bool counts)
{
        const AldProcesses *processes = ald_entity_as(node, PROCESSES, AldProcesses);
        AldDeviceRow row = { .device = *device,
                .node = node,
                .counts = counts,
                .figures = ald_node_device_figures(device),
                .now_usec = NAN,
                .free_bytes = NAN };

        if (!counts)
                ald_node_figures_forget_samples(&row.figures);
        else if (processes) {
                row.held = ald_rows_find(&processes->devices, ald_node_device_id(device));
                row.holders = &processes->holders;
        }
        return row;
}

char *ald_device_row_processes(const AldDeviceRow *row)
{
        const AldDevice *system = row->device.system;
        uint64_t n = row->held ? row->held->holders : system ? system->compute_processes : ALD_ABSENT_UINT64;
        double held = row->held ? ald_uint64_to_double(row->held->held_bytes) : (double) NAN;
        g_autofree char *bytes = isnan(held) ? NULL : ald_format_bytes(held);

        if (n == ALD_ABSENT_UINT64 || n == 0)
                return NULL;
        if (bytes)
                return g_strdup_printf(ngettext("%lu process holds %s", "%lu processes hold %s", n),
                        (unsigned long) n, bytes);
        return g_strdup_printf(row->held ? ngettext("%lu process", "%lu processes", n)
                                         : ngettext("%lu compute process", "%lu compute processes", n),
                (unsigned long) n);
}

/* Rows of records are sorted by their Id, which settles ties. */
static gint compare_holders(gconstpointer a, gconstpointer b)
{
        const AldHolder *x = *(const AldHolder *const *) a, *y = *(const AldHolder *const *) b;
        int order = ald_order_numbers(
                ald_uint64_to_double(y->memory_bytes), ald_uint64_to_double(x->memory_bytes), true);

        return order != 0 ? order : strcmp(x->id, y->id);
}

GPtrArray *ald_device_row_holders(const AldDeviceRow *row)
{
        const char *id = ald_node_device_id(&row->device);
        GPtrArray *holders = g_ptr_array_new();

        for (size_t i = 0; row->holders && i < row->holders->n; i++) {
                const AldHolder *holder = ald_rows_at(row->holders, i);

                if (g_strcmp0(holder->device, id) == 0)
                        g_ptr_array_add(holders, (void *) holder);
        }
        g_ptr_array_sort(holders, compare_holders);
        return holders;
}

static const AldDeviceRow *row_of(const void *row)
{
        return row;
}

static const AldBackend *backend_of(const void *row)
{
        static const AldBackend unknown = ALD_BACKEND_INIT;

        return row_of(row)->device.backend ?: &unknown;
}

/* Returns what the device reports now. A node that does not count has reported it long ago. */
static const AldDevice *live_of(const void *row)
{
        static const AldDevice unknown = ALD_DEVICE_INIT;
        const AldDeviceRow *device = row;

        return device->counts && device->device.system ? device->device.system : &unknown;
}

static const AldNodeFigures *figures_of(const void *row)
{
        return &row_of(row)->figures;
}

/* These columns identify the device and show its state. */

/* Returns the name, indented if it is a part of the device above it. */
static char *name_text(const void *row)
{
        g_autofree char *name = ald_node_device_name(&row_of(row)->device);

        return row_of(row)->is_part ? g_strconcat("  ", name, NULL) : g_steal_pointer(&name);
}

static char *name_plain(const void *row)
{
        return ald_node_device_name(&row_of(row)->device);
}

static char *node_text(const void *row)
{
        return row_of(row)->node ? ald_entity_label(row_of(row)->node) : NULL;
}

static char *node_id_text(const void *row)
{
        return row_of(row)->node ? g_strndup(row_of(row)->node->id, ALD_SHOWN_ID_LENGTH) : NULL;
}

static char *node_id_plain(const void *row)
{
        return row_of(row)->node ? g_strdup(row_of(row)->node->id) : NULL;
}

static char *id_text(const void *row)
{
        return ald_text_safe(ald_node_device_id(&row_of(row)->device));
}

static char *class_plain(const void *row)
{
        return ald_text_safe(ald_node_device_class(&row_of(row)->device));
}

static char *class_text(const void *row)
{
        const char *class = ald_node_device_class(&row_of(row)->device);

        if (ald_node_device_is_processor(&row_of(row)->device))
                return g_strdup(_("Processor"));
        if (g_strcmp0(class, ald_backend_class_to_string(ALD_BACKEND_CLASS_GPU)) == 0)
                return g_strdup(_("GPU"));
        return g_strcmp0(class, ald_backend_class_to_string(ALD_BACKEND_CLASS_ACCELERATOR)) == 0
                       ? g_strdup(_("Accelerator"))
                       : ald_text_safe(class);
}

static char *driver_text(const void *row)
{
        const AldBackend *backend = backend_of(row);
        GString *text = g_string_new(NULL);

        ald_parts_add_text(text, "%s", backend->driver);
        ald_parts_add_text(text, "%s", backend->driver_version);
        return g_string_free(text, text->len == 0);
}

static const char *state_word(const AldDeviceRow *row)
{
        if (row->exclusion || row->is_stale)
                return row->exclusion ?: ald_presence_state_to_string(ALD_PRESENCE_STATE_STALE);
        return ald_node_device_is_asleep(&row->device)
                       ? ald_device_power_state_to_string(ALD_DEVICE_POWER_STATE_ASLEEP)
                       : ald_presence_state_to_string(ALD_PRESENCE_STATE_ONLINE);
}

static char *state_plain(const void *row)
{
        return g_strdup(state_word(row));
}

static char *state_text(const void *row)
{
        return g_strdup(ald_word(state_word(row)));
}

/* Devices that work come first. */
static double state_number(const void *row)
{
        const AldDeviceRow *device = row;

        return device->exclusion ? 3 : device->is_stale ? 2 : ald_node_device_is_asleep(&device->device);
}

static AldTone state_tone(const void *row)
{
        static const AldTone tones[] = { ALD_TONE_GOOD, ALD_TONE_FAINT, ALD_TONE_WARNING, ALD_TONE_ERROR };

        return tones[(unsigned) state_number(row)];
}

/* These columns have its memory. */

static double total_memory_number(const void *row)
{
        return figures_of(row)->memory_total;
}

static double memory_number(const void *row)
{
        return figures_of(row)->memory_available;
}

static double used_memory_number(const void *row)
{
        return figures_of(row)->memory_total - figures_of(row)->memory_available;
}

/* Returns a part of its memory out of all of it. */
static char *format_memory(const AldDeviceRow *row, double part)
{
        return ald_node_device_is_unified(&row->device) && isnan(row->figures.memory_total)
                       ? g_strdup(_("shared"))
                       : ald_format_bytes_of(part, row->figures.memory_total);
}

static char *memory_text(const void *row)
{
        return format_memory(row, memory_number(row));
}

static char *used_memory_text(const void *row)
{
        return format_memory(row, used_memory_number(row));
}

static double free_number(const void *row)
{
        return row_of(row)->free_bytes;
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

/* These columns have what it does now. */

static double load_number(const void *row)
{
        return figures_of(row)->usage;
}

static char *load_text(const void *row)
{
        const AldDeviceRow *device = row;

        return ald_node_device_is_asleep(&device->device) && device->counts
                       ? g_strdup(_("asleep"))
                       : ald_format_percent(load_number(row));
}

static double temperature_number(const void *row)
{
        return figures_of(row)->millicelsius;
}

static double memory_temperature_number(const void *row)
{
        return ald_int64_to_double(live_of(row)->memory_temperature_milli_celsius);
}

static double power_number(const void *row)
{
        return figures_of(row)->microwatts;
}

static double power_limit_number(const void *row)
{
        return ald_uint64_to_double(live_of(row)->power_limit_micro_watts);
}

/* Returns "220/700 W"; the limit alone says nothing about what it draws. */
static char *power_text(const void *row)
{
        return isnan(power_number(row)) ? NULL
                                        : ald_format_figure_of(&ald_unit_microwatts, power_number(row),
                                                  power_limit_number(row));
}

static double clock_number(const void *row)
{
        return ald_uint64_to_double(live_of(row)->clock_hz);
}

static double memory_clock_number(const void *row)
{
        return ald_uint64_to_double(live_of(row)->memory_clock_hz);
}

static double fan_number(const void *row)
{
        return live_of(row)->fan_percent;
}

static double fan_rpm_number(const void *row)
{
        return ald_uint64_to_double(live_of(row)->fan_rpm);
}

static char *fan_text(const void *row)
{
        return isnan(fan_number(row))
                       ? ald_format_figure(&ald_unit_revolutions_per_minute, fan_rpm_number(row))
                       : ald_format_percent(fan_number(row));
}

static double encoder_number(const void *row)
{
        return live_of(row)->encoder_usage;
}

static double decoder_number(const void *row)
{
        return live_of(row)->decoder_usage;
}

/* The more reasons, the greater. */
static double throttled_number(const void *row)
{
        const AldDevice *live = live_of(row);
        const char *const *reasons = live->throttle_reasons;

        if (live->throttled == ALD_ABSENT_BOOLEAN)
                return NAN;
        return live->throttled == 0 ? 0 : reasons ? MAX(g_strv_length((char **) reasons), 1u) : 1;
}

static char *throttled_text(const void *row)
{
        const AldDevice *live = live_of(row);

        if (live->throttled != 1)
                return live->throttled == 0 ? g_strdup(_("no")) : NULL;
        return live->throttle_reasons && live->throttle_reasons[0] ? ald_words_list(live->throttle_reasons)
                                                                   : g_strdup(_("yes"));
}

static char *throttled_plain(const void *row)
{
        const AldDevice *live = live_of(row);

        if (live->throttled != 1)
                return live->throttled == 0 ? g_strdup("no") : NULL;
        return live->throttle_reasons && live->throttle_reasons[0] ? ald_format_list(live->throttle_reasons)
                                                                   : g_strdup("yes");
}

static AldTone throttled_tone(const void *row)
{
        return live_of(row)->throttled == 1 ? ALD_TONE_WARNING : ALD_TONE_PLAIN;
}

/* These columns say who holds it. */

static double holders_number(const void *row)
{
        return row_of(row)->held ? ald_uint64_to_double(row_of(row)->held->holders) : (double) NAN;
}

static double held_number(const void *row)
{
        return row_of(row)->held ? ald_uint64_to_double(row_of(row)->held->held_bytes) : (double) NAN;
}

static char *held_by_text(const void *row)
{
        g_autoptr(GPtrArray) holders = ald_device_row_holders(row);
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < MIN(holders->len, NAMED_HOLDERS); i++)
                ald_parts_add(text, "%s", ald_holder_name(holders->pdata[i]));
        if (holders->len > NAMED_HOLDERS)
                g_string_append_printf(text, ", +%u", holders->len - NAMED_HOLDERS);
        return g_string_free(text, text->len == 0);
}

/* These columns have what was measured. */

static char *tflops_text(const void *row)
{
        return ald_node_compute(figures_of(row));
}

static double tflops_number(const void *row)
{
        return figures_of(row)->tflops;
}

static double bandwidth_number(const void *row)
{
        return figures_of(row)->bandwidth;
}

static double measured_usec(const AldDeviceRow *row)
{
        return row->device.compute ? ald_uint64_to_double(row->device.compute->measured_usec) : (double) NAN;
}

static double age_number(const void *row)
{
        const AldDeviceRow *device = row;

        return device->node ? ald_node_now(device->node, device->now_usec) - measured_usec(device)
                            : (double) NAN;
}

static char *age_text(const void *row)
{
        const AldDeviceRow *device = row;

        return isnan(age_number(row))
                       ? NULL
                       : ald_format_age(measured_usec(device), ald_node_now(device->node, device->now_usec));
}

const AldListColumn ald_device_columns[ALD_DEVICE_N_COLUMNS] = {
        [ALD_DEVICE_COLUMN_NAME] = { .id = "name",
                .key = "Name",
                .heading = "NAME",
                .title = N_("Name"),
                .description = N_("The name of the device, or its id"),
                .flexible = true,
                .least = 14,
                .wanted = 24,
                .text = name_text,
                .plain = name_plain,
                .below = &ald_holder_columns[ALD_HOLDER_COLUMN_NAME] },
        [ALD_DEVICE_COLUMN_NODE] = { .id = "node",
                .key = "Node",
                .heading = "NODE",
                .title = N_("Node"),
                .description = N_("The name of its node"),
                .flexible = true,
                .least = 10,
                .priority = 1,
                .text = node_text },
        [ALD_DEVICE_COLUMN_STATE] = { .id = "state",
                .key = "State",
                .heading = "STATE",
                .title = N_("State"),
                .description = N_("Whether the device is asleep, or its node stale or offline"),
                .least = 7,
                .priority = 4,
                .text = state_text,
                .plain = state_plain,
                .number = state_number,
                .tone = state_tone },
        [ALD_DEVICE_COLUMN_USED_MEMORY] = { .id = "used-memory",
                .key = "MemoryUsedBytes",
                .heading = "MEMORY",
                .title = N_("Memory"),
                .description = N_(
                        "The memory of the device in use, and all of it; of processors, that of the machine"),
                .is_number = true,
                .least = 13,
                .priority = 2,
                .text = used_memory_text,
                .number = used_memory_number,
                .below = &ald_holder_columns[ALD_HOLDER_COLUMN_MEMORY] },
        [ALD_DEVICE_COLUMN_FREE] = { .id = "free",
                .key = "FreeBytes",
                .heading = "FREE",
                .title = N_("Free"),
                .description = N_(
                        "The memory that programs can still have on it, with that of the host; of a "
                        "split card, on one instance"),
                .is_number = true,
                .least = 8,
                .priority = 1,
                .number = free_number },
        [ALD_DEVICE_COLUMN_LOAD] = { .id = "load",
                .key = "Usage",
                .heading = "LOAD",
                .title = N_("Load"),
                .description = N_("The load, in percent"),
                .is_number = true,
                .least = 6,
                .priority = 1,
                .text = load_text,
                .number = load_number,
                .below = &ald_holder_columns[ALD_HOLDER_COLUMN_LOAD] },
        [ALD_DEVICE_COLUMN_TEMPERATURE] = { .id = "temperature",
                .key = "TemperatureMilliCelsius",
                .heading = "TEMP",
                .title = N_("Temperature"),
                .description = N_("The temperature"),
                .is_number = true,
                .least = 5,
                .priority = 3,
                .number = temperature_number },
        [ALD_DEVICE_COLUMN_POWER] = { .id = "power",
                .key = "PowerMicroWatts",
                .heading = "POWER",
                .title = N_("Power"),
                .description = N_(
                        "The power that it draws, and the limit; of processors, that of all of them"),
                .is_number = true,
                .least = 9,
                .priority = 3,
                .text = power_text,
                .number = power_number },
        [ALD_DEVICE_COLUMN_HOLDERS] = { .id = "holders",
                .key = "Holders",
                .heading = "HOLDERS",
                .title = N_("Holders"),
                .description = N_("The number of processes that hold the device"),
                .is_number = true,
                .least = 7,
                .priority = 2,
                .format = ald_format_count,
                .number = holders_number,
                .below = &ald_holder_columns[ALD_HOLDER_COLUMN_PROCESSES] },
        [ALD_DEVICE_COLUMN_HELD_BY] = { .id = "held-by",
                .key = "HeldBy",
                .heading = "HELD BY",
                .title = N_("Held by"),
                .description = N_("The programs, units or containers that hold the device, as far as the "
                                  "node shares them"),
                .flexible = true,
                .least = 12,
                .priority = 6,
                .text = held_by_text },
        [ALD_DEVICE_COLUMN_THROTTLED] = { .id = "throttled",
                .key = "Throttled",
                .heading = "THROTTLED",
                .title = N_("Throttled"),
                .description = N_("Whether its clocks are held down now, and why"),
                .flexible = true,
                .least = 9,
                .priority = 6,
                .text = throttled_text,
                .plain = throttled_plain,
                .number = throttled_number,
                .tone = throttled_tone },
        [ALD_DEVICE_COLUMN_TFLOPS] = { .id = "tflops",
                .key = "TflopsFp16",
                .heading = "FP16",
                .title = N_("FP16 Compute"),
                .description = N_("The measured rate of FP16 matrix products, or of FP32, so marked"),
                .is_number = true,
                .least = 11,
                .priority = 4,
                .text = tflops_text,
                .number = tflops_number },
        [ALD_DEVICE_COLUMN_BANDWIDTH] = { .id = "bandwidth",
                .key = "MemoryBandwidthBytesPerSecond",
                .heading = "BANDWIDTH",
                .title = N_("Memory Bandwidth"),
                .description = N_("The measured bandwidth of its memory"),
                .is_number = true,
                .least = 9,
                .priority = 5,
                .number = bandwidth_number },
        [ALD_DEVICE_COLUMN_AGE] = { .id = "age",
                .key = "AgeUSec",
                .heading = "AGE",
                .title = N_("Age"),
                .description = N_("How long ago it was measured"),
                .is_number = true,
                .least = 8,
                .priority = 5,
                .text = age_text,
                .number = age_number },
        [ALD_DEVICE_COLUMN_CLOCK] = { .id = "clock",
                .key = "ClockHz",
                .heading = "CLOCK",
                .title = N_("Clock"),
                .description = N_("The clock of its compute units"),
                .is_number = true,
                .least = 8,
                .priority = 8,
                .number = clock_number },
        [ALD_DEVICE_COLUMN_MEMORY_CLOCK] = { .id = "memory-clock",
                .key = "MemoryClockHz",
                .heading = "MEM CLOCK",
                .title = N_("Memory Clock"),
                .description = N_("The clock of its memory"),
                .is_number = true,
                .least = 9,
                .priority = 9,
                .number = memory_clock_number },
        [ALD_DEVICE_COLUMN_FAN] = { .id = "fan",
                .key = "FanPercent",
                .heading = "FAN",
                .title = N_("Fan"),
                .description = N_("The speed of its fan"),
                .is_number = true,
                .least = 5,
                .priority = 8,
                .text = fan_text,
                .number = fan_number },
        [ALD_DEVICE_COLUMN_DRIVER] = { .id = "driver",
                .key = "Driver",
                .heading = "DRIVER",
                .title = N_("Driver"),
                .description = N_("Its driver, and the version"),
                .flexible = true,
                .least = 10,
                .priority = 9,
                .text = driver_text },
        [ALD_DEVICE_COLUMN_CLASS] = { .id = "class",
                .key = "Class",
                .heading = "CLASS",
                .title = N_("Class"),
                .description = N_("What it is: a GPU, an accelerator or processors"),
                .flexible = true,
                .least = 5,
                .wanted = 11,
                .priority = 9,
                .text = class_text,
                .plain = class_plain },
        [ALD_DEVICE_COLUMN_MEMORY] = { .id = "memory",
                .key = "MemoryAvailableBytes",
                .heading = "FREE MEMORY",
                .title = N_("Memory free"),
                .description = N_("The memory of the device that is free, and all of it"),
                .is_number = true,
                .least = 13,
                .priority = 9,
                .text = memory_text,
                .number = memory_number },
        [ALD_DEVICE_COLUMN_TOTAL_MEMORY] = { .id = "total-memory",
                .key = "MemoryTotalBytes",
                .heading = "TOTAL",
                .title = N_("Total Memory"),
                .description = N_("All memory of the device"),
                .is_number = true,
                .least = 8,
                .priority = 9,
                .number = total_memory_number },
        [ALD_DEVICE_COLUMN_USED] = { .id = "used",
                .key = "MemoryUsedPercent",
                .heading = "USED",
                .title = N_("Memory in use"),
                .description = N_("How much of the memory is in use, with a warning once it is nearly full"),
                .is_number = true,
                .least = BAR_WIDTH,
                .priority = 8,
                .number = used_number,
                .share = used_share,
                .tone = used_tone },
        [ALD_DEVICE_COLUMN_HELD] = { .id = "held",
                .key = "HeldBytes",
                .heading = "HELD",
                .title = N_("Memory held"),
                .description = N_("The memory of the device that the processes hold"),
                .is_number = true,
                .least = 8,
                .priority = 9,
                .number = held_number },
        [ALD_DEVICE_COLUMN_POWER_LIMIT] = { .id = "power-limit",
                .key = "PowerLimitMicroWatts",
                .heading = "LIMIT",
                .title = N_("Power Limit"),
                .description = N_("The power above which it lowers its clocks"),
                .is_number = true,
                .least = 6,
                .priority = 9,
                .number = power_limit_number },
        [ALD_DEVICE_COLUMN_MEMORY_TEMPERATURE] = { .id = "memory-temperature",
                .key = "MemoryTemperatureMilliCelsius",
                .heading = "MEM TEMP",
                .title = N_("Memory Temperature"),
                .description = N_("The temperature of its memory"),
                .is_number = true,
                .least = 8,
                .priority = 9,
                .number = memory_temperature_number },
        [ALD_DEVICE_COLUMN_FAN_RPM] = { .id = "fan-rpm",
                .key = "FanRpm",
                .heading = "FAN RPM",
                .title = N_("Fan Speed"),
                .description = N_("The revolutions of its fan per minute"),
                .is_number = true,
                .least = 8,
                .priority = 9,
                .number = fan_rpm_number },
        [ALD_DEVICE_COLUMN_ENCODER] = { .id = "encoder",
                .key = "EncoderUsage",
                .heading = "ENCODER",
                .title = N_("Video Encoder"),
                .description = N_("The load of its video encoder, in percent"),
                .is_number = true,
                .least = 7,
                .priority = 9,
                .number = encoder_number },
        [ALD_DEVICE_COLUMN_DECODER] = { .id = "decoder",
                .key = "DecoderUsage",
                .heading = "DECODER",
                .title = N_("Video Decoder"),
                .description = N_("The load of its video decoder, in percent"),
                .is_number = true,
                .least = 7,
                .priority = 9,
                .number = decoder_number },
        [ALD_DEVICE_COLUMN_ID] = { .id = "id",
                .key = "Id",
                .heading = "ID",
                .title = N_("ID"),
                .description = N_("The id of the device in its node"),
                .flexible = true,
                .least = 12,
                .priority = 9,
                .text = id_text },
        [ALD_DEVICE_COLUMN_NODE_ID] = { .id = "node-id",
                .key = "NodeId",
                .heading = "NODE ID",
                .title = N_("Node ID"),
                .description = N_("The first digits of the id of its node; in JSON and CSV, all of it"),
                .least = ALD_SHOWN_ID_LENGTH,
                .priority = 9,
                .text = node_id_text,
                .plain = node_id_plain },
};

const AldColumnList ald_device_column_list = {
        .name = "devices", .columns = ald_device_columns, .n_columns = ALD_DEVICE_N_COLUMNS
};
