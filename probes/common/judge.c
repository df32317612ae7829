/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/common/judge.h"

#define MSEC (UINT64_C(1000) * 1000)
#define ROUND_NS (10 * MSEC)     /* at least: shorter ones see single packets */
#define START_UP_NS (300 * MSEC) /* at least: bursts of shapers and the queue they leave pass */
#define RESTART_NS (60 * MSEC)   /* the same after connections came or went */
#define START_UP_RTTS 10u
#define GROWTH 1.25 /* BBR's test whether the pipe is full */
#define FLAT_ROUNDS 3u
#define TRIAL_NS (200 * MSEC)
#define HELPS 1.05
#define HARMS 0.95
#define SURE 0.01                          /* of the rate: an interval that is small enough */
#define FAIRLY_SURE 0.05                   /* the same once the usual time is over */
#define AGREEMENT 0.02                     /* of the rate: between it and the mean, in which stalls show */
#define POINT_NS MSEC                      /* at least, between two points */
#define LONG_NS (4000 * MSEC)              /* measured: fewer bins are enough, which are long then */
#define SLOW_BYTES (UINT64_C(2500) * 1000) /* less than that, and the transfer may take the longer time */
#define CHEAP_BYTES (UINT64_C(16) * 1000 * 1000) /* up to here what is unsure goes on */
#define BITS 8e9                                 /* bytes/ns to bits/s */

void ald_judge_init(AldJudge *judge, const AldJudgeLimits *limits, uint64_t min_rtt)
{
        *judge = (AldJudge){
                .limits = *limits,
                .min_rtt = min_rtt,
                .streams = 1,
                .settled = limits->streams < 2,
                .points = g_array_new(FALSE, FALSE, sizeof(AldPoint)),
        };
}

void ald_judge_clear(AldJudge *judge)
{
        g_clear_pointer(&judge->points, g_array_unref);
}

static void begin_start_up(AldJudge *judge)
{
        judge->phase = ALD_JUDGE_START_UP;
        judge->phase_begin = judge->last.when;
        judge->round = judge->last;
        judge->round_best = 0;
        judge->rounds_flat = 0;
        judge->segment = 0;
        g_array_set_size(judge->points, 0);
}

static void begin_bins(AldJudge *judge)
{
        judge->phase = judge->settled ? ALD_JUDGE_MEASURE : ALD_JUDGE_TRIAL;
        judge->phase_begin = judge->judged = judge->last.when;
}

static AldMoved difference(const AldMoved *begin, const AldMoved *end)
{
        return (AldMoved){ .when = MAX(end->when - begin->when, 1),
                .bytes = end->bytes - begin->bytes,
                .segments = end->segments - begin->segments };
}

static double rate_since(const AldJudge *judge, const AldMoved *begin)
{
        const AldMoved part = difference(begin, &judge->last);

        return (double) part.bytes / (double) part.when;
}

static bool start_up_is_over(AldJudge *judge)
{
        uint64_t least = judge->best > 0 ? RESTART_NS : START_UP_NS;

        if (judge->last.when - judge->round.when >= MAX(judge->min_rtt, ROUND_NS)) {
                double rate = rate_since(judge, &judge->round);

                if (rate >= judge->round_best * GROWTH) {
                        judge->round_best = rate;
                        judge->rounds_flat = 0;
                } else
                        judge->rounds_flat++;
                judge->round = judge->last;
        }
        return judge->rounds_flat >= FLAT_ROUNDS &&
               judge->last.when - judge->phase_begin >= MAX(least, judge->min_rtt * START_UP_RTTS);
}

/* Notes what has just arrived; looked is when nothing of it had. Whether there is something new to judge by.
 */
static bool add_point(AldJudge *judge, const AldMoved *before)
{
        const AldPoint point = { judge->last, judge->last.when - before->when };
        const AldPoint *newest = judge->points->len > 0
                                         ? &g_array_index(judge->points, AldPoint, judge->points->len - 1)
                                         : NULL;

        if (judge->last.segments > 0)
                judge->segment = MAX(
                        judge->segment, (double) judge->last.bytes / (double) judge->last.segments);
        if ((judge->last.bytes > before->bytes || judge->last.segments > before->segments) &&
                (!newest || judge->last.when - newest->moved.when >= POINT_NS))
                g_array_append_val(judge->points, point);
        if (judge->last.when - judge->judged < ALD_ESTIMATE_BIN_NS)
                return false;
        judge->judged = judge->last.when;
        return true;
}

