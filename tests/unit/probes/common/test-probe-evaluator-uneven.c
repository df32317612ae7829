/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/common/evaluator.h"

/* Links on which not all time is alike, by what the kernel of the receiver counts. */

#define MSEC (UINT64_C(1000) * 1000)
#define MBIT (1e6 / 8e9) /* bytes/ns */
#define SEGMENT 1448u

static const AldEvaluatorLimits usual = {
        .soft_ns = 1400 * MSEC,
        .hard_ns = 5000 * MSEC,
        .bytes = UINT64_C(1) << 40,
        .streams = 1,
};

/* What a kernel counted by then. */
typedef AldTransferCounters (*Counter)(uint64_t when);

/* Looks every 5 ms until the end: the rate, bits/s. */
static double evaluate_counter(Counter counter)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;
        AldTransferCounters counters;
        uint64_t when = 0;

        ald_evaluator_init(&evaluator, &usual, 0);
        do {
                counters = counter(when);
                counters.when = when;
                when += 5 * MSEC;
                g_assert_cmpuint(when, <=, usual.hard_ns);
        } while (ald_evaluator_sample(&evaluator, &counters, ALD_EVALUATOR_UNBOUND) != ALD_EVALUATOR_STOP);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        g_assert_cmpuint(verdict.bins, >=, ALD_EVALUATOR_BINS_MIN);
        return (double) verdict.bits_per_second;
}

static AldTransferCounters in_segments(double bytes)
{
        const uint64_t segments = (uint64_t) (bytes / SEGMENT);

        return (AldTransferCounters){ .bytes = segments * SEGMENT, .segments = segments, .segment = SEGMENT };
}

/* Of each 200 ms something is lost at 20: until 180 what comes is not in order, though it comes. */
static AldTransferCounters losing(uint64_t when)
{
        uint64_t into = when % (200 * MSEC);
        AldTransferCounters counters = in_segments((double) when * 30 * MBIT);

        if (into >= 20 * MSEC && into < 180 * MSEC)
                counters.bytes = in_segments((double) (when - into + 20 * MSEC) * 30 * MBIT).bytes;
        return counters;
}

static void test_loss(void)
{
        g_assert_cmpfloat_with_epsilon(evaluate_counter(losing), 30e6, 0.15e6);
}

/* A segment that was lost is lost again when it is sent again: 25 that came by 940 wait until 1500, like all
 * that come after them. */
static AldTransferCounters waiting(uint64_t when)
{
        AldTransferCounters counters = in_segments((double) when * 15 * MBIT);

        if (when >= 900 * MSEC && when < 940 * MSEC)
                counters.bytes = in_segments((double) (900 * MSEC) * 15 * MBIT).bytes;
        else if (when >= 940 * MSEC && when < 1500 * MSEC)
                counters.bytes = in_segments((double) (940 * MSEC) * 15 * MBIT).bytes - 25 * SEGMENT;
        return counters;
}

static void test_loss_until_the_end(void)
{
        g_assert_cmpfloat_with_epsilon(evaluate_counter(waiting), 15e6, 0.05e6);
}

/* One segment of 50 comes twice. */
static AldTransferCounters doubling(uint64_t when)
{
        AldTransferCounters counters = in_segments((double) when * 100 * MBIT);

        counters.segments += counters.segments / 50;
        return counters;
}

static void test_few_segments_sent_twice(void)
{
        g_assert_cmpfloat_with_epsilon(evaluate_counter(doubling), 100e6, 0.1e6);
}

/* Segments that had arrived are sent again: twice as many segments come as count. */
static AldTransferCounters repeating(uint64_t when)
{
        AldTransferCounters counters = in_segments((double) when * 100 * MBIT);

        counters.segments *= when / (100 * MSEC) % 2 ? 3 : 2;
        return counters;
}

static void test_segments_sent_twice(void)
{
        g_assert_cmpfloat_with_epsilon(evaluate_counter(repeating), 100e6, 0.1e6);
}

/* The device puts segments together, now ten, then five. */
static AldTransferCounters merging(uint64_t when)
{
        AldTransferCounters counters = in_segments((double) when * 1000 * MBIT);

        counters.segments /= when / (100 * MSEC) % 2 ? 10 : 5;
        return counters;
}

static void test_merged_segments(void)
{
        g_assert_cmpfloat_with_epsilon(evaluate_counter(merging), 1e9, 1e6);
}

/* The machine is busy: in two bins of three nothing moves for 4 ms, and what did not is lost. */
static AldTransferCounters busy(uint64_t when)
{
        uint64_t into = when % (150 * MSEC),
                 stalled = when / (150 * MSEC) * 8 + MIN(into / (50 * MSEC), 2) * 4;

        stalled *= MSEC;
        if (into < 100 * MSEC)
                stalled += CLAMP(into % (50 * MSEC), 20 * MSEC, 24 * MSEC) - 20 * MSEC;
        return in_segments((double) (when - stalled) * 5000 * MBIT);
}

static void test_busy_machine(void)
{
        g_assert_cmpfloat_with_epsilon(evaluate_counter(busy), 5e9, 5e6);
}

/* It comes in the largest pieces that there are, and few of them in 10 ms. */
static AldTransferCounters lumpy(uint64_t when)
{
        const uint64_t piece = 45 * SEGMENT;

        return in_segments((double) ((uint64_t) ((double) when * 900 * MBIT) / piece * piece));
}

static void test_large_pieces(void)
{
        g_assert_cmpfloat_with_epsilon(evaluate_counter(lumpy), 900e6, 1.8e6);
}

/* A radio that is ours for 5 ms of each 12.5. */
static AldTransferCounters bursty(uint64_t when)
{
        const uint64_t tick = MSEC / 2;

        return in_segments(
                (double) (when / (25 * tick) * 10 * tick + MIN(when % (25 * tick), 10 * tick)) * 500 * MBIT);
}

static void test_bursty_link(void)
{
        g_assert_cmpfloat_with_epsilon(evaluate_counter(bursty), 200e6, 2e6);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe/evaluator/loss", test_loss);
        g_test_add_func("/probe/evaluator/loss-until-the-end", test_loss_until_the_end);
        g_test_add_func("/probe/evaluator/few-sent-twice", test_few_segments_sent_twice);
        g_test_add_func("/probe/evaluator/sent-twice", test_segments_sent_twice);
        g_test_add_func("/probe/evaluator/merged-segments", test_merged_segments);
        g_test_add_func("/probe/evaluator/busy-machine", test_busy_machine);
        g_test_add_func("/probe/evaluator/large-pieces", test_large_pieces);
        g_test_add_func("/probe/evaluator/bursty-link", test_bursty_link);
        return g_test_run();
}
