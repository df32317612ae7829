/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fake-platform.h"

static struct _cl_platform_id {
        const cl_icd_dispatch *dispatch;
} platform = { &fake_dispatch };

/* Also where somebody handles the signal. */
void fake_crash(void)
{
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
}

void fake_hang(void)
{
        for (;;)
                pause();
}

cl_int fake_tell(const void *value, size_t size, size_t room, void *ret, size_t *ret_size)
{
        if (ret && room < size)
                return CL_INVALID_VALUE;
        if (ret)
                memcpy(ret, value, size);
        if (ret_size)
                *ret_size = size;
        return CL_SUCCESS;
}

cl_int fake_tell_text(const char *text, size_t room, void *ret, size_t *ret_size)
{
        return fake_tell(text, strlen(text) + 1, room, ret, ret_size);
}

cl_int CL_API_CALL fake_platforms(cl_uint room, cl_platform_id *ret, cl_uint *ret_n)
{
        if (ret && room > 0)
                ret[0] = &platform;
        if (ret_n)
                *ret_n = 1;
        return CL_SUCCESS;
}

cl_int CL_API_CALL fake_platform_info(
        cl_platform_id id, cl_platform_info what, size_t room, void *ret, size_t *ret_size)
{
        switch (what) {
        case CL_PLATFORM_NAME:
                return fake_tell_text(fake_platform_name(), room, ret, ret_size);
        case CL_PLATFORM_EXTENSIONS:
                return fake_tell_text("cl_khr_icd", room, ret, ret_size);
        case CL_PLATFORM_ICD_SUFFIX_KHR:
                return fake_tell_text("FAKE", room, ret, ret_size);
        case CL_PLATFORM_VERSION:
                return fake_tell_text(
                        getenv("FAKE_PLATFORM_VERSION") ?: "OpenCL 3.0 fake", room, ret, ret_size);
        case CL_PLATFORM_VENDOR:
        case CL_PLATFORM_PROFILE:
                return fake_tell_text("OpenCL 3.0 fake", room, ret, ret_size);
        default:
                return CL_INVALID_VALUE;
        }
}

/* What loaders look for. */
#define EXPORT __attribute__((visibility("default")))

EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *ret, cl_uint *ret_n);
EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *name);
EXPORT cl_int CL_API_CALL clGetPlatformInfo(
        cl_platform_id id, cl_platform_info what, size_t room, void *ret, size_t *ret_size);

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *ret, cl_uint *ret_n)
{
        return fake_platforms(room, ret, ret_n);
}

cl_int CL_API_CALL clGetPlatformInfo(
        cl_platform_id id, cl_platform_info what, size_t room, void *ret, size_t *ret_size)
{
        return fake_platform_info(id, what, room, ret, ret_size);
}

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
        if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
                return (void *) clIcdGetPlatformIDsKHR;
        return strcmp(name, "clGetPlatformInfo") == 0 ? (void *) clGetPlatformInfo : NULL;
}
