/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "services/cluster/mqtt/claims.h"
#include "services/cluster/mqtt/inbox.h"

#define N_THREADS 4u
#define N_TOPICS 100u
#define N_ROUNDS 200u

typedef struct Taken {
        AldInbox *inbox;
        GMainLoop *loop;
        GHashTable *newest; /* payload by topic */
        unsigned n, n_events;
        const void *forget;
} Taken;

static void take(const AldTopicMessage *message, void *userdata)
{
        Taken *taken = userdata;

        if (message->event != 0) {
                if (++taken->n_events == N_THREADS)
                        g_main_loop_quit(taken->loop);
                return;
        }
        taken->n++;
        g_hash_table_replace(taken->newest, g_strdup(message->topic), g_strdup(message->payload));
        if (taken->forget)
                ald_inbox_forget(taken->inbox, taken->forget);
}

static void taken_init(Taken *taken)
{
        *taken = (Taken){ .loop = g_main_loop_new(NULL, FALSE) };
        taken->newest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void taken_clear(Taken *taken)
{
        ald_inbox_free(taken->inbox);
        g_hash_table_unref(taken->newest);
        g_main_loop_unref(taken->loop);
}

typedef struct Giver {
        AldInbox *inbox;
        unsigned number;
} Giver;

static gpointer give(gpointer data)
{
        Giver *giver = data;
        AldTopicMessage end = { .event = 1, .source = giver };

        for (unsigned i = 0; i < N_ROUNDS * N_TOPICS; i++) {
                g_autofree char *topic = g_strdup_printf("%u/%u", giver->number, i % N_TOPICS);
                g_autofree char *payload = g_strdup_printf("%u", i / N_TOPICS);
                AldTopicMessage message = {
                        .group = giver->number,
                        .topic = topic,
                        .payload = payload,
                        .size = strlen(payload),
                        .source = giver,
                };

                g_assert_true(ald_inbox_put(giver->inbox, &message));
        }
        ald_inbox_put(giver->inbox, &end);
        return NULL;
}

static void test_threads(void)
{
        Giver givers[N_THREADS];
        GThread *threads[N_THREADS];
        GHashTableIter iter;
        gpointer payload;
        Taken taken;

        taken_init(&taken);
        taken.inbox = ald_inbox_new(ALD_INBOX_BYTES, ALD_INBOX_TOPICS, take, &taken);
        for (unsigned i = 0; i < N_THREADS; i++) {
                givers[i] = (Giver){ taken.inbox, i };
                threads[i] = g_thread_new("giver", give, &givers[i]);
        }
        g_main_loop_run(taken.loop);
        for (unsigned i = 0; i < N_THREADS; i++)
                g_thread_join(threads[i]);
        g_assert_cmpuint(g_hash_table_size(taken.newest), ==, N_THREADS * N_TOPICS);
        g_hash_table_iter_init(&iter, taken.newest);
        while (g_hash_table_iter_next(&iter, NULL, &payload))
                g_assert_cmpint(atoi(payload), ==, N_ROUNDS - 1);
        g_assert_cmpuint(ald_inbox_dropped(taken.inbox), ==, 0);
        taken_clear(&taken);
}

static void put(AldInbox *inbox, const char *topic, void *source)
{
        AldTopicMessage message = { .topic = topic, .payload = "x", .size = 1, .source = source };

        ald_inbox_put(inbox, &message);
}

static void test_forget(void)
{
        Taken taken;
        int sources[2];

        taken_init(&taken);
        taken.inbox = ald_inbox_new(ALD_INBOX_BYTES, 3, take, &taken);
        taken.forget = &sources[0];
        put(taken.inbox, "a", &sources[0]);
        put(taken.inbox, "b", &sources[0]);
        put(taken.inbox, "c", &sources[1]);
        put(taken.inbox, "d", &sources[1]);
        while (g_main_context_iteration(NULL, FALSE))
                ;
        g_assert_cmpuint(taken.n, ==, 2);
        g_assert_true(g_hash_table_contains(taken.newest, "a"));
        g_assert_true(g_hash_table_contains(taken.newest, "c"));
        g_assert_cmpuint(ald_inbox_dropped(taken.inbox), ==, 1);
        taken_clear(&taken);
}

/* Other sources of the loop have their turn while there is much to take. */
static gboolean on_other(gpointer userdata)
{
        Taken *taken = userdata;

        g_assert_cmpuint(taken->n, <, 10000);
        taken->n_events++;
        return G_SOURCE_REMOVE;
}

static void test_turns(void)
{
        Taken taken;
        int source;

        taken_init(&taken);
        taken.inbox = ald_inbox_new(ALD_INBOX_BYTES, ALD_INBOX_TOPICS, take, &taken);
        for (unsigned i = 0; i < 10000; i++) {
                g_autofree char *topic = g_strdup_printf("%u", i);

                put(taken.inbox, topic, &source);
        }
        g_timeout_add(0, on_other, &taken);
        while (taken.n < 10000)
                g_main_context_iteration(NULL, TRUE);
        g_assert_cmpuint(taken.n_events, ==, 1);
        /* It wakes again after it was empty. */
        put(taken.inbox, "last", &source);
        while (taken.n < 10001)
                g_main_context_iteration(NULL, TRUE);
        taken_clear(&taken);
}

static void test_claims(void)
{
        g_autoptr(AldClaims) claims = ald_claims_new();

        g_assert_cmpuint(ald_claims_take(claims, "a", 1), ==, 1);
        g_assert_cmpuint(ald_claims_take(claims, "a", 2), ==, 1);
        g_assert_cmpuint(ald_claims_take(claims, "b", 2), ==, 2);
        ald_claims_drop(claims, "a", 2);
        g_assert_cmpuint(ald_claims_take(claims, "a", 2), ==, 1);
        ald_claims_drop(claims, "a", 1);
        g_assert_cmpuint(ald_claims_take(claims, "a", 2), ==, 2);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/inbox/threads", test_threads);
        g_test_add_func("/inbox/forget", test_forget);
        g_test_add_func("/inbox/turns", test_turns);
        g_test_add_func("/inbox/claims", test_claims);
        return g_test_run();
}
