/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/opencl/device.h"
#include "probes/compute/opencl/opencl-query.h"

/* Queries of extensions, by the numbers of their specifications. */
#define QUERY_KHR_PCI_BUS_INFO 0x410f
#define QUERY_KHR_UUID 0x106a
#define QUERY_NV_PCI_BUS 0x4008
#define QUERY_NV_PCI_SLOT 0x4009
#define QUERY_NV_PCI_DOMAIN 0x400a
#define QUERY_NV_CAPABILITY_MAJOR 0x4000
#define QUERY_NV_CAPABILITY_MINOR 0x4001
#define QUERY_AMD_TOPOLOGY 0x4037
#define QUERY_AMD_BOARD_NAME 0x4038

#define AMD_TOPOLOGY_PCIE 1u
#define UUID_SIZE 16u

/* PCI ids of vendors. */
#define PCI_AMD 0x1002u
#define PCI_INTEL 0x8086u
#define PCI_NVIDIA 0x10deu

typedef struct PciAddress {
        cl_uint domain, bus, device, function;
} PciAddress;

typedef struct AmdTopology {
        cl_uint type;
        char unused[17];
        unsigned char bus, device, function;
} AmdTopology;

static bool read_khr_address(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device, PciAddress *ret)
{
        return ald_opencl_target_has_extension(device, "cl_khr_pci_bus_info") &&
               ald_query(cl, id, QUERY_KHR_PCI_BUS_INFO, ret, sizeof *ret);
}

static bool read_nv_address(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device, PciAddress *ret)
{
        cl_uint bus, slot;

        if (!ald_opencl_target_has_extension(device, "cl_nv_device_attribute_query") ||
                !ald_query(cl, id, QUERY_NV_PCI_BUS, &bus, sizeof bus) ||
                !ald_query(cl, id, QUERY_NV_PCI_SLOT, &slot, sizeof slot))
                return false;
        *ret = (PciAddress){ ald_query_uint(cl, id, QUERY_NV_PCI_DOMAIN), bus, slot >> 3, slot & 7 };
        return true;
}

static bool read_amd_address(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device, PciAddress *ret)
{
        AmdTopology topology;

        if (!ald_opencl_target_has_extension(device, "cl_amd_device_attribute_query") ||
                !ald_query(cl, id, QUERY_AMD_TOPOLOGY, &topology, sizeof topology) ||
                topology.type != AMD_TOPOLOGY_PCIE)
                return false;
        *ret = (PciAddress){ 0, topology.bus, topology.device, topology.function };
        return true;
}

