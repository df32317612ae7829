/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/memory/bandwidth.h"
#include "probes/common/probe-clock.h"
#include "probes/compute/clock/clocks.h"
#include "probes/compute/kernels.h"
#include "probes/compute/memory/buffer-size.h"
#include "probes/compute/memory/memory-rate.h"
#include "probes/compute/memory/pattern.h"
#include "probes/compute/memory/shapes.h"
#include "probes/compute/run/meter.h"

#define TRY_SECONDS 0.04
#define TRY_ROUNDS 2u
#define STILL_FALLING 0.97
#define METER_SECONDS_MIN 1.0
#define LAUNCH_SECONDS 0.04     /* for launches of many passes */
#define PASS_SECONDS_MIN 0.0015 /* for launches of one, whose start and end take microseconds */

static const AldShape read_cpu_shapes[] = {
        { "prefetch", "read_prefetch", 1, 256 },
        { "streams-4", "read_streams", 1, 256 },
        { "plain", "read_plain", 1, 256 },
};

static const AldShape copy_cpu_shapes[] = {
        { "past-streams-2", "copy_past_streams", 1, 256 },
        { "past", "copy_past", 1, 256 },
        { "plain", "copy_plain", 1, 256 },
};

/* Large AMD chips need fewer work-items with more loads each, other chips more. */
static const AldShape read_gpu_shapes[] = {
        { "tile-8", "read_tile_8", 256, 2048 },
        { "grid-8", "read_grid_8", 256, 2048 },
        { "tile-4", "read_tile_4", 256, 2048 },
        { "tile-16", "read_tile_16", 256, 1024 },
        { "grid-16", "read_grid_16", 256, 1024 },
        { "tile-4-many", "read_tile_4", 256, 8192 },
        { "tile-8-large", "read_tile_8", 1024, 4096 },
        { "grid-4", "read_grid_4", 256, 2048 },
};

static const AldShape copy_gpu_shapes[] = {
        { "tile-4", "copy_tile_4", 256, 2048 },
        { "grid-4", "copy_grid_4", 256, 2048 },
        { "tile-2", "copy_tile_2", 256, 2048 },
        { "tile-8", "copy_tile_8", 256, 1024 },
        { "grid-8", "copy_grid_8", 256, 1024 },
        { "tile-2-many", "copy_tile_2", 256, 8192 },
        { "tile-4-large", "copy_tile_4", 1024, 4096 },
        { "tile-4-most", "copy_tile_4", 256, 65536 },
        { "grid-2", "copy_grid_2", 256, 2048 },
};

const AldBandwidth ald_read_cpu = { ald_kernel_read_cpu, read_cpu_shapes, G_N_ELEMENTS(read_cpu_shapes),
        .many_passes = true };
const AldBandwidth ald_copy_cpu = { ald_kernel_copy_cpu, copy_cpu_shapes, G_N_ELEMENTS(copy_cpu_shapes),
        .copies = true, .many_passes = true };
const AldBandwidth ald_read_gpu = { ald_kernel_read_gpu, read_gpu_shapes, G_N_ELEMENTS(read_gpu_shapes) };
const AldBandwidth ald_copy_gpu = { ald_kernel_copy_gpu, copy_gpu_shapes, G_N_ELEMENTS(copy_gpu_shapes),
        .copies = true };

typedef struct Run {
        AldOpenclSession *session;
        const AldBandwidth *bandwidth;
        const AldMeasureOptions *options;
        AldFailure *failure;
        AldShapes shapes;
        AldMemoryBuffers memory;
        uint64_t start_nsec;
        unsigned passes; /* of one launch through the memory */
        bool reduced;
} Run;

/* Returns the bytes that one launch moves. */
static double work_per_launch(const Run *run)
{
        return (double) run->memory.bytes * run->passes * (run->bandwidth->copies ? 2 : 1);
}

static int verify_memory(Run *run, AldFailure *failure)
{
        return ald_memory_verify(&run->memory, run->shapes.launches * run->passes, failure);
}

static int time_shape(Run *run, AldReadyShape *shape, double *ret, AldFailure *failure)
{
        double rate;
        int r = ald_memory_reset(&run->memory, failure);

        ald_shapes_use(&run->shapes, shape, &run->memory, run->passes, failure);
        run->shapes.launches = 0;
        if (r >= 0)
                r = ald_meter_try(run->session, ald_shapes_launch, &run->shapes, work_per_launch(run),
                        TRY_SECONDS, &rate, failure);
        if (r >= 0)
                r = verify_memory(run, failure);
        if (r >= 0)
                *ret = rate;
        return r;
}

/* Finds the rate of a shape. A shape that fails, or leaves work out, is refused; that is an error if no other
 * remains. */
static int try_shape(Run *run, AldReadyShape *shape, double *ret)
{
        AldFailure failure = {};
        int r;

        ald_measure_report(run->options, ALD_COMPUTE_STEP_PHASE_TRIAL, shape->shape->name, 0);
        r = time_shape(run, shape, ret, &failure);
        if (r >= 0) {
                shape->best = MAX(shape->best, *ret);
                return 0;
        }
        shape->refused = true;
        if (failure.kind == ALD_FAILURE_DEVICE_LOST || !ald_shapes_best(&run->shapes))
                r = ald_fail(run->failure, failure.kind, "%s: %s", shape->shape->name, failure.message);
        else
                r = 0;
        ald_failure_clear(&failure);
        return r;
}

/* Finds the rate of the most promising shape that works. */
static int try_likeliest(Run *run, double *ret)
{
        AldReadyShape *shape;
        int r;

        do {
                shape = ald_shapes_best(&run->shapes);
                r = try_shape(run, shape, ret);
        } while (r >= 0 && shape->refused);
        return r;
}

