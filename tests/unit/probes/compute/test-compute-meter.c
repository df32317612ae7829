/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <time.h>

#include <glib.h>

#include "probes/compute/run/meter.h"

/* A device that takes as long as the test says, in a time of its own. */

#define WORK 1e9 /* of a launch */
#define EVENTS_MAX 8192u
#define NSEC 1e9

typedef struct Device {
        double now, idle_from;         /* s */
        double (*seconds)(double now); /* of a launch that starts then */
        double first;                  /* s that the first launch takes longer */
        double clock;                  /* how fast its own clock runs; 0: it has none */
        unsigned fail_at;              /* the wait that fails; 0: none */
        unsigned refuse_at;            /* the launch that is refused */
        unsigned launches, waits;
        double ends[EVENTS_MAX]; /* 0: free */
        unsigned n_events;
        unsigned phases[4];
        double fraction;
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

static cl_int wait_for_events(cl_uint n, const cl_event *events)
{
        double end = device.ends[GPOINTER_TO_UINT(events[0])];

        g_assert_cmpuint(n, ==, 1);
        if (++device.waits == device.fail_at)
                return CL_OUT_OF_RESOURCES;
        device.now = MAX(device.now, end) + 1e-6;
        return CL_SUCCESS;
}

static cl_int get_profiling_info(
        cl_event event, cl_profiling_info what, size_t size, void *value, size_t *ret_size)
{
        if (device.clock == 0)
                return CL_PROFILING_INFO_NOT_AVAILABLE;
        g_assert_cmpint(what, ==, CL_PROFILING_COMMAND_END);
        *(cl_ulong *) value = (cl_ulong) ((77 + device.ends[GPOINTER_TO_UINT(event)] * device.clock) * NSEC);
        return CL_SUCCESS;
}

static cl_int release_event(cl_event event)
{
        g_assert_cmpfloat(device.ends[GPOINTER_TO_UINT(event)], >, 0);
        device.ends[GPOINTER_TO_UINT(event)] = 0;
        device.n_events--;
        return CL_SUCCESS;
}

static cl_int flush(cl_command_queue queue)
{
        return CL_SUCCESS;
}

static cl_int finish(cl_command_queue queue)
{
        device.now = MAX(device.now, device.idle_from);
        return CL_SUCCESS;
}

static const AldCl cl = {
        .WaitForEvents = wait_for_events,
        .GetEventProfilingInfo = get_profiling_info,
        .ReleaseEvent = release_event,
        .Flush = flush,
        .Finish = finish,
};

static int launch(void *userdata, cl_event *ret)
{
        double start = MAX(device.now, device.idle_from);
        unsigned event = 1;

        if (++device.launches == device.refuse_at)
                return ald_fail(userdata, ALD_FAILURE_INTERNAL, "refused");
        device.idle_from = start + device.seconds(start) + (device.launches == 1 ? device.first : 0);
        if (!ret)
                return 0;
        while (device.ends[event] > 0)
                event++;
        g_assert_cmpuint(event, <, EVENTS_MAX);
        device.ends[event] = device.idle_from;
        device.n_events++;
        *ret = GUINT_TO_POINTER(event);
        return 0;
}

static void on_phase(AldComputeStepPhase phase, const char *variant, double fraction, void *userdata)
{
        g_assert_cmpstr(variant, ==, "way");
        g_assert_cmpfloat(fraction, >=, 0);
        g_assert_cmpfloat(fraction, <=, 1);
        device.phases[phase]++;
}

static double steady(double now)
{
        return 1e-3;
}

static double seconds_max = 4, theoretical;
static bool busy_before;

static int try_measure(AldMeter *ret, AldFailure *failure)
{
        const AldOpenclTarget facts = { .type = ALD_LISTED_DEVICE_TYPE_GPU };
        const AldMeasureOptions measure = { .seconds_max = seconds_max, .progress = on_phase };
        const AldMeterOptions options = { .measure = &measure, .variant = "way", .theoretical = theoretical };
        AldOpenclSession session = { .cl = &cl, .facts = &facts, .busy = busy_before };
        int r = ald_meter_run(&session, &options, launch, failure, WORK, ret, failure);

        g_assert_cmpuint(device.n_events, ==, 0);
        g_assert_cmpfloat(device.idle_from, <=, device.now);
        return r;
}

static AldMeter measure(void)
{
        AldFailure failure = {};
        AldMeter meter = {};

        g_assert_cmpint(try_measure(&meter, &failure), ==, 0);
        g_assert_null(failure.message);
        g_assert_true(isfinite(meter.interval));
        return meter;
}

static void reset(double (*seconds)(double))
{
        device = (Device){ .seconds = seconds, .clock = 1 };
        seconds_max = 4;
        theoretical = 0;
        busy_before = false;
}

static void assert_rate(double rate, double expected)
{
        g_assert_cmpfloat_with_epsilon(rate, expected, expected * 2e-3);
}

static void test_steady(void)
{
        AldMeter meter;

        reset(steady);
        meter = measure();
        assert_rate(meter.best, 1e12);
        assert_rate(meter.mean, 1e12);
        assert_rate(meter.median, 1e12);
        g_assert_cmpfloat(meter.interval, <, 0.001);
        g_assert_cmpuint(meter.flags, ==, 0);
        g_assert_cmpuint(meter.windows, ==, 16);
        g_assert_cmpfloat_with_epsilon(meter.seconds, 0.8, 0.01);
        g_assert_cmpuint(meter.clock_hz, ==, 0);
        g_assert_cmpstr(meter.throttle, ==, "");
        /* It ends as soon as it is sure. */
        g_assert_cmpfloat(device.now, <, 1.3);
        g_assert_cmpuint(device.phases[ALD_COMPUTE_STEP_PHASE_SETTLE], >, 5);
        g_assert_cmpuint(device.phases[ALD_COMPUTE_STEP_PHASE_MEASURE], >, 5);
}

/* Compilers work at the first launch, and what they take is seen by no event. */
static void test_first_launch(void)
{
        reset(steady);
        device.first = 2;
        assert_rate(measure().mean, 1e12);
}

static double waking(double now)
{
        return 1e-3 * (now < 0.44 ? 2 - now / 0.44 : 1);
}

static void test_waking(void)
{
        AldMeter meter;

        reset(waking);
        meter = measure();
        assert_rate(meter.best, 1e12);
        assert_rate(meter.median, 1e12);
        g_assert_cmpuint(meter.flags, ==, 0);
}

static double disturbed(double now)
{
        return fmod(now, 0.4) < 0.3 ? 2e-3 : 1e-3;
}

/* A busy machine is not a slow one. */
static void test_disturbed(void)
{
        AldMeter meter;

        reset(disturbed);
        meter = measure();
        assert_rate(meter.best, 1e12);
        assert_rate(meter.median, 0.5e12);
        g_assert_cmpuint(meter.flags, ==, ALD_FLAG_BUSY | ALD_FLAG_UNSTABLE);
        g_assert_cmpfloat(device.now, >=, 4);
        g_assert_cmpfloat(device.now, <, 4.2);
}

static void test_busy_before(void)
{
        reset(steady);
        busy_before = true;
        g_assert_cmpuint(measure().flags, ==, ALD_FLAG_BUSY);
}

/* Two things in turn, each for longer than a window. */
static double swaying(double now)
{
        return fmod(now, 0.3) < 0.15 ? 1.1e-3 : 1e-3;
}

static void test_unstable(void)
{
        AldMeter meter;

        reset(swaying);
        seconds_max = 2;
        meter = measure();
        assert_rate(meter.best, 1e12);
        g_assert_cmpuint(meter.flags, ==, ALD_FLAG_UNSTABLE);
        g_assert_cmpfloat(meter.interval, >, 0.01);
}

static void test_clocks(void)
{
        AldMeter meter;

        /* An event that reports half of the time, as where its unit is wrong. */
        reset(steady);
        device.clock = 0.5;
        meter = measure();
        assert_rate(meter.best, 1e12);
        g_assert_cmpuint(meter.flags, ==, ALD_FLAG_WALL_CLOCK);
        reset(steady);
        device.clock = 0;
        meter = measure();
        assert_rate(meter.best, 1e12);
        g_assert_cmpuint(meter.flags, ==, ALD_FLAG_WALL_CLOCK);
        /* A little apart they are believed. */
        reset(steady);
        device.clock = 0.97;
        meter = measure();
        assert_rate(meter.best, 1e12 / 0.97);
        g_assert_cmpuint(meter.flags, ==, 0);
}

static void test_suspect(void)
{
        reset(steady);
        theoretical = 0.98e12;
        g_assert_cmpuint(measure().flags, ==, 0);
        reset(steady);
        theoretical = 0.96e12;
        g_assert_cmpuint(measure().flags, ==, ALD_FLAG_SUSPECT);
}

static double slow(double now)
{
        return 3;
}

static double quick(double now)
{
        return 1e-6;
}

static void test_extremes(void)
{
        AldMeter meter;

        /* Whatever a launch takes, two are compared. */
        reset(slow);
        meter = measure();
        assert_rate(meter.best, WORK / 3);
        g_assert_cmpuint(meter.windows, ==, 2);
        reset(quick);
        meter = measure();
        assert_rate(meter.best, 1e15);
        g_assert_cmpuint(meter.flags, ==, 0);
}

static void test_failures(void)
{
        AldMeter meter = { .windows = 99 };
        AldFailure failure = {};

        for (unsigned at = 1; at < 20; at++) {
                reset(steady);
                device.fail_at = at;
                g_assert_cmpint(try_measure(&meter, &failure), <, 0);
                g_assert_cmpint(failure.kind, ==, ALD_FAILURE_DEVICE_LOST);
                ald_failure_clear(&failure);
                reset(steady);
                device.refuse_at = at * 7;
                g_assert_cmpint(try_measure(&meter, &failure), <, 0);
                g_assert_cmpstr(failure.message, ==, "refused");
                ald_failure_clear(&failure);
        }
        g_assert_cmpuint(meter.windows, ==, 99);
}

static void test_try(void)
{
        const AldOpenclTarget facts = { .type = ALD_LISTED_DEVICE_TYPE_GPU };
        AldOpenclSession session = { .cl = &cl, .facts = &facts };
        AldFailure failure = {};
        double rate = 0;

        reset(steady);
        device.first = 2;
        g_assert_cmpint(ald_meter_try(&session, launch, &failure, WORK, 0.04, &rate, &failure), ==, 0);
        assert_rate(rate, 1e12);
        g_assert_cmpfloat(device.now, <, 2.1);
        reset(slow);
        g_assert_cmpint(ald_meter_try(&session, launch, &failure, WORK, 0.04, &rate, &failure), ==, 0);
        assert_rate(rate, WORK / 3);
        g_assert_cmpuint(device.launches, ==, 2);
        reset(steady);
        device.fail_at = 4;
        g_assert_cmpint(ald_meter_try(&session, launch, &failure, WORK, 0.04, &rate, &failure), <, 0);
        g_assert_cmpuint(device.n_events, ==, 0);
        ald_failure_clear(&failure);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/compute-meter/steady", test_steady);
        g_test_add_func("/compute-meter/first-launch", test_first_launch);
        g_test_add_func("/compute-meter/waking", test_waking);
        g_test_add_func("/compute-meter/disturbed", test_disturbed);
        g_test_add_func("/compute-meter/busy-before", test_busy_before);
        g_test_add_func("/compute-meter/unstable", test_unstable);
        g_test_add_func("/compute-meter/clocks", test_clocks);
        g_test_add_func("/compute-meter/suspect", test_suspect);
        g_test_add_func("/compute-meter/extremes", test_extremes);
        g_test_add_func("/compute-meter/failures", test_failures);
        g_test_add_func("/compute-meter/try", test_try);
        return g_test_run();
}
