/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/own/own-status.h"
#include "tests/unit/record-maker.h"

#define SECOND UINT64_C(1000000)
#define START (UINT64_C(1000) * SECOND)

typedef struct Fixture {
        AldId instance, boot;
        AldOwnStatus *own;
        AldRecord *read; /* the last that was read, to which the last result of said() belongs */
} Fixture;

static void set_up(Fixture *fixture, gconstpointer unused)
{
        fixture->instance = id_make(1);
        fixture->boot = id_make(99);
        fixture->own = ald_own_status_new(&fixture->instance, &fixture->boot);
}

static void tear_down(Fixture *fixture, gconstpointer unused)
{
        ald_own_status_free(fixture->own);
        g_clear_pointer(&fixture->read, ald_record_unref);
}

static AldNodeStatus said_as(
        Fixture *fixture, AldOwnStatus *own, AldNodeStatusState state, uint64_t connection)
{
        g_autofree char *payload = ald_own_status_write(own, state, connection);

        g_clear_pointer(&fixture->read, ald_record_unref);
        g_assert_cmpint(ald_message_parse(ALD_KIND_NODE_STATUS, payload, strlen(payload),
                                ALD_PAYLOAD_SMALL_MAX, &fixture->read, NULL),
                ==, 0);
        return *ald_record_as(fixture->read, NODE_STATUS, AldNodeStatus);
}

static AldNodeStatus said(Fixture *fixture, uint64_t connection)
{
        return said_as(fixture, fixture->own, ALD_NODE_STATUS_STATE_ONLINE, connection);
}

/* 35 s after an epoch was first seen, once. */
static void test_announcement(Fixture *fixture, gconstpointer unused)
{
        g_assert_cmpuint(ald_own_status_due(fixture->own, START), ==, UINT64_MAX);
        g_assert_true(ald_own_status_set_epoch(fixture->own, 5, START));
        g_assert_false(ald_own_status_set_epoch(fixture->own, 5, START + SECOND));
        g_assert_cmpuint(said(fixture, 3).epoch, ==, 5);
        g_assert_cmpuint(said(fixture, 3).announced_epoch, ==, ALD_ABSENT_UINT64);
        g_assert_false(ald_own_status_announce(fixture->own, START + 34 * SECOND));
        g_assert_cmpuint(ald_own_status_due(fixture->own, START), ==, START + 35 * SECOND);
        g_assert_true(ald_own_status_announce(fixture->own, START + 35 * SECOND));
        g_assert_false(ald_own_status_announce(fixture->own, START + 36 * SECOND));
        g_assert_cmpuint(said(fixture, 3).announced_epoch, ==, 5);

        /* What was announced before holds until the next. */
        g_assert_true(ald_own_status_set_epoch(fixture->own, 6, START + 40 * SECOND));
        g_assert_cmpuint(said(fixture, 3).announced_epoch, ==, 5);
        g_assert_false(ald_own_status_announce(fixture->own, START + 74 * SECOND));
        g_assert_true(ald_own_status_announce(fixture->own, START + 75 * SECOND));
        g_assert_cmpuint(said(fixture, 3).announced_epoch, ==, 6);
}

static void test_lost_publications(Fixture *fixture, gconstpointer unused)
{
        AldNodeStatus status;

        ald_own_status_published(fixture->own, 1, 3, START);
        ald_own_status_published(fixture->own, 2, 4, START);
        g_assert_cmpuint(ald_own_status_due(fixture->own, START), ==, START + 5 * SECOND);
        status = said(fixture, 3);
        /* That of another connection proves nothing. */
        g_assert_cmpint(ald_own_status_take(fixture->own, &status, 2, 4, false, START), ==, ALD_OWN_ALONE);
        g_assert_true(ald_own_status_is_lost(fixture->own, 1, START + 5 * SECOND));
        g_assert_cmpint(ald_own_status_take(fixture->own, &status, 1, 3, false, START), ==, ALD_OWN_ALONE);
        g_assert_false(ald_own_status_is_lost(fixture->own, 1, START + 5 * SECOND));
        g_assert_false(ald_own_status_is_lost(fixture->own, 2, START + 4 * SECOND));
        g_assert_true(ald_own_status_is_lost(fixture->own, 2, START + 5 * SECOND));
        ald_own_status_disconnected(fixture->own, 4);
        g_assert_false(ald_own_status_is_lost(fixture->own, 2, START + 9 * SECOND));
        g_assert_cmpuint(ald_own_status_due(fixture->own, START + 9 * SECOND), ==, UINT64_MAX);
}