/* Allocates the requested memory, or as much of it as the device provides. */
static int allocate_memory(Run *run, uint64_t bytes)
{
        int r = ald_memory_resize(&run->memory, bytes, run->failure);

        while (r < 0 && run->failure->kind == ALD_FAILURE_OUT_OF_MEMORY && bytes > ALD_PATTERN_BYTES) {
                bytes /= 2;
                run->reduced = true;
                ald_failure_clear(run->failure);
                r = ald_memory_resize(&run->memory, bytes, run->failure);
        }
        return r;
}

/* Sets the passes of a launch so high that its start and end take a negligible part of the time. */
static void set_passes(Run *run, double rate)
{
        double passes = run->bandwidth->many_passes ? LAUNCH_SECONDS * rate / work_per_launch(run) : 1;

        run->passes = (unsigned) CLAMP(passes, 1, ALD_PASSES_MAX);
}

static bool lasts_long_enough(const Run *run, double rate)
{
        return run->bandwidth->many_passes || work_per_launch(run) >= PASS_SECONDS_MIN * rate;
}

/* Increases the memory until this no longer lowers the rate, as it does while some of it is in caches, and
 * until a launch lasts long enough. */
static int outgrow_caches(Run *run)
{
        AldBufferSizes sizes = ald_buffer_sizes(
                run->session->facts, run->session->memory_free, run->bandwidth->copies);
        double rate = 0, before = 0;

        if (sizes.limit == 0)
                return ald_fail(run->failure, ALD_FAILURE_OUT_OF_MEMORY, "the device has too little memory");
        for (uint64_t bytes = sizes.start; bytes <= sizes.limit; bytes *= 2) {
                int r = allocate_memory(run, bytes);

                if (r >= 0)
                        r = try_likeliest(run, &rate);
                if (r < 0)
                        return r;
                if (run->reduced ||
                        (before > 0 && rate >= STILL_FALLING * before && lasts_long_enough(run, rate))) {
                        set_passes(run, rate);
                        return 0;
                }
                before = rate;
        }
        run->reduced = sizes.wants || !lasts_long_enough(run, rate);
        set_passes(run, rate);
        return 0;
}

/* Chooses the fastest shape. They are tried in turns, so that other work on the machine affects all of
 * them. */
static int choose_shape(Run *run, AldReadyShape **ret)
{
        for (size_t i = 0; i < run->shapes.n; i++)
                run->shapes.ready[i].best = 0;
        for (unsigned round = 0; round < TRY_ROUNDS; round++)
                for (size_t i = 0; i < run->shapes.n; i++) {
                        double rate;
                        int r = run->shapes.ready[i].refused ? 0
                                                             : try_shape(run, &run->shapes.ready[i], &rate);

                        if (r < 0)
                                return r;
                }
        *ret = ald_shapes_best(&run->shapes);
        return 0;
}

static int measure_shape(Run *run, AldMeasure *ret)
{
        g_autoptr(AldClocks) clocks = ald_clocks_open("/", run->session->facts);
        AldMeterOptions options = { .measure = run->options, .theoretical = ald_clocks_memory_peak(clocks) };
        AldMeasure measure = {};
        AldReadyShape *shape;
        double past;
        int r = choose_shape(run, &shape);

        if (r < 0)
                return r;
        past = (double) (ald_now() - run->start_nsec) / ALD_NSEC_PER_SEC;
        options.seconds_max = MAX(
                run->options->seconds_max - past, MIN(run->options->seconds_max, METER_SECONDS_MIN));
        options.variant = measure.method = shape->shape->name;
        r = ald_memory_reset(&run->memory, run->failure);
        ald_shapes_use(&run->shapes, shape, &run->memory, run->passes, run->failure);
        run->shapes.launches = 0;
        if (r >= 0)
                r = ald_meter_run(run->session, &options, ald_shapes_launch, &run->shapes,
                        work_per_launch(run), &measure.meter, run->failure);
        if (r >= 0)
                r = verify_memory(run, run->failure);
        if (r < 0)
                return r;
        if (run->reduced)
                measure.meter.flags |= ALD_FLAG_REDUCED;
        *ret = measure;
        return 0;
}

int ald_bandwidth_measure(AldOpenclSession *session, const AldBandwidth *bandwidth,
        const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        Run run = { .session = session,
                .bandwidth = bandwidth,
                .options = options,
                .failure = failure,
                .start_nsec = ald_now(),
                .passes = 1 };
        int r;

        ald_measure_report(options, ALD_COMPUTE_STEP_PHASE_BUILD, options->variant, 0);
        r = ald_shapes_open(&run.shapes, session, bandwidth, options, failure);
        if (r < 0)
                return r;
        r = ald_memory_open(&run.memory, session, bandwidth->copies, ald_shapes_items(&run.shapes), failure);
        if (r >= 0) {
                r = outgrow_caches(&run);
                if (r >= 0)
                        r = measure_shape(&run, ret);
                ald_memory_close(&run.memory);
        }
        ald_shapes_close(&run.shapes);
        return r;
}

static bool is_cpu(const AldOpenclSession *session)
{
        return session->facts->type == ALD_LISTED_DEVICE_TYPE_CPU;
}

int ald_read_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        return ald_bandwidth_measure(
                session, is_cpu(session) ? &ald_read_cpu : &ald_read_gpu, options, ret, failure);
}

int ald_copy_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure)
{
        return ald_bandwidth_measure(
                session, is_cpu(session) ? &ald_copy_cpu : &ald_copy_gpu, options, ret, failure);
}
