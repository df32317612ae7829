/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/cluster/mqtt/topic-queue.h"

static int sources[2];

static bool put(AldTopicQueue *queue, const char *topic, const char *payload, bool retained)
{
        AldTopicMessage message = {
                .group = 1,
                .retained = retained,
                .topic = topic,
                .payload = payload,
                .size = strlen(payload),
                .source = &sources[0],
        };

        return ald_topic_queue_put(queue, &message);
}

static void expect(AldTopicQueue *queue, const char *topic, const char *payload, bool retained)
{
        g_autoptr(AldTopicMessage) message = ald_topic_queue_take(queue);

        g_assert_nonnull(message);
        g_assert_cmpstr(message->topic, ==, topic);
        g_assert_cmpstr(message->payload, ==, payload);
        g_assert_cmpuint(message->size, ==, strlen(payload));
        g_assert_true(message->retained == retained);
}

static void expect_empty(AldTopicQueue *queue)
{
        g_assert_null(ald_topic_queue_take(queue));
        g_assert_true(ald_topic_queue_is_empty(queue));
}

static void test_newest_in_order(void)
{
        g_autoptr(AldTopicQueue) queue = ald_topic_queue_new(10000, 10);

        expect_empty(queue);
        g_assert_true(put(queue, "a", "1", false));
        g_assert_true(put(queue, "b", "1", false));
        g_assert_true(put(queue, "a", "22", false));
        g_assert_true(put(queue, "c", "", false));
        g_assert_true(put(queue, "a", "333", false));
        g_assert_false(ald_topic_queue_is_empty(queue));
        expect(queue, "a", "333", false);
        expect(queue, "b", "1", false);
        g_assert_true(put(queue, "a", "4", false));
        expect(queue, "c", "", false);
        expect(queue, "a", "4", false);
        expect_empty(queue);
}

/* A live message stays live whatever is kept, and what is kept does not become live. */
static void test_live_and_retained(void)
{
        g_autoptr(AldTopicQueue) queue = ald_topic_queue_new(10000, 10);

        put(queue, "a", "kept", true);
        put(queue, "a", "live", false);
        expect(queue, "a", "kept", true);
        expect(queue, "a", "live", false);
        expect_empty(queue);

        put(queue, "a", "live", false);
        put(queue, "a", "kept", true);
        expect(queue, "a", "live", false);
        expect(queue, "a", "kept", true);
        expect_empty(queue);

        put(queue, "a", "live", false);
        put(queue, "a", "kept", true);
        put(queue, "a", "newer", false);
        expect(queue, "a", "newer", false);
        expect(queue, "a", "kept", true);
        expect_empty(queue);

        put(queue, "a", "kept", true);
        put(queue, "a", "newer", true);
        expect(queue, "a", "newer", true);
        expect_empty(queue);
}

static void test_groups(void)
{
        g_autoptr(AldTopicQueue) queue = ald_topic_queue_new(10000, 10);
        AldTopicMessage other = {
                .group = 2, .topic = "a", .payload = "2", .size = 1, .source = &sources[1]
        };

        put(queue, "a", "1", false);
        ald_topic_queue_put(queue, &other);
        put(queue, "b", "1", true);
        put(queue, "a", "3", false);
        expect(queue, "a", "3", false);
        expect(queue, "a", "2", false);
        expect(queue, "b", "1", true);
        expect_empty(queue);

        put(queue, "a", "1", false);
        ald_topic_queue_put(queue, &other);
        ald_topic_queue_forget(queue, &sources[0]);
        expect(queue, "a", "2", false);
        expect_empty(queue);
        /* What was forgotten is no longer merged with. */
        g_assert_true(put(queue, "a", "1", false));
        expect(queue, "a", "1", false);
}

