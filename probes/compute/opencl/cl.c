/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>

#include <glib.h>

#include "probes/compute/opencl/cl.h"

/* The library stays loaded, since its drivers do not support unloading. */
int ald_cl_open(AldCl *ret, AldFailure *failure)
{
        void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
        AldCl cl;

        if (!library)
                return ald_fail(failure, ALD_FAILURE_NO_LIBRARY, "libOpenCL.so.1 cannot be loaded");
#define LOAD(name)                                        \
        *(void **) &cl.name = dlsym(library, "cl" #name); \
        if (!cl.name)                                     \
                return ald_fail(failure, ALD_FAILURE_NO_LIBRARY, "libOpenCL.so.1 has no cl" #name);
        ALD_CL_FUNCTIONS(LOAD)
#undef LOAD
        *ret = cl;
        return 0;
}

static const struct {
        cl_int code;
        const char *name;
        AldFailureKind kind;
} errors[] = {
        { CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND", ALD_FAILURE_NO_DEVICE },
        { CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE", ALD_FAILURE_DEVICE_LOST },
        { CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE", ALD_FAILURE_BUILD_FAILED },
        { CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE", ALD_FAILURE_OUT_OF_MEMORY },
        { CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", ALD_FAILURE_OUT_OF_MEMORY },
        { CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", ALD_FAILURE_OUT_OF_MEMORY },
        { CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE", ALD_FAILURE_INTERNAL },
        { CL_MAP_FAILURE, "CL_MAP_FAILURE", ALD_FAILURE_INTERNAL },
        { CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE", ALD_FAILURE_BUILD_FAILED },
        { CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
                ALD_FAILURE_DEVICE_LOST },
        { CL_INVALID_VALUE, "CL_INVALID_VALUE", ALD_FAILURE_INTERNAL },
        { CL_INVALID_DEVICE, "CL_INVALID_DEVICE", ALD_FAILURE_DEVICE_LOST },
        { CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT", ALD_FAILURE_DEVICE_LOST },
        { CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE", ALD_FAILURE_DEVICE_LOST },
        { CL_INVALID_BINARY, "CL_INVALID_BINARY", ALD_FAILURE_BUILD_FAILED },
        { CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS", ALD_FAILURE_BUILD_FAILED },
        { CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE", ALD_FAILURE_BUILD_FAILED },
        { CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME", ALD_FAILURE_BUILD_FAILED },
        { CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS", ALD_FAILURE_INTERNAL },
        { CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE", ALD_FAILURE_INTERNAL },
        { CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE", ALD_FAILURE_OUT_OF_MEMORY },
        { -1001 /* CL_PLATFORM_NOT_FOUND_KHR */, "CL_PLATFORM_NOT_FOUND_KHR", ALD_FAILURE_NO_PLATFORM },
};

const char *ald_cl_error_name(cl_int code)
{
        for (size_t i = 0; i < G_N_ELEMENTS(errors); i++)
                if (errors[i].code == code)
                        return errors[i].name;
        return "unknown error";
}

int ald_cl_fail(AldFailure *failure, cl_int code, const char *what)
{
        AldFailureKind kind = ALD_FAILURE_INTERNAL;

        for (size_t i = 0; i < G_N_ELEMENTS(errors); i++)
                if (errors[i].code == code)
                        kind = errors[i].kind;
        return ald_fail(failure, kind, "%s: %s (%d)", what, ald_cl_error_name(code), code);
}
