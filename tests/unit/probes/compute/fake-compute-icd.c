/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An OpenCL driver with one GPU at 0010:01:00.0, whose memory is real and whose kernels do nothing. Its file
 * is named MODE@PLATFORM.so; the mode says what goes wrong and when: crash-load, hang-load, crash-list,
 * hang-list, fail-build, crash-build, hang-build, refuse-memory, lost, crash-kernel and hang-kernel; once,
 * crash-build-once and fault-once, for whom nothing is left where FAKE_ICD_SEEN is a file; uuid; little-free,
 * which says that 400 MiB are free, and crashes where all buffers together take more than a quarter of that;
 * skip-copies, which does not copy to the device unless it is waited for; unified, in memory of the host.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fake-device.h"

#define PCI_BUS_INFO 0x410f
#define DEVICE_UUID 0x106a
#define AMD_FREE_MEMORY 0x4039
#define MEMORY ((cl_ulong) 1 << 30)
#define LITTLE_FREE_KIB ((size_t) 400 * 1024)

static bool faulted;
static size_t allocated; /* by create_buffer() */

static struct _cl_device_id {
        const cl_icd_dispatch *dispatch;
} device = { &fake_dispatch };

/* What stands before or after the @ in the name of this library. */
static const char *own_name(int part)
{
        static char name[256];
        Dl_info info;
        char *at;

        if (!dladdr((void *) own_name, &info) || !strrchr(info.dli_fname, '/'))
                return "";
        snprintf(name, sizeof name, "%s", strrchr(info.dli_fname, '/') + 1);
        at = strchr(name, '@');
        if (!at)
                return "";
        *at = '\0';
        if (part == 0)
                return name;
        at[strcspn(at + 1, ".") + 1] = '\0';
        return at + 1;
}

const char *fake_platform_name(void)
{
        return own_name(1);
}

static int does(const char *mode)
{
        return strcmp(own_name(0), mode) == 0;
}

static void may_misbehave(const char *crash, const char *hang)
{
        if (does(crash))
                fake_crash();
        if (does(hang))
                fake_hang();
}

/* Whoever asks first leaves a file. */
static int is_first(void)
{
        return open(getenv("FAKE_ICD_SEEN"), O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0;
}

__attribute__((constructor)) static void load(void)
{
        may_misbehave("crash-load", "hang-load");
}

static cl_int CL_API_CALL free_buffer(cl_mem buffer)
{
        allocated -= ((FakeObject *) buffer)->size;
        return fake_object_free(buffer);
}

static cl_int CL_API_CALL get_devices(
        cl_platform_id id, cl_device_type type, cl_uint room, cl_device_id *ret, cl_uint *ret_n)
{
        may_misbehave("crash-list", "hang-list");
        if (does("once") && !is_first())
                return CL_DEVICE_NOT_FOUND;
        if (ret && room > 0)
                ret[0] = &device;
        if (ret_n)
                *ret_n = 1;
        return CL_SUCCESS;
}

#define FACT(question, type, ...)                                                        \
        {                                                                                \
                question, (const type[]){ __VA_ARGS__ }, sizeof((type[]){ __VA_ARGS__ }) \
        }

static const struct {
        cl_device_info question;
        const void *value;
        size_t size;
} facts[] = {
        FACT(CL_DEVICE_TYPE, cl_device_type, CL_DEVICE_TYPE_GPU),
        FACT(CL_DEVICE_VENDOR_ID, cl_uint, 0x1002),
        FACT(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint, 4),
        FACT(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint, 1000),
        FACT(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, cl_uint, 4),
        FACT(CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong, MEMORY),
        FACT(CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong, MEMORY / 2),
        FACT(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong, 32 * 1024),
        FACT(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong, 64 * 1024),
        FACT(CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t, 256),
        FACT(CL_DEVICE_MAX_WORK_ITEM_SIZES, size_t, 256, 256, 256),
        FACT(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool, CL_FALSE),
        FACT(CL_DEVICE_AVAILABLE, cl_bool, CL_TRUE),
        FACT(CL_DEVICE_COMPILER_AVAILABLE, cl_bool, CL_TRUE),
        FACT(PCI_BUS_INFO, cl_uint, 0x10, 1, 0, 0),
        FACT(DEVICE_UUID, unsigned char, 0xfa, 0x4e, [15] = 1),
};

static cl_int get_fact(cl_device_info what, size_t room, void *ret, size_t *ret_size)
{
        static const cl_bool yes = CL_TRUE;

        if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && does("unified"))
                return fake_tell(&yes, sizeof yes, room, ret, ret_size);
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
                if (facts[i].question == what)
                        return fake_tell(facts[i].value, facts[i].size, room, ret, ret_size);
        return CL_INVALID_VALUE;
}

/* One that reports no address is still identified by its UUID. */
static const char *extensions(void)
{
        if (does("little-free"))
                return "cl_khr_pci_bus_info cl_amd_device_attribute_query";
        return does("uuid") ? "cl_khr_device_uuid" : "cl_khr_pci_bus_info cl_khr_device_uuid";
}

