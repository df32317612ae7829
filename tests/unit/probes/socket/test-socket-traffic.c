/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/socket/transfer/traffic.h"

#define SEGMENT 1448u
#define HEADER 66u
#define FRAME (SEGMENT + HEADER)
#define SECOND UINT64_C(1000000000)
#define STEP (SECOND / 20)
#define UNKNOWN ((AldOptional){})

/* A connection of the probe on a link of 50 Mb/s, as the kernel and the interface count it: in each step some
 * segments leave. */
typedef struct Sender {
        AldTcpInfo info;
        AldTrafficSample sample;
        AldTrafficCount count;
} Sender;

static Sender sender_make(void)
{
        return (Sender){
                .info = { .segment_out = SEGMENT, .header_bytes = HEADER },
                .sample = { .packets = UINT64_MAX },
        };
}

/* left: segments that left the queue; refused: new ones that it refused; again: those sent again, of which it
 * dropped some. */
static void step(Sender *sender, unsigned left, unsigned refused, unsigned again, unsigned dropped_again,
        unsigned drops, uint64_t others)
{
        AldTcpInfo *info = &sender->info;
        AldTrafficSample *sample = &sender->sample;
        unsigned handed = left + refused + dropped_again;

        info->bytes_sent += handed * SEGMENT;
        info->segments_out += handed;
        info->refused += refused * SEGMENT;
        info->bytes_again += again * SEGMENT;
        info->bytes_acked += (left + dropped_again - again) * SEGMENT;
        sample->when += STEP;
        sample->bytes += left * FRAME + others;
        sample->drops += drops;
        sample->own = (AldWireTraffic){};
        ald_traffic_add(&sample->own, info, true);
        ald_traffic_count(&sender->count, sample);
}

static void assert_rate(const Sender *sender, AldOptional before, uint64_t expected)
{
        AldOptional rate = ald_traffic_rate(&sender->count, before);

        g_assert_true(rate.known);
        g_assert_cmpuint(rate.value, >=, expected - expected / 100);
        g_assert_cmpuint(rate.value, <=, expected + expected / 100);
}

#define MBIT UINT64_C(1000000)
#define BYTES_AT(rate) ((rate) / 8 / 20) /* in a step */

/* The kernel counts exactly what a queue refuses, and what is sent again where nothing is dropped. */
static void test_exact(void)
{
        for (uint64_t others = 0; others <= 20 * MBIT; others += 5 * MBIT) {
                Sender sender = sender_make();

                for (unsigned i = 0; i < 20; i++)
                        step(&sender, 200, 0, i % 4, 0, 0, BYTES_AT(others));
                assert_rate(&sender, UNKNOWN, others);
        }
}

/*
 * Measured with BBR behind a queue of 25 Mb/s and one of 15 Mb/s: both drop at the beginning. 116 new
 * segments were refused, 276 were sent again, and of these 104 had left neither time; in 48 drops. Of 20 Mb/s
 * of others, the time after that shows all.
 */
static void test_two_queues(void)
{
        for (uint64_t others = 0; others <= 20 * MBIT; others += 5 * MBIT) {
                Sender sender = sender_make();

                for (unsigned i = 0; i < 4; i++)
                        step(&sender, 60, 29, 69, 26, 12, BYTES_AT(others));
                for (unsigned i = 0; i < 36; i++)
                        step(&sender, 60, 0, 0, 0, 0, BYTES_AT(others));
                assert_rate(&sender, UNKNOWN, others);
        }
}

/* Measured with BBR on a link of 50 Mb/s: the queue drops all the time, and all that is sent again was
 * dropped there. */
static void test_always_dropping(void)
{
        Sender alone = sender_make(), beside = sender_make();

        for (unsigned i = 0; i < 24; i++)
                step(&alone, 198, 46, 93, 93, 52, 0);
        /* Since no more can have been dropped than was sent again, nothing is left for others. */
        assert_rate(&alone, UNKNOWN, 0);

        for (unsigned i = 0; i < 24; i++)
                step(&beside, 178, 80, 50, 50, 41, BYTES_AT(5 * MBIT));
        /* Maybe all that was sent again had passed the queue, then there are no others. */
        g_assert_false(ald_traffic_rate(&beside.count, UNKNOWN).known);
        /* What was there before decides, within the bounds. */
        assert_rate(&beside, (AldOptional){ true, 4 * MBIT }, 4 * MBIT);
        assert_rate(&beside, (AldOptional){ true, 0 }, 0);
        assert_rate(&beside, (AldOptional){ true, 30 * MBIT }, 5 * MBIT);
}

/* What waits in the queue at the end has not been sent. */
static void test_backlog(void)
{
        Sender sender = sender_make();

        for (unsigned i = 0; i < 20; i++)
                step(&sender, 200, 0, 0, 0, 0, BYTES_AT(5 * MBIT));
        sender.info.bytes_sent += 60 * SEGMENT;
        sender.info.segments_out += 60;
        sender.sample.backlog = 60 * FRAME;
        step(&sender, 200, 0, 0, 0, 0, BYTES_AT(5 * MBIT));
        assert_rate(&sender, UNKNOWN, 5 * MBIT);
}

/* Where a device cuts segments, the interface counts one header for several. */
static void test_few_headers(void)
{
        AldTrafficCount count = {};
        AldTrafficSample sample = { .when = SECOND, .packets = 400, .bytes = 4000 * SEGMENT + 400 * HEADER };
        AldTcpInfo info = { .bytes_sent = 4000 * SEGMENT,
                .bytes_acked = 4000 * SEGMENT,
                .segments_out = 4000,
                .segment_out = SEGMENT,
                .header_bytes = HEADER };

        ald_traffic_add(&sample.own, &info, true);
        sample.bytes += 5 * MBIT / 8;
        ald_traffic_count(&count, &sample);
        g_assert_cmpuint(ald_traffic_rate(&count, UNKNOWN).value, ==, 5 * MBIT);
        /* The kernel does not say how long headers are: the longest ones show nothing of the probe. */
        info.header_bytes = 0;
        count = (AldTrafficCount){};
        sample = (AldTrafficSample){ .when = SECOND, .packets = UINT64_MAX, .bytes = 4000 * FRAME };
        ald_traffic_add(&sample.own, &info, true);
        ald_traffic_count(&count, &sample);
        g_assert_cmpuint(ald_traffic_rate(&count, UNKNOWN).value, ==, 0);
}

static void test_receiver(void)
{
        const AldTcpInfo receiver = { .bytes_received = 4000 * SEGMENT,
                .segments_in = 4005,
                .all_segments_in = 4005,
                .segment_in = SEGMENT,
                .segment_out = SEGMENT,
                .header_bytes = HEADER };
        AldTrafficSample sample = { .when = SECOND, .packets = UINT64_MAX, .bytes = 4005 * FRAME };
        AldTrafficCount count = {};

        /* Five segments came twice. */
        ald_traffic_add(&sample.own, &receiver, false);
        sample.bytes += 20 * MBIT / 8;
        ald_traffic_count(&count, &sample);
        g_assert_cmpuint(ald_traffic_rate(&count, UNKNOWN).value, ==, 20 * MBIT);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/socket/traffic/exact", test_exact);
        g_test_add_func("/socket/traffic/two-queues", test_two_queues);
        g_test_add_func("/socket/traffic/always-dropping", test_always_dropping);
        g_test_add_func("/socket/traffic/backlog", test_backlog);
        g_test_add_func("/socket/traffic/few-headers", test_few_headers);
        g_test_add_func("/socket/traffic/receiver", test_receiver);
        return g_test_run();
}
