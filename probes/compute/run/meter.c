/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/common/probe-clock.h"
#include "probes/common/series.h"
#include "probes/compute/clock/clocks.h"
#include "probes/compute/run/contention.h"
#include "probes/compute/run/meter.h"

#define BATCH_SECONDS 0.02
#define SETTLE_SECONDS_MIN 0.2
#define SETTLE_SECONDS_MAX 1.5
#define WINDOW_SECONDS 0.05
#define WINDOWS_MIN 16u
#define LAUNCHES_MAX 4096u /* queued at once */

#define INTERVAL_MAX 0.01
#define NEAR_BEST 0.01
#define NEAR_BEST_MIN 3u
#define CONFIRMING 0.05 /* share of a rate, within which other windows confirm it */
#define CLOCKS_APART_MAX 0.05
#define BUSY_MEDIAN 0.75
#define SUSPECT_ABOVE 1.03
#define TRY_BATCHES 5.0 /* batches in the time of a trial */

/*
 * Launches without gaps. The next ones are queued before waiting for the previous ones, so that the device
 * never idles, and time is measured from the end of one to the end of another. So neither queueing nor the
 * time between launches affects the figure.
 */
typedef struct Launches {
        AldOpenclSession *session;
        AldLaunch launch;
        void *userdata;
        AldFailure *failure;
        cl_event pending; /* the last queued one, or NULL */
        unsigned n_pending;
        uint64_t wall_nsec; /* time when the previous ones had ended */
        uint64_t event_nsec;
} Launches;

/* The duration of launches. */
typedef struct Span {
        unsigned n;
        double wall;  /* s, by the clock of the host */
        double event; /* s, by the clock of the device; 0 if unknown */
} Span;

static int queue_launches(Launches *launches, unsigned n, cl_event *ret)
{
        for (unsigned i = 0; i < n; i++) {
                int r = launches->launch(launches->userdata, i == n - 1 ? ret : NULL);

                if (r < 0)
                        return r;
        }
        launches->session->cl->Flush(launches->session->queue);
        return 0;
}

/* Returns the time when the command ended by the clock of the device, 0 if unknown. */
static uint64_t read_end_time(const AldCl *cl, cl_event event)
{
        cl_ulong end = 0;

        if (cl->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
                return 0;
        return end;
}

/*
 * Fails with the code of a wait. A kernel that faults destroys its context, so that no other can follow in
 * this process. Drivers report that as a lack of resources, or by their own numbers.
 */
static int fail_wait(Launches *launches, cl_int code)
{
        if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY)
                return ald_cl_fail(launches->failure, code, "waiting for the device");
        return ald_fail(launches->failure, ALD_FAILURE_DEVICE_LOST, "waiting for the device: %s (%d)",
                ald_cl_error_name(code), code);
}

/* Waits for the event and releases it. */
static int await_event(Launches *launches, cl_event event, Span *ret)
{
        const AldCl *cl = launches->session->cl;
        cl_int code = cl->WaitForEvents(1, &event);
        uint64_t wall = ald_now(), end = read_end_time(cl, event);

        cl->ReleaseEvent(event);
        if (code != CL_SUCCESS)
                return fail_wait(launches, code);
        *ret = (Span){ .wall = (double) (wall - launches->wall_nsec) / ALD_NSEC_PER_SEC };
        if (end > launches->event_nsec && launches->event_nsec > 0)
                ret->event = (double) (end - launches->event_nsec) / ALD_NSEC_PER_SEC;
        launches->wall_nsec = wall;
        launches->event_nsec = end;
        return 0;
}

/* Runs one launch from queueing to its end, before any other, so that first-time costs are not measured. */
static int launch_once(Launches *launches, Span *ret)
{
        cl_event event;
        int r;

        launches->wall_nsec = ald_now();
        launches->event_nsec = 0;
        r = queue_launches(launches, 1, &event);
        if (r < 0)
                return r;
        r = await_event(launches, event, ret);
        if (r < 0)
                return r;
        ret->n = 1;
        return 0;
}

/* Queues n more launches and waits for those queued by the previous call; the first call returns an empty
 * span (n is 0). */
static int launch_next(Launches *launches, unsigned n, Span *ret)
{
        cl_event event, pending = launches->pending;
        unsigned n_pending = launches->n_pending;
        int r = queue_launches(launches, n, &event);

        if (r < 0)
                return r;
        launches->pending = event;
        launches->n_pending = n;
        if (!pending) {
                *ret = (Span){};
                return 0;
        }
        r = await_event(launches, pending, ret);
        if (r < 0)
                return r;
        ret->n = n_pending;
        return 0;
}

