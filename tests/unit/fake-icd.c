/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An OpenCL driver with one platform, named by FAKE_ICD_PLATFORM. FAKE_ICD says how it behaves: "khr", "nv"
 * and "amd" show two GPUs that tell their PCI address in the way of that vendor, "plain" one that tells none;
 * "crash" and "hang" do so as soon as they are loaded.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#define EXPORT __attribute__((visibility("default")))

struct _cl_platform_id {
        const cl_icd_dispatch *dispatch;
};

struct _cl_device_id {
        const cl_icd_dispatch *dispatch;
        cl_uint bus;
};

static const cl_icd_dispatch dispatch;
static struct _cl_platform_id platform = { &dispatch };
static struct _cl_device_id devices[] = { { &dispatch, 1 }, { &dispatch, 2 } };

static const char *mode(void)
{
        return getenv("FAKE_ICD") ?: "plain";
}

__attribute__((constructor)) static void misbehave(void)
{
        if (strcmp(mode(), "crash") == 0) {
                signal(SIGSEGV, SIG_DFL);
                raise(SIGSEGV);
        }
        while (strcmp(mode(), "hang") == 0)
                pause();
}

static cl_int tell(const void *value, size_t size, size_t room, void *ret, size_t *ret_size)
{
        if (ret && room < size)
                return CL_INVALID_VALUE;
        if (ret)
                memcpy(ret, value, size);
        if (ret_size)
                *ret_size = size;
        return CL_SUCCESS;
}

static cl_int tell_text(const char *text, size_t room, void *ret, size_t *ret_size)
{
        return tell(text, strlen(text) + 1, room, ret, ret_size);
}

static cl_int CL_API_CALL get_platforms(cl_uint room, cl_platform_id *ret, cl_uint *ret_n)
{
        if (ret && room > 0)
                ret[0] = &platform;
        if (ret_n)
                *ret_n = 1;
        return CL_SUCCESS;
}

static cl_int CL_API_CALL get_platform_info(
        cl_platform_id id, cl_platform_info what, size_t room, void *ret, size_t *ret_size)
{
        switch (what) {
        case CL_PLATFORM_NAME:
                return tell_text(getenv("FAKE_ICD_PLATFORM") ?: "Fake OpenCL", room, ret, ret_size);
        case CL_PLATFORM_EXTENSIONS:
                return tell_text("cl_khr_icd", room, ret, ret_size);
        case CL_PLATFORM_ICD_SUFFIX_KHR:
                return tell_text("FAKE", room, ret, ret_size);
        case CL_PLATFORM_VENDOR:
        case CL_PLATFORM_VERSION:
        case CL_PLATFORM_PROFILE:
                return tell_text("OpenCL 3.0 fake", room, ret, ret_size);
        default:
                return CL_INVALID_VALUE;
        }
}

static cl_int CL_API_CALL get_devices(
        cl_platform_id id, cl_device_type type, cl_uint room, cl_device_id *ret, cl_uint *ret_n)
{
        cl_uint n = strcmp(mode(), "plain") == 0 ? 1 : 2;

        for (cl_uint i = 0; ret && i < n && i < room; i++)
                ret[i] = &devices[i];
        if (ret_n)
                *ret_n = n;
        return CL_SUCCESS;
}

static const char *extensions(void)
{
        if (strcmp(mode(), "khr") == 0)
                return "cl_khr_fp64 cl_khr_pci_bus_info";
        if (strcmp(mode(), "nv") == 0)
                return "cl_khr_fp64 cl_nv_device_attribute_query cl_khr_gl_sharing";
        return strcmp(mode(), "amd") == 0 ? "cl_amd_device_attribute_query" : "cl_khr_pci_bus_info_not";
}

/* Questions that a device of the mode understands. */
static cl_int get_address(cl_device_id id, cl_device_info what, size_t room, void *ret, size_t *ret_size)
{
        const cl_uint khr[] = { 0x10, id->bus, 0, 1 };
        const cl_uint slot = 3 << 3 | 1, domain = 0x10;
        char amd[24] = { 1 };

        if (strcmp(mode(), "khr") == 0 && what == 0x410f)
                return tell(khr, sizeof khr, room, ret, ret_size);
        if (strcmp(mode(), "nv") == 0 && what == 0x4008)
                return tell(&id->bus, sizeof id->bus, room, ret, ret_size);
        if (strcmp(mode(), "nv") == 0 && what == 0x4009)
                return tell(&slot, sizeof slot, room, ret, ret_size);
        if (strcmp(mode(), "nv") == 0 && what == 0x400a)
                return tell(&domain, sizeof domain, room, ret, ret_size);
        amd[21] = (char) id->bus;
        amd[22] = 0x1f;
        if (strcmp(mode(), "amd") == 0 && what == 0x4037)
                return tell(amd, sizeof amd, room, ret, ret_size);
        if (strcmp(mode(), "amd") == 0 && what == 0x4038)
                return tell_text("AMD Radeon RX 7900 XTX", room, ret, ret_size);
        return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL get_device_info(
        cl_device_id id, cl_device_info what, size_t room, void *ret, size_t *ret_size)
{
        const cl_device_type type = CL_DEVICE_TYPE_GPU;
        const cl_uint vendor = 0x1002;
        const cl_ulong memory = (cl_ulong) 16 << 30;
        const cl_bool unified = CL_FALSE;

        switch (what) {
        case CL_DEVICE_TYPE:
                return tell(&type, sizeof type, room, ret, ret_size);
        case CL_DEVICE_NAME:
                return tell_text("gfx1100", room, ret, ret_size);
        case CL_DEVICE_VENDOR:
                return tell_text("Advanced Micro Devices, Inc.", room, ret, ret_size);
        case CL_DEVICE_VENDOR_ID:
                return tell(&vendor, sizeof vendor, room, ret, ret_size);
        case CL_DRIVER_VERSION:
                return tell_text("3590.0", room, ret, ret_size);
        case CL_DEVICE_EXTENSIONS:
                return tell_text(extensions(), room, ret, ret_size);
        case CL_DEVICE_GLOBAL_MEM_SIZE:
                return tell(&memory, sizeof memory, room, ret, ret_size);
        case CL_DEVICE_HOST_UNIFIED_MEMORY:
                return tell(&unified, sizeof unified, room, ret, ret_size);
        default:
                return get_address(id, what, room, ret, ret_size);
        }
}

static const cl_icd_dispatch dispatch = {
        .clGetPlatformIDs = get_platforms,
        .clGetPlatformInfo = get_platform_info,
        .clGetDeviceIDs = get_devices,
        .clGetDeviceInfo = get_device_info,
};

EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *ret, cl_uint *ret_n);
EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *name);
EXPORT cl_int CL_API_CALL clGetPlatformInfo(
        cl_platform_id id, cl_platform_info what, size_t room, void *ret, size_t *ret_size);

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *ret, cl_uint *ret_n)
{
        return get_platforms(room, ret, ret_n);
}

cl_int CL_API_CALL clGetPlatformInfo(
        cl_platform_id id, cl_platform_info what, size_t room, void *ret, size_t *ret_size)
{
        return get_platform_info(id, what, room, ret, ret_size);
}

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
        if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
                return (void *) clIcdGetPlatformIDsKHR;
        return strcmp(name, "clGetPlatformInfo") == 0 ? (void *) clGetPlatformInfo : NULL;
}
