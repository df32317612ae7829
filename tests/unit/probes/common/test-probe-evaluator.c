/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/common/evaluator.h"

#define MSEC (UINT64_C(1000) * 1000)
#define MBIT (1e6 / 8e9) /* bytes/ns */

static const AldEvaluatorLimits usual = {
        .soft_ns = 1400 * MSEC,
        .hard_ns = 5000 * MSEC,
        .bytes = UINT64_C(1) << 40,
        .streams = 8,
};

/* A link: what it gives at a time, in bytes/ns, with so many connections. */
typedef double (*Link)(uint64_t when, unsigned streams);

typedef struct Played {
        uint64_t when;
        double bytes;
        unsigned more, fewer;
} Played;

/* Samples every 10 ms until the end, which always comes. */
static Played play(AldEvaluator *evaluator, Link link, AldEvaluatorBound bound)
{
        Played played = { .when = 77 * MSEC };
        AldEvaluatorStep step;

        for (unsigned i = 0; i < 1000; i++) {
                step = ald_evaluator_sample(evaluator,
                        &(AldTransferCounters){ .when = played.when, .bytes = (uint64_t) played.bytes },
                        bound);
                if (step == ALD_EVALUATOR_STOP)
                        return played;
                played.more += step == ALD_EVALUATOR_MORE_STREAMS;
                played.fewer += step == ALD_EVALUATOR_FEWER_STREAMS;
                played.bytes += link(played.when, evaluator->streams) * (double) (10 * MSEC);
                played.when += 10 * MSEC;
        }
        g_assert_not_reached();
}

static void assert_near(uint64_t value, double expected)
{
        g_assert_cmpfloat_with_epsilon((double) value, expected, expected * 0.0001);
}

static double steady(uint64_t when, unsigned streams)
{
        return 100 * MBIT;
}

static void test_steady(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;
        Played played;

        ald_evaluator_init(&evaluator, &usual, 100 * 1000);
        g_assert_false(ald_evaluator_verdict(&evaluator, &verdict));
        played = play(&evaluator, steady, ALD_EVALUATOR_UNBOUND);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        assert_near(verdict.bits_per_second, 100e6);
        assert_near(verdict.mean, 100e6);
        g_assert_true(verdict.sure);
        g_assert_cmpuint(verdict.bins, ==, ALD_EVALUATOR_BINS_MIN);
        g_assert_cmpuint(verdict.streams, ==, 1);
        g_assert_cmpuint(verdict.bytes, ==, (uint64_t) played.bytes);
        g_assert_cmpuint(verdict.nsec, <, 1200 * MSEC);
        g_assert_cmpuint(played.more, ==, 0);
}

/* The shaper's burst, then slow start. */
static double beginning(uint64_t when, unsigned streams)
{
        when -= 77 * MSEC;
        if (when < 20 * MSEC)
                return 1000 * MBIT;
        return when < 300 * MSEC ? 100 * MBIT * (double) when / (double) (300 * MSEC) : 100 * MBIT;
}

static void test_start_up_is_left_out(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;

        ald_evaluator_init(&evaluator, &usual, 30 * MSEC);
        play(&evaluator, beginning, ALD_EVALUATOR_UNBOUND);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        assert_near(verdict.bits_per_second, 100e6);
        assert_near(verdict.mean, (double) verdict.bytes * 8e9 / (double) verdict.nsec);
}

/* A long way: 200 ms there and back, twice as much each time. */
static double slow_start(uint64_t when, unsigned streams)
{
        unsigned rounds = (unsigned) ((when - 77 * MSEC) / (200 * MSEC));

        return MIN(100 * MBIT, MBIT * (double) (1u << MIN(rounds, 20)));
}

static void test_long_way(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;

        ald_evaluator_init(&evaluator, &usual, 200 * MSEC);
        play(&evaluator, slow_start, ALD_EVALUATOR_UNBOUND);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        assert_near(verdict.bits_per_second, 100e6);
        g_assert_cmpuint(verdict.nsec, >=, 10 * 200 * MSEC);
}

/* Stalls for 120 ms, which bytes lost and sent again look like, and then comes all at once. */
static double stalling(uint64_t when, unsigned streams)
{
        uint64_t since = when - 77 * MSEC;

        if (since >= 500 * MSEC && since < 620 * MSEC)
                return 0;
        return since >= 620 * MSEC && since < 630 * MSEC ? 700 * MBIT : 100 * MBIT;
}