/* Waits for the remaining launches. Nothing is running afterwards in any case. */
static void end_launches(Launches *launches)
{
        launches->session->cl->Finish(launches->session->queue);
        if (launches->pending)
                launches->session->cl->ReleaseEvent(launches->pending);
        launches->pending = NULL;
        launches->n_pending = 0;
}

typedef struct Run {
        const AldMeterOptions *options;
        Launches launches;
        double work;           /* of one launch */
        double launch_seconds; /* as seen last */
        uint64_t start_nsec;
        double seconds_max;
        AldSeries by_wall, by_event;
        double done;        /* work in all windows */
        double wall, event; /* s, of them */
        bool events_lost;
        AldClocks *clocks;
        double clock_sum; /* Hz, of the windows */
        unsigned n_clocks;
        unsigned throttles; /* AldThrottle, of the windows */
        AldContention contention;
} Run;

static double elapsed(uint64_t since)
{
        return (double) (ald_now() - since) / ALD_NSEC_PER_SEC;
}

static unsigned launches_in(const Run *run, double seconds)
{
        return (unsigned) CLAMP(round(seconds / run->launch_seconds), 1, LAUNCHES_MAX);
}

static void report_phase(const Run *run, AldComputeStepPhase phase, double fraction)
{
        ald_measure_report(run->options->measure, phase, run->options->variant, MIN(fraction, 1));
}

/* Warms up. The first launch compiles and fills caches and page tables; the second one shows how long a
 * launch takes. */
static int warm_up(Run *run)
{
        Span span = {};
        int r = 0;

        for (unsigned i = 0; i < 2 && r >= 0; i++)
                r = launch_once(&run->launches, &span);
        if (r >= 0)
                run->launch_seconds = MAX(span.wall, 1e-9);
        return r;
}

/* Runs launches until the device neither speeds up nor slows down. Clocks rise for up to half a second. */
static int settle_rate(Run *run)
{
        AldSettle state = {};
        AldClockReading reading;
        uint64_t start = ald_now();
        double past = 0, most = MIN(SETTLE_SECONDS_MAX, run->seconds_max / 2);

        while (past < most && (past < SETTLE_SECONDS_MIN || !ald_settle_done(&state))) {
                Span span;
                int r = launch_next(&run->launches, launches_in(run, BATCH_SECONDS), &span);

                if (r < 0)
                        return r;
                past = elapsed(start);
                report_phase(run, ALD_COMPUTE_STEP_PHASE_SETTLE, past / most);
                if (span.n == 0 || span.wall <= 0)
                        continue;
                run->launch_seconds = span.wall / span.n;
                ald_clocks_read(run->clocks, &reading);
                ald_settle_add(&state, run->work / run->launch_seconds, (double) reading.hz);
        }
        return 0;
}

/* Reads the clocks while the next window is under way. */
static void read_clocks(Run *run)
{
        AldClockReading reading;

        ald_clocks_read(run->clocks, &reading);
        run->throttles |= reading.reasons;
        if (reading.hz == 0)
                return;
        run->clock_sum += (double) reading.hz;
        run->n_clocks++;
}

static void add_window(Run *run, const Span *span)
{
        double work = run->work * span->n;

        run->done += work;
        if (ald_series_add(&run->by_wall, work / span->wall))
                run->launch_seconds = span->wall / span->n;
        run->wall += span->wall;
        if (ald_series_add(&run->by_event, work / span->event))
                run->event += span->event;
        else
                run->events_lost = true;
        read_clocks(run);
}

/*
 * Returns whether to use the clock of the device, which our scheduling does not disturb. Our own clock must
 * confirm it, either as a whole or, if we were woken late at the start or at the end, for most windows.
 */
static bool trust_events(const Run *run)
{
        AldSeriesFigures wall = {}, event = {};

        if (run->events_lost || !ald_series_figures(&run->by_wall, &wall) ||
                !ald_series_figures(&run->by_event, &event))
                return false;
        return fabs(run->event / run->wall - 1) <= CLOCKS_APART_MAX ||
               fabs(event.median / wall.median - 1) <= CLOCKS_APART_MAX;
}

/* Returns whether the mean is certain, and the best window is not a single outlier. */
static bool is_sure(const Run *run)
{
        const AldSeries *series = trust_events(run) ? &run->by_event : &run->by_wall;
        AldSeriesFigures figures;

        return series->n >= WINDOWS_MIN && ald_series_figures(series, &figures) &&
               figures.interval <= INTERVAL_MAX && ald_series_near_best(series, NEAR_BEST) >= NEAR_BEST_MIN;
}

