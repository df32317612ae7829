/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>
#include <time.h>

#include <glib.h>

#include "probes/common/small-files.h"
#include "probes/compute/memory/buffer-size.h"
#include "probes/compute/metric.h"

/* A device with memory of its own, which copies as fast as the test says, in a time of its own. */

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define NSEC 1e9
#define TO_DEVICE 2.0e8 /* bytes per second */
#define TO_HOST 2.5e8
#define EVENTS_MAX 64u

typedef enum Fault {
        FAULT_NONE,
        FAULT_SKIPS_WRITES, /* those that are not waited for, like the following */
        FAULT_SKIPS_READS,
        FAULT_WRONG_WORD,
        FAULT_REFUSES_COPIES,
        FAULT_REFUSES_MAP,
        FAULT_SMALL, /* does not allocate more than SMALL_BYTES at once */
        FAULT_LATE,  /* notices that only when the memory is used */
        FAULT_LOST,
} Fault;

#define SMALL_BYTES (16 * MIB)

typedef struct Buffer {
        cl_mem_flags flags;
        size_t size;
        bool mapped;
        unsigned char *bytes;
} Buffer;

typedef struct Device {
        Fault fault;
        double now, idle_from; /* s */
        double ends[EVENTS_MAX];
        unsigned n_events, n_buffers, n_mapped, n_copies[2];
        void *pending_to; /* the last copy that is not waited for: the ones before were the same */
        const void *pending_from;
        size_t pending_size;
        unsigned phases[4];
} Device;

static Device device;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
        uint64_t nsec = (uint64_t) ((1000 + device.now) * NSEC);

        ret->tv_sec = (time_t) (nsec / 1000000000);
        ret->tv_nsec = (long) (nsec % 1000000000);
        return 0;
}

static cl_mem create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *ret_code)
{
        Buffer *buffer;

        *ret_code = device.fault == FAULT_SMALL && size > SMALL_BYTES ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                                                                      : CL_SUCCESS;
        if (*ret_code != CL_SUCCESS)
                return NULL;
        buffer = g_new0(Buffer, 1);
        buffer->flags = flags;
        buffer->size = size;
        buffer->bytes = g_malloc0(size);
        device.n_buffers++;
        return (cl_mem) buffer;
}

static cl_int release_buffer(cl_mem memory)
{
        Buffer *buffer = (Buffer *) memory;

        g_assert_false(buffer->mapped);
        g_free(buffer->bytes);
        g_free(buffer);
        device.n_buffers--;
        return CL_SUCCESS;
}

static void *map(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags, size_t offset,
        size_t size, cl_uint n, const cl_event *events, cl_event *ret, cl_int *ret_code)
{
        Buffer *buffer = (Buffer *) memory;

        g_assert_cmpuint(buffer->flags & CL_MEM_ALLOC_HOST_PTR, !=, 0);
        g_assert_true(blocking);
        g_assert_cmpuint(size, ==, buffer->size);
        *ret_code = device.fault == FAULT_REFUSES_MAP ? CL_MAP_FAILURE : CL_SUCCESS;
        if (*ret_code != CL_SUCCESS)
                return NULL;
        buffer->mapped = true;
        device.n_mapped++;
        return buffer->bytes;
}

static cl_int unmap(
        cl_command_queue queue, cl_mem memory, void *host, cl_uint n, const cl_event *events, cl_event *ret)
{
        Buffer *buffer = (Buffer *) memory;

        g_assert_true(buffer->mapped);
        g_assert_true(host == buffer->bytes);
        buffer->mapped = false;
        device.n_mapped--;
        return CL_SUCCESS;
}

static cl_int finish(cl_command_queue queue)
{
        device.now = MAX(device.now, device.idle_from);
        if (device.pending_size > 0)
                memcpy(device.pending_to, device.pending_from, device.pending_size);
        device.pending_size = 0;
        return CL_SUCCESS;
}

static void make_event(cl_event *ret)
{
        unsigned event = 1;

        while (device.ends[event] > 0)
                event++;
        g_assert_cmpuint(event, <, EVENTS_MAX);
        device.ends[event] = device.idle_from;
        device.n_events++;
        *ret = GUINT_TO_POINTER(event);
}

