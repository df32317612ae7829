/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "probes/common/evaluator.h"

/* Slow links, on which single segments arrive, as the kernel of the receiver counts them. */

#define MSEC (UINT64_C(1000) * 1000)
#define SEGMENT 1448u
#define FRAME 1514u
#define LUMP_MAX 11u /* segments that a sender hands over as one */
#define PAYLOAD ((double) SEGMENT / FRAME)
#define NEVER UINT64_MAX

static const AldEvaluatorLimits usual = {
        .soft_ns = 1400 * MSEC,
        .hard_ns = 5000 * MSEC,
        .slow_ns = 20000 * MSEC,
        .bytes = UINT64_C(1) << 40,
        .streams = 1,
};

/* A token bucket, a sender that pauses now and then, and a receiver that is not always let look in time. */
typedef struct Link {
        double rate;        /* bits/s of frames */
        unsigned burst;     /* bytes */
        unsigned lump;      /* segments that come at once, at most */
        uint64_t pause;     /* how long the sender has nothing to send, ns, at random moments */
        uint64_t look_late; /* how late the receiver looks at most, ns */
        uint64_t dead;      /* from here on nothing arrives */
} Link;

typedef struct Played {
        uint64_t now, arrival; /* arrival: of the next lump */
        double tokens;
        uint64_t filled; /* when the tokens were counted */
        unsigned next;   /* segments of the next lump */
        uint64_t segments;
} Played;

/* When the lump that the sender hands over at a moment has passed the bucket. */
static void send_lump(Played *played, const Link *link, GRand *random, uint64_t from)
{
        double bytes, per_ns = link->rate / 8e9;

        played->next = 1 + (unsigned) g_rand_int_range(random, 0, (gint32) link->lump);
        bytes = played->next * FRAME;
        if (link->pause > 0 && g_rand_int_range(random, 0, 8) == 0)
                from += (uint64_t) (g_rand_double(random) * (double) link->pause);
        played->tokens = MIN(link->burst, played->tokens + (double) (from - played->filled) * per_ns);
        played->filled = from;
        if (played->tokens < bytes) {
                played->filled += (uint64_t) ((bytes - played->tokens) / per_ns);
                played->tokens = bytes;
        }
        played->tokens -= bytes;
        played->arrival = played->filled;
}

static AldVerdict evaluate_link(const Link *link, guint32 seed, bool *ret_known)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(seed);
        Played played = { .tokens = link->burst };
        AldVerdict verdict = {};
        g_auto(AldEvaluator) evaluator = {};
        AldEvaluatorStep step;

        ald_evaluator_init(&evaluator, &usual, 100 * 1000);
        send_lump(&played, link, random, 0);
        do {
                while (played.arrival <= played.now && played.arrival < link->dead) {
                        played.segments += played.next;
                        send_lump(&played, link, random, played.arrival);
                }
                step = ald_evaluator_sample(&evaluator,
                        &(AldTransferCounters){ .when = played.now,
                                .bytes = played.segments * SEGMENT,
                                .segments = played.segments,
                                .segment = SEGMENT },
                        ALD_EVALUATOR_UNBOUND);
                played.now += MSEC;
                if (link->look_late > 0 && g_rand_int_range(random, 0, 50) == 0)
                        played.now += (uint64_t) (g_rand_double(random) * (double) link->look_late);
                g_assert_cmpuint(played.now, <, 30000 * MSEC);
        } while (step != ALD_EVALUATOR_STOP);
        *ret_known = ald_evaluator_verdict(&evaluator, &verdict);
        return verdict;
}

/* 100 runs: each is off by at most so much of the rate, and in 95 of them the interval holds the truth. */
static void check_link(const Link *link, double tolerance)
{
        double truth = link->rate * PAYLOAD, worst = 0;
        unsigned covered = 0;

        for (guint32 seed = 0; seed < 100; seed++) {
                bool known;
                AldVerdict verdict = evaluate_link(link, seed, &known);
                double off;

                g_assert_true(known);
                off = fabs((double) verdict.bits_per_second - truth);
                worst = MAX(worst, off / truth);
                covered += off <= (double) verdict.interval + 1;
                g_assert_cmpuint(verdict.interval, >, 0);
        }
        g_test_message("%.1f Mb/s: worst %.3f %%, covered %u", link->rate / 1e6, worst * 100, covered);
        g_assert_cmpfloat(worst, <=, tolerance);
        g_assert_cmpuint(covered, >=, 95);
}

static const double rates[] = { 0.1e6, 1e6, 3e6, 37e6 };

static double tolerance_of(double rate)
{
        return rate < 1e6 ? 0.05 : 0.01;
}

static void test_segments(void)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(rates); i++)
                check_link(&(Link){ rates[i], 2 * FRAME, 1, 0, 0, NEVER }, tolerance_of(rates[i]));
}