static int measure_windows(Run *run)
{
        bool first = true; /* these launches were queued while the rate settled */

        while (run->by_wall.n < ALD_SERIES_MAX && !is_sure(run) &&
                (run->by_wall.n < 2 || elapsed(run->start_nsec) < run->seconds_max)) {
                Span span;
                int r = launch_next(&run->launches, launches_in(run, WINDOW_SECONDS), &span);

                if (r < 0)
                        return r;
                if (ald_contention_check(&run->contention) && run->options->measure->gives_way)
                        return ald_fail(run->launches.failure, ALD_FAILURE_BUSY, "other work was running");
                if (!first)
                        add_window(run, &span);
                first = false;
                report_phase(
                        run, ALD_COMPUTE_STEP_PHASE_MEASURE, elapsed(run->start_nsec) / run->seconds_max);
        }
        return 0;
}

/* Returns the best rate that windows confirm; else the mean of all the time, which at least is not too
 * high. */
static double best_rate(const Run *run, const AldSeries *series, double seconds)
{
        double confirmed = ald_series_confirmed(series, CONFIRMING, NEAR_BEST_MIN);

        return confirmed > 0 ? confirmed : run->done / seconds;
}

static AldMeter compute_meter(Run *run)
{
        bool events = trust_events(run);
        const AldSeries *series = events ? &run->by_event : &run->by_wall;
        double seconds = events ? run->event : run->wall;
        AldSeriesFigures figures = {};
        AldMeter meter = {};

        ald_series_figures(series, &figures);
        figures.best = best_rate(run, series, seconds);
        meter = (AldMeter){
                .best = figures.best,
                .mean = MIN(figures.mean, figures.best),
                .median = MIN(figures.median, figures.best),
                .interval = figures.interval,
                .seconds = seconds,
                .windows = (unsigned) run->by_wall.n,
        };
        if (run->n_clocks > 0)
                meter.clock_hz = (uint64_t) (run->clock_sum / run->n_clocks);
        meter.theoretical = run->options->theoretical;
        meter.power_limit = ald_clocks_power_limit(run->clocks);
        ald_throttle_to_string(run->throttles, meter.throttle, sizeof meter.throttle);
        if (!events)
                meter.flags |= ALD_FLAG_WALL_CLOCK;
        if (meter.interval > INTERVAL_MAX)
                meter.flags |= ALD_FLAG_UNSTABLE;
        if (run->launches.session->busy || ald_contention_end(&run->contention) ||
                meter.median < BUSY_MEDIAN * meter.best)
                meter.flags |= ALD_FLAG_BUSY;
        if (run->options->theoretical > 0 && meter.best > SUSPECT_ABOVE * run->options->theoretical)
                meter.flags |= ALD_FLAG_SUSPECT;
        return meter;
}

int ald_meter_run(AldOpenclSession *session, const AldMeterOptions *options, AldLaunch launch, void *userdata,
        double work_per_launch, AldMeter *ret, AldFailure *failure)
{
        g_autoptr(AldClocks) clocks = ald_clocks_open("/", session->facts);
        double seconds_max = options->seconds_max > 0 ? options->seconds_max : options->measure->seconds_max;
        Run run = {
                .options = options,
                .launches = { .session = session,
                        .launch = launch,
                        .userdata = userdata,
                        .failure = failure },
                .work = work_per_launch,
                .start_nsec = ald_now(),
                .seconds_max = seconds_max,
                .clocks = clocks,
        };
        int r = warm_up(&run);

        ald_contention_begin(&run.contention, "/", clocks, session->facts);
        if (r >= 0)
                r = settle_rate(&run);
        if (r >= 0)
                r = measure_windows(&run);
        end_launches(&run.launches);
        if (r < 0)
                return r;
        *ret = compute_meter(&run);
        return 0;
}

static int try_launches(Launches *launches, double work, double seconds, double *ret)
{
        Span span;
        uint64_t end;
        double best;
        unsigned n;
        int r = launch_once(launches, &span);

        end = ald_now() + (uint64_t) (seconds * ALD_NSEC_PER_SEC);
        if (r >= 0)
                r = launch_once(launches, &span);
        if (r < 0)
                return r;
        best = work / MAX(span.wall, 1e-9);
        n = (unsigned) CLAMP(round(seconds / TRY_BATCHES / MAX(span.wall, 1e-9)), 1, LAUNCHES_MAX);
        while (ald_now() < end) {
                r = launch_next(launches, n, &span);
                if (r < 0)
                        return r;
                if (span.n > 0 && span.wall > 0)
                        best = MAX(best, work * span.n / span.wall);
        }
        *ret = best;
        return 0;
}

int ald_meter_try(AldOpenclSession *session, AldLaunch launch, void *userdata, double work_per_launch,
        double seconds, double *ret, AldFailure *failure)
{
        Launches launches = {
                .session = session, .launch = launch, .userdata = userdata, .failure = failure
        };
        int r = try_launches(&launches, work_per_launch, seconds, ret);

        end_launches(&launches);
        return r;
}
