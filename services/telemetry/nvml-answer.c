/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <jansson.h>

#include "services/telemetry/child-json.h"
#include "services/telemetry/gpu-figures.h"
#include "services/telemetry/nvml-answer.h"
#include "services/telemetry/nvml-api.h"

static void device_free(void *pointer)
{
        AldNvmlDevice *device = pointer;

        g_free(device->id);
        g_free(device->error);
        g_free(device->name);
        g_clear_pointer(&device->instances, g_ptr_array_unref);
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

static const AldNvmlDevice *find(const GPtrArray *devices, const char *id)
{
        for (guint i = 0; i < devices->len; i++) {
                const AldNvmlDevice *device = devices->pdata[i];

                if (g_str_equal(device->id, id))
                        return device;
        }
        return NULL;
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
        figures->compute_processes = ald_child_json_uint64(row, "compute_processes");
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

static AldNvmlDevice *parse_instance(const json_t *row, const char *card)
{
        json_int_t gpu_instance, compute_instance;
        AldNvmlDevice *device;

        if (!ald_child_json_integer(row, "gpu_instance", &gpu_instance) ||
                !ald_child_json_integer(row, "compute_instance", &compute_instance) || gpu_instance < 0 ||
                gpu_instance > UINT16_MAX || compute_instance < 0 || compute_instance > UINT16_MAX)
                return NULL;
        device = parse_device(row);
        g_free(device->id);
        device->id = g_strdup_printf("%s/%u-%u", card, (unsigned) gpu_instance, (unsigned) compute_instance);
        check_device(device);
        return device;
}

/* Without the right to see the processes of a whole card in MIG mode NVML still shows those of each instance.
 */
static void sum_processes(AldNvmlDevice *device)
{
        uint64_t sum = 0;

        for (guint i = 0; i < device->instances->len; i++) {
                const AldNvmlDevice *instance = device->instances->pdata[i];

                if (instance->figures.compute_processes == ALD_ABSENT_UINT64)
                        return;
                sum += instance->figures.compute_processes;
        }
        device->figures.compute_processes = sum;
}

static void parse_instances(const json_t *row, AldNvmlDevice *device)
{
        const json_t *rows = json_object_get(row, "instances"), *one;
        size_t i;

        if (!json_is_array(rows))
                return;
        device->instances = g_ptr_array_new_with_free_func(device_free);
        json_array_foreach(rows, i, one) {
                AldNvmlDevice *instance = i < ALD_NVML_INSTANCES_MAX ? parse_instance(one, device->id) : NULL;

                if (instance && !find(device->instances, instance->id))
                        g_ptr_array_add(device->instances, instance);
                else if (instance)
                        device_free(instance);
        }
        if (device->figures.compute_processes == ALD_ABSENT_UINT64)
                sum_processes(device);
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
                if (!device->id) {
                        device_free(device);
                        continue;
                }
                parse_instances(row, device);
                g_ptr_array_add(devices, device);
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
        return find(answer->devices, id);
}

const AldNvmlDevice *ald_nvml_device_find(const AldNvmlDevice *card, const char *id)
{
        return card->instances ? find(card->instances, id) : NULL;
}