static void test_bursts(void)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(rates); i++)
                check_link(
                        &(Link){ rates[i], LUMP_MAX * FRAME, LUMP_MAX, 0, 0, NEVER }, tolerance_of(rates[i]));
}

/* What the bucket saves while the sender pauses passes at once afterwards. */
static void test_pauses(void)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(rates); i++)
                check_link(&(Link){ rates[i], LUMP_MAX * FRAME, 2,
                                   (uint64_t) (LUMP_MAX / 2 * FRAME * 8e9 / rates[i]), 0, NEVER },
                        tolerance_of(rates[i]));
}

static void test_busy_receiver(void)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(rates); i++)
                check_link(&(Link){ rates[i], LUMP_MAX * FRAME, LUMP_MAX, 0, 30 * MSEC, NEVER },
                        tolerance_of(rates[i]));
}

/* So few segments that there is not even one bin. */
static void test_hardly_any(void)
{
        const Link link = { 10e3, 2 * FRAME, 2, 0, 0, NEVER };
        bool known;
        AldVerdict verdict = evaluate_link(&link, 1, &known);

        g_assert_true(known);
        g_assert_cmpuint(verdict.nsec, ==, usual.slow_ns);
        g_assert_cmpfloat_with_epsilon((double) verdict.bits_per_second, 10e3 * PAYLOAD, verdict.interval);
        g_assert_cmpuint(verdict.interval, <, 3000);
        g_assert_false(verdict.spread.known);
}

static void test_nothing(void)
{
        const Link link = { 1e6, 2 * FRAME, 1, 0, 0, 0 };
        bool known;

        evaluate_link(&link, 1, &known);
        g_assert_false(known);
}

/* The link dies on the way: the time after counts too. */
static void test_death(void)
{
        const Link link = { 0.5e6, 2 * FRAME, 1, 0, 0, 10000 * MSEC };
        const Link fast = { 0.5e6, 2 * FRAME, 1, 0, 0, NEVER };
        bool known;
        AldVerdict whole = evaluate_link(&fast, 1, &known), verdict;

        g_assert_cmpuint(whole.nsec, <, 10000 * MSEC);
        verdict = evaluate_link(&(Link){ link.rate, 2 * FRAME, 2, 0, 0, 1000 * MSEC }, 1, &known);
        g_assert_true(known);
        g_assert_cmpuint(verdict.nsec, ==, usual.slow_ns);
        g_assert_cmpuint(verdict.bits_per_second, <, 100000);
}

/*
 * Slow start goes too far where one segment of a hundred is lost: the rate falls for seconds, and only then
 * the link is what it stays to be.
 */
static void test_long_start_up(void)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(3);
        g_auto(AldEvaluator) evaluator = {};
        double arrived = 0, truth = 1.2e6;
        AldEvaluatorStep step = ALD_EVALUATOR_GO_ON;
        uint64_t when = 0, segments = 0;
        AldVerdict verdict;

        ald_evaluator_init(&evaluator, &usual, 200 * MSEC);
        for (; step != ALD_EVALUATOR_STOP; when += MSEC) {
                double extra = when < 4500 * MSEC ? 8e6 * (1 - (double) when / (double) (4500 * MSEC)) : 0;

                arrived += (truth * 2 * g_rand_double(random) + extra) / 8e9 * (double) MSEC;
                segments = (uint64_t) (arrived / SEGMENT);
                step = ald_evaluator_sample(&evaluator,
                        &(AldTransferCounters){ .when = when,
                                .bytes = segments * SEGMENT,
                                .segments = segments,
                                .segment = SEGMENT },
                        ALD_EVALUATOR_UNBOUND);
                g_assert_cmpuint(when, <=, usual.slow_ns);
        }
        g_assert_true(ald_evaluator_verdict(&evaluator, &verdict));
        g_assert_cmpfloat_with_epsilon((double) verdict.bits_per_second, truth, verdict.interval);
        g_assert_cmpfloat_with_epsilon((double) verdict.bits_per_second, truth, truth * 0.1);
        g_assert_cmpuint(verdict.mean, >, (uint64_t) truth);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probe/evaluator/slow/segments", test_segments);
        g_test_add_func("/probe/evaluator/slow/bursts", test_bursts);
        g_test_add_func("/probe/evaluator/slow/pauses", test_pauses);
        g_test_add_func("/probe/evaluator/slow/busy-receiver", test_busy_receiver);
        g_test_add_func("/probe/evaluator/slow/hardly-any", test_hardly_any);
        g_test_add_func("/probe/evaluator/slow/nothing", test_nothing);
        g_test_add_func("/probe/evaluator/slow/death", test_death);
        g_test_add_func("/probe/evaluator/slow/long-start-up", test_long_start_up);
        return g_test_run();
}
