/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cluster service of 1000 nodes, for exporter.py: puts all their records and that they are online, then
 * as many changed ones as they send in a second for each line on standard input. Writes a line after each of
 * both.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/bus-cleanup.h"
#include "record/record-bus.h"
#include "tests/bench/bus-tools.h"
#include "tests/bench/fixture.h"

#define STATE "org.alidade.State1", "/org/alidade/State1", "org.alidade.State1"
#define PER_MESSAGE 100u
#define CHANGES 3300u

static void append_record(sd_bus_message *message, unsigned number, uint64_t turn)
{
        char key[128], id[ALD_ID_STRING_SIZE];
        AldUpdate update = fixture_update(number / NODE_RECORDS, number % NODE_RECORDS, NODES, turn, key);

        TRY(sd_bus_message_open_container(message, 'r', "ssstttba{sv}"));
        TRY(sd_bus_message_append(message, "ssstttb", ald_id_format(&update.node, id),
                ald_kinds[update.kind].name, update.key, update.stamp.epoch, update.stamp.seq,
                update.updated_usec, 0));
        TRY(ald_record_bus_append(message, update.record, 0));
        TRY(sd_bus_message_close_container(message));
        ald_record_unref(update.record);
}

/* The records from `first` on, or some at random. */
static void put(sd_bus *bus, unsigned first, unsigned n, bool random, uint64_t turn)
{
        g_autoptr(AldMessage) message = NULL;

        TRY(sd_bus_message_new_method_call(bus, &message, STATE, "PutRecords"));
        TRY(sd_bus_message_open_container(message, 'a', "(ssstttba{sv})"));
        for (unsigned i = 0; i < n; i++)
                append_record(message,
                        random ? (unsigned) g_random_int_range(0, NODES * NODE_RECORDS) : first + i, turn);
        TRY(sd_bus_message_close_container(message));
        TRY(sd_bus_call(bus, message, 0, NULL, NULL));
}

static void put_presences(sd_bus *bus)
{
        g_autoptr(AldMessage) message = NULL;
        char id[ALD_ID_STRING_SIZE];

        TRY(sd_bus_message_new_method_call(bus, &message, STATE, "PutPresences"));
        TRY(sd_bus_message_open_container(message, 'a', "(sstxtt)"));
        for (unsigned i = 0; i < NODES; i++) {
                AldId node = fixture_id(i);

                TRY(sd_bus_message_append(message, "(sstxtt)", ald_id_format(&node, id), "online",
                        UINT64_C(1), INT64_C(0), UINT64_C(0), UINT64_C(0)));
        }
        TRY(sd_bus_message_close_container(message));
        TRY(sd_bus_call(bus, message, 0, NULL, NULL));
}

int main(void)
{
        sd_bus *bus = connect_bus("org.alidade.Cluster1");
        uint64_t turn = 1;
        char line[16];

        wait_for_name(bus, "org.alidade.State1");
        for (unsigned i = 0; i < NODES * NODE_RECORDS; i += PER_MESSAGE)
                put(bus, i, MIN(PER_MESSAGE, NODES * NODE_RECORDS - i), false, 0);
        put_presences(bus);
        puts("filled");
        fflush(stdout);
        for (; fgets(line, sizeof(line), stdin); turn++) {
                for (unsigned i = 0; i < CHANGES; i += PER_MESSAGE)
                        put(bus, 0, PER_MESSAGE, true, turn);
                puts("changed");
                fflush(stdout);
        }
        sd_bus_flush_close_unref(bus);
        return EXIT_SUCCESS;
}
