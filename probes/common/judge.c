/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/common/judge.h"
#include "probes/common/statistics.h"

#define MSEC (UINT64_C(1000) * 1000)
#define ROUND_NS (10 * MSEC)     /* at least: shorter ones see single packets */
#define START_UP_NS (300 * MSEC) /* at least: bursts of shapers and the queue they leave pass */
#define RESTART_NS (60 * MSEC)   /* the same after connections came or went */
#define START_UP_RTTS 10u
#define GROWTH 1.25 /* BBR's test whether the pipe is full */
#define FLAT_ROUNDS 3u
#define TRIAL_BINS 4u
#define HELPS 1.05
#define HARMS 0.95
#define AGREEMENT 0.02
#define FINE_NS (10 * MSEC)
#define FINE_BYTES UINT64_C(40000) /* in one, else single packets show */
#define PIECES 98304.0             /* bytes: one and a half of the largest that the kernel hands on at once */
#define FAR_OFF 0.1
#define SEGMENT_LEAST 0.97 /* of a full one: less were sent twice, or were short */
#define SEGMENT_MOST 1.001 /* more were put together before they were counted */
#define SPREAD_BINS 4u
#define BITS 8e9 /* bytes/ns to bits/s */

static AldJudgeBins new_bins(uint64_t width)
{
        return (AldJudgeBins){ .width = width, .parts = g_array_new(FALSE, FALSE, sizeof(AldMoved)) };
}

void ald_judge_init(AldJudge *judge, const AldJudgeLimits *limits, uint64_t min_rtt)
{
        *judge = (AldJudge){
                .limits = *limits,
                .min_rtt = min_rtt,
                .streams = 1,
                .settled = limits->streams < 2,
                .bins = new_bins(ALD_JUDGE_BIN_NS),
                .fine = new_bins(FINE_NS),
        };
}

void ald_judge_clear(AldJudge *judge)
{
        g_clear_pointer(&judge->bins.parts, g_array_unref);
        g_clear_pointer(&judge->fine.parts, g_array_unref);
}

static void begin_start_up(AldJudge *judge)
{
        judge->phase = ALD_JUDGE_START_UP;
        judge->phase_begin = judge->last.when;
        judge->round = judge->last;
        judge->round_best = 0;
        judge->rounds_flat = 0;
        judge->segment = 0;
        g_array_set_size(judge->bins.parts, 0);
        g_array_set_size(judge->fine.parts, 0);
}

