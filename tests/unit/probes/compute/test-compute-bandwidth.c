/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "probes/compute/compute-report.h"
#include "probes/compute/memory/bandwidth.h"
#include "probes/compute/memory/memory-rate.h"
#include "probes/compute/memory/pattern.h"
#include "probes/compute/memory/shapes.h"
#include "probes/compute/opencl/devices.h"
#include "record/message.h"

#define MIB (UINT64_C(1) << 20)

/* On PoCL, which makes a device of any processor. */
typedef struct Fixture {
        AldCl cl;
        AldOpenclSession session;
        const AldOpenclTarget *own;
        AldOpenclTarget facts; /* of a machine with little memory, so that it is quick */
        AldMeasureOptions options;
        AldMeasure measure;
        AldFailure failure;
        bool there;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data)
{
        fixture->there = ald_cl_open(&fixture->cl, &fixture->failure) >= 0 &&
                         ald_opencl_session_open(
                                 &fixture->session, &fixture->cl, ALD_CPU_ID, &fixture->failure) >= 0;
        fixture->options.seconds_max = 0.1;
        if (!fixture->there) {
                g_test_skip(fixture->failure.message);
                return;
        }
        fixture->own = fixture->session.facts;
        fixture->facts = *fixture->own;
        fixture->facts.listed.memory_total_bytes = 128 * MIB;
        fixture->session.facts = &fixture->facts;
}

static void tear_down(Fixture *fixture, gconstpointer data)
{
        ald_failure_clear(&fixture->failure);
        if (fixture->there)
                ald_opencl_session_close(&fixture->session);
}

/* What is the same wherever this runs. */
static void assert_sound(const Fixture *fixture, const char *method)
{
        const AldMeter *meter = &fixture->measure.meter;

        g_assert_null(fixture->failure.message);
        g_assert_cmpstr(fixture->measure.method, ==, method);
        g_assert_null(fixture->measure.precision);
        g_assert_cmpfloat(meter->best, >=, meter->mean);
        g_assert_cmpfloat(meter->mean, >, 1e6);
        g_assert_cmpfloat(meter->median, >, 1e6);
        g_assert_cmpuint(meter->windows, >=, 2);
        /* There is less memory than it takes. */
        g_assert_cmpuint(meter->flags & ALD_FLAG_REDUCED, ==, ALD_FLAG_REDUCED);
}

static int measure(Fixture *fixture, const AldBandwidth *bandwidth)
{
        return ald_bandwidth_measure(
                &fixture->session, bandwidth, &fixture->options, &fixture->measure, &fixture->failure);
}

static void test_measure(Fixture *fixture, gconstpointer data)
{
        fixture->options.variant = "plain";
        if (!fixture->there)
                return;
        g_assert_cmpint(
                ald_read_measure(&fixture->session, &fixture->options, &fixture->measure, &fixture->failure),
                ==, 0);
        assert_sound(fixture, "plain");
        g_assert_cmpint(
                ald_copy_measure(&fixture->session, &fixture->options, &fixture->measure, &fixture->failure),
                ==, 0);
        assert_sound(fixture, "plain");
}

/* Two launches that go through little memory, three times if they can: 0, or the kind of failure. */
static int twice(Fixture *fixture, AldShapes *shapes, AldReadyShape *shape, AldMemoryBuffers *memory)
{
        AldFailure failure = {};
        int r = ald_memory_reset(memory, &failure), kind = 0;
        unsigned passes = shapes->many_passes ? 3 : 1;

        ald_shapes_use(shapes, shape, memory, passes, &failure);
        for (unsigned i = 0; i < 2 && r >= 0; i++)
                r = ald_shapes_launch(shapes, NULL);
        if (r >= 0)
                r = ald_memory_verify(memory, 2 * passes, &failure);
        if (r < 0)
                kind = (int) failure.kind;
        g_test_message("%s: %s", shape->shape->name, failure.message ?: "right");
        ald_failure_clear(&failure);
        return kind;
}

