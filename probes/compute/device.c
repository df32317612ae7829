/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/device-address.h"
#include "probes/compute/device.h"
#include "probes/compute/query.h"

#define QUERY_NV_CAPABILITY_MAJOR 0x4000
#define QUERY_NV_CAPABILITY_MINOR 0x4001
#define QUERY_AMD_BOARD_NAME 0x4038
#define PCI_AMD 0x1002u
#define PCI_INTEL 0x8086u
#define PCI_NVIDIA 0x10deu

const char *ald_device_type_to_string(AldDeviceType type)
{
        static const char *const names[] = {
                [ALD_DEVICE_GPU] = "gpu",
                [ALD_DEVICE_ACCELERATOR] = "accelerator",
                [ALD_DEVICE_CPU] = "cpu",
        };

        return names[type];
}

/* As in "NVIDIA A100-SXM4-40GB MIG 1g.5gb". */
bool ald_device_is_instance(const AldDevice *device)
{
        return device->name && strstr(device->name, " MIG ");
}

bool ald_device_has(const AldDevice *device, const char *extension)
{
        g_autofree char *word = g_strdup_printf(" %s ", extension);

        return strstr(device->extensions, word) != NULL;
}

static bool contains(const char *text, const char *part)
{
        g_autofree char *lower = g_ascii_strdown(text, -1);

        return strstr(lower, part) != NULL;
}

static AldVendor find_vendor(const AldDevice *device)
{
        const char *name = device->vendor_name;

        if (device->type == ALD_DEVICE_CPU)
                return ALD_VENDOR_CPU;
        if (device->vendor_id == PCI_NVIDIA || contains(name, "nvidia"))
                return ALD_VENDOR_NVIDIA;
        if (device->vendor_id == PCI_AMD || contains(name, "advanced micro devices") || contains(name, "amd"))
                return ALD_VENDOR_AMD;
        if (device->vendor_id == PCI_INTEL || contains(name, "intel"))
                return ALD_VENDOR_INTEL;
        return ALD_VENDOR_OTHER;
}

/* The platform of the vendor knows its device best. */
static unsigned find_rank(const char *platform)
{
        if (contains(platform, "clover"))
                return 0;
        if (contains(platform, "rusticl") || contains(platform, "portable computing") ||
                contains(platform, "pocl"))
                return 1;
        return 2;
}

static AldDeviceType find_type(cl_device_type type)
{
        if (type & CL_DEVICE_TYPE_GPU)
                return ALD_DEVICE_GPU;
        return type & CL_DEVICE_TYPE_CPU ? ALD_DEVICE_CPU : ALD_DEVICE_ACCELERATOR;
}

static void read_texts(AldDevice *device, const AldCl *cl, cl_platform_id platform, cl_device_id id)
{
        g_autofree char *extensions = ald_query_text(cl, id, CL_DEVICE_EXTENSIONS);

        device->extensions = g_strdup_printf(" %s ", extensions);
        device->name = ald_query_text(cl, id, CL_DEVICE_NAME);
        device->gfx = g_strdup(g_str_has_prefix(device->name, "gfx") ? device->name : "");
        device->vendor_name = ald_query_text(cl, id, CL_DEVICE_VENDOR);
        device->driver_version = ald_query_text(cl, id, CL_DRIVER_VERSION);
        device->device_version = ald_query_text(cl, id, CL_DEVICE_VERSION);
        device->platform_name = ald_query_platform_text(cl, platform, CL_PLATFORM_NAME);
        if (ald_device_has(device, "cl_amd_device_attribute_query")) {
                g_autofree char *board = ald_query_text(cl, id, QUERY_AMD_BOARD_NAME);

                if (*board) {
                        g_free(device->name);
                        device->name = g_steal_pointer(&board);
                }
        }
}

static void read_numbers(AldDevice *device, const AldCl *cl, cl_device_id id)
{
        cl_device_type type = 0;
        cl_bool unified = CL_FALSE;
        size_t group = 0;

        (void) ald_query(cl, id, CL_DEVICE_TYPE, &type, sizeof type);
        device->type = find_type(type);
        device->vendor_id = ald_query_uint(cl, id, CL_DEVICE_VENDOR_ID);
        device->compute_units = ald_query_uint(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS);
        device->clock_mhz = ald_query_uint(cl, id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
        device->float_width = ald_query_uint(cl, id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
        device->memory_bytes = ald_query_ulong(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
        device->allocation_max = ald_query_ulong(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
        device->local_bytes = ald_query_ulong(cl, id, CL_DEVICE_LOCAL_MEM_SIZE);
        device->cache_bytes = ald_query_ulong(cl, id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
        if (ald_query(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE, &group, sizeof group))
                device->work_group_max = group;
        if (ald_query(cl, id, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof unified))
                device->unified = unified;
}

AldDevice *ald_device_new(const AldCl *cl, cl_platform_id platform, cl_device_id id)
{
        AldDevice *device = g_new0(AldDevice, 1);

        device->platform = platform;
        device->handle = id;
        read_texts(device, cl, platform, id);
        read_numbers(device, cl, id);
        device->has_fp16 = ald_device_has(device, "cl_khr_fp16");
        device->platform_rank = find_rank(device->platform_name);
        device->vendor = find_vendor(device);
        if (ald_device_has(device, "cl_nv_device_attribute_query")) {
                device->nv_major = ald_query_uint(cl, id, QUERY_NV_CAPABILITY_MAJOR);
                device->nv_minor = ald_query_uint(cl, id, QUERY_NV_CAPABILITY_MINOR);
        }
        device->pci = ald_device_address(cl, id, device);
        device->uuid = ald_device_uuid(cl, id, device);
        return device;
}

void ald_device_free(AldDevice *device)
{
        if (!device)
                return;
        g_free(device->id);
        g_free(device->name);
        g_free(device->vendor_name);
        g_free(device->platform_name);
        g_free(device->driver_version);
        g_free(device->device_version);
        g_free(device->pci);
        g_free(device->uuid);
        g_free(device->extensions);
        g_free(device->gfx);
        g_free(device->drivers);
        g_free(device);
}
