/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/compute/gemm/gemm-buffers.h"

/* The host memory for data that is copied to the device or from it. */
#define STRIPE_BYTES (8u * 1024 * 1024)

static unsigned stripe_rows(unsigned n, unsigned element_size)
{
        return MAX(1u, MIN(n, STRIPE_BYTES / (n * element_size)));
}

/* Fills a buffer with an operand. `tile_rows` is the number of rows of a tile; 0 if rows follow each other
 * without tiles. */
static int fill_operand(AldGemmBuffers *buffers, cl_mem buffer, AldElement element, AldOperand operand,
        bool transposed, unsigned tile_rows, AldFailure *failure)
{
        AldOpenclSession *session = buffers->session;
        unsigned n = buffers->n, size = ald_element_size(element), rows = tile_rows ?: stripe_rows(n, size);
        g_autofree void *stripe = g_malloc((size_t) rows * n * size);
        g_autofree void *tiles = tile_rows ? g_malloc((size_t) rows * n * size) : NULL;

        for (unsigned first = 0; first < n; first += rows) {
                unsigned n_rows = MIN(rows, n - first);
                cl_int code;

                ald_operand_fill(element, operand, transposed, n, first, n_rows, stripe);
                if (tiles)
                        ald_operand_to_tiles(stripe, n, n_rows, tiles);
                code = session->cl->EnqueueWriteBuffer(session->queue, buffer, CL_TRUE,
                        (size_t) first * n * size, (size_t) n_rows * n * size, tiles ?: stripe, 0, NULL,
                        NULL);
                if (code != CL_SUCCESS)
                        return ald_cl_fail(failure, code, "writing operands");
        }
        return 0;
}

static int prepare_operand(AldGemmBuffers *buffers, AldElement element, AldOperand operand, bool transposed,
        unsigned tile_rows, cl_mem *buffer, AldFailure *failure)
{
        size_t size = (size_t) buffers->n * buffers->n * ald_element_size(element);
        int r;

        if (*buffer)
                return 0;
        r = ald_opencl_session_buffer(buffers->session, CL_MEM_READ_ONLY, size, buffer, failure);
        return r < 0 ? r : fill_operand(buffers, *buffer, element, operand, transposed, tile_rows, failure);
}

/* Creates a buffer of the size of a product, with the extra rows that kernels may write to after the last. */
static int prepare_result(AldGemmBuffers *buffers, cl_mem *buffer, AldFailure *failure)
{
        size_t size = (size_t) buffers->n * (buffers->n + ALD_GEMM_ROWS_OVER) * sizeof(float);

        return *buffer ? 0
                       : ald_opencl_session_buffer(
                                 buffers->session, CL_MEM_READ_WRITE, size, buffer, failure);
}

int ald_gemm_buffers_prepare(AldGemmBuffers *buffers, const AldGemmVariant *variant, AldFailure *failure)
{
        AldElement element = variant->element;
        bool transposed = variant->b_transposed, tiled = variant->tiled;
        int r = prepare_operand(buffers, element, ALD_OPERAND_A, false, tiled ? variant->tile_rows : 0,
                tiled ? &buffers->tiles_a : &buffers->a[element], failure);

        if (r >= 0)
                r = prepare_operand(buffers, element, ALD_OPERAND_B, transposed,
                        tiled ? variant->tile_columns : 0,
                        tiled ? &buffers->tiles_b : &buffers->b[element][transposed], failure);
        if (r >= 0)
                r = prepare_result(buffers, &buffers->c, failure);
        if (r >= 0 && variant->pack_rows > 0)
                r = prepare_result(buffers, &buffers->panels_a, failure);
        if (r >= 0 && variant->pack_rows > 0)
                r = prepare_result(buffers, &buffers->panels_b, failure);
        if (r >= 0 && !buffers->checks[element])
                buffers->checks[element] = ald_gemm_check_new(element, buffers->n);
        return r;
}

int ald_gemm_buffers_invalidate(AldGemmBuffers *buffers, AldFailure *failure)
{
        AldOpenclSession *session = buffers->session;
        const float wrong = NAN;
        cl_int code = session->cl->EnqueueFillBuffer(session->queue, buffers->c, &wrong, sizeof wrong, 0,
                (size_t) buffers->n * buffers->n * sizeof wrong, 0, NULL, NULL);

        return code == CL_SUCCESS ? 0 : ald_cl_fail(failure, code, "filling device memory");
}

int ald_gemm_buffers_check(AldGemmBuffers *buffers, const AldGemmVariant *variant, AldFailure *failure)
{
        AldOpenclSession *session = buffers->session;
        unsigned n = buffers->n, rows = stripe_rows(n, sizeof(float));
        g_autofree float *stripe = g_new(float, (size_t) rows *n);
        double tolerance = ald_gemm_tolerance(n, variant->fp16_sums);
        int r = 0;

        for (unsigned first = 0; r >= 0 && first < n; first += rows) {
                unsigned n_rows = MIN(rows, n - first);
                cl_int code = session->cl->EnqueueReadBuffer(session->queue, buffers->c, CL_TRUE,
                        (size_t) first * n * sizeof *stripe, (size_t) n_rows * n * sizeof *stripe, stripe, 0,
                        NULL, NULL);

                if (code != CL_SUCCESS)
                        return ald_cl_fail(failure, code, "reading the product");
                r = ald_gemm_check_rows(
                        buffers->checks[variant->element], stripe, first, n_rows, tolerance, failure);
        }
        return r;
}

static void release_buffer(AldOpenclSession *session, cl_mem *buffer)
{
        if (*buffer)
                session->cl->ReleaseMemObject(*buffer);
        *buffer = NULL;
}

void ald_gemm_buffers_clear(AldGemmBuffers *buffers)
{
        for (unsigned element = 0; element < ALD_N_ELEMENTS; element++) {
                release_buffer(buffers->session, &buffers->a[element]);
                release_buffer(buffers->session, &buffers->b[element][0]);
                release_buffer(buffers->session, &buffers->b[element][1]);
                g_clear_pointer(&buffers->checks[element], ald_gemm_check_free);
        }
        release_buffer(buffers->session, &buffers->tiles_a);
        release_buffer(buffers->session, &buffers->tiles_b);
        release_buffer(buffers->session, &buffers->panels_a);
        release_buffer(buffers->session, &buffers->panels_b);
        release_buffer(buffers->session, &buffers->c);
}