static void test_stall_shows_in_the_mean(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;

        ald_evaluator_init(&evaluator, &usual, 0);
        play(&evaluator, stalling, ALD_EVALUATOR_UNBOUND);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        assert_near(verdict.bits_per_second, 100e6);
        g_assert_cmpuint(verdict.mean, <, 97000000);
        g_assert_false(verdict.sure);
        /* They disagree, so it takes the time it may. */
        g_assert_cmpuint(verdict.nsec, ==, usual.soft_ns);
}

/* Never two bins alike. */
static double restless(uint64_t when, unsigned streams)
{
        return (when / (50 * MSEC)) % 2 ? 150 * MBIT : 50 * MBIT;
}

static void test_restless_ends_at_the_soft_limit(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;

        ald_evaluator_init(&evaluator, &usual, 0);
        play(&evaluator, restless, ALD_EVALUATOR_UNBOUND);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        g_assert_cmpuint(verdict.nsec, ==, usual.soft_ns);
        g_assert_true(verdict.spread.known && verdict.spread.value > 100000);
        g_assert_cmpuint(verdict.interval, >=, 1000000);
        g_assert_cmpuint(verdict.bins, >=, ALD_EVALUATOR_BINS_MIN);
}

/* Each connection gives as much, up to four. */
static double parallel(uint64_t when, unsigned streams)
{
        return 1000 * MBIT * MIN(streams, 4);
}

static void test_more_streams(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;
        Played played;

        ald_evaluator_init(&evaluator, &usual, 0);
        played = play(&evaluator, parallel, ALD_EVALUATOR_BOUND_SINGLY);
        g_assert_cmpuint(played.more, ==, 3);
        g_assert_cmpuint(played.fewer, ==, 0);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        g_assert_cmpuint(verdict.streams, ==, 8);
        assert_near(verdict.bits_per_second, 4e9);
}

static void test_streams_within_the_limit(void)
{
        AldEvaluatorLimits limits = usual;
        g_auto(AldEvaluator) evaluator = {};
        g_auto(AldEvaluator) alone = {};
        AldVerdict verdict;

        limits.streams = 3;
        ald_evaluator_init(&evaluator, &limits, 0);
        play(&evaluator, parallel, ALD_EVALUATOR_BOUND_SINGLY);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        g_assert_cmpuint(verdict.streams, ==, 2);

        limits.streams = 1;
        ald_evaluator_init(&alone, &limits, 0);
        g_assert_cmpuint(play(&alone, parallel, ALD_EVALUATOR_BOUND_SINGLY).more, ==, 0);
}

/* Of 200 ms a connection waits 40 until what was lost has been sent again. */
static double losing(uint64_t when, unsigned streams)
{
        return streams < 8 && when % (200 * MSEC) < 40 * MSEC ? 0 : 50 * MBIT;
}

/* The pauses are part of the rate of a lossy link, but not of one whose machine is busy. */
static void test_pauses_of_loss_count(void)
{
        AldEvaluatorLimits limits = usual;
        g_auto(AldEvaluator) lossy = {};
        g_auto(AldEvaluator) busy = {};
        AldVerdict verdict;

        limits.streams = 1;
        ald_evaluator_init(&lossy, &limits, 0);
        play(&lossy, losing, ALD_EVALUATOR_BOUND_BY_LOSS);
        g_assert_true(ald_evaluator_verdict(&lossy, &verdict));
        g_assert_cmpfloat_with_epsilon((double) verdict.bits_per_second, 40e6, 1e6);
        g_assert_cmpfloat_with_epsilon((double) verdict.bits_per_second, 40e6, (double) verdict.interval);

        ald_evaluator_init(&busy, &limits, 0);
        play(&busy, losing, ALD_EVALUATOR_UNBOUND);
        g_assert_true(ald_evaluator_verdict(&busy, &verdict));
        assert_near(verdict.bits_per_second, 50e6);
}

/* A trial of one or two connections says little where segments get lost: all are used at once. */
static void test_all_streams_where_segments_get_lost(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;
        Played played;

        ald_evaluator_init(&evaluator, &usual, 0);
        played = play(&evaluator, losing, ALD_EVALUATOR_BOUND_BY_LOSS);
        g_assert_cmpuint(played.more, ==, 1);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        g_assert_cmpuint(verdict.streams, ==, 8);
        assert_near(verdict.bits_per_second, 50e6);
}

