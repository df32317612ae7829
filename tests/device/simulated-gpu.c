/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The OpenCL driver of a simulated machine, with one GPU in the memory of the host. Its kernels are those of
 * the compute probe, by name, and the processor computes them; a launch that repeats the last one is not
 * computed again. Commands take the time that a GPU with the rates FP16_TFLOPS and GB_PER_SECOND would take.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probes/compute/memory/pattern.h"
#include "tests/unit/fake-device.h"

#define TEXT(of) TEXT_(of)
#define TEXT_(of) #of
#define NAME "Simulated GPU " TEXT(NUMBER)

#define DEVICE_UUID 0x106a
#define MIB ((cl_ulong) 1 << 20)
#define NSEC_PER_SEC 1e9
#define BYTES_PER_SECOND (GB_PER_SECOND * 1e9)
#define HOST_BYTES_PER_SECOND 12e9
#define VECTOR_WORDS 16u /* of the kernels for memory */
#define N_ARGUMENTS 4u
#define TEXT_MAX 256u

static struct _cl_device_id {
        const cl_icd_dispatch *dispatch;
} device = { &fake_dispatch };

typedef struct Program {
        char options[TEXT_MAX];
} Program;

typedef struct Kernel {
        char name[TEXT_MAX];
        Program program;
        union {
                cl_mem buffer;
                cl_ulong size;
                cl_int number;
        } arguments[N_ARGUMENTS];
} Kernel;

/* The launch that was computed last, unless a buffer has changed since. */
static struct {
        Kernel kernel;
        size_t items;
        cl_uint sum; /* of a kernel that reads */
        bool valid;
} last;

static cl_ulong queue_end_nsec; /* when all queued commands have ended */

const char *fake_platform_name(void)
{
        return "Simulated";
}

/* A command begins when those before it have ended. */
static cl_int take_time(double seconds, cl_event *ret)
{
        cl_ulong now = fake_now(), begin = queue_end_nsec > now ? queue_end_nsec : now;

        queue_end_nsec = begin + (cl_ulong) (seconds * NSEC_PER_SEC);
        return fake_event_new(begin, queue_end_nsec, ret);
}

static void wait_until(cl_ulong nsec)
{
        const struct timespec then = { .tv_sec = (time_t) (nsec / 1000000000),
                .tv_nsec = (long) (nsec % 1000000000) };

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) != 0)
                ;
}

/* The device */

