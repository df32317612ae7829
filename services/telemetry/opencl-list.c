/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services/telemetry/opencl-list.h"

#define PLATFORMS_MAX 16u
#define DEVICES_MAX 64u
#define TEXT_MAX 256u
#define EXTENSIONS_MAX (32u * 1024)

/* Questions of extensions, by the numbers of their specifications. */
#define QUERY_KHR_PCI_BUS_INFO 0x410f
#define QUERY_NV_PCI_BUS 0x4008
#define QUERY_NV_PCI_SLOT 0x4009
#define QUERY_NV_PCI_DOMAIN 0x400a
#define QUERY_AMD_TOPOLOGY 0x4037
#define QUERY_AMD_BOARD_NAME 0x4038
#define AMD_TOPOLOGY_PCIE 1u

typedef struct KhrPciBusInfo {
        cl_uint domain, bus, device, function;
} KhrPciBusInfo;

typedef struct AmdTopology {
        cl_uint type;
        char unused[17];
        unsigned char bus, device, function;
} AmdTopology;

typedef struct OpenCl {
        __typeof__(clGetPlatformIDs) *platform_ids;
        __typeof__(clGetPlatformInfo) *platform_info;
        __typeof__(clGetDeviceIDs) *device_ids;
        __typeof__(clGetDeviceInfo) *device_info;
} OpenCl;

static bool load(OpenCl *cl)
{
        void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

        if (!library)
                return false;
        *(void **) &cl->platform_ids = dlsym(library, "clGetPlatformIDs");
        *(void **) &cl->platform_info = dlsym(library, "clGetPlatformInfo");
        *(void **) &cl->device_ids = dlsym(library, "clGetDeviceIDs");
        *(void **) &cl->device_info = dlsym(library, "clGetDeviceInfo");
        return cl->platform_ids && cl->platform_info && cl->device_ids && cl->device_info;
}

/* A text that is too long is left out. */
static void set_device_text(
        const OpenCl *cl, cl_device_id device, cl_device_info what, json_t *row, const char *key)
{
        char text[TEXT_MAX] = "";

        if (cl->device_info(device, what, sizeof text - 1, text, NULL) == CL_SUCCESS && *text != '\0')
                json_object_set_new(row, key, json_string(text));
}

