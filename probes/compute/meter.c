/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/common/clock.h"
#include "probes/compute/clock/clocks.h"
#include "probes/compute/launches.h"
#include "probes/compute/meter.h"
#include "probes/compute/others.h"
#include "probes/compute/series.h"

#define BATCH_SECONDS 0.02
#define SETTLE_SECONDS_MIN 0.2
#define SETTLE_SECONDS_MAX 1.5
#define WINDOW_SECONDS 0.05
#define WINDOWS_MIN 16u
#define LAUNCHES_MAX 4096u /* queued at once */

#define INTERVAL_MAX 0.01
#define NEAR_BEST 0.01
#define NEAR_BEST_MIN 3u
#define CLOCKS_APART_MAX 0.05
#define BUSY_MEDIAN 0.75
#define SUSPECT_ABOVE 1.03

typedef struct Run {
        const AldMeterOptions *options;
        AldLaunches launches;
        double work;           /* of one launch */
        double launch_seconds; /* as seen last */
        uint64_t start_nsec;
        double seconds_max;
        AldSeries by_wall, by_event;
        double wall, event; /* s, of all windows */
        bool events_lost;
        AldClocks *clocks;
        double clock_sum; /* Hz, of the windows */
        unsigned n_clocks;
        unsigned throttles; /* AldThrottle, of the windows */
        AldSharing sharing;
} Run;

static double elapsed(uint64_t since)
{
        return (double) (ald_now() - since) / ALD_NSEC_PER_SEC;
}

static unsigned launches_in(const Run *run, double seconds)
{
        return (unsigned) CLAMP(round(seconds / run->launch_seconds), 1, LAUNCHES_MAX);
}

static void tell(const Run *run, AldComputeStepPhase phase, double fraction)
{
        ald_measure_tell(run->options->measure, phase, run->options->variant, MIN(fraction, 1));
}

/* Compilers work at the first launch, caches and page tables fill; the second one tells how long they take.
 */
static int warm_up(Run *run)
{
        AldSpan span = {};
        int r = 0;

        for (unsigned i = 0; i < 2 && r >= 0; i++)
                r = ald_launches_once(&run->launches, &span);
        if (r >= 0)
                run->launch_seconds = MAX(span.wall, 1e-9);
        return r;
}

/* Until the device neither speeds up nor slows down: clocks rise for up to half a second. */
static int settle(Run *run)
{
        AldSettle state = {};
        AldClockReading reading;
        uint64_t start = ald_now();
        double past = 0, most = MIN(SETTLE_SECONDS_MAX, run->seconds_max / 2);

        while (past < most && (past < SETTLE_SECONDS_MIN || !ald_settle_done(&state))) {
                AldSpan span;
                int r = ald_launches_next(&run->launches, launches_in(run, BATCH_SECONDS), &span);

                if (r < 0)
                        return r;
                past = elapsed(start);
                tell(run, ALD_COMPUTE_STEP_PHASE_SETTLE, past / most);
                if (span.n == 0 || span.wall <= 0)
                        continue;
                run->launch_seconds = span.wall / span.n;
                ald_clocks_read(run->clocks, &reading);
                ald_settle_add(&state, run->work / run->launch_seconds, (double) reading.hz);
        }
        return 0;
}

/* While the next window is under way. */
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

static void add_window(Run *run, const AldSpan *span)
{
        double work = run->work * span->n;

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
 * By the clock of the device, which no scheduling of ours disturbs, if ours confirms it: as a whole, or,
 * where we were woken late at the start or at the end, for most windows.
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

/* The mean is certain, and the best window is not a single outlier. */
static bool sure(const Run *run)
{
        const AldSeries *series = trust_events(run) ? &run->by_event : &run->by_wall;
        AldSeriesFigures figures;

        return series->n >= WINDOWS_MIN && ald_series_figures(series, &figures) &&
               figures.interval <= INTERVAL_MAX && ald_series_near_best(series, NEAR_BEST) >= NEAR_BEST_MIN;
}

static int measure(Run *run)
{
        bool first = true; /* those queued while it settled */

        while (run->by_wall.n < ALD_SERIES_MAX && !sure(run) &&
                (run->by_wall.n < 2 || elapsed(run->start_nsec) < run->seconds_max)) {
                AldSpan span;
                int r = ald_launches_next(&run->launches, launches_in(run, WINDOW_SECONDS), &span);

                if (r < 0)
                        return r;
                if (ald_sharing_look(&run->sharing) && run->options->measure->gives_way)
                        return ald_fail(run->launches.failure, ALD_FAILURE_BUSY, "other work was running");
                if (!first)
                        add_window(run, &span);
                first = false;
                tell(run, ALD_COMPUTE_STEP_PHASE_MEASURE, elapsed(run->start_nsec) / run->seconds_max);
        }
        return 0;
}

static AldMeter conclude(Run *run)
{
        bool events = trust_events(run);
        AldSeriesFigures figures = {};
        AldMeter meter = {};

        ald_series_figures(events ? &run->by_event : &run->by_wall, &figures);
        meter = (AldMeter){
                .best = figures.best,
                .mean = figures.mean,
                .median = figures.median,
                .interval = figures.interval,
                .seconds = events ? run->event : run->wall,
                .windows = (unsigned) run->by_wall.n,
        };
        if (run->n_clocks > 0)
                meter.clock_hz = (uint64_t) (run->clock_sum / run->n_clocks);
        ald_throttle_to_string(run->throttles, meter.throttle, sizeof meter.throttle);
        if (!events)
                meter.flags |= ALD_FLAG_WALL_CLOCK;
        if (meter.interval > INTERVAL_MAX)
                meter.flags |= ALD_FLAG_UNSTABLE;
        if (run->launches.session->busy || ald_sharing_end(&run->sharing) ||
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

        ald_sharing_begin(&run.sharing, "/", clocks, session->facts);
        if (r >= 0)
                r = settle(&run);
        if (r >= 0)
                r = measure(&run);
        ald_launches_end(&run.launches);
        if (r < 0)
                return r;
        *ret = conclude(&run);
        return 0;
}
