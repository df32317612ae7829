/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/mman.h>

#include <glib.h>

#include "probes/compute/kernels.h"
#include "probes/compute/memory/memory-rate.h"
#include "probes/compute/memory/pattern.h"

#define HUGE_PAGE ((size_t) 2 * 1024 * 1024)
#define VECTOR (16 * sizeof(uint32_t)) /* of the kernels */
#define ITEMS_PER_UNIT 256u
#define SCRUB_SEED 0x5bd1e995u

int ald_memory_open(
        AldMemoryBuffers *ret, AldOpenclSession *session, bool copies, size_t n_sums, AldFailure *failure)
{
        bool cpu = session->facts->type == ALD_LISTED_DEVICE_TYPE_CPU;
        AldMemoryBuffers memory = { .session = session,
                .copies = copies,
                .n_sums = MAX(n_sums, (size_t) session->facts->listed.compute_units * ITEMS_PER_UNIT) };
        g_autofree char *options = g_strdup_printf(
                "-DPERIOD=%uu%s", (unsigned) ALD_PATTERN_PERIOD, cpu ? " -DCPU" : "");
        int r = ald_opencl_session_build(session, ald_kernel_memory, options, &memory.program, failure);

        if (r < 0)
                return r;
        memory.fill = session->cl->CreateKernel(memory.program, "fill", NULL);
        memory.check = session->cl->CreateKernel(memory.program, "check", NULL);
        if (memory.fill && memory.check)
                r = ald_opencl_session_buffer(
                        session, CL_MEM_READ_WRITE, memory.n_sums * sizeof(uint32_t), &memory.sums, failure);
        else
                r = ald_fail(failure, ALD_FAILURE_BUILD_FAILED, "the kernels that fill memory are missing");
        if (r < 0)
                ald_memory_close(&memory);
        else
                *ret = memory;
        return r;
}

static void release_memory(AldMemoryBuffers *memory)
{
        const AldCl *cl = memory->session->cl;

        if (memory->from)
                cl->ReleaseMemObject(memory->from);
        if (memory->to)
                cl->ReleaseMemObject(memory->to);
        if (memory->host)
                munmap(memory->host, memory->host_bytes);
        memory->from = memory->to = NULL;
        memory->host = NULL;
        memory->bytes = 0;
}

void ald_memory_close(AldMemoryBuffers *memory)
{
        const AldCl *cl = memory->session->cl;

        release_memory(memory);
        if (memory->sums)
                cl->ReleaseMemObject(memory->sums);
        if (memory->fill)
                cl->ReleaseKernel(memory->fill);
        if (memory->check)
                cl->ReleaseKernel(memory->check);
        if (memory->program)
                cl->ReleaseProgram(memory->program);
}

static int enqueue_kernel(AldMemoryBuffers *memory, cl_kernel kernel, cl_mem buffer, AldFailure *failure)
{
        const AldCl *cl = memory->session->cl;
        bool cpu = memory->session->facts->type == ALD_LISTED_DEVICE_TYPE_CPU;
        size_t items = (size_t) memory->session->facts->listed.compute_units * (cpu ? 16 : ITEMS_PER_UNIT);
        size_t local = 1;
        cl_int code = cl->SetKernelArg(kernel, 0, sizeof buffer, &buffer);

        if (code == CL_SUCCESS)
                code = cl->EnqueueNDRangeKernel(
                        memory->session->queue, kernel, 1, NULL, &items, cpu ? &local : NULL, 0, NULL, NULL);
        return code == CL_SUCCESS ? 0 : ald_cl_fail(failure, code, "starting a kernel");
}

static int fill_buffer(AldMemoryBuffers *memory, cl_mem buffer, cl_uint seed, AldFailure *failure)
{
        const AldCl *cl = memory->session->cl;
        cl_ulong n = memory->bytes / VECTOR;

        cl->SetKernelArg(memory->fill, 1, sizeof n, &n);
        cl->SetKernelArg(memory->fill, 2, sizeof seed, &seed);
        return enqueue_kernel(memory, memory->fill, buffer, failure);
}

static int wrap_host_memory(
        AldMemoryBuffers *memory, void *host, size_t bytes, cl_mem *ret, AldFailure *failure)
{
        cl_int code = CL_SUCCESS;
        cl_mem buffer = memory->session->cl->CreateBuffer(
                memory->session->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host, &code);

        if (!buffer)
                return ald_cl_fail(failure, code, "giving memory to the device");
        *ret = buffer;
        return 0;
}

/*
 * Allocates memory of the host with large pages, which drivers do not request. They spare processors most
 * walks of page tables; with small pages, the rate is a third lower.
 */
