/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/memory/shapes.h"

#define VECTOR (16 * sizeof(uint32_t)) /* of the kernels */

/* Returns whether to use a shape: only the named one if there is a name, and only those after
 * simpler_than. */
static bool is_wanted(const AldBandwidth *bandwidth, const AldMeasureOptions *options, size_t i)
{
        if (options->variant && strcmp(options->variant, bandwidth->shapes[i].name) != 0)
                return false;
        if (!options->simpler_than)
                return true;
        for (size_t before = 0; before < i; before++)
                if (strcmp(options->simpler_than, bandwidth->shapes[before].name) == 0)
                        return true;
        return false;
}

/* Returns the largest allowed power of 2, so that tiles divide the memory. */
static size_t local_size(const AldOpenclSession *session, const AldShape *shape, cl_kernel kernel)
{
        size_t most = shape->local, local = 1;

        session->cl->GetKernelWorkGroupInfo(
                kernel, session->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
        most = MIN(most, shape->local);
        while (local * 2 <= most)
                local *= 2;
        return local;
}

static void add_shape(AldShapes *shapes, const AldShape *shape)
{
        const AldOpenclSession *session = shapes->session;
        AldReadyShape ready = { .shape = shape,
                .kernel = session->cl->CreateKernel(shapes->program, shape->kernel, NULL) };

        if (!ready.kernel)
                return;
        ready.local = local_size(session, shape, ready.kernel);
        ready.items = (size_t) session->facts->listed.compute_units * shape->per_unit / ready.local;
        ready.items = MAX(ready.items, 1) * ready.local;
        shapes->ready[shapes->n++] = ready;
}

int ald_shapes_open(AldShapes *ret, AldOpenclSession *session, const AldBandwidth *bandwidth,
        const AldMeasureOptions *options, AldFailure *failure)
{
        AldShapes shapes = { .session = session, .many_passes = bandwidth->many_passes };
        int r = ald_opencl_session_build(session, bandwidth->source, "", &shapes.program, failure);

        if (r < 0)
                return r;
        for (size_t i = 0; i < bandwidth->n_shapes && shapes.n < ALD_SHAPES_MAX; i++)
                if (is_wanted(bandwidth, options, i))
                        add_shape(&shapes, &bandwidth->shapes[i]);
        if (shapes.n == 0) {
                ald_shapes_close(&shapes);
                return ald_fail(failure, ALD_FAILURE_BUILD_FAILED, "there is no such variant");
        }
        *ret = shapes;
        return 0;
}

void ald_shapes_close(AldShapes *shapes)
{
        for (size_t i = 0; i < shapes->n; i++)
                shapes->session->cl->ReleaseKernel(shapes->ready[i].kernel);
        if (shapes->program)
                shapes->session->cl->ReleaseProgram(shapes->program);
}

size_t ald_shapes_items(const AldShapes *shapes)
{
        size_t most = 0;

        for (size_t i = 0; i < shapes->n; i++)
                most = MAX(most, shapes->ready[i].items);
        return most * (shapes->many_passes ? ALD_PASSES_MAX : 1);
}

void ald_shapes_use(AldShapes *shapes, AldReadyShape *shape, const AldMemoryBuffers *memory, unsigned passes,
        AldFailure *failure)
{
        const AldCl *cl = shapes->session->cl;
        cl_mem second = memory->copies ? memory->to : memory->sums;
        cl_ulong n = memory->bytes / VECTOR;
        cl_uint n_passes = passes;

        /* A wrong argument shows only when the kernel is started. */
        cl->SetKernelArg(shape->kernel, 0, sizeof memory->from, &memory->from);
        cl->SetKernelArg(shape->kernel, 1, sizeof second, &second);
        cl->SetKernelArg(shape->kernel, 2, sizeof n, &n);
        if (shapes->many_passes)
                cl->SetKernelArg(shape->kernel, 3, sizeof n_passes, &n_passes);
        shapes->passes = passes;
        shapes->now = shape;
        shapes->failure = failure;
}

int ald_shapes_launch(void *userdata, cl_event *ret)
{
        AldShapes *shapes = userdata;
        size_t items = shapes->now->items * shapes->passes;
        cl_int code = shapes->session->cl->EnqueueNDRangeKernel(shapes->session->queue, shapes->now->kernel,
                1, NULL, &items, &shapes->now->local, 0, NULL, ret);

        shapes->launches++;
        return code == CL_SUCCESS ? 0 : ald_cl_fail(shapes->failure, code, "starting a kernel");
}

AldReadyShape *ald_shapes_best(AldShapes *shapes)
{
        AldReadyShape *best = NULL;

        for (size_t i = 0; i < shapes->n; i++)
                if (!shapes->ready[i].refused && (!best || shapes->ready[i].best > best->best))
                        best = &shapes->ready[i];
        return best;
}
