/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/common/evaluator.h"

#define MSEC (UINT64_C(1000) * 1000)
#define ROUND_NS (10 * MSEC)     /* least length of a round; in shorter ones, single packets show */
#define START_UP_NS (300 * MSEC) /* least length, to let bursts of shapers and their queue pass */
#define RESTART_NS (60 * MSEC)   /* the same after the number of connections has changed */
#define START_UP_RTTS 10u
#define GROWTH 1.25 /* BBR's test whether the pipe is full */
#define FLAT_ROUNDS 3u
#define TRIAL_NS (200 * MSEC)
#define HELPS 1.05
#define HARMS 0.95
#define SURE 0.01             /* of the rate: the interval is small enough */
#define FAIRLY_SURE 0.05      /* the same once the usual time is over */
#define AGREEMENT 0.02        /* of the rate: between it and the mean, in which stalls show */
#define POINT_NS MSEC         /* at least, between two points */
#define LONG_NS (4000 * MSEC) /* measured: from here on fewer bins, which are long then, are enough */
#define SLOW_BYTES (UINT64_C(2500) * 1000)       /* with fewer, the transfer may take slow_ns */
#define CHEAP_BYTES (UINT64_C(16) * 1000 * 1000) /* up to here an unsure measurement goes on */
#define BITS 8e9                                 /* bytes/ns to bits/s */

void ald_evaluator_init(AldEvaluator *evaluator, const AldEvaluatorLimits *limits, uint64_t min_rtt)
{
        *evaluator = (AldEvaluator){
                .limits = *limits,
                .min_rtt = min_rtt,
                .streams = 1,
                .settled = limits->streams < 2,
                .points = g_array_new(FALSE, FALSE, sizeof(AldPoint)),
        };
}

void ald_evaluator_clear(AldEvaluator *evaluator)
{
        g_clear_pointer(&evaluator->points, g_array_unref);
}

static void begin_start_up(AldEvaluator *evaluator)
{
        evaluator->phase = ALD_EVALUATOR_START_UP;
        evaluator->phase_begin = evaluator->last.when;
        evaluator->round = evaluator->last;
        evaluator->round_best = 0;
        evaluator->rounds_flat = 0;
        evaluator->segment = 0;
        g_array_set_size(evaluator->points, 0);
}

static double rate_since(const AldEvaluator *evaluator, const AldTransferCounters *begin)
{
        return (double) (evaluator->last.bytes - begin->bytes) /
               (double) MAX(evaluator->last.when - begin->when, 1);
}

static bool start_up_is_over(AldEvaluator *evaluator)
{
        uint64_t least = evaluator->best > 0 ? RESTART_NS : START_UP_NS;

        if (evaluator->last.when - evaluator->round.when >= MAX(evaluator->min_rtt, ROUND_NS)) {
                double rate = rate_since(evaluator, &evaluator->round);

                if (rate >= evaluator->round_best * GROWTH) {
                        evaluator->round_best = rate;
                        evaluator->rounds_flat = 0;
                } else
                        evaluator->rounds_flat++;
                evaluator->round = evaluator->last;
        }
        return evaluator->rounds_flat >= FLAT_ROUNDS &&
               evaluator->last.when - evaluator->phase_begin >=
                       MAX(least, evaluator->min_rtt * START_UP_RTTS);
}

/* Adds a point if anything has arrived since `before`. Returns whether to evaluate again. */
static bool add_point(AldEvaluator *evaluator, const AldTransferCounters *before)
{
        const AldPoint point = { evaluator->last, evaluator->last.when - before->when };
        const AldPoint *newest = evaluator->points->len > 0 ? &g_array_index(evaluator->points, AldPoint,
                                                                      evaluator->points->len - 1)
                                                            : NULL;

        if (evaluator->last.segments > 0)
                evaluator->segment = MAX(evaluator->segment,
                        (double) evaluator->last.bytes / (double) evaluator->last.segments);
        if ((evaluator->last.bytes > before->bytes || evaluator->last.segments > before->segments) &&
                (!newest || evaluator->last.when - newest->counters.when >= POINT_NS))
                g_array_append_val(evaluator->points, point);
        if (evaluator->last.when - evaluator->evaluated < ALD_ESTIMATE_BIN_NS)
                return false;
        evaluator->evaluated = evaluator->last.when;
        return true;
}