/* A broker that ends the connection instead of passing on. */
static void test_connections_that_end(Fixture *fixture, gconstpointer unused)
{
        AldNodeStatus status;

        for (unsigned conn = 1; conn <= ALD_ENDS_MAX; conn++) {
                g_assert_false(ald_own_status_is_lost(fixture->own, 1, START));
                ald_own_status_published(fixture->own, 1, conn, START);
                ald_own_status_disconnected(fixture->own, conn);
        }
        g_assert_true(ald_own_status_is_lost(fixture->own, 1, START));
        g_assert_false(ald_own_status_is_lost(fixture->own, 2, START));
        ald_own_status_published(fixture->own, 1, 9, START);
        g_assert_true(ald_own_status_is_lost(fixture->own, 1, START));
        status = said(fixture, 9);
        ald_own_status_take(fixture->own, &status, 1, 9, false, START);
        g_assert_false(ald_own_status_is_lost(fixture->own, 1, START));
        ald_own_status_disconnected(fixture->own, 9);
        g_assert_false(ald_own_status_is_lost(fixture->own, 1, START));
}

static AldOwnFinding take(Fixture *fixture, unsigned instance, AldNodeStatusState what, uint64_t conn,
        uint32_t broker, bool retained)
{
        const AldNodeStatus status = {
                .state = ald_node_status_state_to_string(what),
                .epoch = 5,
                .connection = conn,
                .instance = ID_TEXT(instance),
                .announced_epoch = ALD_ABSENT_UINT64,
        };

        return ald_own_status_take(fixture->own, &status, broker, 1, retained, START);
}

/* What the last start of this service left on the brokers. */
static void test_former_instance(Fixture *fixture, gconstpointer unused)
{
        g_assert_cmpint(take(fixture, 2, ALD_NODE_STATUS_STATE_ONLINE, 7, 1, true), ==, ALD_OWN_ALONE);
        g_assert_cmpint(take(fixture, 2, ALD_NODE_STATUS_STATE_ONLINE, 9, 2, true), ==, ALD_OWN_ALONE);
        g_assert_cmpint(take(fixture, 2, ALD_NODE_STATUS_STATE_OFFLINE, 7, 1, false), ==, ALD_OWN_ALONE);
        g_assert_cmpint(take(fixture, 2, ALD_NODE_STATUS_STATE_OFFLINE, 9, 2, false), ==, ALD_OWN_ALONE);
        g_assert_cmpint(take(fixture, 2, ALD_NODE_STATUS_STATE_OFFLINE, 7, 1, true), ==, ALD_OWN_ALONE);
        g_assert_cmpint(take(fixture, 3, ALD_NODE_STATUS_STATE_DUPLICATE, 1, 1, true), ==, ALD_OWN_ALONE);
}

/* Brokers that bridge tell each other what they keep, and that arrives as if it was said now. */
static void test_former_instance_through_a_bridge(Fixture *fixture, gconstpointer unused)
{
        g_assert_null(said(fixture, 1).other);
        for (unsigned i = 0; i < 3; i++)
                g_assert_cmpint(take(fixture, 2, ALD_NODE_STATUS_STATE_ONLINE, 7 + i, 1, false), ==,
                        ALD_OWN_DOUBTFUL);
        /* Were it alive, it would find itself named by us, and name us. */
        g_assert_cmpstr(said(fixture, 1).other, ==, ID_TEXT(2));
}

/* Through one broker two machines of one id put each other out, so they never hear each other live. */
static void test_machines_that_put_each_other_out(Fixture *fixture, gconstpointer unused)
{
        g_assert_cmpint(take(fixture, 2, ALD_NODE_STATUS_STATE_OFFLINE, 1, 1, true), ==, ALD_OWN_ALONE);
        g_assert_cmpint(take(fixture, 2, ALD_NODE_STATUS_STATE_OFFLINE, 2, 1, true), ==, ALD_OWN_DOUBTFUL);
}

