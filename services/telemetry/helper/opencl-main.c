/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/record.h"
#include "services/telemetry/helper/helper-side.h"

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "services/telemetry/helper/helper-side.h"

#define PLATFORMS_MAX 16u
#define DEVICES_MAX 64u
#define TEXT_MAX 256u
#define EXTENSIONS_MAX (32u * 1024)

/* Queries of extensions, with the numbers of their specifications. */
#define QUERY_KHR_PCI_BUS_INFO 0x410f
#define QUERY_NV_CAPABILITY_MAJOR 0x4000
#define QUERY_NV_CAPABILITY_MINOR 0x4001
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

/* The rows of the answer, and the texts that they point to. */
typedef struct Listing {
        OpenCl cl;
        GArray *rows; /* of AldOpenclDevice */
        GStringChunk *texts;
} Listing;

static bool load_opencl(OpenCl *cl)
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

static const char *keep_text(Listing *listing, const char *text)
{
        g_autofree char *trimmed = ald_child_side_text(text);

        return trimmed ? g_string_chunk_insert(listing->texts, trimmed) : NULL;
}

/* Returns a text that the device reports; NULL if there is none, or if it is too long. */
static const char *read_text(Listing *listing, cl_device_id device, cl_device_info what)
{
        char text[TEXT_MAX] = "";

        return listing->cl.device_info(device, what, sizeof text - 1, text, NULL) == CL_SUCCESS
                       ? keep_text(listing, text)
                       : NULL;
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

static bool query_device(const OpenCl *cl, cl_device_id device, cl_device_info what, size_t size, void *ret)
{
        size_t written = 0;

        return cl->device_info(device, what, size, ret, &written) == CL_SUCCESS && written == size;
}

static bool read_khr_address(const OpenCl *cl, cl_device_id device, KhrPciBusInfo *ret)
{
        return has_extension(cl, device, "cl_khr_pci_bus_info") &&
               query_device(cl, device, QUERY_KHR_PCI_BUS_INFO, sizeof *ret, ret);
}

static bool read_nv_address(const OpenCl *cl, cl_device_id device, KhrPciBusInfo *ret)
{
        cl_uint bus, slot, domain = 0;

        if (!has_extension(cl, device, "cl_nv_device_attribute_query") ||
                !query_device(cl, device, QUERY_NV_PCI_BUS, sizeof bus, &bus) ||
                !query_device(cl, device, QUERY_NV_PCI_SLOT, sizeof slot, &slot))
                return false;
        (void) query_device(cl, device, QUERY_NV_PCI_DOMAIN, sizeof domain, &domain);
        *ret = (KhrPciBusInfo){ domain, bus, slot >> 3, slot & 7 };
        return true;
}

static bool read_amd_address(const OpenCl *cl, cl_device_id device, KhrPciBusInfo *ret)
{
        AmdTopology topology;

        if (!has_extension(cl, device, "cl_amd_device_attribute_query") ||
                !query_device(cl, device, QUERY_AMD_TOPOLOGY, sizeof topology, &topology) ||
                topology.type != AMD_TOPOLOGY_PCIE)
                return false;
        *ret = (KhrPciBusInfo){ 0, topology.bus, topology.device, topology.function };
        return true;
}

static const char *read_address(Listing *listing, cl_device_id device)
{
        const OpenCl *cl = &listing->cl;
        KhrPciBusInfo pci;
        char text[40];

        if (!read_khr_address(cl, device, &pci) && !read_nv_address(cl, device, &pci) &&
                !read_amd_address(cl, device, &pci))
                return NULL;
        snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.domain, pci.bus, pci.device, pci.function);
        return keep_text(listing, text);
}

/* Returns the architecture of an AMD device or NULL. AMD reports it as the name, followed by modes:
 * "gfx90a:sramecc+:xnack-". */
static const char *read_amd_architecture(Listing *listing, cl_device_id device)
{
        const char *name = read_text(listing, device, CL_DEVICE_NAME);
        g_autofree char *architecture = NULL;
        size_t length;

        if (!name || !g_str_has_prefix(name, "gfx"))
                return NULL;
        length = 3 + strspn(name + 3, "0123456789abcdef");
        if (length == 3 || (name[length] != ':' && name[length] != '\0'))
                return NULL;
        architecture = g_strndup(name, length);
        return keep_text(listing, architecture);
}

static const char *read_nv_architecture(Listing *listing, cl_device_id device)
{
        const OpenCl *cl = &listing->cl;
        cl_uint major, minor;
        char text[32];

        if (!query_device(cl, device, QUERY_NV_CAPABILITY_MAJOR, sizeof major, &major) ||
                !query_device(cl, device, QUERY_NV_CAPABILITY_MINOR, sizeof minor, &minor) || major < 1 ||
                major > 999 || minor > 9)
                return NULL;
        snprintf(text, sizeof text, "sm_%u%u", major, minor);
        return keep_text(listing, text);
}

static const char *read_architecture(Listing *listing, cl_device_id device)
{
        if (has_extension(&listing->cl, device, "cl_amd_device_attribute_query"))
                return read_amd_architecture(listing, device);
        return has_extension(&listing->cl, device, "cl_nv_device_attribute_query")
                       ? read_nv_architecture(listing, device)
                       : NULL;
}

static AldOpenclDeviceClass class_of(cl_device_type type)
{
        if (type & CL_DEVICE_TYPE_GPU)
                return ALD_OPENCL_DEVICE_CLASS_GPU;
        return type & CL_DEVICE_TYPE_CPU ? ALD_OPENCL_DEVICE_CLASS_CPU : ALD_OPENCL_DEVICE_CLASS_ACCELERATOR;
}