static AldEstimate estimate(const AldEvaluator *evaluator)
{
        return ald_estimate((const AldPoint *) evaluator->points->data, evaluator->points->len,
                evaluator->last.when, evaluator->segment, evaluator->lossy);
}

/* Decides from the trial of this number of connections whether to keep it, to halve it or to try twice as
 * many. */
static AldEvaluatorStep try_streams(AldEvaluator *evaluator, AldEvaluatorBound bound)
{
        double rate = estimate(evaluator).rate;

        evaluator->settled = true;
        evaluator->phase = ALD_EVALUATOR_MEASURE;
        if (evaluator->best > 0 && rate < evaluator->best * HARMS) {
                evaluator->streams /= 2;
                begin_start_up(evaluator);
                return ALD_EVALUATOR_FEWER_STREAMS;
        }
        if (bound != ALD_EVALUATOR_BOUND_SINGLY || evaluator->streams * 2 > evaluator->limits.streams ||
                rate < evaluator->best * HELPS)
                return ALD_EVALUATOR_GO_ON;
        evaluator->best = rate;
        evaluator->streams *= 2;
        evaluator->settled = false;
        begin_start_up(evaluator);
        return ALD_EVALUATOR_MORE_STREAMS;
}

/*
 * After a loss a connection pauses or slows down, by chance more or less often during a trial. The rates of
 * one and of two connections therefore do not show how many are enough; all that are allowed come closest to
 * the capacity of the link.
 */
static bool needs_all_streams(const AldEvaluator *evaluator)
{
        uint64_t elapsed = evaluator->last.when - evaluator->first.when,
                 bytes = evaluator->last.bytes - evaluator->first.bytes,
                 most = bytes < SLOW_BYTES ? MAX(evaluator->limits.slow_ns, evaluator->limits.hard_ns)
                                           : evaluator->limits.hard_ns;

        return evaluator->lossy && evaluator->phase != ALD_EVALUATOR_START_UP &&
               evaluator->streams < evaluator->limits.streams && elapsed < most / 10 * 7;
}

static bool is_sure(const AldEstimate *found)
{
        /* Stalls of the link show in the mean alone. */
        return found->interval > 0 && found->interval <= found->rate * SURE &&
               fabs(found->mean - found->rate) <= found->rate * AGREEMENT;
}

/* Slow links get more time, since few segments arrive in a second and a longer transfer costs little. */
static bool is_over(const AldEvaluator *evaluator, uint64_t elapsed, uint64_t bytes)
{
        uint64_t most = evaluator->phase == ALD_EVALUATOR_MEASURE ? CHEAP_BYTES : SLOW_BYTES;

        return elapsed >= MAX(evaluator->limits.slow_ns, evaluator->limits.hard_ns) ||
               bytes >= evaluator->limits.bytes || (elapsed >= evaluator->limits.hard_ns && bytes >= most);
}

static bool is_enough(const AldEvaluator *evaluator, bool fresh)
{
        uint64_t elapsed = evaluator->last.when - evaluator->first.when,
                 bytes = evaluator->last.bytes - evaluator->first.bytes;
        AldEstimate found;

        if (is_over(evaluator, elapsed, bytes))
                return true;
        if (evaluator->phase != ALD_EVALUATOR_MEASURE || !fresh)
                return false;
        found = estimate(evaluator);
        if (elapsed >= evaluator->limits.soft_ns && bytes >= CHEAP_BYTES &&
                found.bins >= ALD_EVALUATOR_BINS_MIN / 2 &&
                (!evaluator->lossy || found.interval <= found.rate * FAIRLY_SURE))
                return true;
        if (elapsed >= evaluator->limits.hard_ns && bytes >= SLOW_BYTES && found.interval > 0 &&
                found.interval <= found.rate * FAIRLY_SURE)
                return true;
        return is_sure(&found) && (found.bins >= ALD_EVALUATOR_BINS_MIN ||
                                          evaluator->last.when - evaluator->phase_begin >= LONG_NS);
}