static bool has_extension(const OpenCl *cl, cl_device_id device, const char *name)
{
        char extensions[EXTENSIONS_MAX] = "";
        size_t length = strlen(name);

        if (cl->device_info(device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL) !=
                CL_SUCCESS)
                return false;
        for (const char *at = extensions; (at = strstr(at, name)); at += length)
                if ((at == extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
                        return true;
        return false;
}

static bool ask(const OpenCl *cl, cl_device_id device, cl_device_info what, size_t size, void *ret)
{
        size_t told = 0;

        return cl->device_info(device, what, size, ret, &told) == CL_SUCCESS && told == size;
}

static bool read_khr_address(const OpenCl *cl, cl_device_id device, KhrPciBusInfo *ret)
{
        return has_extension(cl, device, "cl_khr_pci_bus_info") &&
               ask(cl, device, QUERY_KHR_PCI_BUS_INFO, sizeof *ret, ret);
}

static bool read_nv_address(const OpenCl *cl, cl_device_id device, KhrPciBusInfo *ret)
{
        cl_uint bus, slot, domain = 0;

        if (!has_extension(cl, device, "cl_nv_device_attribute_query") ||
                !ask(cl, device, QUERY_NV_PCI_BUS, sizeof bus, &bus) ||
                !ask(cl, device, QUERY_NV_PCI_SLOT, sizeof slot, &slot))
                return false;
        (void) ask(cl, device, QUERY_NV_PCI_DOMAIN, sizeof domain, &domain);
        *ret = (KhrPciBusInfo){ domain, bus, slot >> 3, slot & 7 };
        return true;
}

static bool read_amd_address(const OpenCl *cl, cl_device_id device, KhrPciBusInfo *ret)
{
        AmdTopology topology;

        if (!has_extension(cl, device, "cl_amd_device_attribute_query") ||
                !ask(cl, device, QUERY_AMD_TOPOLOGY, sizeof topology, &topology) ||
                topology.type != AMD_TOPOLOGY_PCIE)
                return false;
        *ret = (KhrPciBusInfo){ 0, topology.bus, topology.device, topology.function };
        return true;
}

static void set_address(const OpenCl *cl, cl_device_id device, json_t *row)
{
        KhrPciBusInfo pci;
        char text[40];

        if (!read_khr_address(cl, device, &pci) && !read_nv_address(cl, device, &pci) &&
                !read_amd_address(cl, device, &pci))
                return;
        snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.device, pci.function);
        json_object_set_new(row, "pci", json_string(text));
}

static const char *type_name(cl_device_type type)
{
        if (type & CL_DEVICE_TYPE_GPU)
                return "gpu";
        if (type & CL_DEVICE_TYPE_CPU)
                return "cpu";
        return "accelerator";
}

static json_t *describe_device(const OpenCl *cl, cl_device_id device)
{
        json_t *row = json_object();
        cl_device_type type = 0;
        cl_uint vendor = 0;
        cl_ulong memory = 0;
        cl_bool unified = CL_FALSE;

        set_device_text(cl, device, CL_DEVICE_NAME, row, "name");
        if (has_extension(cl, device, "cl_amd_device_attribute_query"))
                set_device_text(cl, device, QUERY_AMD_BOARD_NAME, row, "board");
        set_device_text(cl, device, CL_DEVICE_VENDOR, row, "vendor");
        set_device_text(cl, device, CL_DRIVER_VERSION, row, "driver_version");
        if (ask(cl, device, CL_DEVICE_TYPE, sizeof type, &type))
                json_object_set_new(row, "type", json_string(type_name(type)));
        if (ask(cl, device, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor))
                json_object_set_new(row, "vendor_id", json_integer(vendor));
        if (ask(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory) && memory <= INT64_MAX)
                json_object_set_new(row, "memory_total_bytes", json_integer((json_int_t) memory));
        if (ask(cl, device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified))
                json_object_set_new(row, "unified", json_boolean(unified));
        set_address(cl, device, row);
        return row;
}

static void set_platform_text(
        const OpenCl *cl, cl_platform_id platform, cl_platform_info what, json_t *row, const char *key)
{
        char text[TEXT_MAX] = "";

        if (cl->platform_info(platform, what, sizeof text - 1, text, NULL) == CL_SUCCESS && *text != '\0')
                json_object_set_new(row, key, json_string(text));
}

static json_t *describe_platform(const OpenCl *cl, cl_platform_id platform)
{
        json_t *row = json_object(), *devices = json_array();
        cl_device_id ids[DEVICES_MAX];
        cl_uint n = 0;

        set_platform_text(cl, platform, CL_PLATFORM_NAME, row, "name");
        set_platform_text(cl, platform, CL_PLATFORM_VENDOR, row, "vendor");
        if (cl->device_ids(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &n) != CL_SUCCESS)
                n = 0;
        for (cl_uint i = 0; i < n && i < DEVICES_MAX; i++)
                json_array_append_new(devices, describe_device(cl, ids[i]));
        json_object_set_new(row, "devices", devices);
        return row;
}

json_t *ald_opencl_list(void)
{
        cl_platform_id ids[PLATFORMS_MAX];
        json_t *platforms = json_array();
        cl_uint n = 0;
        OpenCl cl = {};

        if (load(&cl) && cl.platform_ids(PLATFORMS_MAX, ids, &n) == CL_SUCCESS)
                for (cl_uint i = 0; i < n && i < PLATFORMS_MAX; i++)
                        json_array_append_new(platforms, describe_platform(&cl, ids[i]));
        return json_pack("{s:o}", "platforms", platforms);
}