static cl_int CL_API_CALL get_devices(
        cl_platform_id id, cl_device_type type, cl_uint room, cl_device_id *ret, cl_uint *ret_n)
{
        if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
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

/* Its memory is that of the host. Small buffers spare a host that plays several machines. */
static const struct {
        cl_device_info question;
        const void *value;
        size_t size;
} facts[] = {
        FACT(CL_DEVICE_TYPE, cl_device_type, CL_DEVICE_TYPE_GPU),
        FACT(CL_DEVICE_VENDOR_ID, cl_uint, 0),
        FACT(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint, 8),
        FACT(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint, 1000),
        FACT(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, cl_uint, 4),
        FACT(CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong, 16 * MIB),
        FACT(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong, 32 * 1024),
        FACT(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong, 64 * 1024),
        FACT(CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t, 256),
        FACT(CL_DEVICE_MAX_WORK_ITEM_SIZES, size_t, 256, 256, 256),
        FACT(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool, CL_TRUE),
        FACT(CL_DEVICE_AVAILABLE, cl_bool, CL_TRUE),
        FACT(CL_DEVICE_COMPILER_AVAILABLE, cl_bool, CL_TRUE),
        FACT(DEVICE_UUID, unsigned char, 0x51, [15] = NUMBER),
};

static cl_ulong host_memory(void)
{
        return (cl_ulong) sysconf(_SC_PHYS_PAGES) * (cl_ulong) sysconf(_SC_PAGESIZE);
}

static cl_int CL_API_CALL get_device_info(
        cl_device_id id, cl_device_info what, size_t room, void *ret, size_t *ret_size)
{
        const cl_ulong memory = host_memory();

        switch (what) {
        case CL_DEVICE_NAME:
                return fake_tell_text(NAME, room, ret, ret_size);
        case CL_DEVICE_VENDOR:
                return fake_tell_text("Simulated", room, ret, ret_size);
        case CL_DRIVER_VERSION:
                return fake_tell_text("1.0", room, ret, ret_size);
        case CL_DEVICE_VERSION:
                return fake_tell_text("OpenCL 3.0 simulated", room, ret, ret_size);
        case CL_DEVICE_EXTENSIONS:
                return fake_tell_text("cl_khr_fp16 cl_khr_device_uuid", room, ret, ret_size);
        case CL_DEVICE_GLOBAL_MEM_SIZE:
                return fake_tell(&memory, sizeof memory, room, ret, ret_size);
        default:
                break;
        }
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
                if (facts[i].question == what)
                        return fake_tell(facts[i].value, facts[i].size, room, ret, ret_size);
        return CL_INVALID_VALUE;
}

/* Programs and kernels */

static Program *program_of(cl_program program)
{
        return (Program *) ((FakeObject *) program)->bytes;
}

static Kernel *kernel_of(cl_kernel kernel)
{
        return (Kernel *) ((FakeObject *) kernel)->bytes;
}

static cl_program CL_API_CALL create_program(
        cl_context context, cl_uint n, const char **texts, const size_t *lengths, cl_int *ret_code)
{
        return fake_object_new(sizeof(Program), ret_code);
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint n, const cl_device_id *devices,
        const char *options, void(CL_CALLBACK *notify)(cl_program, void *), void *userdata)
{
        snprintf(program_of(program)->options, TEXT_MAX, "%s", options ? options : "");
        return CL_SUCCESS;
}

static cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id id, cl_program_build_info what,
        size_t room, void *ret, size_t *ret_size)
{
        const cl_build_status status = CL_BUILD_SUCCESS;

        if (what == CL_PROGRAM_BUILD_STATUS)
                return fake_tell(&status, sizeof status, room, ret, ret_size);
        return fake_tell_text("", room, ret, ret_size);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *ret_code)
{
        FakeObject *kernel = fake_object_new(sizeof(Kernel), ret_code);

        if (kernel) {
                snprintf(kernel_of((cl_kernel) kernel)->name, TEXT_MAX, "%s", name);
                kernel_of((cl_kernel) kernel)->program = *program_of(program);
        }
        return (cl_kernel) kernel;
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint i, size_t size, const void *value)
{
        if (i >= N_ARGUMENTS || size > sizeof kernel_of(kernel)->arguments[i])
                return CL_INVALID_ARG_INDEX;
        memset(&kernel_of(kernel)->arguments[i], 0, sizeof kernel_of(kernel)->arguments[i]);
        memcpy(&kernel_of(kernel)->arguments[i], value, size);
        return CL_SUCCESS;
}

static void *memory_of(const Kernel *kernel, unsigned i)
{
        return ((FakeObject *) kernel->arguments[i].buffer)->bytes;
}

static double number_option(const Kernel *kernel, const char *name)
{
        const char *at = strstr(kernel->program.options, name);

        return at ? strtod(at + strlen(name), NULL) : 1;
}

static bool in_half(const Kernel *kernel)
{
        return strstr(kernel->program.options, "-DHALF");
}

/* In operations per second. Twice as many in half precision. */
static double rate_of(const Kernel *kernel)
{
        return FP16_TFLOPS * 1e12 * (in_half(kernel) ? 1 : 0.5);
}

/* Each computes unless that is known, and returns the seconds that it takes. */

static double fill(Kernel *kernel, size_t items, bool known)
{
        cl_uint *words = memory_of(kernel, 0);
        cl_ulong n = kernel->arguments[1].size * VECTOR_WORDS;
        cl_uint seed = (cl_uint) kernel->arguments[2].number;

        /* With a seed the words only have to differ from those of the pattern. */
        for (cl_ulong i = 0; !known && i < n; i++)
                words[i] = ald_pattern_word(i) ^ seed;
        return (double) (n * sizeof *words) / BYTES_PER_SECOND;
}