/* All shapes but the last n are wrong. */
static void try_all(Fixture *fixture, const AldBandwidth *bandwidth, size_t n_right)
{
        const AldMeasureOptions all = {};
        AldShapes shapes;
        AldMemoryBuffers memory;
        size_t n;

        g_assert_cmpint(
                ald_shapes_open(&shapes, &fixture->session, bandwidth, &all, &fixture->failure), ==, 0);
        n = shapes.n;
        g_assert_cmpuint(n, ==, bandwidth->n_shapes);
        g_assert_cmpint(ald_memory_open(&memory, &fixture->session, bandwidth->copies,
                                ald_shapes_items(&shapes), &fixture->failure),
                ==, 0);
        g_assert_cmpint(ald_memory_resize(&memory, 2 * ALD_PATTERN_BYTES, &fixture->failure), ==, 0);
        for (size_t i = 0; i < n; i++)
                g_assert_cmpint(twice(fixture, &shapes, &shapes.ready[i], &memory), ==,
                        i + n_right < n ? (int) ALD_FAILURE_WRONG_RESULT : 0);
        ald_memory_close(&memory);
        ald_shapes_close(&shapes);
}

static void test_right(Fixture *fixture, gconstpointer data)
{
        if (!fixture->there)
                return;
        try_all(fixture, &ald_read_cpu, ald_read_cpu.n_shapes);
        try_all(fixture, &ald_copy_cpu, ald_copy_cpu.n_shapes);
}

/* GPUs get other kernels, which are right on any device: here by fewer work-items, in an odd number of
 * groups. */
static void test_gpu_kernels(Fixture *fixture, gconstpointer data)
{
        for (size_t i = 0; fixture->there && i < 2; i++) {
                const AldBandwidth *gpu = i == 0 ? &ald_read_gpu : &ald_copy_gpu;
                g_autofree AldShape *shapes = g_memdup2(gpu->shapes, gpu->n_shapes * sizeof *shapes);
                const AldBandwidth small = { gpu->source, shapes, gpu->n_shapes, gpu->copies,
                        gpu->many_passes };

                for (size_t shape = 0; shape < gpu->n_shapes; shape++) {
                        shapes[shape].local = 64;
                        shapes[shape].per_unit = 3 * 64;
                }
                try_all(fixture, &small, small.n_shapes);
        }
}

#define KERNEL(name, second, body)                                                                         \
        "__kernel void " name "(__global const uint16 *a, __global " second " *b, ulong n, uint passes) {" \
        " ulong all = get_global_size(0) / passes, id = get_global_id(0) % all;"                           \
        " for (ulong i = n * id / all; i < n * (id + 1) / all; i++) " body "}\n"

#define ADD_UP(index)                                                                            \
        "{ uint16 v = a[" index                                                                  \
        "]; b[get_global_id(0)] += v.s0 + v.s1 + v.s2 + v.s3 + v.s4 + v.s5 + v.s6 + v.s7 + v.s8" \
        " + v.s9 + v.sa + v.sb + v.sc + v.sd + v.se + v.sf; }"

/* Each leaves something out, or does something twice. */
static const char broken_read[] = KERNEL("skips", "uint", "if (i != n / 3)" ADD_UP("i"))
        KERNEL("repeats", "uint", ADD_UP("i % (n / 2)")) KERNEL("idles", "uint", "if (0)" ADD_UP("i"))
                KERNEL("once", "uint", "{ if (i == n * id / all) b[get_global_id(0)] = 0;" ADD_UP("i") "}")
                        KERNEL("works", "uint", ADD_UP("i"));

static const char broken_copy[] = KERNEL("skips", "uint16", "if (i != n / 3) b[i] = a[i];")
        KERNEL("shifts", "uint16", "b[i] = a[(i + 1) % n];")
                KERNEL("idles", "uint16", "if (n == 0) b[i] = a[i];")
                        KERNEL("works", "uint16", "b[i] = a[i];");

#define SHAPE(name)              \
        {                        \
                name, name, 1, 4 \
        }