/* The first loss that shows comes after the trial of one connection. */
static void test_late_loss(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldEvaluatorStep step = ALD_EVALUATOR_GO_ON;
        uint64_t when = 0, bytes = 0;

        ald_evaluator_init(&evaluator, &usual, 0);
        for (; step == ALD_EVALUATOR_GO_ON && when < 800 * MSEC; when += 10 * MSEC) {
                step = ald_evaluator_sample(&evaluator,
                        &(AldTransferCounters){ .when = when, .bytes = bytes },
                        when < 700 * MSEC ? ALD_EVALUATOR_UNBOUND : ALD_EVALUATOR_BOUND_BY_LOSS);
                bytes += (uint64_t) (losing(when, 1) * (double) (10 * MSEC));
        }
        g_assert_cmpint(step, ==, ALD_EVALUATOR_MORE_STREAMS);
        g_assert_cmpuint(evaluator.streams, ==, 8);
}

/* Two are in each other's way. */
static double quarrel(uint64_t when, unsigned streams)
{
        return streams == 1 ? 1000 * MBIT : 600 * MBIT;
}

static void test_back_to_fewer(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;
        Played played;

        ald_evaluator_init(&evaluator, &usual, 0);
        played = play(&evaluator, quarrel, ALD_EVALUATOR_BOUND_SINGLY);
        g_assert_cmpuint(played.more, ==, 1);
        g_assert_cmpuint(played.fewer, ==, 1);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        g_assert_cmpuint(verdict.streams, ==, 1);
        assert_near(verdict.bits_per_second, 1e9);
}

static double nothing(uint64_t when, unsigned streams)
{
        return 0;
}

static void test_limits(void)
{
        AldEvaluatorLimits limits = usual;
        g_auto(AldEvaluator) silent = {};
        g_auto(AldEvaluator) capped = {};
        AldVerdict verdict;
        Played played;

        ald_evaluator_init(&silent, &limits, 0);
        played = play(&silent, nothing, ALD_EVALUATOR_UNBOUND);
        g_assert_cmpuint(played.when, ==, 77 * MSEC + limits.hard_ns);
        g_assert_false(ald_evaluator_verdict(&silent, &verdict));

        limits.bytes = 1000 * 1000;
        ald_evaluator_init(&capped, &limits, 0);
        play(&capped, steady, ALD_EVALUATOR_UNBOUND);
        g_assert_true(ald_evaluator_verdict(&capped, &verdict));
        g_assert_cmpuint(verdict.bins, ==, 0);
        g_assert_cmpuint(verdict.bytes, ==, limits.bytes);
        assert_near(verdict.bits_per_second, 100e6);
}

/* Clocks and counters that go back change nothing. */
static void test_backwards(void)
{
        g_auto(AldEvaluator) evaluator = {};
        AldVerdict verdict;

        ald_evaluator_init(&evaluator, &usual, 0);
        ald_evaluator_sample(&evaluator, &(AldTransferCounters){ .when = 100 * MSEC }, ALD_EVALUATOR_UNBOUND);
        ald_evaluator_sample(&evaluator, &(AldTransferCounters){ .when = 200 * MSEC, .bytes = 5000 },
                ALD_EVALUATOR_UNBOUND);
        g_assert_cmpint(
                ald_evaluator_sample(&evaluator, &(AldTransferCounters){ .when = 150 * MSEC, .bytes = 4000 },
                        ALD_EVALUATOR_UNBOUND),
                ==, ALD_EVALUATOR_GO_ON);
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        g_assert_cmpuint(verdict.bytes, ==, 5000);
        g_assert_cmpuint(verdict.nsec, ==, 100 * MSEC);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe/evaluator/steady", test_steady);
        g_test_add_func("/probe/evaluator/start-up", test_start_up_is_left_out);
        g_test_add_func("/probe/evaluator/long-way", test_long_way);
        g_test_add_func("/probe/evaluator/stall", test_stall_shows_in_the_mean);
        g_test_add_func("/probe/evaluator/restless", test_restless_ends_at_the_soft_limit);
        g_test_add_func("/probe/evaluator/more-streams", test_more_streams);
        g_test_add_func("/probe/evaluator/streams-limit", test_streams_within_the_limit);
        g_test_add_func("/probe/evaluator/loss-pauses", test_pauses_of_loss_count);
        g_test_add_func("/probe/evaluator/loss-streams", test_all_streams_where_segments_get_lost);
        g_test_add_func("/probe/evaluator/loss-late", test_late_loss);
        g_test_add_func("/probe/evaluator/fewer-streams", test_back_to_fewer);
        g_test_add_func("/probe/evaluator/limits", test_limits);
        g_test_add_func("/probe/evaluator/backwards", test_backwards);
        return g_test_run();
}