/* Node 2 of our id has met another instance. */
#define DUPLICATE_OF(n)                                                        \
        {                                                                      \
                .state = "duplicate", .connection = 1, .instance = ID_TEXT(2), \
                .announced_epoch = ALD_ABSENT_UINT64, .other = ID_TEXT(n)      \
        }

/* The other one has found out first. */
static void test_met_by_another_machine(Fixture *fixture, gconstpointer unused)
{
        AldNodeStatus status = DUPLICATE_OF(3);

        g_assert_cmpint(ald_own_status_take(fixture->own, &status, 1, 1, true, START), ==, ALD_OWN_ALONE);
        status.other = ID_TEXT(1);
        g_assert_cmpint(ald_own_status_take(fixture->own, &status, 1, 1, true, START), ==, ALD_OWN_DUPLICATE);

        /* And it learns so from us. */
        status = said_as(fixture, fixture->own, ALD_NODE_STATUS_STATE_DUPLICATE, 1);
        g_assert_cmpstr(status.other, ==, ID_TEXT(2));
}

static void test_machines_at_two_brokers(Fixture *fixture, gconstpointer unused)
{
        g_assert_cmpint(take(fixture, 2, ALD_NODE_STATUS_STATE_ONLINE, 1, 1, false), ==, ALD_OWN_DOUBTFUL);
        g_assert_cmpint(take(fixture, 3, ALD_NODE_STATUS_STATE_DUPLICATE, 1, 1, false), ==, ALD_OWN_DOUBTFUL);
}

/* Our own instance, as we never spoke: of a later epoch or connection than any of ours. */
static void test_forged(Fixture *fixture, gconstpointer unused)
{
        AldNodeStatus status, forged;
        AldId instance = id_make(7);

        g_assert_true(ald_own_status_set_epoch(fixture->own, 5, START));
        status = said(fixture, 3);
        g_assert_cmpint(ald_own_status_take(fixture->own, &status, 1, 3, false, START), ==, ALD_OWN_ALONE);
        g_assert_false(ald_own_status_is_contested(fixture->own, START));

        forged = status;
        forged.announced_epoch = 6;
        g_assert_cmpint(ald_own_status_take(fixture->own, &forged, 1, 3, false, START), ==, ALD_OWN_FORGED);
        g_assert_true(ald_own_status_is_contested(fixture->own, START));
        g_assert_false(ald_own_status_is_contested(fixture->own, START + ALD_CONTESTED_USEC));
        forged = status;
        forged.epoch = 6;
        g_assert_cmpint(ald_own_status_take(fixture->own, &forged, 1, 3, true, START), ==, ALD_OWN_FORGED);
        forged = status;
        forged.connection = 4;
        g_assert_cmpint(ald_own_status_take(fixture->own, &forged, 1, 3, false, START), ==, ALD_OWN_FORGED);

        /* Once we are another instance, nothing of the former one matters. */
        ald_own_status_renew(fixture->own, &instance);
        g_assert_cmpint(ald_own_status_take(fixture->own, &forged, 1, 3, false, START), ==, ALD_OWN_ALONE);
        status = said(fixture, 3);
        g_assert_cmpstr(status.instance, ==, ID_TEXT(7));
}

/* What a broker keeps from the last time names an instance that is no more. */
static void test_duplicate_of_a_former_instance(Fixture *fixture, gconstpointer unused)
{
        const AldNodeStatus kept = DUPLICATE_OF(1);
        const AldId instance = id_make(7);

        g_assert_cmpint(ald_own_status_take(fixture->own, &kept, 1, 1, true, START), ==, ALD_OWN_DUPLICATE);
        ald_own_status_renew(fixture->own, &instance);
        g_assert_cmpint(ald_own_status_take(fixture->own, &kept, 1, 1, true, START), ==, ALD_OWN_ALONE);
}

