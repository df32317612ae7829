/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/own/publisher.h"
#include "services/cluster/peers/payload.h"
#include "tests/unit/log-count.h"
#include "tests/unit/record-maker.h"

#define SECOND UINT64_C(1000000)
#define HOUR (UINT64_C(3600) * SECOND)
#define SINK "fedcba9876543210fedcba9876543210"
#define LINK_A SINK ",192.0.2.1"
#define LINK_B SINK ",192.0.2.2"

/* A broker: what it keeps by topic, and how often it was told. */
typedef struct Broker {
        GHashTable *kept;
        unsigned n, n_cleared;
        int last_qos;
} Broker;

typedef struct Fixture {
        Broker broker;
        AldId own;
        AldPublisher *publisher;
} Fixture;

static void on_publish(const char *topic, const char *payload, int qos, void *userdata)
{
        Broker *broker = userdata;

        broker->n++;
        broker->last_qos = qos;
        if (payload) {
                g_hash_table_replace(broker->kept, g_strdup(topic), g_strdup(payload));
                return;
        }
        broker->n_cleared++;
        g_hash_table_remove(broker->kept, topic);
}

static void set_up(Fixture *fixture, gconstpointer unused)
{
        fixture->broker = (Broker){ .kept = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free) };
        fixture->own = id_make(1);
        fixture->publisher = ald_publisher_new(&fixture->own, "home", on_publish, &fixture->broker);
}

static void tear_down(Fixture *fixture, gconstpointer unused)
{
        ald_publisher_free(fixture->publisher);
        g_hash_table_unref(fixture->broker.kept);
}

static void put_at(Fixture *fixture, AldKind kind, const char *key, uint64_t epoch, uint64_t seq,
        bool deleted, uint64_t now)
{
        g_autoptr(AldRecord) record = deleted ? NULL : record_random_for(kind, &fixture->own, key);
        const AldUpdate update = { fixture->own, kind, key, { epoch, seq }, 7, record };

        ald_publisher_put(fixture->publisher, &update, now);
}

static void put(Fixture *fixture, AldKind kind, const char *key, uint64_t epoch, uint64_t seq)
{
        put_at(fixture, kind, key, epoch, seq, false, 1);
}

/* The seq that the broker keeps for a topic; 0 for none, and where it is a deletion the negative. */
static int64_t kept(Fixture *fixture, AldKind kind, const char *key)
{
        g_autofree char *text = ald_topic_of_record("home", &fixture->own, kind, key);
        const char *payload = g_hash_table_lookup(fixture->broker.kept, text);
        g_autoptr(AldRecord) record = NULL;
        AldUpdate update;
        AldTopic topic;

        if (!payload)
                return 0;
        g_assert_cmpint(ald_topic_parse(text, "home", &topic), ==, 0);
        g_assert_cmpint(ald_payload_read_record(&topic, payload, strlen(payload), &update, NULL), ==, 0);
        record = update.record;
        return record ? (int64_t) update.stamp.seq : -(int64_t) update.stamp.seq;
}

static void test_newest(Fixture *fixture, gconstpointer unused)
{
        put(fixture, ALD_KIND_MEMORY, "", 5, 2);
        g_assert_cmpint(fixture->broker.last_qos, ==, 0);
        put(fixture, ALD_KIND_MEMORY, "", 5, 1);
        g_assert_cmpint(kept(fixture, ALD_KIND_MEMORY, ""), ==, 2);
        put(fixture, ALD_KIND_IDENTITY, "", 5, 3);
        g_assert_cmpint(fixture->broker.last_qos, ==, 1);
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 4);
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 4);
        g_assert_cmpuint(fixture->broker.n, ==, 3);
        g_assert_cmpuint(ald_publisher_epoch(fixture->publisher), ==, 5);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_A), ==, 4);
}

/* The state service has lost its state: what it says is older than what is known, until it goes beyond that.
 */
static void test_behind(Fixture *fixture, gconstpointer unused)
{
        put(fixture, ALD_KIND_MEMORY, "", 5, 2);
        put(fixture, ALD_KIND_IDENTITY, "", 5, 3);
        g_assert_false(ald_publisher_is_behind(fixture->publisher));
        ald_publisher_begin(fixture->publisher);
        g_assert_false(ald_publisher_is_behind(fixture->publisher));
        put(fixture, ALD_KIND_MEMORY, "", 4, 1);
        g_assert_true(ald_publisher_is_behind(fixture->publisher));
        g_assert_cmpint(kept(fixture, ALD_KIND_MEMORY, ""), ==, 2);
        /* A reading of that epoch does not show what is gone. */
        ald_publisher_end(fixture->publisher);
        g_assert_cmpint(kept(fixture, ALD_KIND_IDENTITY, ""), ==, 3);
        put(fixture, ALD_KIND_MEMORY, "", 6, 1);
        g_assert_false(ald_publisher_is_behind(fixture->publisher));
        g_assert_cmpint(kept(fixture, ALD_KIND_MEMORY, ""), ==, 1);
}

