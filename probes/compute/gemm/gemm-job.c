/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/gemm/gemm-job.h"

/* These are STEP and SLICE of kernels/gemm-cpu.cl. */
#define PACK_B_ROWS 16u
#define PACK_COLUMNS 256u

double ald_gemm_work(unsigned n)
{
        return 2.0 * n * n * n;
}

static unsigned divide_up(unsigned a, unsigned b)
{
        return (a + b - 1) / b;
}

static int build_program(AldGemmJob *job)
{
        const AldGemmVariant *variant = job->variant;
        g_autofree char *options = g_strdup_printf(
                "-DTILE_COLUMNS=%u -DTILE_ROWS=%u -DCOLUMNS=%u -DROWS=%u %s", variant->tile_columns,
                variant->tile_rows, variant->pack_columns, variant->pack_rows, variant->options ?: "");
        AldProgramBuild build_with = variant->build ?: ald_opencl_session_build;

        return build_with(job->session, variant->source, options, &job->program, job->failure);
}

/* Creates a kernel and sets its arguments. The slot owns the kernel as soon as it exists, also after a
 * failure. */
static int create_kernel(
        AldGemmJob *job, const char *name, cl_mem *const *buffers, unsigned n_buffers, cl_kernel *slot)
{
        const AldCl *cl = job->session->cl;
        cl_int code = CL_SUCCESS, n = (cl_int) job->n;
        cl_kernel kernel = cl->CreateKernel(job->program, name, &code);

        if (!kernel)
                return ald_cl_fail(job->failure, code, "creating a kernel");
        *slot = kernel;
        for (unsigned i = 0; i < n_buffers && code == CL_SUCCESS; i++)
                code = cl->SetKernelArg(kernel, i, sizeof *buffers[i], buffers[i]);
        if (code == CL_SUCCESS)
                code = cl->SetKernelArg(kernel, n_buffers, sizeof n, &n);
        return code == CL_SUCCESS ? 0 : ald_cl_fail(job->failure, code, "setting the arguments of a kernel");
}

static int create_kernels(AldGemmJob *job, const AldGemmBuffers *buffers)
{
        const AldGemmVariant *variant = job->variant;
        cl_mem a = variant->tiled ? buffers->tiles_a : buffers->a[variant->element];
        cl_mem b = variant->tiled ? buffers->tiles_b : buffers->b[variant->element][variant->b_transposed];
        cl_mem panels_a = buffers->panels_a, panels_b = buffers->panels_b, c = buffers->c;
        int r;

        if (variant->pack_rows == 0)
                return create_kernel(job, "gemm", (cl_mem *[]){ &a, &b, &c }, 3, &job->gemm);
        r = create_kernel(job, "pack_a", (cl_mem *[]){ &a, &panels_a }, 2, &job->pack_a);
        if (r >= 0)
                r = create_kernel(job, "pack_b", (cl_mem *[]){ &b, &panels_b }, 2, &job->pack_b);
        if (r >= 0)
                r = create_kernel(job, "gemm", (cl_mem *[]){ &panels_a, &panels_b, &c }, 3, &job->gemm);
        return r;
}

int ald_gemm_job_new(
        const AldGemmBuffers *buffers, const AldGemmVariant *variant, AldFailure *failure, AldGemmJob **ret)
{
        g_autoptr(AldGemmJob) job = g_new(AldGemmJob, 1);
        int r;

        *job = (AldGemmJob){
                .variant = variant,
                .session = buffers->session,
                .failure = failure,
                .n = buffers->n,
        };
        r = build_program(job);
        if (r >= 0)
                r = create_kernels(job, buffers);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&job);
        return 0;
}

void ald_gemm_job_free(AldGemmJob *job)
{
        cl_kernel kernels[] = { job->pack_a, job->pack_b, job->gemm };

        for (unsigned i = 0; i < G_N_ELEMENTS(kernels); i++)
                if (kernels[i])
                        job->session->cl->ReleaseKernel(kernels[i]);
        if (job->program)
                job->session->cl->ReleaseProgram(job->program);
        g_free(job);
}

static int enqueue_kernel(
        const AldGemmJob *job, cl_kernel kernel, const size_t global[2], const size_t local[2], cl_event *ret)
{
        cl_int code = job->session->cl->EnqueueNDRangeKernel(
                job->session->queue, kernel, 2, NULL, global, local, 0, NULL, ret);

        return code == CL_SUCCESS ? 0 : ald_cl_fail(job->failure, code, "starting a kernel");
}

int ald_gemm_job_launch(void *userdata, cl_event *ret)
{
        const AldGemmJob *job = userdata;
        const AldGemmVariant *variant = job->variant;
        size_t local[2] = { variant->local_columns, variant->local_rows }, one[2] = { 1, 1 };
        size_t global[2] = { divide_up(job->n, variant->tile_columns) * local[0],
                divide_up(job->n, variant->tile_rows) * local[1] };
        int r = 0;

        if (variant->resident) {
                global[0] = job->session->facts->listed.compute_units * local[0];
                global[1] = local[1];
        }
        if (variant->pack_rows > 0) {
                size_t slices = divide_up(job->n, PACK_COLUMNS);

                r = enqueue_kernel(job, job->pack_a,
                        (size_t[]){ divide_up(job->n, variant->pack_rows), slices }, one, NULL);
                if (r >= 0)
                        r = enqueue_kernel(job, job->pack_b,
                                (size_t[]){ divide_up(job->n, PACK_B_ROWS), slices }, one, NULL);
        }
        return r < 0 ? r : enqueue_kernel(job, job->gemm, global, local, ret);
}
