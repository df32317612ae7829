/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <jansson.h>

#include "services/telemetry/child-json.h"
#include "services/telemetry/gpu-figures.h"
#include "services/telemetry/nvml-answer.h"

static void device_free(void *pointer)
{
        AldNvmlDevice *device = pointer;

        g_free(device->id);
        g_free(device->error);
        g_free(device->name);
        g_free(device);
}

void ald_nvml_answer_free(AldNvmlAnswer *answer)
{
        if (!answer)
                return;
        g_free(answer->error);
        g_free(answer->driver_version);
        g_clear_pointer(&answer->devices, g_ptr_array_unref);
        g_free(answer);
}

static AldNvmlDevice *parse_device(const json_t *row)
{
        AldNvmlDevice *device = g_new0(AldNvmlDevice, 1);
        AldDevice *figures = &device->figures;
        json_int_t usage, temperature;

        *figures = (AldDevice) ALD_DEVICE_INIT;
        device->id = ald_child_json_string(row, "id");
        device->error = ald_child_json_string(row, "error");
        device->name = ald_child_json_string(row, "name");
        device->memory_total_bytes = ald_child_json_uint64(row, "memory_total_bytes");
        device->unified = ald_child_json_boolean(row, "unified");
        if (ald_child_json_integer(row, "usage", &usage))
                figures->usage = (double) usage;
        figures->memory_used_bytes = ald_child_json_uint64(row, "memory_used_bytes");
        if (ald_child_json_integer(row, "temperature_milli_celsius", &temperature))
                figures->temperature_milli_celsius = temperature;
        figures->power_micro_watts = ald_child_json_uint64(row, "power_micro_watts");
        figures->clock_hz = ald_child_json_uint64(row, "clock_hz");
        return device;
}

/* A total of 0, or more in use than there is: none of it can be believed. */
static void check_device(AldNvmlDevice *device)
{
        AldDevice *figures = &device->figures;

        ald_gpu_figures_check(figures);
        if (device->memory_total_bytes == 0 || device->memory_total_bytes > ALD_GPU_MEMORY_MAX)
                device->memory_total_bytes = ALD_ABSENT_UINT64;
        if (figures->memory_used_bytes != ALD_ABSENT_UINT64 &&
                (device->memory_total_bytes == ALD_ABSENT_UINT64 ||
                        figures->memory_used_bytes > device->memory_total_bytes))
                figures->memory_used_bytes = ALD_ABSENT_UINT64;
}

static void parse_devices(const json_t *rows, GPtrArray *devices)
{
        json_t *row;
        size_t i;

        json_array_foreach(rows, i, row) {
                AldNvmlDevice *device;

                if (i >= ALD_NVML_DEVICES_MAX)
                        break;
                device = parse_device(row);
                check_device(device);
                if (device->id)
                        g_ptr_array_add(devices, device);
                else
                        device_free(device);
        }
}

int ald_nvml_answer_parse(const char *text, size_t length, AldNvmlAnswer **ret)
{
        json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
        const json_t *rows = json_object_get(root, "devices");
        g_autoptr(AldNvmlAnswer) answer = g_new0(AldNvmlAnswer, 1);

        answer->devices = g_ptr_array_new_with_free_func(device_free);
        answer->error = ald_child_json_string(root, "error");
        answer->driver_version = ald_child_json_string(root, "driver_version");
        parse_devices(rows, answer->devices);
        if (!answer->error && !json_is_array(rows)) {
                json_decref(root);
                return -EBADMSG;
        }
        json_decref(root);
        *ret = g_steal_pointer(&answer);
        return 0;
}

const AldNvmlDevice *ald_nvml_answer_find(const AldNvmlAnswer *answer, const char *id)
{
        for (guint i = 0; i < answer->devices->len; i++) {
                const AldNvmlDevice *device = answer->devices->pdata[i];

                if (g_str_equal(device->id, id))
                        return device;
        }
        return NULL;
}