static void test_events(void)
{
        g_autoptr(AldTopicQueue) queue = ald_topic_queue_new(10000, 1);
        AldTopicMessage event = { .event = 7, .topic = "a", .number = 9 };

        put(queue, "a", "1", false);
        for (unsigned i = 0; i < 3; i++)
                g_assert_true(ald_topic_queue_put(queue, &event));
        event.topic = NULL;
        g_assert_true(ald_topic_queue_put(queue, &event));
        put(queue, "a", "2", false);
        expect(queue, "a", "2", false);
        for (unsigned i = 0; i < 4; i++) {
                g_autoptr(AldTopicMessage) taken = ald_topic_queue_take(queue);

                g_assert_cmpint(taken->event, ==, 7);
                g_assert_cmpuint(taken->number, ==, 9);
                g_assert_cmpstr(taken->topic, ==, i < 3 ? "a" : "");
        }
        expect_empty(queue);
}

static void test_entries(void)
{
        g_autoptr(AldTopicQueue) queue = ald_topic_queue_new(100000, 2);

        g_assert_true(put(queue, "a", "1", false));
        g_assert_true(put(queue, "b", "1", false));
        g_assert_false(put(queue, "c", "1", false));
        g_assert_true(put(queue, "a", "2", false));
        g_assert_cmpuint(ald_topic_queue_dropped(queue), ==, 1);
        expect(queue, "a", "2", false);
        g_assert_true(put(queue, "c", "2", false));
        expect(queue, "b", "1", false);
        expect(queue, "c", "2", false);
        expect_empty(queue);
}

/* What a queue holds never passes its bound, and all of it is given back. */
static void test_bytes(void)
{
        g_autoptr(AldTopicQueue) queue = ald_topic_queue_new(10000, 1000);
        g_autofree char *large = g_strnfill(6000, 'x'), *half = g_strnfill(4000, 'x');

        for (unsigned i = 0; i < 100; i++) {
                g_assert_true(put(queue, "a", half, false));
                g_assert_true(put(queue, "a", large, false));
                g_assert_true(put(queue, "a", half, false));
                g_assert_true(put(queue, "b", half, false));
                g_assert_false(put(queue, "c", half, false));
                /* The older one stays where the newer one is too large. */
                g_assert_false(put(queue, "b", large, false));
                expect(queue, "a", half, false);
                expect(queue, "b", half, false);
        }
        g_assert_cmpuint(ald_topic_queue_dropped(queue), ==, 200);
        expect_empty(queue);
}

static void test_binary(void)
{
        g_autoptr(AldTopicQueue) queue = ald_topic_queue_new(10000, 10);
        AldTopicMessage message = { .topic = "a", .payload = "x\0y", .size = 3 };
        g_autoptr(AldTopicMessage) taken = NULL;

        ald_topic_queue_put(queue, &message);
        taken = ald_topic_queue_take(queue);
        g_assert_cmpmem(taken->payload, taken->size + 1, "x\0y", 4);
}

static void test_crowded(void)
{
        g_autoptr(AldTopicQueue) few = ald_topic_queue_new(10000, 2);
        g_autoptr(AldTopicQueue) small = ald_topic_queue_new(10000, 100);
        g_autofree char *large = g_strnfill(5000, 'x');

        g_assert_true(put(few, "a", "", false));
        g_assert_false(ald_topic_queue_is_crowded(few));
        g_assert_true(put(few, "b", "", false));
        g_assert_true(ald_topic_queue_is_crowded(few));
        expect(few, "a", "", false);
        g_assert_false(ald_topic_queue_is_crowded(few));

        g_assert_true(put(small, "a", large, false));
        g_assert_true(ald_topic_queue_is_crowded(small));
        expect(small, "a", large, false);
        g_assert_false(ald_topic_queue_is_crowded(small));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/topic-queue/newest-in-order", test_newest_in_order);
        g_test_add_func("/topic-queue/live-and-retained", test_live_and_retained);
        g_test_add_func("/topic-queue/groups", test_groups);
        g_test_add_func("/topic-queue/events", test_events);
        g_test_add_func("/topic-queue/entries", test_entries);
        g_test_add_func("/topic-queue/bytes", test_bytes);
        g_test_add_func("/topic-queue/binary", test_binary);
        g_test_add_func("/topic-queue/crowded", test_crowded);
        return g_test_run();
}
