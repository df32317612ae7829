/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How fast OpenBLAS or CLBlast, loaded at run time, multiply the matrices that the compute probe multiplies:
 * the best and the median of windows of 50 ms, as there. What they make is checked as there.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/compute/gemm/gemm-check.h"
#include "probes/compute/run/opencl-session.h"

#define WINDOW_SECONDS 0.05
#define SETTLE_SECONDS 0.3

/* Of both libraries. */
enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111 };

typedef void OpenblasSgemm(int layout, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
        const float *a, int a_stride, const float *b, int b_stride, float beta, float *c, int c_stride);
typedef int ClblastSgemm(int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k,
        float alpha, cl_mem a, size_t a_first, size_t a_stride, cl_mem b, size_t b_first, size_t b_stride,
        float beta, cl_mem c, size_t c_first, size_t c_stride, cl_command_queue *queue, cl_event *event);

typedef struct Peer {
        unsigned n;
        float *a, *b, *c;
        OpenblasSgemm *openblas;
        ClblastSgemm *clblast;
        AldCl cl;
        AldOpenclSession session;
        cl_mem buffers[3];
} Peer;

static void *load(const char *library, const char *function)
{
        void *handle = dlopen(library, RTLD_NOW);
        void *found = handle ? dlsym(handle, function) : NULL;

        if (!found)
                g_error("%s is not there", library);
        return found;
}

static void open_clblast(Peer *peer)
{
        AldFailure failure = {};
        size_t size = (size_t) peer->n * peer->n * sizeof(float);
        const float *operands[] = { peer->a, peer->b, peer->c };

        *(void **) &peer->clblast = load("libclblast.so.1", "CLBlastSgemm");
        if (ald_cl_open(&peer->cl, &failure) < 0 ||
                ald_opencl_session_open(&peer->session, &peer->cl, NULL, &failure) < 0)
                g_error("%s", failure.message);
        for (unsigned i = 0; i < G_N_ELEMENTS(peer->buffers); i++)
                if (ald_opencl_session_buffer(
                            &peer->session, CL_MEM_READ_WRITE, size, &peer->buffers[i], &failure) < 0 ||
                        peer->cl.EnqueueWriteBuffer(peer->session.queue, peer->buffers[i], CL_TRUE, 0, size,
                                operands[i], 0, NULL, NULL) != CL_SUCCESS)
                        g_error("no memory");
}

static void multiply(Peer *peer)
{
        int n = (int) peer->n;
        size_t m = peer->n;

        if (peer->openblas) {
                peer->openblas(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, n, n, n, 1, peer->a, n, peer->b, n,
                        0, peer->c, n);
                return;
        }
        if (peer->clblast(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, m, m, 1, peer->buffers[0], 0, m,
                    peer->buffers[1], 0, m, 0, peer->buffers[2], 0, m, &peer->session.queue, NULL) != 0)
                g_error("CLBlast failed");
        peer->cl.Finish(peer->session.queue);
}

static double now(void)
{
        return (double) ald_now() / ALD_NSEC_PER_SEC;
}

/* Products for so long: operations a second. */
static double watch(Peer *peer, double seconds)
{
        double start = now(), past;
        unsigned n = 0;

        do {
                multiply(peer);
                n++;
                past = now() - start;
        } while (past < seconds);
        return 2.0 * peer->n * peer->n * peer->n * n / past;
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

static void check(Peer *peer)
{
        g_autoptr(AldGemmCheck) right = ald_gemm_check_new(ALD_ELEMENT_FP32, peer->n);
        AldFailure failure = {};

        if (peer->clblast)
                peer->cl.EnqueueReadBuffer(peer->session.queue, peer->buffers[2], CL_TRUE, 0,
                        (size_t) peer->n * peer->n * sizeof(float), peer->c, 0, NULL, NULL);
        if (ald_gemm_check_rows(right, peer->c, 0, peer->n, ald_gemm_tolerance(peer->n, false), &failure) < 0)
                g_error("%s", failure.message);
}

static void measure(Peer *peer, double seconds)
{
        g_autoptr(GArray) rates = g_array_new(FALSE, FALSE, sizeof(double));
        double end;

        multiply(peer);
        check(peer);
        watch(peer, SETTLE_SECONDS);
        end = now() + seconds;
        while (now() < end || rates->len < 3) {
                double rate = watch(peer, WINDOW_SECONDS) / 1e9;

                g_array_append_val(rates, rate);
        }
        qsort(rates->data, rates->len, sizeof(double), compare);
        printf("{\"gemm_gflops\": %.3f, \"median_gflops\": %.3f}\n",
                g_array_index(rates, double, rates->len - 1), g_array_index(rates, double, rates->len / 2));
}

static float *take_memory(unsigned n)
{
        float *memory = aligned_alloc(4096, (size_t) n * n * sizeof *memory);

        if (!memory)
                g_error("no memory");
        return memory;
}

int main(int argc, char *argv[])
{
        gint n = 1024;
        double seconds = 1;
        gboolean clblast = FALSE;
        const GOptionEntry entries[] = {
                { "size", 0, 0, G_OPTION_ARG_INT, &n, "rows and columns (1024)", "N" },
                { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, "how long (1)", "N" },
                { "clblast", 0, 0, G_OPTION_ARG_NONE, &clblast, "CLBlast rather than OpenBLAS", NULL },
                { NULL },
        };
        g_autoptr(GOptionContext) context = g_option_context_new("- multiplies matrices, and says how fast");
        g_autoptr(GError) error = NULL;
        Peer peer = {};

        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, &error) || n < 1 || n > (int) ALD_GEMM_N_MAX)
                g_error("%s", error ? error->message : "such a size is not possible");
        peer.n = (unsigned) n;
        peer.a = take_memory(peer.n);
        peer.b = take_memory(peer.n);
        peer.c = take_memory(peer.n);
        ald_operand_fill(ALD_ELEMENT_FP32, ALD_OPERAND_A, false, peer.n, 0, peer.n, peer.a);
        ald_operand_fill(ALD_ELEMENT_FP32, ALD_OPERAND_B, false, peer.n, 0, peer.n, peer.b);
        memset(peer.c, 0, (size_t) n * (size_t) n * sizeof *peer.c);
        if (clblast)
                open_clblast(&peer);
        else
                *(void **) &peer.openblas = load("libopenblas.so.0", "cblas_sgemm");
        measure(&peer, seconds);
        free(peer.a);
        free(peer.b);
        free(peer.c);
        return 0;
}