/* It does not, so its older records are said after all, and what is not among them goes. */
static void test_going_back(Fixture *fixture, gconstpointer unused)
{
        put(fixture, ALD_KIND_MEMORY, "", 5, 2);
        put(fixture, ALD_KIND_IDENTITY, "", 5, 3);
        ald_publisher_accept_older_epoch(fixture->publisher);
        g_assert_cmpuint(ald_publisher_epoch(fixture->publisher), ==, 0);
        put(fixture, ALD_KIND_MEMORY, "", 4, 1);
        g_assert_cmpint(kept(fixture, ALD_KIND_MEMORY, ""), ==, 1);
        g_assert_cmpint(kept(fixture, ALD_KIND_IDENTITY, ""), ==, 3);
        ald_publisher_announced(fixture->publisher, 4);
        g_assert_cmpint(kept(fixture, ALD_KIND_IDENTITY, ""), ==, 0);
        g_assert_cmpint(kept(fixture, ALD_KIND_MEMORY, ""), ==, 1);
}

static void test_what_never_travels(Fixture *fixture, gconstpointer unused)
{
        const AldUpdate foreign = { id_make(2), ALD_KIND_MEMORY, "", { 5, 1 }, 7, NULL };

        put(fixture, ALD_KIND_PRESENCE, "", 5, 1);
        ald_publisher_put(fixture->publisher, &foreign, 1);
        g_assert_cmpuint(fixture->broker.n, ==, 0);
        g_assert_cmpuint(ald_publisher_count(fixture->publisher), ==, 0);
}

static void test_another_broker(Fixture *fixture, gconstpointer unused)
{
        put(fixture, ALD_KIND_MEMORY, "", 5, 1);
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 2);
        put_at(fixture, ALD_KIND_LINK_SOCKET, LINK_B, 5, 3, true, 1);
        g_hash_table_remove_all(fixture->broker.kept);
        ald_publisher_publish_all(fixture->publisher, 1);
        g_assert_cmpint(kept(fixture, ALD_KIND_MEMORY, ""), ==, 1);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_A), ==, 2);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_B), ==, -3);
}

static void hear(Fixture *fixture, AldKind kind, uint64_t epoch, uint64_t seq)
{
        const AldUpdate update = { fixture->own, kind, "", { epoch, seq }, 7, NULL };

        ald_publisher_heard(fixture->publisher, &update);
}

static void assert_unheard(Fixture *fixture, const char *expected)
{
        g_autofree char *kinds = ald_publisher_unheard_kinds(fixture->publisher);

        g_assert_cmpstr(kinds, ==, expected);
}

/* A broker with older rights drops a kind and says nothing. */
static void test_kinds_that_do_not_come_back(Fixture *fixture, gconstpointer unused)
{
        for (uint64_t i = 1; i <= 2; i++) {
                put_at(fixture, ALD_KIND_MEMORY, "", 5, 3 * i, false, i * 10 * SECOND);
                put_at(fixture, ALD_KIND_DISK, "", 5, 3 * i + 1, false, i * 10 * SECOND);
                put_at(fixture, ALD_KIND_FABRIC, "", 5, 3 * i + 2, false, i * 10 * SECOND);
                /* An older one was on its way. */
                hear(fixture, ALD_KIND_MEMORY, 5, 3 * i - 1);
                assert_unheard(fixture, NULL);
        }
        hear(fixture, ALD_KIND_MEMORY, 5, 6);
        assert_unheard(fixture, "Node1.Disk, Node1.Fabric");
        hear(fixture, ALD_KIND_DISK, 4, 1);
        assert_unheard(fixture, "Node1.Fabric");
        ald_publisher_publish_all(fixture->publisher, 30 * SECOND);
        assert_unheard(fixture, NULL);
        hear(fixture, ALD_KIND_MEMORY, 5, 6);
        assert_unheard(fixture, NULL);
}

/* What comes back late, or in another order, is not missed. */
static void test_kinds_that_come_back_late(Fixture *fixture, gconstpointer unused)
{
        for (uint64_t i = 1; i <= 2; i++) {
                put_at(fixture, ALD_KIND_DISK, "", 5, 2 * i, false, i * SECOND);
                put_at(fixture, ALD_KIND_MEMORY, "", 5, 2 * i + 1, false, i * 2 * SECOND);
        }
        hear(fixture, ALD_KIND_MEMORY, 5, 5);
        assert_unheard(fixture, NULL);
        /* Of something that was never published. */
        hear(fixture, ALD_KIND_FABRIC, 5, 6);
        hear(fixture, ALD_KIND_MEMORY, 5, 6);
        assert_unheard(fixture, NULL);
}