static int allocate_host(AldMemoryBuffers *memory, size_t bytes, AldFailure *failure)
{
        size_t n = memory->copies ? 2 : 1, size = n * bytes + HUGE_PAGE;
        char *host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *start;
        int r;

        if (host == MAP_FAILED)
                return ald_fail(failure, ALD_FAILURE_OUT_OF_MEMORY, "no memory of %zu bytes", size);
        memory->host = host;
        memory->host_bytes = size;
        start = host + (HUGE_PAGE - (uintptr_t) host % HUGE_PAGE) % HUGE_PAGE;
        (void) madvise(start, n * bytes, MADV_HUGEPAGE);
        r = wrap_host_memory(memory, start, bytes, &memory->from, failure);
        if (r >= 0 && memory->copies)
                r = wrap_host_memory(memory, start + bytes, bytes, &memory->to, failure);
        return r;
}

static int allocate_memory(AldMemoryBuffers *memory, size_t bytes, AldFailure *failure)
{
        int r;

        if (memory->session->facts->type == ALD_LISTED_DEVICE_TYPE_CPU)
                return allocate_host(memory, bytes, failure);
        r = ald_opencl_session_buffer(memory->session, CL_MEM_READ_WRITE, bytes, &memory->from, failure);
        if (r >= 0 && memory->copies)
                r = ald_opencl_session_buffer(
                        memory->session, CL_MEM_READ_WRITE, bytes, &memory->to, failure);
        return r;
}

int ald_memory_resize(AldMemoryBuffers *memory, size_t bytes, AldFailure *failure)
{
        int r;

        release_memory(memory);
        r = allocate_memory(memory, bytes, failure);
        memory->bytes = bytes;
        if (r >= 0)
                r = fill_buffer(memory, memory->from, 0, failure);
        if (r >= 0)
                r = ald_memory_reset(memory, failure);
        if (r < 0) {
                memory->session->cl->Finish(memory->session->queue);
                release_memory(memory);
        }
        return r;
}

int ald_memory_reset(AldMemoryBuffers *memory, AldFailure *failure)
{
        const AldCl *cl = memory->session->cl;
        g_autofree uint32_t *zeros = g_new0(uint32_t, memory->n_sums);
        cl_int code = cl->EnqueueWriteBuffer(memory->session->queue, memory->sums, CL_TRUE, 0,
                memory->n_sums * sizeof *zeros, zeros, 0, NULL, NULL);
        int r = code == CL_SUCCESS ? 0 : ald_cl_fail(failure, code, "writing device memory");

        if (r >= 0 && memory->to)
                r = fill_buffer(memory, memory->to, SCRUB_SEED, failure);
        if (r < 0)
                return r;
        code = cl->Finish(memory->session->queue);
        return code == CL_SUCCESS ? 0 : ald_cl_fail(failure, code, "filling memory");
}

/* Adds up all words in `sums`. */
static int sum_words(AldMemoryBuffers *memory, uint32_t *ret, AldFailure *failure)
{
        g_autofree uint32_t *sums = g_new(uint32_t, memory->n_sums);
        uint32_t sum = 0;
        cl_int code = memory->session->cl->EnqueueReadBuffer(memory->session->queue, memory->sums, CL_TRUE, 0,
                memory->n_sums * sizeof *sums, sums, 0, NULL, NULL);

        if (code != CL_SUCCESS)
                return ald_cl_fail(failure, code, "reading device memory");
        for (size_t i = 0; i < memory->n_sums; i++)
                sum += sums[i];
        *ret = sum;
        return 0;
}

static int verify_copy(AldMemoryBuffers *memory, AldFailure *failure)
{
        const AldCl *cl = memory->session->cl;
        cl_ulong n = memory->bytes / VECTOR;
        uint32_t wrong;
        int r;

        cl->SetKernelArg(memory->check, 1, sizeof memory->sums, &memory->sums);
        cl->SetKernelArg(memory->check, 2, sizeof n, &n);
        r = enqueue_kernel(memory, memory->check, memory->to, failure);
        if (r >= 0)
                r = sum_words(memory, &wrong, failure);
        if (r >= 0 && wrong > 0)
                r = ald_fail(failure, ALD_FAILURE_WRONG_RESULT, "%u words of the copy are wrong", wrong);
        return r;
}

int ald_memory_verify(AldMemoryBuffers *memory, uint64_t passes, AldFailure *failure)
{
        uint32_t expected = ald_pattern_sum(memory->bytes / ALD_PATTERN_BYTES) * (uint32_t) passes, sum;
        int r;

        if (memory->copies)
                return verify_copy(memory, failure);
        r = sum_words(memory, &sum, failure);
        if (r >= 0 && sum != expected)
                r = ald_fail(failure, ALD_FAILURE_WRONG_RESULT,
                        "the words that were read add up to %#x, not %#x", sum, expected);
        return r;
}