static cl_int CL_API_CALL get_device_info(
        cl_device_id id, cl_device_info what, size_t room, void *ret, size_t *ret_size)
{
        switch (what) {
        case CL_DEVICE_NAME:
                return fake_tell_text("Fake \033[31mGPU ", room, ret, ret_size);
        case CL_DEVICE_VENDOR:
                return fake_tell_text("Advanced Micro Devices, Inc.", room, ret, ret_size);
        case CL_DRIVER_VERSION:
                return fake_tell_text("1.2", room, ret, ret_size);
        case CL_DEVICE_VERSION:
                return fake_tell_text("OpenCL 3.0 fake", room, ret, ret_size);
        case CL_DEVICE_EXTENSIONS:
                return fake_tell_text(extensions(), room, ret, ret_size);
        case AMD_FREE_MEMORY:
                return fake_tell((const size_t[]){ LITTLE_FREE_KIB, LITTLE_FREE_KIB }, 2 * sizeof(size_t),
                        room, ret, ret_size);
        default:
                return get_fact(what, room, ret, ret_size);
        }
}

static cl_mem CL_API_CALL create_buffer(
        cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *ret_code)
{
        if (does("refuse-memory")) {
                *ret_code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
                return NULL;
        }
        allocated += size;
        if (does("little-free") && allocated > LITTLE_FREE_KIB * 1024 / 4)
                abort();
        return fake_create_buffer(context, flags, size, host, ret_code);
}

static cl_program CL_API_CALL create_program(
        cl_context context, cl_uint n, const char **texts, const size_t *lengths, cl_int *ret_code)
{
        return fake_object_new(0, ret_code);
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint n, const cl_device_id *devices,
        const char *options, void(CL_CALLBACK *notify)(cl_program, void *), void *userdata)
{
        if (does("crash-build-once") && is_first())
                raise(SIGSEGV);
        may_misbehave("crash-build", "hang-build");
        return does("fail-build") ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

static cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id id, cl_program_build_info what,
        size_t room, void *ret, size_t *ret_size)
{
        const cl_build_status status = does("fail-build") ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;

        if (what == CL_PROGRAM_BUILD_STATUS)
                return fake_tell(&status, sizeof status, room, ret, ret_size);
        return fake_tell_text(does("fail-build") ? "nothing can be built here" : "", room, ret, ret_size);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *ret_code)
{
        return fake_object_new(0, ret_code);
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint i, size_t size, const void *value)
{
        return CL_SUCCESS;
}

static cl_int make_event(cl_event *ret)
{
        cl_ulong now = fake_now();

        return fake_event_new(now, now, ret);
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
        const size_t *offset, const size_t *global, const size_t *local, cl_uint n, const cl_event *events,
        cl_event *ret)
{
        if (does("lost"))
                return CL_DEVICE_NOT_AVAILABLE;
        if (faulted)
                return CL_OUT_OF_RESOURCES;
        may_misbehave("crash-kernel", "hang-kernel");
        return make_event(ret);
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
        size_t offset, size_t size, const void *from, cl_uint n, const cl_event *events, cl_event *ret)
{
        if (faulted)
                return CL_OUT_OF_RESOURCES;
        if (!blocking && does("skip-copies"))
                return make_event(ret);
        return fake_write(queue, buffer, blocking, offset, size, from, n, events, ret);
}

/* The first kernel of all faults; nothing works in its process from then on. */
static cl_int CL_API_CALL wait_events(cl_uint n, const cl_event *events)
{
        if (does("fault-once") && is_first())
                faulted = true;
        return faulted ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
        return CL_SUCCESS;
}

const cl_icd_dispatch fake_dispatch = {
        .clGetPlatformIDs = fake_platforms,
        .clGetPlatformInfo = fake_platform_info,
        .clGetDeviceIDs = get_devices,
        .clGetDeviceInfo = get_device_info,
        .clCreateContext = fake_create_context,
        .clReleaseContext = FAKE_FREE(cl_context),
        .clCreateCommandQueue = fake_create_queue,
        .clReleaseCommandQueue = FAKE_FREE(cl_command_queue),
        .clCreateBuffer = create_buffer,
        .clReleaseMemObject = free_buffer,
        .clCreateProgramWithSource = create_program,
        .clBuildProgram = build_program,
        .clGetProgramBuildInfo = get_build_info,
        .clReleaseProgram = FAKE_FREE(cl_program),
        .clCreateKernel = create_kernel,
        .clSetKernelArg = set_argument,
        .clGetKernelWorkGroupInfo = fake_get_kernel_info,
        .clReleaseKernel = FAKE_FREE(cl_kernel),
        .clEnqueueNDRangeKernel = enqueue_kernel,
        .clEnqueueReadBuffer = fake_read,
        .clEnqueueWriteBuffer = enqueue_write,
        .clEnqueueFillBuffer = fake_fill,
        .clEnqueueCopyBuffer = fake_copy,
        .clEnqueueMapBuffer = fake_map,
        .clEnqueueUnmapMemObject = fake_unmap,
        .clWaitForEvents = wait_events,
        .clGetEventInfo = fake_get_event_info,
        .clGetEventProfilingInfo = fake_get_profile,
        .clReleaseEvent = FAKE_FREE(cl_event),
        .clFlush = finish,
        .clFinish = finish,
};