static double check(Kernel *kernel, size_t items, bool known)
{
        const cl_uint *words = memory_of(kernel, 0);
        cl_uint *wrong = memory_of(kernel, 1);
        cl_ulong n = kernel->arguments[2].size * VECTOR_WORDS;

        memset(wrong, 0, items * sizeof *wrong);
        for (cl_ulong i = 0; i < n; i++)
                wrong[0] += words[i] != ald_pattern_word(i);
        return (double) (n * sizeof *words) / BYTES_PER_SECOND;
}

static double read_words(Kernel *kernel, size_t items, bool known)
{
        const cl_uint *words = memory_of(kernel, 0);
        cl_ulong n = kernel->arguments[2].size * VECTOR_WORDS;
        cl_uint sum = 0;

        for (cl_ulong i = 0; !known && i < n; i++)
                sum += words[i];
        last.sum = known ? last.sum : sum;
        *(cl_uint *) memory_of(kernel, 1) += last.sum;
        return (double) (n * sizeof *words) / BYTES_PER_SECOND;
}

static double copy_words(Kernel *kernel, size_t items, bool known)
{
        size_t size = kernel->arguments[2].size * VECTOR_WORDS * sizeof(cl_uint);

        if (!known)
                memcpy(memory_of(kernel, 1), memory_of(kernel, 0), size);
        return 2 * (double) size / BYTES_PER_SECOND;
}

/* Of a normal number or 0, as all operands are. */
static float half_to_float(uint16_t half)
{
        float size = (float) ((half & 0x3ff) | 0x400) / 1024;
        int exponent = (half >> 10 & 0x1f) - 15;

        if ((half & 0x7fff) == 0)
                return 0;
        size = exponent < 0 ? size / (float) (1 << -exponent) : size * (float) (1 << exponent);
        return half & 0x8000 ? -size : size;
}

static float *operand(const Kernel *kernel, unsigned i, size_t n)
{
        float *ret = malloc(n * sizeof *ret);
        const void *from = memory_of(kernel, i);

        if (!ret)
                abort();
        if (!strstr(kernel->program.options, "-DFP16"))
                return memcpy(ret, from, n * sizeof *ret);
        for (size_t at = 0; at < n; at++)
                ret[at] = half_to_float(((const uint16_t *) from)[at]);
        return ret;
}

static double multiply(Kernel *kernel, size_t items, bool known)
{
        size_t n = (size_t) kernel->arguments[3].number;
        float *a, *b, *c = memory_of(kernel, 2);

        if (!known) {
                a = operand(kernel, 0, n * n);
                b = operand(kernel, 1, n * n);
                memset(c, 0, n * n * sizeof *c);
                for (size_t row = 0; row < n; row++)
                        for (size_t k = 0; k < n; k++)
                                for (size_t column = 0; column < n; column++)
                                        c[row * n + column] += a[row * n + k] * b[k * n + column];
                free(a);
                free(b);
        }
        return 2.0 * (double) n * (double) n * (double) n / rate_of(kernel);
}

/* The chains are back where they began. */
static double chains(Kernel *kernel, size_t items, bool known)
{
        unsigned width = (unsigned) number_option(kernel, "-DWIDTH="),
                 n = (unsigned) number_option(kernel, "-DCHAINS=");
        float *sums = memory_of(kernel, 0);

        for (size_t item = 0; !known && item < items; item++) {
                sums[item] = 0;
                for (unsigned chain = 0; chain < n; chain++)
                        for (unsigned lane = 0; lane < width; lane++)
                                sums[item] += (float) ((item + 3 * chain + 7 * lane) % 61);
        }
        return 2.0 * width * n * (double) items * kernel->arguments[1].number / rate_of(kernel);
}

