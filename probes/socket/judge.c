/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/socket/judge.h"
#include "probes/socket/statistics.h"

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
#define BITS 8e9 /* bytes/ns to bits/s */

void ald_judge_init(AldJudge *judge, const AldJudgeLimits *limits, uint64_t min_rtt)
{
        *judge = (AldJudge){
                .limits = *limits,
                .min_rtt = min_rtt,
                .streams = 1,
                .settled = limits->streams < 2,
                .bins = g_array_new(FALSE, FALSE, sizeof(double)),
        };
}

void ald_judge_clear(AldJudge *judge)
{
        g_clear_pointer(&judge->bins, g_array_unref);
}

static void begin_start_up(AldJudge *judge)
{
        judge->phase = ALD_JUDGE_START_UP;
        judge->phase_begin = judge->round_begin = judge->last;
        judge->round_bytes = judge->last_bytes;
        judge->round_best = 0;
        judge->rounds_flat = 0;
        g_array_set_size(judge->bins, 0);
}

static void begin_bins(AldJudge *judge)
{
        judge->phase = judge->settled ? ALD_JUDGE_MEASURE : ALD_JUDGE_TRIAL;
        judge->bin_begin = judge->bins_begin = judge->last;
        judge->bin_bytes = judge->bins_bytes = judge->last_bytes;
}

static double rate_since(const AldJudge *judge, uint64_t when, uint64_t bytes)
{
        return (double) (judge->last_bytes - bytes) / (double) MAX(judge->last - when, 1);
}

static bool start_up_is_over(AldJudge *judge)
{
        uint64_t least = judge->best > 0 ? RESTART_NS : START_UP_NS;

        if (judge->last - judge->round_begin >= MAX(judge->min_rtt, ROUND_NS)) {
                double rate = rate_since(judge, judge->round_begin, judge->round_bytes);

                if (rate >= judge->round_best * GROWTH) {
                        judge->round_best = rate;
                        judge->rounds_flat = 0;
                } else
                        judge->rounds_flat++;
                judge->round_begin = judge->last;
                judge->round_bytes = judge->last_bytes;
        }
        return judge->rounds_flat >= FLAT_ROUNDS &&
               judge->last - judge->phase_begin >= MAX(least, judge->min_rtt * START_UP_RTTS);
}

static void add_bins(AldJudge *judge)
{
        if (judge->last - judge->bin_begin < ALD_JUDGE_BIN_NS)
                return;
        double rate = rate_since(judge, judge->bin_begin, judge->bin_bytes);

        g_array_append_val(judge->bins, rate);
        judge->bin_begin = judge->last;
        judge->bin_bytes = judge->last_bytes;
}

/* The middle of the bins, and half of its interval, 0 where there is none. */
static double middle(const AldJudge *judge, double *ret_half)
{
        g_autofree double *sorted = g_memdup2(judge->bins->data, judge->bins->len * sizeof(double));
        double value = ald_middle_mean(sorted, judge->bins->len), low, high;

        *ret_half = ald_median_interval(sorted, judge->bins->len, &low, &high) ? (high - low) / 2 : 0;
        return value;
}

/* What the first bins with this number of connections tell of it. */
static AldJudgeStep try_streams(AldJudge *judge, bool bound)
{
        double half, rate = middle(judge, &half);

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
        return (double) (judge->bin_bytes - judge->bins_bytes) /
               (double) MAX(judge->bin_begin - judge->bins_begin, 1);
}

static bool is_enough(const AldJudge *judge)
{
        uint64_t elapsed = judge->last - judge->first;
        double half, value;

        if (elapsed >= judge->limits.hard_ns || judge->last_bytes - judge->first_bytes >= judge->limits.bytes)
                return true;
        if (judge->phase != ALD_JUDGE_MEASURE)
                return false;
        if (elapsed >= judge->limits.soft_ns && judge->bins->len >= ALD_JUDGE_BINS_MIN / 2)
                return true;
        if (judge->bins->len < ALD_JUDGE_BINS_MIN)
                return false;
        value = middle(judge, &half);
        /* What was lost and sent again shows in the mean alone: it comes late, and all at once. */
        return half <= value * AGREEMENT && fabs(mean_of_bins(judge) - value) <= value * AGREEMENT;
}

AldJudgeStep ald_judge_sample(AldJudge *judge, uint64_t when, uint64_t bytes, bool bound)
{
        judge->last = MAX(when, judge->last);
        judge->last_bytes = MAX(bytes, judge->last_bytes);
        if (!judge->any) {
                judge->any = true;
                judge->first = judge->last;
                judge->first_bytes = judge->last_bytes;
                begin_start_up(judge);
        }
        if (judge->phase == ALD_JUDGE_START_UP) {
                if (start_up_is_over(judge))
                        begin_bins(judge);
        } else
                add_bins(judge);
        if (is_enough(judge))
                return ALD_JUDGE_STOP;
        if (judge->phase == ALD_JUDGE_TRIAL && judge->bins->len >= TRIAL_BINS)
                return try_streams(judge, bound);
        return ALD_JUDGE_GO_ON;
}

bool ald_judge_verdict(const AldJudge *judge, AldVerdict *ret)
{
        double half = 0, mean_rate, rate;

        if (!judge->any || judge->last_bytes == judge->first_bytes)
                return false;
        rate = mean_rate = rate_since(judge, judge->first, judge->first_bytes);
        if (judge->bins->len > 0)
                rate = middle(judge, &half);
        *ret = (AldVerdict){
                .bits_per_second = (uint64_t) (rate * BITS),
                .mean = (uint64_t) (mean_rate * BITS),
                .interval = (uint64_t) (half * BITS),
                .bytes = judge->last_bytes,
                .nsec = judge->last - judge->first,
                .bins = judge->bins->len,
                .streams = judge->streams,
        };
        return true;
}