static AldEstimate estimate(const AldJudge *judge)
{
        return ald_estimate(
                (const AldPoint *) judge->points->data, judge->points->len, judge->last.when, judge->segment);
}

/* What the first time with this number of connections shows of it. */
static AldJudgeStep try_streams(AldJudge *judge, bool bound)
{
        double rate = estimate(judge).rate;

        judge->settled = true;
        judge->phase = ALD_JUDGE_MEASURE;
        if (judge->best > 0 && rate < judge->best * HARMS) {
                judge->streams /= 2;
                begin_start_up(judge);
                return ALD_JUDGE_FEWER_STREAMS;
        }
        if (!bound || judge->streams * 2 > judge->limits.streams || rate < judge->best * HELPS)
                return ALD_JUDGE_GO_ON;
        judge->best = rate;
        judge->streams *= 2;
        judge->settled = false;
        begin_start_up(judge);
        return ALD_JUDGE_MORE_STREAMS;
}

static bool is_sure(const AldEstimate *found)
{
        /* What held up the link shows in the mean alone. */
        return found->interval > 0 && found->interval <= found->rate * SURE &&
               fabs(found->mean - found->rate) <= found->rate * AGREEMENT;
}

/* Slow links get more time: a second of theirs has few segments, and what is unsure of them costs little. */
static bool is_over(const AldJudge *judge, uint64_t elapsed, uint64_t bytes)
{
        uint64_t most = judge->phase == ALD_JUDGE_MEASURE ? CHEAP_BYTES : SLOW_BYTES;

        return elapsed >= MAX(judge->limits.slow_ns, judge->limits.hard_ns) || bytes >= judge->limits.bytes ||
               (elapsed >= judge->limits.hard_ns && bytes >= most);
}

static bool is_enough(const AldJudge *judge, bool fresh)
{
        uint64_t elapsed = judge->last.when - judge->first.when,
                 bytes = judge->last.bytes - judge->first.bytes;
        AldEstimate found;

        if (is_over(judge, elapsed, bytes))
                return true;
        if (judge->phase != ALD_JUDGE_MEASURE || !fresh)
                return false;
        found = estimate(judge);
        if (elapsed >= judge->limits.soft_ns && bytes >= CHEAP_BYTES && found.bins >= ALD_JUDGE_BINS_MIN / 2)
                return true;
        if (elapsed >= judge->limits.hard_ns && bytes >= SLOW_BYTES && found.interval > 0 &&
                found.interval <= found.rate * FAIRLY_SURE)
                return true;
        return is_sure(&found) &&
               (found.bins >= ALD_JUDGE_BINS_MIN || judge->last.when - judge->phase_begin >= LONG_NS);
}

static void take_in(AldJudge *judge, const AldMoved *moved)
{
        judge->last.when = MAX(moved->when, judge->last.when);
        judge->last.bytes = MAX(moved->bytes, judge->last.bytes);
        judge->last.segments = MAX(moved->segments, judge->last.segments);
        judge->last.segment = moved->segment;
}

AldJudgeStep ald_judge_sample(AldJudge *judge, const AldMoved *moved, bool bound)
{
        const AldMoved before = judge->last;
        bool fresh = false;

        take_in(judge, moved);
        if (!judge->any) {
                judge->any = true;
                judge->first = judge->last;
                begin_start_up(judge);
        }
        if (judge->phase != ALD_JUDGE_START_UP)
                fresh = add_point(judge, &before);
        else if (start_up_is_over(judge))
                begin_bins(judge);
        if (is_enough(judge, fresh))
                return ALD_JUDGE_STOP;
        if (judge->phase == ALD_JUDGE_TRIAL && judge->last.when - judge->phase_begin >= TRIAL_NS)
                return try_streams(judge, bound);
        return ALD_JUDGE_GO_ON;
}

bool ald_judge_verdict(const AldJudge *judge, AldVerdict *ret)
{
        AldEstimate found;
        double mean_rate;

        if (!judge->any || judge->last.bytes == judge->first.bytes)
                return false;
        mean_rate = rate_since(judge, &judge->first);
        found = estimate(judge);
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
                .bytes = judge->last.bytes,
                .nsec = judge->last.when - judge->first.when,
                .bins = found.bins,
                .streams = judge->streams,
        };
        return true;
}
