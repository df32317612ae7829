/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Types and constants are those of the newest version. The functions are the oldest suitable ones, which
 * every driver has. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include "probes/common/failure.h"

#define ALD_CL_FUNCTIONS(X)        \
        X(GetPlatformIDs)          \
        X(GetPlatformInfo)         \
        X(GetDeviceIDs)            \
        X(GetDeviceInfo)           \
        X(CreateContext)           \
        X(ReleaseContext)          \
        X(CreateCommandQueue)      \
        X(ReleaseCommandQueue)     \
        X(CreateBuffer)            \
        X(ReleaseMemObject)        \
        X(CreateProgramWithSource) \
        X(CreateProgramWithBinary) \
        X(BuildProgram)            \
        X(GetProgramInfo)          \
        X(GetProgramBuildInfo)     \
        X(ReleaseProgram)          \
        X(CreateKernel)            \
        X(GetKernelWorkGroupInfo)  \
        X(SetKernelArg)            \
        X(ReleaseKernel)           \
        X(EnqueueNDRangeKernel)    \
        X(EnqueueReadBuffer)       \
        X(EnqueueWriteBuffer)      \
        X(EnqueueFillBuffer)       \
        X(EnqueueMapBuffer)        \
        X(EnqueueUnmapMemObject)   \
        X(WaitForEvents)           \
        X(GetEventProfilingInfo)   \
        X(ReleaseEvent)            \
        X(Flush)                   \
        X(Finish)

/* The functions of libOpenCL.so.1, loaded at run time: GetPlatformIDs is clGetPlatformIDs, and so on. */
typedef struct AldCl {
#define ALD_CL_MEMBER(name) __typeof__(cl##name) *name;
        ALD_CL_FUNCTIONS(ALD_CL_MEMBER)
#undef ALD_CL_MEMBER
} AldCl;

/* Loads the drivers of the machine, which may hang or crash. Only child processes may call this. */
int ald_cl_open(AldCl *ret, AldFailure *failure);

/* Returns the name of an error code, such as "CL_OUT_OF_RESOURCES". */
const char *ald_cl_error_name(cl_int code);

/* Sets the failure for an error code of OpenCL while doing `what` ("enqueueing a kernel"), and returns its
 * negative errno. */
int ald_cl_fail(AldFailure *failure, cl_int code, const char *what);