static const struct {
        const char *prefix;
        double (*run)(Kernel *kernel, size_t items, bool known);
        bool keeps; /* what it computes stays valid: it changes only sums that it adds to */
} kernels[] = {
        { "fill", fill, .keeps = false },
        { "check", check, .keeps = false },
        { "read_", read_words, .keeps = true },
        { "copy_", copy_words, .keeps = true },
        { "gemm", multiply, .keeps = true },
        { "peak", chains, .keeps = true },
};

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel object, cl_uint dimensions,
        const size_t *offset, const size_t *global, const size_t *local, cl_uint n, const cl_event *events,
        cl_event *ret)
{
        Kernel *kernel = kernel_of(object);
        size_t items = global[0] * (dimensions > 1 ? global[1] : 1);
        bool known = last.valid && last.items == items && memcmp(&last.kernel, kernel, sizeof *kernel) == 0;
        double seconds;

        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
                if (strncmp(kernel->name, kernels[i].prefix, strlen(kernels[i].prefix)) != 0)
                        continue;
                seconds = kernels[i].run(kernel, items, known);
                last.kernel = *kernel;
                last.items = items;
                last.valid = kernels[i].keeps;
                return take_time(seconds, ret);
        }
        return CL_INVALID_KERNEL;
}

/* Buffers */

static cl_mem CL_API_CALL create_buffer(
        cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *ret_code)
{
        last.valid = false;
        return fake_create_buffer(context, flags, size, host, ret_code);
}

static cl_int end_transfer(cl_int code, cl_bool blocking, size_t size, cl_event *ret)
{
        if (code == CL_SUCCESS)
                code = take_time((double) size / HOST_BYTES_PER_SECOND, ret);
        if (code == CL_SUCCESS && blocking)
                wait_until(queue_end_nsec);
        return code;
}

static cl_int CL_API_CALL enqueue_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
        size_t size, void *to, cl_uint n, const cl_event *events, cl_event *ret)
{
        return end_transfer(
                fake_read(queue, buffer, blocking, offset, size, to, n, events, NULL), blocking, size, ret);
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
        size_t offset, size_t size, const void *from, cl_uint n, const cl_event *events, cl_event *ret)
{
        last.valid = false;
        return end_transfer(fake_write(queue, buffer, blocking, offset, size, from, n, events, NULL),
                blocking, size, ret);
}

static cl_int CL_API_CALL enqueue_fill(cl_command_queue queue, cl_mem buffer, const void *pattern,
        size_t pattern_size, size_t offset, size_t size, cl_uint n, const cl_event *events, cl_event *ret)
{
        last.valid = false;
        return fake_fill(queue, buffer, pattern, pattern_size, offset, size, n, events, ret);
}

static cl_int CL_API_CALL enqueue_copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
        size_t to_offset, size_t size, cl_uint n, const cl_event *events, cl_event *ret)
{
        last.valid = false;
        return fake_copy(queue, from, to, from_offset, to_offset, size, n, events, ret);
}

/* Time */

static cl_int CL_API_CALL wait_events(cl_uint n, const cl_event *events)
{
        for (cl_uint i = 0; i < n; i++)
                wait_until(fake_event_end(events[i]));
        return CL_SUCCESS;
}

static cl_int CL_API_CALL flush(cl_command_queue queue)
{
        return CL_SUCCESS;
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
        wait_until(queue_end_nsec);
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
        .clReleaseMemObject = FAKE_FREE(cl_mem),
        .clCreateProgramWithSource = create_program,
        .clBuildProgram = build_program,
        .clGetProgramBuildInfo = get_build_info,
        .clReleaseProgram = FAKE_FREE(cl_program),
        .clCreateKernel = create_kernel,
        .clSetKernelArg = set_argument,
        .clGetKernelWorkGroupInfo = fake_get_kernel_info,
        .clReleaseKernel = FAKE_FREE(cl_kernel),
        .clEnqueueNDRangeKernel = enqueue_kernel,
        .clEnqueueReadBuffer = enqueue_read,
        .clEnqueueWriteBuffer = enqueue_write,
        .clEnqueueFillBuffer = enqueue_fill,
        .clEnqueueCopyBuffer = enqueue_copy,
        .clEnqueueMapBuffer = fake_map,
        .clEnqueueUnmapMemObject = fake_unmap,
        .clWaitForEvents = wait_events,
        .clGetEventInfo = fake_get_event_info,
        .clGetEventProfilingInfo = fake_get_profile,
        .clReleaseEvent = FAKE_FREE(cl_event),
        .clFlush = flush,
        .clFinish = finish,
};