/* Another instance where ours has spoken; a former start of ours cannot be it. */
static void test_contested(Fixture *fixture, gconstpointer unused)
{
        const uint64_t settled = START + ALD_SETTLED_USEC;
        AldNodeStatus status, other = {
                .state = "online",
                .connection = 1,
                .instance = ID_TEXT(2),
                .announced_epoch = ALD_ABSENT_UINT64,
        };

        ald_own_status_published(fixture->own, 1, 3, START);
        status = said(fixture, 3);
        ald_own_status_take(fixture->own, &other, 1, 3, true, START);
        ald_own_status_take(fixture->own, &status, 1, 3, false, START);
        ald_own_status_take(fixture->own, &other, 1, 3, false, settled - 1);
        g_assert_false(ald_own_status_is_contested(fixture->own, settled));
        ald_own_status_take(fixture->own, &other, 1, 3, false, settled);
        g_assert_true(ald_own_status_is_contested(fixture->own, settled));

        /* It took our place between two connections. */
        ald_own_status_disconnected(fixture->own, 3);
        ald_own_status_published(fixture->own, 1, 4, settled);
        other.instance = ID_TEXT(3);
        ald_own_status_take(fixture->own, &other, 1, 4, true, START + 2 * ALD_CONTESTED_USEC);
        g_assert_true(ald_own_status_is_contested(fixture->own, START + 2 * ALD_CONTESTED_USEC));
}

/* A record of an epoch that we never said. */
static void test_forged_record(Fixture *fixture, gconstpointer unused)
{
        const uint64_t settled = START + ALD_SETTLED_USEC;

        ald_own_status_set_epoch(fixture->own, 5, START);
        said(fixture, 3);
        ald_own_status_published(fixture->own, 1, 3, START);
        ald_own_status_take_record(fixture->own, 5, 1, 3, settled);
        ald_own_status_take_record(fixture->own, 6, 1, 3, settled - 1);
        g_assert_false(ald_own_status_is_contested(fixture->own, settled));
        ald_own_status_take_record(fixture->own, 6, 1, 3, settled);
        g_assert_true(ald_own_status_is_contested(fixture->own, settled));
}

static AldOwnFinding tell(
        Fixture *fixture, AldOwnStatus *from, AldOwnStatus *to, AldNodeStatusState what, bool retained)
{
        const AldNodeStatus status = said_as(fixture, from, what, 1);

        return ald_own_status_take(to, &status, 1, 1, retained, START);
}

/* One hears the other live, asks, and is answered; its word may be the last thing that the broker keeps. */
static void test_two_that_meet(Fixture *fixture, gconstpointer unused)
{
        AldId instance = id_make(2);
        g_autoptr(AldOwnStatus) copy = ald_own_status_new(&instance, &fixture->boot);

        g_assert_cmpint(
                tell(fixture, copy, fixture->own, ALD_NODE_STATUS_STATE_ONLINE, false), ==, ALD_OWN_DOUBTFUL);
        g_assert_cmpint(tell(fixture, fixture->own, copy, ALD_NODE_STATUS_STATE_OFFLINE, true), ==,
                ALD_OWN_DUPLICATE);
        g_assert_cmpint(tell(fixture, copy, fixture->own, ALD_NODE_STATUS_STATE_DUPLICATE, true), ==,
                ALD_OWN_DUPLICATE);
}

/* Somebody who makes up instances costs no memory. */
static void test_many_instances(Fixture *fixture, gconstpointer unused)
{
        for (unsigned i = 2; i < 1000; i++)
                g_assert_cmpint(
                        take(fixture, i, ALD_NODE_STATUS_STATE_OFFLINE, 1, 1, true), ==, ALD_OWN_ALONE);
        g_assert_cmpint(take(fixture, 999, ALD_NODE_STATUS_STATE_OFFLINE, 2, 1, true), ==, ALD_OWN_DOUBTFUL);
}

#define ADD(name) g_test_add("/cluster-own-status/" #name, Fixture, NULL, set_up, test_##name, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        ADD(announcement);
        ADD(lost_publications);
        ADD(connections_that_end);
        ADD(former_instance);
        ADD(former_instance_through_a_bridge);
        ADD(machines_that_put_each_other_out);
        ADD(met_by_another_machine);
        ADD(machines_at_two_brokers);
        ADD(forged);
        ADD(duplicate_of_a_former_instance);
        ADD(contested);
        ADD(forged_record);
        ADD(two_that_meet);
        ADD(many_instances);
        return g_test_run();
}