static void test_deletions_are_cleared_in_the_end(Fixture *fixture, gconstpointer unused)
{
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 1);
        put_at(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 2, true, SECOND);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_A), ==, -2);
        /* Sent again, it is deleted since then still. */
        put_at(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 3, true, HOUR);
        ald_publisher_expire(fixture->publisher, HOUR, HOUR);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_A), ==, -3);
        ald_publisher_expire(fixture->publisher, HOUR + SECOND, HOUR);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_A), ==, 0);
        g_assert_cmpint(fixture->broker.last_qos, ==, 1);
        g_assert_cmpuint(ald_publisher_count(fixture->publisher), ==, 0);
}

static void test_what_came_back_stays(Fixture *fixture, gconstpointer unused)
{
        put_at(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 1, true, SECOND);
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 2);
        ald_publisher_expire(fixture->publisher, 10 * HOUR, HOUR);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_A), ==, 2);
}

/* What a reading of all does not have is gone, unless it is of an earlier epoch: its source may come yet. */
static void test_readings(Fixture *fixture, gconstpointer unused)
{
        put(fixture, ALD_KIND_MEMORY, "", 5, 1);
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 2);
        ald_publisher_begin(fixture->publisher);
        put(fixture, ALD_KIND_MEMORY, "", 5, 1);
        ald_publisher_end(fixture->publisher);
        g_assert_cmpint(kept(fixture, ALD_KIND_MEMORY, ""), ==, 1);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_A), ==, 0);

        ald_publisher_begin(fixture->publisher);
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_B, 6, 1);
        ald_publisher_end(fixture->publisher);
        g_assert_cmpint(kept(fixture, ALD_KIND_MEMORY, ""), ==, 1);
        ald_publisher_announced(fixture->publisher, 6);
        g_assert_cmpint(kept(fixture, ALD_KIND_MEMORY, ""), ==, 0);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_B), ==, 1);
}

static void found(Fixture *fixture, const char *key, uint64_t epoch)
{
        ald_publisher_found(fixture->publisher, ALD_KIND_LINK_SOCKET, key, epoch);
}

/* Left on the broker by an earlier life of this node. */
static void test_left_topics(Fixture *fixture, gconstpointer unused)
{
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 5, 1);
        found(fixture, LINK_A, 4);
        found(fixture, LINK_B, 5);
        g_assert_cmpuint(fixture->broker.n_cleared, ==, 0);
        ald_publisher_announced(fixture->publisher, 5);
        g_assert_cmpuint(fixture->broker.n_cleared, ==, 1);
        found(fixture, LINK_A, 5);
        found(fixture, LINK_B, 4);
        g_assert_cmpuint(fixture->broker.n_cleared, ==, 2);

        /* Before all is said it waits, and is not cleared where it is ours after all. */
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_A, 6, 1);
        found(fixture, LINK_B, 4);
        found(fixture, SINK ",192.0.2.3", 4);
        put(fixture, ALD_KIND_LINK_SOCKET, LINK_B, 6, 2);
        g_assert_cmpuint(fixture->broker.n_cleared, ==, 2);
        ald_publisher_announced(fixture->publisher, 6);
        g_assert_cmpuint(fixture->broker.n_cleared, ==, 3);
        g_assert_cmpint(kept(fixture, ALD_KIND_LINK_SOCKET, LINK_B), ==, 2);
}

static void test_left_topics_are_bounded(Fixture *fixture, gconstpointer unused)
{
        put(fixture, ALD_KIND_MEMORY, "", 5, 1);
        for (unsigned i = 0; i < ALD_PUBLISHER_STALE_MAX + 100; i++) {
                g_autofree char *key = g_strdup_printf("mlx5_%u.1," SINK ",mlx5_0.1", i);
                ald_publisher_found(fixture->publisher, ALD_KIND_LINK_RDMA, key, 4);
        }
        ald_publisher_announced(fixture->publisher, 5);
        g_assert_cmpuint(fixture->broker.n_cleared, ==, ALD_PUBLISHER_STALE_MAX);
}

static void test_own_topics_are_bounded(Fixture *fixture, gconstpointer unused)
{
        log_count_reset();
        for (unsigned i = 0; i < ALD_PUBLISHER_OWN_MAX + 100; i++) {
                g_autofree char *key = g_strdup_printf("mlx5_%u.1," SINK ",mlx5_0.1", i);
                put(fixture, ALD_KIND_LINK_RDMA, key, 5, i + 1);
        }
        g_assert_cmpuint(ald_publisher_count(fixture->publisher), ==, ALD_PUBLISHER_OWN_MAX);
        g_assert_cmpuint(log_count("not published"), ==, 1);
}

#define ADD(name) g_test_add("/cluster-publisher/" #name, Fixture, NULL, set_up, test_##name, tear_down)

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        ADD(newest);
        ADD(what_never_travels);
        ADD(another_broker);
        ADD(kinds_that_do_not_come_back);
        ADD(kinds_that_come_back_late);
        ADD(deletions_are_cleared_in_the_end);
        ADD(what_came_back_stays);
        ADD(readings);
        ADD(behind);
        ADD(going_back);
        ADD(left_topics);
        ADD(left_topics_are_bounded);
        ADD(own_topics_are_bounded);
        return g_test_run();
}
