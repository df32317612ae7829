/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/socket/transfer/traffic.h"

#define SEGMENT 1448u
#define FRAME (SEGMENT + 66u)
#define COUNT 1000u   /* segments that arrived */
#define DROPPED 300u  /* segments that were sent and came to nothing */
#define OTHERS 200000 /* bytes of other programs */

/* A connection of the probe: some segments were sent again, and ten are under way. */
static AldTcpInfo sender_of(uint64_t refused, uint64_t again)
{
        return (AldTcpInfo){
                .bytes_acked = (COUNT - 10) * SEGMENT,
                .bytes_sent = (COUNT + refused + again) * SEGMENT,
                .bytes_again = again * SEGMENT,
                .segments_out = COUNT + refused + again,
                .unacked = 10,
                .segment_out = SEGMENT,
                .header_bytes = FRAME - SEGMENT,
        };
}

static uint64_t others(const AldTcpInfo *sender, uint64_t frames, uint64_t drops)
{
        AldWireTraffic own = {};

        ald_traffic_add(&own, sender, true);
        return ald_traffic_of_others(frames * FRAME + OTHERS, &own, drops);
}

/* The interface counts only what its queue let pass. */
static void test_own_queue(void)
{
        const AldTcpInfo refused = sender_of(DROPPED, 0), both = sender_of(DROPPED, DROPPED);
        AldTcpInfo dropped = sender_of(0, DROPPED);

        /* The queue refuses several segments at once, and counts them as one packet. */
        g_assert_cmpuint(others(&refused, COUNT, DROPPED / 10), ==, OTHERS);
        g_assert_cmpuint(others(&dropped, COUNT, DROPPED), ==, OTHERS);
        /* It drops packets of others, too. */
        g_assert_cmpuint(others(&dropped, COUNT, 5 * DROPPED), ==, OTHERS);
        g_assert_cmpuint(others(&both, COUNT, 2 * DROPPED), ==, OTHERS);
        /* What TCP hands over at once counts as one packet. */
        dropped.burst_out = 5;
        g_assert_cmpuint(others(&dropped, COUNT, DROPPED / 5), ==, OTHERS);
}

/* Segments that are lost on the way have passed the interface. */
static void test_lost_on_the_way(void)
{
        const AldTcpInfo lost = sender_of(0, DROPPED);

        g_assert_cmpuint(others(&lost, COUNT + DROPPED, 0), ==, OTHERS);
        /* Half of them here, half of them there. */
        g_assert_cmpuint(others(&lost, COUNT + DROPPED / 2, DROPPED / 2), ==, OTHERS);
}

/* Without the size of headers they are taken for the largest, so that the probe's own traffic is never shown
 * as other traffic. */
static void test_unknown_headers(void)
{
        AldTcpInfo info = sender_of(0, DROPPED);
        AldWireTraffic own = {};

        info.header_bytes = 0;
        ald_traffic_add(&own, &info, true);
        g_assert_cmpuint(ald_traffic_of_others((COUNT + DROPPED) * FRAME, &own, 0), ==, 0);
}

static void test_receiver(void)
{
        const AldTcpInfo receiver = { .bytes_received = COUNT * SEGMENT,
                .segments_in = COUNT + 5,
                .all_segments_in = COUNT + 5,
                .segment_in = SEGMENT,
                .segment_out = SEGMENT,
                .header_bytes = FRAME - SEGMENT };
        AldWireTraffic own = {};

        /* Five segments came twice. */
        ald_traffic_add(&own, &receiver, false);
        g_assert_cmpuint(ald_traffic_of_others((COUNT + 5) * FRAME + OTHERS, &own, 0), ==, OTHERS);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/socket/traffic/own-queue", test_own_queue);
        g_test_add_func("/socket/traffic/lost", test_lost_on_the_way);
        g_test_add_func("/socket/traffic/unknown-headers", test_unknown_headers);
        g_test_add_func("/socket/traffic/receiver", test_receiver);
        return g_test_run();
}
