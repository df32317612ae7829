/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What link-probed asks the state service, which does not answer, or says too much. */
#include <errno.h>

#include "common/bus-cleanup.h"
#include "services/link-probe/state/state-query-bus.h"
#include "tests/unit/bus-pair.h"

#define OWN "0000000000000000000000000000000a"
#define PEER "0000000000000000000000000000000b"
#define ENOUGH 1000u

static const bool none[ALD_N_KINDS];

static void on_node(int error, const AldNodeRecords *records, void *userdata)
{
}

static void on_rows(int error, const AldRows *rows, void *userdata)
{
}

static void on_network(int error, const char *node, const AldNetwork *network, void *userdata)
{
}

/* As many as it takes. */
static void ask_until_refused(AldStateQuery *query)
{
        unsigned n = 0;
        int r;

        do
                r = ald_state_query_node(query, PEER, on_node, NULL);
        while (r >= 0 && ++n < ENOUGH);
        g_assert_cmpint(r, ==, -EUSERS);
        g_assert_cmpuint(n, >, 0);
}

static void test_requests_leave_room_for_the_schedule(void)
{
        static const AldDueQuestion due = { .max = 1, .bytes_per_hour = ALD_ABSENT_UINT64 };
        g_autoptr(BusPair) pair = bus_pair_new();
        AldStateQuery *query = ald_state_query_new(pair->client, none);
        int links, devices;

        ask_until_refused(query);
        g_assert_cmpint(ald_state_query_segments(query, PEER, on_rows, NULL), ==, -EUSERS);
        g_assert_cmpint(ald_state_query_networks(query, on_network, NULL), ==, 0);
        /* However often it asks, there is one question of each. */
        for (unsigned i = 0; i < ENOUGH; i++) {
                g_assert_cmpint(ald_state_query_own(query, OWN, on_node, &links), ==, 0);
                g_assert_cmpint(ald_state_query_own(query, OWN, on_node, &devices), ==, 0);
                g_assert_cmpint(ald_state_query_due(query, &due, on_rows, &links), ==, 0);
                g_assert_cmpint(ald_state_query_due(query, &due, on_rows, &devices), ==, 0);
        }
        g_assert_cmpint(ald_state_query_node(query, PEER, on_node, NULL), ==, -EUSERS);
        ald_state_query_free(query);
}

/* More due probes than are read. */
static int answer_too_much(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;

        g_assert_cmpint(sd_bus_message_new_method_return(call, &reply), ==, 0);
        g_assert_cmpint(sd_bus_message_open_container(reply, 'a', "a{sv}"), ==, 0);
        for (unsigned i = 0; i <= ALD_RECORD_MAX / sizeof(AldDueProbeRow); i++)
                g_assert_cmpint(sd_bus_message_append(reply, "a{sv}", 0), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(reply), ==, 0);
        g_assert_cmpint(sd_bus_send(NULL, reply, NULL), >=, 0);
        return 1;
}

static void keep_error(int error, const AldRows *rows, void *userdata)
{
        int *kept = userdata;

        g_assert_cmpuint(rows->n, ==, 0);
        *kept = error;
}

static void test_too_much(void)
{
        static const AldDueQuestion due = { .max = 1, .bytes_per_hour = ALD_ABSENT_UINT64 };
        g_autoptr(BusPair) pair = bus_pair_new();
        AldStateQuery *query = ald_state_query_new(pair->client, none);
        int error = 0;

        g_assert_cmpint(sd_bus_add_filter(pair->service, NULL, answer_too_much, NULL), >=, 0);
        g_assert_cmpint(ald_state_query_due(query, &due, keep_error, &error), ==, 0);
        bus_pair_pump(pair);
        g_assert_cmpint(error, ==, -E2BIG);
        ald_state_query_free(query);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-query/schedule", test_requests_leave_room_for_the_schedule);
        g_test_add_func("/link-probe-query/too-much", test_too_much);
        return g_test_run();
}
