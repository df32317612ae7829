/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/common/small-files.h"
#include "probes/compute/memory/buffer-size.h"
#include "probes/compute/memory/pattern.h"
#include "probes/compute/run/meter.h"

/* Drivers pin the memory of such a buffer, so that the device can access it without another copy. */
#define METHOD "pinned-buffer"
#define PINNED (CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR)

/* A repeated copy between host and device. */
typedef struct Transfer {
        AldOpenclSession *session;
        AldFailure *failure;
        bool to_host; /* if not, to the device */
        cl_mem buffer, pinned;
        uint32_t *host; /* mapping of `pinned` */
        size_t bytes;   /* of each */
} Transfer;

static int enqueue_copy(Transfer *transfer, bool to_host, cl_bool blocking, cl_event *ret)
{
        const AldCl *cl = transfer->session->cl;
        cl_command_queue queue = transfer->session->queue;
        cl_int code = to_host ? cl->EnqueueReadBuffer(queue, transfer->buffer, blocking, 0, transfer->bytes,
                                        transfer->host, 0, NULL, ret)
                              : cl->EnqueueWriteBuffer(queue, transfer->buffer, blocking, 0, transfer->bytes,
                                        transfer->host, 0, NULL, ret);

        if (code == CL_SUCCESS)
                return 0;
        return ald_cl_fail(
                transfer->failure, code, to_host ? "copying to the host" : "copying to the device");
}

static int launch_copy(void *userdata, cl_event *ret)
{
        Transfer *transfer = userdata;

        return enqueue_copy(transfer, transfer->to_host, CL_FALSE, ret);
}

/* Writes the pattern to the memory of the host, or zeros. */
static void fill_host(Transfer *transfer, bool pattern)
{
        if (!pattern)
                memset(transfer->host, 0, transfer->bytes);
        for (size_t i = 0; pattern && i < transfer->bytes / sizeof *transfer->host; i++)
                transfer->host[i] = ald_pattern_word(i);
}

/* Writes the pattern to the source of the copies, and zeros to their target. */
static int prepare_copies(Transfer *transfer)
{
        int r;

        fill_host(transfer, transfer->to_host);
        r = enqueue_copy(transfer, false, CL_TRUE, NULL);
        if (r >= 0)
                fill_host(transfer, !transfer->to_host);
        return r;
}

/* Checks that the pattern has arrived in the target of the copies. */
static int verify_copies(Transfer *transfer)
{
        size_t wrong = 0;
        int r = 0;

        if (!transfer->to_host) {
                fill_host(transfer, false);
                r = enqueue_copy(transfer, true, CL_TRUE, NULL);
        }
        for (size_t i = 0; r >= 0 && i < transfer->bytes / sizeof *transfer->host; i++)
                wrong += transfer->host[i] != ald_pattern_word(i);
        if (wrong > 0)
                r = ald_fail(transfer->failure, ALD_FAILURE_WRONG_RESULT, "%zu words of the copy are wrong",
                        wrong);
        return r;
}

static int map_pinned(Transfer *transfer)
{
        cl_int code = CL_SUCCESS;

        transfer->host = transfer->session->cl->EnqueueMapBuffer(transfer->session->queue, transfer->pinned,
                CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, transfer->bytes, 0, NULL, NULL, &code);
        return transfer->host ? 0 : ald_cl_fail(transfer->failure, code, "mapping memory of the host");
}

static void release_buffers(Transfer *transfer)
{
        const AldCl *cl = transfer->session->cl;

        if (transfer->host)
                cl->EnqueueUnmapMemObject(
                        transfer->session->queue, transfer->pinned, transfer->host, 0, NULL, NULL);
        cl->Finish(transfer->session->queue);
        if (transfer->pinned)
                cl->ReleaseMemObject(transfer->pinned);
        if (transfer->buffer)
                cl->ReleaseMemObject(transfer->buffer);
        transfer->host = NULL;
        transfer->pinned = transfer->buffer = NULL;
}

/* Allocates both buffers, and uses them, since some drivers allocate only then. */
static int allocate_buffers(Transfer *transfer, size_t bytes)
{
        int r = ald_opencl_session_buffer(
                transfer->session, CL_MEM_READ_WRITE, bytes, &transfer->buffer, transfer->failure);

        transfer->bytes = bytes;
        if (r >= 0)
                r = ald_opencl_session_buffer(
                        transfer->session, PINNED, bytes, &transfer->pinned, transfer->failure);
        if (r >= 0)
                r = map_pinned(transfer);
        if (r >= 0)
                r = prepare_copies(transfer);
        if (r < 0)
                release_buffers(transfer);
        return r;
}

/* Allocates as much of the wanted memory as the driver provides. */
static int allocate_largest(Transfer *transfer)
{
        size_t bytes = ald_transfer_size(
                transfer->session->facts, transfer->session->memory_free, ald_host_memory_available("/"));
        int r;

        if (bytes == 0)
                return ald_fail(transfer->failure, ALD_FAILURE_OUT_OF_MEMORY,
                        "the device or the host has too little memory");
        r = allocate_buffers(transfer, bytes);
        while (r < 0 && transfer->failure->kind == ALD_FAILURE_OUT_OF_MEMORY && bytes > ALD_PATTERN_BYTES) {
                bytes /= 2;
                ald_failure_clear(transfer->failure);
                r = allocate_buffers(transfer, bytes);
        }
        return r;
}

static int measure_transfer(AldOpenclSession *session, bool to_host, const AldMeasureOptions *options,
        AldMeasure *ret, AldFailure *failure)
{
        const AldMeterOptions how = { .measure = options, .variant = METHOD };
        Transfer transfer = { .session = session, .failure = failure, .to_host = to_host };
        AldMeasure measured = { .method = METHOD };
        int r;

        ald_measure_report(options, ALD_COMPUTE_STEP_PHASE_BUILD, METHOD, 0);
        r = allocate_largest(&transfer);
        if (r < 0)
                return r;
        r = ald_meter_run(
                session, &how, launch_copy, &transfer, (double) transfer.bytes, &measured.meter, failure);
        if (r >= 0)
                r = verify_copies(&transfer);
        if (transfer.bytes < ALD_TRANSFER_ENOUGH)
                measured.meter.flags |= ALD_FLAG_REDUCED;
        release_buffers(&transfer);
        if (r >= 0)
                *ret = measured;
        return r;
}

int ald_to_device_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        return measure_transfer(session, false, options, ret, failure);
}

int ald_to_host_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        return measure_transfer(session, true, options, ret, failure);
}
