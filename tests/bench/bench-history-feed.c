/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cluster service of some nodes, for history.py: bench-history-feed NODES SECONDS. Puts all their records
 * and that they are online, writes a line, and then puts what they send each second: memory twice, the system
 * once.
 */
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "common/bus-cleanup.h"
#include "record/record-bus.h"
#include "tests/bench/bus-tools.h"
#include "tests/bench/fixture.h"

#define STATE "org.alidade.State1", "/org/alidade/State1", "org.alidade.State1"
#define PER_MESSAGE 100u
/* So that each figure of memory changes by more than its threshold, now and then. */
#define STRIDE 20011u
#define TICKS 2u /* in a second */

typedef struct Feed {
        sd_bus *bus;
        unsigned nodes;
        uint64_t turn;
        sd_bus_message *message;
        unsigned n; /* records in it */
} Feed;

static void send_message(Feed *feed)
{
        if (!feed->message)
                return;
        TRY(sd_bus_message_close_container(feed->message));
        TRY(sd_bus_call(feed->bus, feed->message, 0, NULL, NULL));
        feed->message = sd_bus_message_unref(feed->message);
        feed->n = 0;
}

static void put(Feed *feed, unsigned node, unsigned which)
{
        char key[128], id[ALD_ID_STRING_SIZE];
        AldUpdate update = fixture_update(node, which, MAX(feed->nodes, FIXTURE_PEERS + 1), feed->turn, key);

        if (!feed->message) {
                TRY(sd_bus_message_new_method_call(feed->bus, &feed->message, STATE, "PutRecords"));
                TRY(sd_bus_message_open_container(feed->message, 'a', "(ssstttba{sv})"));
        }
        TRY(sd_bus_message_open_container(feed->message, 'r', "ssstttba{sv}"));
        TRY(sd_bus_message_append(feed->message, "ssstttb", ald_id_format(&update.node, id),
                ald_kinds[update.kind].name, update.key, update.stamp.epoch, update.stamp.seq,
                (uint64_t) g_get_real_time(), 0));
        TRY(ald_record_bus_append(feed->message, update.record, 0));
        TRY(sd_bus_message_close_container(feed->message));
        ald_record_unref(update.record);
        if (++feed->n == PER_MESSAGE)
                send_message(feed);
}

static void put_presences(const Feed *feed)
{
        g_autoptr(AldMessage) message = NULL;
        char id[ALD_ID_STRING_SIZE];

        TRY(sd_bus_message_new_method_call(feed->bus, &message, STATE, "PutPresences"));
        TRY(sd_bus_message_open_container(message, 'a', "(sstxtt)"));
        for (unsigned i = 0; i < feed->nodes; i++) {
                AldId node = fixture_id(i);

                TRY(sd_bus_message_append(message, "(sstxtt)", ald_id_format(&node, id), "online",
                        UINT64_C(1), INT64_C(0), UINT64_C(0), UINT64_C(0)));
        }
        TRY(sd_bus_message_close_container(message));
        TRY(sd_bus_call(feed->bus, message, 0, NULL, NULL));
}

static void tick(Feed *feed, bool with_system)
{
        feed->turn += STRIDE;
        for (unsigned node = 0; node < feed->nodes; node++) {
                put(feed, node, ALD_KIND_MEMORY);
                if (with_system)
                        put(feed, node, ALD_KIND_SYSTEM);
        }
        send_message(feed);
}

int main(int argc, char *argv[])
{
        Feed feed = { .turn = 1 };
        gint64 next;
        int seconds;

        if (argc != 3 || (feed.nodes = (unsigned) atoi(argv[1])) == 0 || (seconds = atoi(argv[2])) <= 0) {
                fputs("Needs a number of nodes and of seconds\n", stderr);
                return EXIT_FAILURE;
        }
        feed.bus = connect_bus("org.alidade.Cluster1");
        wait_for_name(feed.bus, "org.alidade.State1");
        for (unsigned i = 0; i < feed.nodes * NODE_RECORDS; i++)
                put(&feed, i / NODE_RECORDS, i % NODE_RECORDS);
        send_message(&feed);
        put_presences(&feed);
        puts("filled");
        fflush(stdout);
        next = g_get_monotonic_time();
        for (int i = 0; i < seconds * (int) TICKS; i++) {
                tick(&feed, i % (int) TICKS == 0);
                next += G_USEC_PER_SEC / TICKS;
                if (next > g_get_monotonic_time())
                        g_usleep((gulong) (next - g_get_monotonic_time()));
        }
        sd_bus_flush_close_unref(feed.bus);
        return EXIT_SUCCESS;
}