/* Returns the PCI address of the device, such as "0000:01:00.0"; NULL if unknown. */
static char *read_address(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device)
{
        PciAddress pci;

        if (!read_khr_address(cl, id, device, &pci) && !read_nv_address(cl, id, device, &pci) &&
                !read_amd_address(cl, id, device, &pci))
                return NULL;
        return g_strdup_printf("%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.device, pci.function);
}

static char *read_uuid(const AldCl *cl, cl_device_id id, const AldOpenclTarget *device)
{
        unsigned char uuid[UUID_SIZE];
        GString *text;

        if (!ald_opencl_target_has_extension(device, "cl_khr_device_uuid") ||
                !ald_query(cl, id, QUERY_KHR_UUID, uuid, sizeof uuid))
                return NULL;
        text = g_string_new(NULL);
        for (size_t i = 0; i < UUID_SIZE; i++)
                g_string_append_printf(
                        text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
        return g_string_free(text, FALSE);
}

bool ald_opencl_target_is_address(const char *text)
{
        static const char form[] = "hhhh:hh:hh.h";
        size_t length = strlen(text), domain = length >= strlen(form) ? length - strlen(form) : 0;

        /* The domains of some machines have more digits. */
        if (length < strlen(form) || domain > 4)
                return false;
        for (size_t i = 0; i < length; i++) {
                char wanted = i < domain ? 'h' : form[i - domain];

                if (wanted == 'h' ? !g_ascii_isxdigit(text[i]) || g_ascii_isupper(text[i])
                                  : text[i] != wanted)
                        return false;
        }
        return true;
}

const char *ald_opencl_target_take(AldOpenclTarget *device, char *text)
{
        if (text)
                g_ptr_array_add(device->texts, text);
        return text;
}

/* The name is like "NVIDIA A100-SXM4-40GB MIG 1g.5gb". */
bool ald_opencl_target_is_instance(const AldOpenclTarget *device)
{
        return device->listed.name && strstr(device->listed.name, " MIG ");
}

bool ald_opencl_target_has_extension(const AldOpenclTarget *device, const char *extension)
{
        g_autofree char *word = g_strdup_printf(" %s ", extension);

        return strstr(device->extensions, word) != NULL;
}

static bool contains_ignoring_case(const char *text, const char *part)
{
        g_autofree char *lower = g_ascii_strdown(text, -1);

        return strstr(lower, part) != NULL;
}

static AldVendor find_vendor(const AldOpenclTarget *device)
{
        const char *name = device->listed.vendor;

        if (device->type == ALD_LISTED_DEVICE_TYPE_CPU)
                return ALD_VENDOR_CPU;
        if (device->listed.vendor_id == PCI_NVIDIA || contains_ignoring_case(name, "nvidia"))
                return ALD_VENDOR_NVIDIA;
        if (device->listed.vendor_id == PCI_AMD || contains_ignoring_case(name, "advanced micro devices") ||
                contains_ignoring_case(name, "amd"))
                return ALD_VENDOR_AMD;
        if (device->listed.vendor_id == PCI_INTEL || contains_ignoring_case(name, "intel"))
                return ALD_VENDOR_INTEL;
        return ALD_VENDOR_OTHER;
}

/* Ranks a platform: 2 for a vendor's own, which reports its devices most completely; 1 for PoCL and rusticl;
 * 0 for Clover. */
static unsigned rank_platform(const char *platform)
{
        if (contains_ignoring_case(platform, "clover"))
                return 0;
        if (contains_ignoring_case(platform, "rusticl") ||
                contains_ignoring_case(platform, "portable computing") ||
                contains_ignoring_case(platform, "pocl"))
                return 1;
        return 2;
}

static AldListedDeviceType find_type(cl_device_type type)
{
        if (type & CL_DEVICE_TYPE_GPU)
                return ALD_LISTED_DEVICE_TYPE_GPU;
        return type & CL_DEVICE_TYPE_CPU ? ALD_LISTED_DEVICE_TYPE_CPU : ALD_LISTED_DEVICE_TYPE_ACCELERATOR;
}

static void read_texts(AldOpenclTarget *device, const AldCl *cl, cl_platform_id platform, cl_device_id id)
{
        g_autofree char *extensions = ald_query_text(cl, id, CL_DEVICE_EXTENSIONS);
        g_autofree char *name = ald_query_text(cl, id, CL_DEVICE_NAME), *board = NULL;
        AldListedDevice *listed = &device->listed;

        device->extensions = g_strdup_printf(" %s ", extensions);
        if (ald_opencl_target_has_extension(device, "cl_amd_device_attribute_query"))
                board = ald_query_text(cl, id, QUERY_AMD_BOARD_NAME);
        device->gfx = g_strdup(g_str_has_prefix(name, "gfx") ? name : "");
        listed->name = ald_opencl_target_take(device, g_strdup(board && *board ? board : name));
        listed->vendor = ald_opencl_target_take(device, ald_query_text(cl, id, CL_DEVICE_VENDOR));
        listed->driver_version = ald_opencl_target_take(device, ald_query_text(cl, id, CL_DRIVER_VERSION));
        listed->platform = ald_opencl_target_take(
                device, ald_query_platform_text(cl, platform, CL_PLATFORM_NAME));
        device->device_version = ald_query_text(cl, id, CL_DEVICE_VERSION);
}

static void read_numbers(AldOpenclTarget *device, const AldCl *cl, cl_device_id id)
{
        cl_device_type type = 0;
        cl_bool unified = CL_FALSE;

        (void) ald_query(cl, id, CL_DEVICE_TYPE, &type, sizeof type);
        device->type = find_type(type);
        device->listed.type = ald_listed_device_type_to_string(device->type);
        device->listed.vendor_id = ald_query_uint(cl, id, CL_DEVICE_VENDOR_ID);
        device->listed.compute_units = ald_query_uint(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS);
        device->float_width = ald_query_uint(cl, id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
        device->listed.memory_total_bytes = ald_query_ulong(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE);
        device->allocation_max = ald_query_ulong(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
        device->cache_bytes = ald_query_ulong(cl, id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
        (void) ald_query(cl, id, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof unified);
        device->listed.unified = unified != CL_FALSE;
}

static AldOpenclTarget *new_target(void)
{
        AldOpenclTarget *device = g_new0(AldOpenclTarget, 1);

        device->listed = (AldListedDevice) ALD_LISTED_DEVICE_INIT;
        device->texts = g_ptr_array_new_with_free_func(g_free);
        return device;
}

AldOpenclTarget *ald_opencl_target_new(const AldCl *cl, cl_platform_id platform, cl_device_id id)
{
        AldOpenclTarget *device = new_target();

        device->platform = platform;
        device->handle = id;
        read_texts(device, cl, platform, id);
        read_numbers(device, cl, id);
        device->has_fp16 = ald_opencl_target_has_extension(device, "cl_khr_fp16");
        device->listed.platform_rank = rank_platform(device->listed.platform);
        device->vendor = find_vendor(device);
        if (ald_opencl_target_has_extension(device, "cl_nv_device_attribute_query")) {
                device->nv_major = ald_query_uint(cl, id, QUERY_NV_CAPABILITY_MAJOR);
                device->nv_minor = ald_query_uint(cl, id, QUERY_NV_CAPABILITY_MINOR);
        }
        device->listed.pci = ald_opencl_target_take(device, read_address(cl, id, device));
        device->listed.uuid = ald_opencl_target_take(device, read_uuid(cl, id, device));
        return device;
}

AldOpenclTarget *ald_opencl_target_of_list(AldRecord *list, size_t i)
{
        const AldDeviceList *devices = ald_record_as(list, DEVICE_LIST, AldDeviceList);
        AldOpenclTarget *device = new_target();
        AldListedDevice *listed = &device->listed;
        int type;

        device->list = ald_record_ref(list);
        *listed = *(const AldListedDevice *) ald_rows_at(&devices->devices, i);
        listed->id = NULL;
        listed->name = listed->name ?: "";
        listed->platform = listed->platform ?: "";
        listed->vendor = listed->vendor ?: "";
        listed->driver_version = listed->driver_version ?: "";
        if (listed->pci && !ald_opencl_target_is_address(listed->pci))
                listed->pci = NULL;
        if (listed->platform_rank == ALD_ABSENT_UINT64)
                listed->platform_rank = 0;
        type = ald_listed_device_type_from_string(listed->type);
        device->type = type < 0 ? ALD_LISTED_DEVICE_TYPE_ACCELERATOR : (AldListedDeviceType) type;
        listed->type = ald_listed_device_type_to_string(device->type);
        return device;
}

void ald_opencl_target_free(AldOpenclTarget *device)
{
        if (!device)
                return;
        g_ptr_array_unref(device->texts);
        g_clear_pointer(&device->list, ald_record_unref);
        g_free(device->device_version);
        g_free(device->extensions);
        g_free(device->gfx);
        g_free(device->drivers);
        g_free(device);
}