static cl_int copy(void *to, const void *from, size_t size, bool to_host, cl_bool blocking, cl_event *ret)
{
        Fault skips = to_host ? FAULT_SKIPS_READS : FAULT_SKIPS_WRITES;

        if ((device.fault == FAULT_LATE && size > SMALL_BYTES) ||
                (device.fault == FAULT_REFUSES_COPIES && !blocking))
                return CL_OUT_OF_RESOURCES;
        device.idle_from = MAX(device.now, device.idle_from) +
                           (double) size / (to_host ? TO_HOST : TO_DEVICE);
        device.pending_to = to;
        device.pending_from = from;
        device.pending_size = blocking || device.fault != skips ? size : 0;
        if (device.fault == FAULT_WRONG_WORD && !blocking)
                device.pending_size -= sizeof(uint32_t);
        if (ret)
                make_event(ret);
        if (blocking)
                finish(NULL);
        else
                device.n_copies[to_host]++;
        return CL_SUCCESS;
}

static cl_int enqueue_read(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
        size_t size, void *to, cl_uint n, const cl_event *events, cl_event *ret)
{
        return copy(to, ((Buffer *) memory)->bytes + offset, size, true, blocking, ret);
}

static cl_int enqueue_write(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
        size_t size, const void *from, cl_uint n, const cl_event *events, cl_event *ret)
{
        return copy(((Buffer *) memory)->bytes + offset, from, size, false, blocking, ret);
}

static cl_int wait_for_events(cl_uint n, const cl_event *events)
{
        g_assert_cmpuint(n, ==, 1);
        if (device.fault == FAULT_LOST)
                return CL_OUT_OF_RESOURCES;
        device.now = MAX(device.now, device.ends[GPOINTER_TO_UINT(events[0])]) + 1e-6;
        return CL_SUCCESS;
}

static cl_int get_profiling_info(
        cl_event event, cl_profiling_info what, size_t size, void *value, size_t *ret_size)
{
        *(cl_ulong *) value = (cl_ulong) ((77 + device.ends[GPOINTER_TO_UINT(event)]) * NSEC);
        return CL_SUCCESS;
}

static cl_int release_event(cl_event event)
{
        device.ends[GPOINTER_TO_UINT(event)] = 0;
        device.n_events--;
        return CL_SUCCESS;
}

static cl_int flush(cl_command_queue queue)
{
        return CL_SUCCESS;
}

static const AldCl cl = {
        .CreateBuffer = create_buffer,
        .ReleaseMemObject = release_buffer,
        .EnqueueMapBuffer = map,
        .EnqueueUnmapMemObject = unmap,
        .EnqueueReadBuffer = enqueue_read,
        .EnqueueWriteBuffer = enqueue_write,
        .WaitForEvents = wait_for_events,
        .GetEventProfilingInfo = get_profiling_info,
        .ReleaseEvent = release_event,
        .Flush = flush,
        .Finish = finish,
};

static void on_phase(AldComputeStepPhase phase, const char *variant, double fraction, void *userdata)
{
        g_assert_cmpstr(variant, ==, "pinned-buffer");
        device.phases[phase]++;
}

/* On a device with so much memory. Nothing is left of it. */
static int measure(AldMetric metric, Fault fault, uint64_t memory_bytes, AldMeasure *ret, AldFailure *failure)
{
        const AldOpenclTarget facts = { .type = ALD_LISTED_DEVICE_TYPE_GPU,
                .listed.memory_total_bytes = memory_bytes };
        const AldMeasureOptions options = { .seconds_max = 4, .progress = on_phase };
        AldOpenclSession session = { .cl = &cl, .facts = &facts };
        int r;

        device = (Device){ .fault = fault };
        r = ald_metric_measure(metric, &session, &options, ret, failure);
        g_assert_cmpuint(device.n_buffers, ==, 0);
        g_assert_cmpuint(device.n_mapped, ==, 0);
        g_assert_cmpuint(device.n_events, ==, 0);
        return r;
}

static AldMeasure succeed(AldMetric metric, Fault fault, uint64_t memory_bytes, double rate)
{
        AldFailure failure = {};
        AldMeasure found = {};

        g_assert_cmpint(measure(metric, fault, memory_bytes, &found, &failure), ==, 0);
        g_assert_null(failure.message);
        g_assert_cmpfloat_with_epsilon(found.meter.best / rate, 1, 1e-3);
        g_assert_cmpfloat_with_epsilon(found.meter.median / rate, 1, 1e-3);
        g_assert_cmpfloat(found.meter.interval, <, 1e-3);
        g_assert_cmpstr(found.method, ==, "pinned-buffer");
        g_assert_null(found.precision);
        return found;
}