static void read_numbers(const OpenCl *cl, cl_device_id device, AldOpenclDevice *row)
{
        cl_device_type type = 0;
        cl_uint vendor = 0;
        cl_ulong memory = 0;
        cl_bool unified = CL_FALSE;

        if (query_device(cl, device, CL_DEVICE_TYPE, sizeof type, &type))
                row->class = ald_opencl_device_class_to_string(class_of(type));
        if (query_device(cl, device, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor))
                row->vendor_id = vendor;
        if (query_device(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory))
                row->memory_total_bytes = memory;
        if (query_device(cl, device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified))
                row->unified = unified != CL_FALSE;
}

static void add_device(
        Listing *listing, cl_device_id device, const char *platform, const char *runtime_version)
{
        AldOpenclDevice row = ALD_OPENCL_DEVICE_INIT;
        char id[16];

        snprintf(id, sizeof id, "%04u", listing->rows->len);
        row.id = g_string_chunk_insert(listing->texts, id);
        row.platform = platform;
        if (has_extension(&listing->cl, device, "cl_amd_device_attribute_query"))
                row.name = read_text(listing, device, QUERY_AMD_BOARD_NAME);
        if (!row.name)
                row.name = read_text(listing, device, CL_DEVICE_NAME);
        row.vendor = read_text(listing, device, CL_DEVICE_VENDOR);
        row.driver_version = read_text(listing, device, CL_DRIVER_VERSION);
        row.pci = read_address(listing, device);
        row.architecture = read_architecture(listing, device);
        row.runtime_version = runtime_version;
        read_numbers(&listing->cl, device, &row);
        g_array_append_val(listing->rows, row);
}

/*
 * Returns what identifies the runtime, or NULL. A platform's version is the version of OpenCL, followed by
 * what its vendor adds: "OpenCL 3.0 CUDA 12.4.131" yields "CUDA 12.4.131". After two blanks, PoCL adds how it
 * was built: "OpenCL 3.0 PoCL 3.1+debian  Linux, …".
 */
static const char *read_runtime_version(Listing *listing, cl_platform_id platform)
{
        static const char prefix[] = "OpenCL ";
        char text[TEXT_MAX] = "", *own, *build;

        if (listing->cl.platform_info(platform, CL_PLATFORM_VERSION, sizeof text - 1, text, NULL) !=
                CL_SUCCESS)
                return NULL;
        build = strstr(text, "  ");
        if (build)
                *build = '\0';
        own = g_str_has_prefix(text, prefix) ? strchr(text + strlen(prefix), ' ') : NULL;
        return keep_text(listing, own && own[1] != '\0' ? own : text);
}

static void add_platform(Listing *listing, cl_platform_id platform)
{
        const OpenCl *cl = &listing->cl;
        cl_device_id ids[DEVICES_MAX];
        char text[TEXT_MAX] = "";
        const char *name, *version;
        cl_uint n = 0;

        if (cl->platform_info(platform, CL_PLATFORM_NAME, sizeof text - 1, text, NULL) != CL_SUCCESS ||
                cl->device_ids(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &n) != CL_SUCCESS)
                return;
        name = keep_text(listing, text);
        version = read_runtime_version(listing, platform);
        for (cl_uint i = 0; name && i < n && i < DEVICES_MAX; i++)
                add_device(listing, ids[i], name, version);
}

/*
 * Loads the OpenCL library of this machine and lists its devices in a record of Message1.OpenclAnswer, which
 * is without devices if there is no library. Returns -E2BIG if the record would exceed its limit.
 */
static int opencl_list(AldRecord **ret)
{
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldOpenclDevice));
        Listing listing = { .rows = rows, .texts = g_string_chunk_new(1024) };
        AldOpenclAnswer answer = ALD_OPENCL_ANSWER_INIT;
        AldOpenclAnswerOpenCl availability = ALD_OPENCL_ANSWER_OPEN_CL_NO_LIBRARY;
        cl_platform_id ids[PLATFORMS_MAX];
        cl_uint n = 0;
        int r;

        if (load_opencl(&listing.cl)) {
                availability = ALD_OPENCL_ANSWER_OPEN_CL_NO_PLATFORM;
                if (listing.cl.platform_ids(PLATFORMS_MAX, ids, &n) != CL_SUCCESS)
                        n = 0;
                if (n > 0)
                        availability = ALD_OPENCL_ANSWER_OPEN_CL_NO_DEVICE;
                for (cl_uint i = 0; i < n && i < PLATFORMS_MAX; i++)
                        add_platform(&listing, ids[i]);
        }
        if (rows->len > 0)
                availability = ALD_OPENCL_ANSWER_OPEN_CL_AVAILABLE;
        answer.open_cl = ald_opencl_answer_open_cl_to_string(availability);
        answer.devices.items = rows->data;
        answer.devices.n = rows->len;
        r = ald_record_new(ALD_KIND_OPENCL_ANSWER, &answer, ret);
        g_string_chunk_free(listing.texts);
        return r;
}

/* alidade-opencl-list lists the OpenCL devices once, outside the daemon, since a driver may hang or crash. */

/* The limit is high because drivers include compilers. */
#define DATA_MAX (UINT64_C(4) * 1024 * 1024 * 1024)

int main(void)
{
        int answers = ald_child_side_begin(DATA_MAX), r = answers;
        AldRecord *listed = NULL;

        if (r >= 0)
                r = opencl_list(&listed);
        if (r >= 0)
                r = ald_child_side_answer(answers, ALD_KIND_OPENCL_ANSWER, ald_record_fields(listed));
        /* Exits without the drivers' own clean-up, which may hang or crash as well. */
        _exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