static void test_broken(Fixture *fixture, gconstpointer data)
{
        static const AldShape read_shapes[] = { SHAPE("skips"), SHAPE("repeats"), SHAPE("idles"),
                SHAPE("once"), SHAPE("works") };
        static const AldShape copy_shapes[] = { SHAPE("skips"), SHAPE("shifts"), SHAPE("idles"),
                SHAPE("works") };
        const AldBandwidth read = { broken_read, read_shapes, G_N_ELEMENTS(read_shapes), false, true };
        const AldBandwidth copy = { broken_copy, copy_shapes, G_N_ELEMENTS(copy_shapes), true, true };

        if (!fixture->there)
                return;
        try_all(fixture, &read, 1);
        try_all(fixture, &copy, 1);
}

/* One that does less is quicker, and refused all the same. */
static void test_refused(Fixture *fixture, gconstpointer data)
{
        static const AldShape shapes[] = { SHAPE("idles"), SHAPE("absent"), SHAPE("skips"), SHAPE("works") };
        const AldBandwidth read = { broken_read, shapes, G_N_ELEMENTS(shapes), false, true };
        const AldBandwidth copy = { broken_copy, shapes, G_N_ELEMENTS(shapes), true, true };

        if (!fixture->there)
                return;
        g_assert_cmpint(measure(fixture, &read), ==, 0);
        assert_sound(fixture, "works");
        g_assert_cmpint(measure(fixture, &copy), ==, 0);
        assert_sound(fixture, "works");
        /* Not even built where something simpler is asked for. */
        fixture->options.simpler_than = "skips";
        g_assert_cmpint(measure(fixture, &read), ==, 0);
        assert_sound(fixture, "works");
        fixture->options.simpler_than = "works";
        g_assert_cmpint(measure(fixture, &read), <, 0);
        g_assert_cmpint(fixture->failure.kind, ==, ALD_FAILURE_BUILD_FAILED);
}

static void test_failures(Fixture *fixture, gconstpointer data)
{
        static const AldShape shapes[] = { SHAPE("works") };
        AldBandwidth bandwidth = { "this is no kernel", shapes, 1, false, true };

        if (!fixture->there)
                return;
        g_assert_cmpint(measure(fixture, &bandwidth), <, 0);
        g_assert_cmpint(fixture->failure.kind, ==, ALD_FAILURE_BUILD_FAILED);
        ald_failure_clear(&fixture->failure);
        bandwidth.source = broken_read;
        fixture->facts.listed.memory_total_bytes = 16 * MIB;
        g_assert_cmpint(measure(fixture, &bandwidth), <, 0);
        g_assert_cmpint(fixture->failure.kind, ==, ALD_FAILURE_OUT_OF_MEMORY);
}

/* A library that gives no more than so much at once. */
static cl_mem (*create_buffer)(
        cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *ret_code);

static cl_mem create_small_buffer(
        cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *ret_code)
{
        if (size <= 2 * ALD_PATTERN_BYTES)
                return create_buffer(context, flags, size, host, ret_code);
        *ret_code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
}

static void test_no_memory(Fixture *fixture, gconstpointer data)
{
        AldCl small = fixture->cl;

        if (!fixture->there)
                return;
        create_buffer = small.CreateBuffer;
        small.CreateBuffer = create_small_buffer;
        fixture->session.cl = &small;
        fixture->session.facts = fixture->own;
        fixture->options.variant = "plain";
        g_assert_cmpint(
                ald_copy_measure(&fixture->session, &fixture->options, &fixture->measure, &fixture->failure),
                ==, 0);
        assert_sound(fixture, "plain");
        fixture->session.cl = &fixture->cl;
}