static void test_rates(void)
{
        AldMeasure found = succeed(ALD_METRIC_TO_DEVICE, FAULT_NONE, 256 * MIB, TO_DEVICE);

        g_assert_cmpuint(found.meter.flags, ==, ALD_FLAG_REDUCED);
        g_assert_cmpuint(found.meter.windows, >=, 16);
        g_assert_cmpuint(device.n_copies[false], >, 0);
        g_assert_cmpuint(device.n_copies[true], ==, 0);
        g_assert_cmpuint(device.phases[ALD_COMPUTE_STEP_PHASE_BUILD], ==, 1);
        g_assert_cmpuint(device.phases[ALD_COMPUTE_STEP_PHASE_MEASURE], >, 0);

        found = succeed(ALD_METRIC_TO_HOST, FAULT_NONE, 256 * MIB, TO_HOST);
        g_assert_cmpuint(found.meter.flags, ==, ALD_FLAG_REDUCED);
        g_assert_cmpuint(device.n_copies[false], ==, 0);
        g_assert_cmpuint(device.n_copies[true], >, 0);
}

static void test_usual_size(void)
{
        if (ald_transfer_size(&(AldOpenclTarget){}, 0, ald_host_memory_available("/")) < ALD_TRANSFER_BYTES) {
                g_test_skip("little memory is free");
                return;
        }
        g_assert_cmpuint(succeed(ALD_METRIC_TO_HOST, FAULT_NONE, 8 * GIB, TO_HOST).meter.flags, ==, 0);
}

static void test_little_memory(void)
{
        static const Fault faults[] = { FAULT_SMALL, FAULT_LATE };

        for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
                g_assert_cmpuint(succeed(ALD_METRIC_TO_DEVICE, faults[i], GIB, TO_DEVICE).meter.flags, ==,
                        ALD_FLAG_REDUCED);
}

static void test_failures(void)
{
        static const struct {
                AldMetric metric;
                Fault fault;
                uint64_t memory_bytes;
                AldFailureKind kind;
                const char *message; /* or NULL */
        } cases[] = {
                { ALD_METRIC_TO_DEVICE, FAULT_SKIPS_WRITES, 256 * MIB, ALD_FAILURE_WRONG_RESULT, NULL },
                { ALD_METRIC_TO_HOST, FAULT_SKIPS_READS, 256 * MIB, ALD_FAILURE_WRONG_RESULT, NULL },
                { ALD_METRIC_TO_DEVICE, FAULT_WRONG_WORD, 256 * MIB, ALD_FAILURE_WRONG_RESULT,
                        "1 words of the copy are wrong" },
                { ALD_METRIC_TO_HOST, FAULT_WRONG_WORD, 256 * MIB, ALD_FAILURE_WRONG_RESULT,
                        "1 words of the copy are wrong" },
                { ALD_METRIC_TO_HOST, FAULT_REFUSES_COPIES, 256 * MIB, ALD_FAILURE_OUT_OF_MEMORY,
                        "copying to the host: CL_OUT_OF_RESOURCES (-5)" },
                { ALD_METRIC_TO_DEVICE, FAULT_REFUSES_MAP, 256 * MIB, ALD_FAILURE_INTERNAL,
                        "mapping memory of the host: CL_MAP_FAILURE (-12)" },
                { ALD_METRIC_TO_DEVICE, FAULT_LOST, 256 * MIB, ALD_FAILURE_DEVICE_LOST, NULL },
                { ALD_METRIC_TO_DEVICE, FAULT_NONE, 64 * MIB, ALD_FAILURE_OUT_OF_MEMORY,
                        "the device or the host has too little memory" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldFailure failure = {};
                AldMeasure found;

                g_assert_cmpint(
                        measure(cases[i].metric, cases[i].fault, cases[i].memory_bytes, &found, &failure), <,
                        0);
                g_test_message("%s", failure.message);
                g_assert_cmpstr(ald_failure_name(&failure), ==, ald_failure_to_string(cases[i].kind));
                if (cases[i].message)
                        g_assert_cmpstr(failure.message, ==, cases[i].message);
                ald_failure_clear(&failure);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute-transfer/rates", test_rates);
        g_test_add_func("/compute-transfer/usual-size", test_usual_size);
        g_test_add_func("/compute-transfer/little-memory", test_little_memory);
        g_test_add_func("/compute-transfer/failures", test_failures);
        return g_test_run();
}