static void update_counters(AldEvaluator *evaluator, const AldTransferCounters *counters)
{
        evaluator->last.when = MAX(counters->when, evaluator->last.when);
        evaluator->last.bytes = MAX(counters->bytes, evaluator->last.bytes);
        evaluator->last.segments = MAX(counters->segments, evaluator->last.segments);
        evaluator->last.segment = counters->segment;
}

AldEvaluatorStep ald_evaluator_sample(
        AldEvaluator *evaluator, const AldTransferCounters *counters, AldEvaluatorBound bound)
{
        const AldTransferCounters before = evaluator->last;
        bool fresh = false;

        evaluator->lossy = bound == ALD_EVALUATOR_BOUND_BY_LOSS;
        update_counters(evaluator, counters);
        if (!evaluator->any) {
                evaluator->any = true;
                evaluator->first = evaluator->last;
                begin_start_up(evaluator);
        }
        if (evaluator->phase != ALD_EVALUATOR_START_UP)
                fresh = add_point(evaluator, &before);
        else if (start_up_is_over(evaluator)) {
                evaluator->phase = evaluator->settled ? ALD_EVALUATOR_MEASURE : ALD_EVALUATOR_TRIAL;
                evaluator->phase_begin = evaluator->evaluated = evaluator->last.when;
        }
        if (needs_all_streams(evaluator)) {
                evaluator->streams = evaluator->limits.streams;
                evaluator->settled = true;
                evaluator->best = 0;
                begin_start_up(evaluator);
                return ALD_EVALUATOR_MORE_STREAMS;
        }
        if (is_enough(evaluator, fresh))
                return ALD_EVALUATOR_STOP;
        if (evaluator->phase == ALD_EVALUATOR_TRIAL &&
                evaluator->last.when - evaluator->phase_begin >= TRIAL_NS)
                return try_streams(evaluator, bound);
        return ALD_EVALUATOR_GO_ON;
}

bool ald_evaluator_verdict(const AldEvaluator *evaluator, AldVerdict *ret)
{
        AldEstimate found;
        double mean_rate;

        if (!evaluator->any || evaluator->last.bytes == evaluator->first.bytes)
                return false;
        mean_rate = rate_since(evaluator, &evaluator->first);
        found = estimate(evaluator);
        if (found.rate <= 0)
                found = (AldEstimate){ .rate = mean_rate };
        else
                found.bins = MAX(found.bins, 1);
        if (found.rate * BITS < 1)
                return false;
        *ret = (AldVerdict){
                .bits_per_second = (uint64_t) (found.rate * BITS),
                .mean = (uint64_t) (mean_rate * BITS),
                .interval = (uint64_t) (found.interval * BITS),
                .spread = found.spread,
                .sure = is_sure(&found),
                .bytes = evaluator->last.bytes,
                .nsec = evaluator->last.when - evaluator->first.when,
                .bins = found.bins,
                .streams = evaluator->streams,
        };
        return true;
}

void ald_verdict_to_message(const AldVerdict *verdict, AldProbeDirection *message)
{
        message->bits_per_second = verdict->bits_per_second;
        message->mean_bits_per_second = verdict->mean;
        if (verdict->interval > 0 && verdict->bits_per_second > 0) {
                message->interval_bits_per_second = verdict->interval;
                message->interval = 100 * (double) verdict->interval / (double) verdict->bits_per_second;
        }
        if (verdict->spread.known)
                message->spread = (double) verdict->spread.value / 1e4;
        message->bytes = verdict->bytes;
        message->bins = verdict->bins;
        message->seconds = (double) verdict->nsec / 1e9;
}
