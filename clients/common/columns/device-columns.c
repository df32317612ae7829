/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/columns/device-columns.h"
#include "clients/common/format.h"
#include "record/translate.h"

AldDeviceRow ald_device_row(const AldNodeDevice *device, bool counts)
{
        AldDeviceRow row = { device, counts, ald_node_device_figures(device) };

        if (!counts)
                ald_node_figures_forget_samples(&row.figures);
        return row;
}

static char *name_text(const void *row)
{
        const AldDeviceRow *device = row;

        return ald_node_device_name(device->device);
}

static char *memory_text(const void *row)
{
        const AldDeviceRow *device = row;

        return ald_node_device_is_unified(device->device) && isnan(device->figures.memory_total)
                       ? g_strdup(_("shared"))
                       : ald_format_bytes_of(device->figures.memory_available, device->figures.memory_total);
}

static double memory_number(const void *row)
{
        const AldDeviceRow *device = row;

        return device->figures.memory_available;
}

static char *load_text(const void *row)
{
        const AldDeviceRow *device = row;

        return ald_node_device_is_asleep(device->device) && device->counts
                       ? g_strdup(_("asleep"))
                       : ald_format_percent(device->figures.usage);
}

static double load_number(const void *row)
{
        const AldDeviceRow *device = row;

        return device->figures.usage;
}

static char *tflops_text(const void *row)
{
        const AldDeviceRow *device = row;

        return ald_node_compute(&device->figures);
}

static double tflops_number(const void *row)
{
        const AldDeviceRow *device = row;

        return device->figures.tflops;
}

static double bandwidth_number(const void *row)
{
        const AldDeviceRow *device = row;

        return device->figures.bandwidth;
}

static double temperature_number(const void *row)
{
        const AldDeviceRow *device = row;

        return device->figures.millicelsius;
}

static double power_number(const void *row)
{
        const AldDeviceRow *device = row;

        return device->figures.microwatts;
}

static double used_share(const void *row)
{
        const AldDeviceRow *device = row;

        return ald_node_figures_used(&device->figures);
}

static double used_number(const void *row)
{
        return used_share(row) * 100;
}

static AldTone used_tone(const void *row)
{
        return ald_share_tone(used_share(row));
}

const AldListColumn ald_device_columns[ALD_DEVICE_N_COLUMNS] = {
        [ALD_DEVICE_COLUMN_NAME] = { .id = "name",
                .key = "Name",
                .heading = "NAME",
                .title = N_("Name"),
                .text = name_text },
        [ALD_DEVICE_COLUMN_MEMORY] = { .id = "memory",
                .key = "MemoryAvailableBytes",
                .heading = "FREE MEMORY",
                .title = N_("Memory free"),
                .is_number = true,
                .text = memory_text,
                .number = memory_number },
        [ALD_DEVICE_COLUMN_LOAD] = { .id = "load",
                .key = "Usage",
                .heading = "LOAD",
                .title = N_("Load"),
                .is_number = true,
                .text = load_text,
                .number = load_number },
        [ALD_DEVICE_COLUMN_TFLOPS] = { .id = "tflops",
                .key = "TflopsFp16",
                .heading = "FP16",
                .title = N_("FP16 Compute"),
                .is_number = true,
                .text = tflops_text,
                .number = tflops_number },
        [ALD_DEVICE_COLUMN_BANDWIDTH] = { .id = "bandwidth",
                .key = "MemoryBandwidthBytesPerSecond",
                .heading = "BANDWIDTH",
                .title = N_("Memory Bandwidth"),
                .is_number = true,
                .number = bandwidth_number },
        [ALD_DEVICE_COLUMN_TEMPERATURE] = { .id = "temperature",
                .key = "TemperatureMilliCelsius",
                .heading = "TEMP",
                .title = N_("Temperature"),
                .is_number = true,
                .number = temperature_number },
        [ALD_DEVICE_COLUMN_POWER] = { .id = "power",
                .key = "PowerMicroWatts",
                .heading = "POWER",
                .title = N_("Power"),
                .is_number = true,
                .number = power_number },
        [ALD_DEVICE_COLUMN_USED] = { .id = "used",
                .key = "MemoryUsedPercent",
                .heading = "USED",
                .title = N_("Memory in use"),
                .is_number = true,
                .number = used_number,
                .share = used_share,
                .tone = used_tone },
};