/* What is measured comes into the row of the device as it is. */
static void assert_row(const AldOpenclTarget *device, const AldMeasure *to_device, const AldMeasure *to_host)
{
        const AldMeasure *measures[] = { to_device, to_host };
        g_autoptr(AldComputeReport) report = ald_compute_report_new();
        g_autoptr(AldRecord) record = NULL;
        g_auto(AldFigures) figures = {};
        const AldComputeFigures *row;
        g_autofree char *json = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(measures); i++) {
                g_autofree char *line = ald_answer_of_measure(measures[i]);

                g_assert_cmpint(
                        ald_answer_parse(line, strlen(line), &figures.answers[ALD_METRIC_TO_DEVICE + i]), ==,
                        0);
        }
        ald_compute_report_add(report, device, &figures);
        json = ald_compute_report_to_json(report);
        g_assert_cmpint(
                ald_message_parse(ALD_KIND_COMPUTE_RESULT, json, strlen(json), ALD_RECORD_MAX, &record, NULL),
                ==, 0);
        row = ald_rows_at(&ald_record_as(record, COMPUTE_RESULT, AldComputeResult)->devices, 0);
        g_assert_cmpfloat_with_epsilon(
                (double) row->host_to_device_bytes_per_second, to_device->meter.best, 1);
        g_assert_cmpfloat_with_epsilon(
                (double) row->host_to_device_median_bytes_per_second, to_device->meter.median, 1);
        g_assert_cmpfloat_with_epsilon((double) row->device_to_host_bytes_per_second, to_host->meter.best, 1);
        g_assert_cmpfloat_with_epsilon(
                (double) row->device_to_host_median_bytes_per_second, to_host->meter.median, 1);
        g_assert_cmpfloat(row->host_to_device_interval, >=, 0);
        g_assert_cmpfloat(row->device_to_host_interval, >=, 0);
        g_assert_cmpuint(row->copy_bandwidth_bytes_per_second, ==, ALD_ABSENT_UINT64);
}

/* As if PoCL had memory of its own. */
static void test_transfers(Fixture *fixture, gconstpointer data)
{
        AldMeasure measures[2];

        if (!fixture->there)
                return;
        fixture->facts.type = ALD_LISTED_DEVICE_TYPE_GPU;
        fixture->facts.listed.unified = false;
        fixture->facts.listed.id = "gpu";
        fixture->facts.listed.memory_total_bytes = 256 * MIB;
        fixture->session.memory_free = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(measures); i++) {
                g_assert_cmpint(ald_metric_measure(ALD_METRIC_TO_DEVICE + i, &fixture->session,
                                        &fixture->options, &fixture->measure, &fixture->failure),
                        ==, 0);
                assert_sound(fixture, "pinned-buffer");
                measures[i] = fixture->measure;
        }
        assert_row(&fixture->facts, &measures[0], &measures[1]);
}

/* So many that they have half of each processor at least, whatever else runs. */
static void test_hogs(Fixture *fixture, gconstpointer data)
{
        unsigned n = 2 * g_get_num_processors();
        g_autofree pid_t *hogs = g_new(pid_t, n);

        if (!fixture->there)
                return;
        for (unsigned i = 0; i < n; i++) {
                hogs[i] = fork();
                g_assert_cmpint(hogs[i], >=, 0);
                if (hogs[i] > 0)
                        continue;
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (volatile unsigned spin = 0;; spin++)
                        ;
        }
        fixture->options.variant = "plain";
        fixture->options.seconds_max = 0.5;
        g_assert_cmpint(
                ald_read_measure(&fixture->session, &fixture->options, &fixture->measure, &fixture->failure),
                ==, 0);
        for (unsigned i = 0; i < n; i++) {
                kill(hogs[i], SIGKILL);
                waitpid(hogs[i], NULL, 0);
        }
        g_assert_cmpuint(fixture->measure.meter.flags & ALD_FLAG_BUSY, ==, ALD_FLAG_BUSY);
}

int main(int argc, char *argv[])
{
        g_autofree char *cache = g_dir_make_tmp("alidade-bandwidth-XXXXXX", NULL);
        g_autofree char *remove = g_strdup_printf("rm -rf '%s'", cache);
        int r;

        g_test_init(&argc, &argv, NULL);
        g_setenv("POCL_CACHE_DIR", cache, TRUE);
#define ADD(name, function) g_test_add("/compute-bandwidth/" name, Fixture, NULL, set_up, function, tear_down)
        ADD("measure", test_measure);
        ADD("right", test_right);
        ADD("gpu-kernels", test_gpu_kernels);
        ADD("broken", test_broken);
        ADD("refused", test_refused);
        ADD("failures", test_failures);
        ADD("no-memory", test_no_memory);
        ADD("transfers", test_transfers);
        ADD("hogs", test_hogs);
        r = g_test_run();
        return system(remove) == 0 ? r : 1;
}
