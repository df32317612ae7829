/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An OpenCL driver with one platform, named by FAKE_ICD_PLATFORM. FAKE_ICD says how it behaves: "khr", "nv"
 * and "amd" show two GPUs that tell their PCI address and architecture in the way of that vendor, "plain" one
 * that tells none;
 * "crash" and "hang" do so as soon as they are loaded.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake-platform.h"

struct _cl_device_id {
        const cl_icd_dispatch *dispatch;
        cl_uint bus;
};

static struct _cl_device_id devices[] = { { &fake_dispatch, 1 }, { &fake_dispatch, 2 } };

static const char *mode(void)
{
        return getenv("FAKE_ICD") ?: "plain";
}

const char *fake_platform_name(void)
{
        return getenv("FAKE_ICD_PLATFORM") ?: "Fake OpenCL";
}

__attribute__((constructor)) static void misbehave(void)
{
        if (strcmp(mode(), "crash") == 0)
                fake_crash();
        if (strcmp(mode(), "hang") == 0)
                fake_hang();
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
        const cl_uint slot = 3 << 3 | 1, domain = 0x10, major = 9, minor = 0;
        char amd[24] = { 1 };

        if (strcmp(mode(), "khr") == 0 && what == 0x410f)
                return fake_tell(khr, sizeof khr, room, ret, ret_size);
        if (strcmp(mode(), "nv") == 0 && what == 0x4008)
                return fake_tell(&id->bus, sizeof id->bus, room, ret, ret_size);
        if (strcmp(mode(), "nv") == 0 && what == 0x4009)
                return fake_tell(&slot, sizeof slot, room, ret, ret_size);
        if (strcmp(mode(), "nv") == 0 && what == 0x400a)
                return fake_tell(&domain, sizeof domain, room, ret, ret_size);
        if (strcmp(mode(), "nv") == 0 && what == 0x4000)
                return fake_tell(&major, sizeof major, room, ret, ret_size);
        if (strcmp(mode(), "nv") == 0 && what == 0x4001)
                return fake_tell(&minor, sizeof minor, room, ret, ret_size);
        amd[21] = (char) id->bus;
        amd[22] = 0x1f;
        if (strcmp(mode(), "amd") == 0 && what == 0x4037)
                return fake_tell(amd, sizeof amd, room, ret, ret_size);
        if (strcmp(mode(), "amd") == 0 && what == 0x4038)
                return fake_tell_text("AMD Radeon RX 7900 XTX", room, ret, ret_size);
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
                return fake_tell(&type, sizeof type, room, ret, ret_size);
        case CL_DEVICE_NAME:
                return fake_tell_text(strcmp(mode(), "amd") == 0 ? "gfx90a:sramecc+:xnack-" : "gfx1100", room,
                        ret, ret_size);
        case CL_DEVICE_VENDOR:
                return fake_tell_text("Advanced Micro Devices, Inc.", room, ret, ret_size);
        case CL_DEVICE_VENDOR_ID:
                return fake_tell(&vendor, sizeof vendor, room, ret, ret_size);
        case CL_DRIVER_VERSION:
                return fake_tell_text("3590.0", room, ret, ret_size);
        case CL_DEVICE_EXTENSIONS:
                return fake_tell_text(extensions(), room, ret, ret_size);
        case CL_DEVICE_GLOBAL_MEM_SIZE:
                return fake_tell(&memory, sizeof memory, room, ret, ret_size);
        case CL_DEVICE_HOST_UNIFIED_MEMORY:
                return fake_tell(&unified, sizeof unified, room, ret, ret_size);
        default:
                return get_address(id, what, room, ret, ret_size);
        }
}

const cl_icd_dispatch fake_dispatch = {
        .clGetPlatformIDs = fake_platforms,
        .clGetPlatformInfo = fake_platform_info,
        .clGetDeviceIDs = get_devices,
        .clGetDeviceInfo = get_device_info,
};
