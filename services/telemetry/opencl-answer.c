/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "services/telemetry/child-json.h"
#include "services/telemetry/gpu-figures.h"
#include "services/telemetry/gpu-pci.h"
#include "services/telemetry/opencl-answer.h"

static void device_free(void *pointer)
{
        AldOpenclDevice *device = pointer;

        g_free(device->platform);
        g_free(device->platform_vendor);
        g_free(device->name);
        g_free(device->vendor);
        g_free(device->driver_version);
        g_free(device->pci);
        g_free(device);
}

static AldBackendClass parse_class(const json_t *row)
{
        g_autofree char *type = ald_child_json_string(row, "type");

        if (g_strcmp0(type, "gpu") == 0)
                return ALD_BACKEND_CLASS_GPU;
        return g_strcmp0(type, "cpu") == 0 ? ALD_BACKEND_CLASS_CPU : ALD_BACKEND_CLASS_ACCELERATOR;
}

static char *parse_address(const json_t *row)
{
        g_autofree char *pci = ald_child_json_string(row, "pci");

        return pci && ald_gpu_is_pci_address(pci) ? g_steal_pointer(&pci) : NULL;
}

static AldOpenclDevice *parse_device(const json_t *row, const char *platform, const char *platform_vendor)
{
        AldOpenclDevice *device = g_new0(AldOpenclDevice, 1);

        device->platform = g_strdup(platform);
        device->platform_vendor = g_strdup(platform_vendor);
        device->name = ald_child_json_string(row, "board") ?: ald_child_json_string(row, "name");
        device->vendor = ald_child_json_string(row, "vendor");
        device->driver_version = ald_child_json_string(row, "driver_version");
        device->pci = parse_address(row);
        device->vendor_id = ald_child_json_uint64(row, "vendor_id");
        device->memory_total_bytes = ald_child_json_uint64(row, "memory_total_bytes");
        if (device->memory_total_bytes == 0 || device->memory_total_bytes > ALD_GPU_MEMORY_MAX)
                device->memory_total_bytes = ALD_ABSENT_UINT64;
        device->unified = ald_child_json_boolean(row, "unified");
        device->class = parse_class(row);
        return device;
}

static void parse_platform(const json_t *row, GPtrArray *devices)
{
        g_autofree char *name = ald_child_json_string(row, "name"),
                        *vendor = ald_child_json_string(row, "vendor");
        const json_t *device;
        size_t i;

        if (!name)
                return;
        json_array_foreach(json_object_get(row, "devices"), i, device) {
                if (i >= ALD_OPENCL_DEVICES_MAX)
                        break;
                if (json_is_object(device))
                        g_ptr_array_add(devices, parse_device(device, name, vendor));
        }
}

int ald_opencl_answer_parse(const char *text, size_t length, GPtrArray **ret)
{
        json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
        const json_t *platforms = json_object_get(root, "platforms"), *platform;
        GPtrArray *devices;
        size_t i;

        if (!json_is_array(platforms)) {
                json_decref(root);
                return -EBADMSG;
        }
        devices = g_ptr_array_new_with_free_func(device_free);
        json_array_foreach(platforms, i, platform) {
                if (i >= ALD_OPENCL_PLATFORMS_MAX)
                        break;
                parse_platform(platform, devices);
        }
        json_decref(root);
        *ret = devices;
        return 0;
}