static void begin_bins(AldJudge *judge)
{
        judge->phase = judge->settled ? ALD_JUDGE_MEASURE : ALD_JUDGE_TRIAL;
        judge->bins_begin = judge->bins.begin = judge->fine.begin = judge->last;
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

/* Whether one is complete. */
static bool add_to(AldJudgeBins *bins, const AldMoved *now)
{
        const AldMoved part = difference(&bins->begin, now);

        if (part.when < bins->width)
                return false;
        g_array_append_val(bins->parts, part);
        bins->begin = *now;
        return true;
}

/* Whether there is something new to judge by. */
static bool add_bins(AldJudge *judge)
{
        if (judge->last.segments > 0)
                judge->segment = MAX(
                        judge->segment, (double) judge->last.bytes / (double) judge->last.segments);
        add_to(&judge->fine, &judge->last);
        return add_to(&judge->bins, &judge->last);
}

/*
 * The rate of a part, bytes/ns. Where a segment was lost, those behind it wait to be in order, and then come
 * all at once; so segments count as they arrive, where all of them are full.
 */
static double rate_of(const AldJudge *judge, const AldMoved *part)
{
        double full = (double) judge->last.segment;
        bool counted = judge->segment >= full * SEGMENT_LEAST && judge->segment <= full * SEGMENT_MOST &&
                       full > 0;

        return (counted ? (double) part->segments * judge->segment : (double) part->bytes) /
               (double) part->when;
}

static double *sorted_rates(const AldJudge *judge, const GArray *parts, double *ret_middle)
{
        double *rates = g_new(double, parts->len);

        for (guint i = 0; i < parts->len; i++)
                rates[i] = rate_of(judge, &g_array_index(parts, AldMoved, i));
        *ret_middle = ald_middle_mean(rates, parts->len);
        return rates;
}

/*
 * The mean of the fine bins without those that are far off, where the link was kept waiting or made up for
 * it. What comes in large pieces falls into bins unevenly, and that is not far.
 */
static double steady_rate(const AldJudge *judge)
{
        const GArray *parts = judge->fine.parts;
        double ignored, usual, sum = 0, time = 0;
        g_autofree double *rates = sorted_rates(judge, parts, &ignored);

        usual = rates[parts->len / 2];
        for (guint i = 0; i < parts->len; i++) {
                const AldMoved *part = &g_array_index(parts, AldMoved, i);
                double rate = rate_of(judge, part), length = (double) part->when;

                if (fabs(rate - usual) > MIN(PIECES / length, usual * FAR_OFF))
                        continue;
                sum += rate * length;
                time += length;
        }
        return time > 0 ? sum / time : usual;
}

/*
 * The rate, and half of its interval, 0 where there is none. Fine bins are clean more often where a busy
 * machine makes the link wait; where it is uneven by itself they may mislead, so they tell only where within
 * the interval of the bins the rate is.
 */
static double find_rate(const AldJudge *judge, double *ret_half)
{
        double rate, low, high;
        g_autofree double *rates = sorted_rates(judge, judge->bins.parts, &rate);
        const AldMoved all = difference(&judge->bins_begin, &judge->fine.begin);

        *ret_half = 0;
        if (!ald_median_interval(rates, judge->bins.parts->len, &low, &high))
                return rate;
        *ret_half = (high - low) / 2;
        return all.bytes < FINE_BYTES * judge->fine.parts->len ? rate : CLAMP(steady_rate(judge), low, high);
}

/* What the first bins with this number of connections tell of it. */
static AldJudgeStep try_streams(AldJudge *judge, bool bound)
{
        double half, rate = find_rate(judge, &half);

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

static double mean_of_bins(const AldJudge *judge)
{
        const AldMoved all = difference(&judge->bins_begin, &judge->bins.begin);

        return rate_of(judge, &all);
}

static bool bins_agree(const AldJudge *judge)
{
        double half, rate = find_rate(judge, &half);

        /* What held up the link shows in the mean alone. */
        return half <= rate * AGREEMENT && fabs(mean_of_bins(judge) - rate) <= rate * AGREEMENT;
}

static bool is_enough(const AldJudge *judge, bool fresh)
{
        uint64_t elapsed = judge->last.when - judge->first.when;

        if (elapsed >= judge->limits.hard_ns || judge->last.bytes - judge->first.bytes >= judge->limits.bytes)
                return true;
        if (judge->phase != ALD_JUDGE_MEASURE)
                return false;
        if (elapsed >= judge->limits.soft_ns && judge->bins.parts->len >= ALD_JUDGE_BINS_MIN / 2)
                return true;
        return fresh && judge->bins.parts->len >= ALD_JUDGE_BINS_MIN && bins_agree(judge);
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
        bool fresh = false;

        take_in(judge, moved);
        if (!judge->any) {
                judge->any = true;
                judge->first = judge->last;
                begin_start_up(judge);
        }
        if (judge->phase != ALD_JUDGE_START_UP)
                fresh = add_bins(judge);
        else if (start_up_is_over(judge))
                begin_bins(judge);
        if (is_enough(judge, fresh))
                return ALD_JUDGE_STOP;
        if (judge->phase == ALD_JUDGE_TRIAL && judge->bins.parts->len >= TRIAL_BINS)
                return try_streams(judge, bound);
        return ALD_JUDGE_GO_ON;
}

static AldOptional spread_of(const AldJudge *judge)
{
        const GArray *parts = judge->bins.parts;
        double sum = 0, squares = 0, mean;

        if (parts->len < SPREAD_BINS)
                return (AldOptional){};
        for (guint i = 0; i < parts->len; i++)
                sum += rate_of(judge, &g_array_index(parts, AldMoved, i));
        mean = sum / parts->len;
        for (guint i = 0; i < parts->len; i++)
                squares += pow(rate_of(judge, &g_array_index(parts, AldMoved, i)) - mean, 2);
        return mean > 0 ? (AldOptional){ true, (uint64_t) (sqrt(squares / (parts->len - 1)) / mean * 1e6) }
                        : (AldOptional){};
}

bool ald_judge_verdict(const AldJudge *judge, AldVerdict *ret)
{
        double half = 0, mean_rate, rate;

        if (!judge->any || judge->last.bytes == judge->first.bytes)
                return false;
        rate = mean_rate = rate_since(judge, &judge->first);
        if (judge->bins.parts->len > 0)
                rate = find_rate(judge, &half);
        if (rate * BITS < 1)
                return false;
        *ret = (AldVerdict){
                .bits_per_second = (uint64_t) (rate * BITS),
                .mean = (uint64_t) (mean_rate * BITS),
                .interval = (uint64_t) (MIN(half, rate) * BITS),
                .spread = spread_of(judge),
                .bytes = judge->last.bytes,
                .nsec = judge->last.when - judge->first.when,
                .bins = judge->bins.parts->len,
                .streams = judge->streams,
        };
        return true;
}
