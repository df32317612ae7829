/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "state/store/digest.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

/* What makes entries and nodes go: announced epochs, forgetting, presences, and the want of places. */

#define N_NODES 4u

static AldStore *store_with_places(size_t max_nodes)
{
        const AldId local = id_make(1);
        const AldStoreLimits limits = {
                .max_shown_nodes = 1000,
                .max_shown_bytes = SIZE_MAX / 2,
                .max_nodes = max_nodes,
                .max_links_per_node = 1000,
                .max_bytes = SIZE_MAX / 2,
        };

        return ald_store_new(&local, 1000, &limits);
}

/* A record of a node, or what its node has announced. */
typedef struct Step {
        AldUpdate update;
        char *key;
        bool announces;
} Step;

static void step_free(gpointer data)
{
        Step *step = data;

        if (step->update.record)
                ald_record_unref(step->update.record);
        g_free(step->key);
        g_free(step);
}

/* Few nodes, keys and epochs, so that most steps meet another one. */
static Step *step_random(void)
{
        static const AldKind kinds[] = { ALD_KIND_MEMORY, ALD_KIND_DISK, ALD_KIND_LINK_SOCKET };
        Step *step = g_new0(Step, 1);
        unsigned source = (unsigned) g_test_rand_int_range(2, N_NODES + 1);
        /* Another node: a link from a node to itself is refused. */
        unsigned other = (unsigned) g_test_rand_int_range(1, N_NODES);
        AldId sink = id_make(other < source ? other : other + 1);
        AldUpdate *update = &step->update;

        step->announces = g_test_rand_int_range(0, 8) == 0;
        update->node = id_make(source);
        update->kind = kinds[g_test_rand_int_range(0, G_N_ELEMENTS(kinds))];
        step->key = ald_kinds[update->kind].is_link ? key_make(update->kind, &sink, 1) : g_strdup("");
        update->key = step->key;
        update->stamp = (AldStamp){ (uint64_t) g_test_rand_int_range(1, 5),
                (uint64_t) g_test_rand_int_range(1, 4) };
        if (g_test_rand_int_range(0, 4) > 0)
                update->record = record_random_for(update->kind, &update->node, update->key);
        return step;
}

static GPtrArray *steps_random(unsigned n)
{
        GPtrArray *steps = g_ptr_array_new_with_free_func(step_free);

        for (unsigned i = 0; i < n; i++)
                g_ptr_array_add(steps, step_random());
        return steps;
}

static void put_presence(AldStore *store, unsigned node, const char *state)
{
        const AldPresence fields = { .state = state, .clock_offset_usec = ALD_ABSENT_INT64 };
        g_autoptr(AldRecord) record = record_make(ALD_KIND_PRESENCE, &fields);
        const AldId id = id_make(node);

        g_assert_cmpint(ald_store_put_about(store, &id, ALD_KIND_PRESENCE, record, 1, 1), ==, ALD_PUT_TAKEN);
}

/* A node announces ever newer epochs. */
static void take(AldStore *store, const Step *step)
{
        const AldNode *node = ald_store_find_node(store, &step->update.node);

        if (step->announces && node && step->update.stamp.epoch < node->announced)
                return;
        if (step->announces)
                ald_store_announce(store, &step->update.node, step->update.stamp.epoch);
        else
                g_assert_cmpint(ald_store_put(store, &step->update, 1), >=, 0);
}

/* A store that knows of all nodes, as one does before any of them announces anything. */
static AldStore *store_of_all(void)
{
        AldStore *store = store_with_places(100);

        for (unsigned node = 2; node <= N_NODES; node++)
                put_presence(store, node, "online");
        return store;
}

/* All that a store holds, with stamps, in its order. */
static char *dump(AldStore *store)
{
        g_autoptr(GString) text = g_string_new(NULL);

        for (AldEntry *entry = ald_store_after(store, NULL, 0, NULL); entry;
                entry = ald_store_after(store, &entry->node->id, entry->kind, entry->key)) {
                char id[ALD_ID_STRING_SIZE];

                if (ald_kinds[entry->kind].local)
                        continue;
                g_string_append_printf(text,
                        "%s %d %s %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GINT64_MODIFIER "x\n",
                        ald_id_format(&entry->node->id, id), (int) entry->kind, entry->key ? entry->key : "",
                        entry->stamp.epoch, entry->stamp.seq, entry->record ? entry->record->hash : 0);
        }
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static void assert_same_content(AldStore *a, AldStore *b)
{
        g_autofree char *left = dump(a), *right = dump(b);
        AldDigest digest_a = ald_digest_compute(a, -1), digest_b = ald_digest_compute(b, -1);

        g_assert_cmpstr(left, ==, right);
        g_assert_cmpuint(digest_a.count, ==, digest_b.count);
        g_assert_cmpuint(digest_a.sum, ==, digest_b.sum);
        g_assert_cmpuint(ald_store_n_nodes(a), ==, ald_store_n_nodes(b));
        g_assert_cmpuint(ald_store_n_links(a), ==, ald_store_n_links(b));
        g_assert_cmpuint(ald_store_n_hidden(a), ==, ald_store_n_hidden(b));
}

/* Records and announcements make the same of a store in any order, each as often as it likes. */
static void test_announced_in_any_order(void)
{
        for (unsigned round = 0; round < 200; round++) {
                g_autoptr(GPtrArray) steps = steps_random(60);
                g_autoptr(AldStore) reference = store_of_all();

                for (guint i = 0; i < steps->len; i++)
                        take(reference, steps->pdata[i]);
                for (unsigned shuffle = 0; shuffle < 3; shuffle++) {
                        g_autoptr(AldStore) store = store_of_all();

                        for (guint i = steps->len - 1; i > 0; i--) {
                                guint other = (guint) g_test_rand_int_range(0, (gint32) i + 1);
                                gpointer step = steps->pdata[i];

                                steps->pdata[i] = steps->pdata[other];
                                steps->pdata[other] = step;
                        }
                        for (guint i = 0; i < steps->len; i++) {
                                take(store, steps->pdata[i]);
                                take(store, steps->pdata[g_test_rand_int_range(0, (gint32) i + 1)]);
                        }
                        assert_same_content(store, reference);
                }
        }
}

static void test_announced_keeps_its_own(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldId id = id_make(2), local = id_make(1);

        state_put(store, 1, ALD_KIND_MEMORY, "{}");
        state_put(store, 2, ALD_KIND_MEMORY, "{}"); /* epoch 1 */
        state_put_link(store, ALD_KIND_LINK_SOCKET, 2, 1, 1, "{}");
        state_put(store, 3, ALD_KIND_MEMORY, "{}");
        put_presence(store, 2, "online");

        ald_store_announce(store, &id, 1);
        g_assert_nonnull(ald_store_find(store, &id, ALD_KIND_MEMORY, ""));
        ald_store_announce(store, &id, 2);
        g_assert_null(ald_store_find(store, &id, ALD_KIND_MEMORY, ""));
        g_assert_cmpuint(ald_store_n_links(store), ==, 0);
        g_assert_nonnull(ald_store_find(store, &id, ALD_KIND_PRESENCE, ""));
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 3);

        /* This node announces nothing to itself. */
        ald_store_announce(store, &local, UINT64_MAX);
        g_assert_nonnull(ald_store_find(store, &local, ALD_KIND_MEMORY, ""));
}

/* A node is forgotten without a trace: what comes afterwards makes of it what it makes of an empty store. */
static void test_forgotten_without_a_trace(void)
{
        for (unsigned round = 0; round < 100; round++) {
                g_autoptr(GPtrArray) before = steps_random(40), after = steps_random(40);
                g_autoptr(AldStore) store = store_of_all(), fresh = store_of_all();

                for (guint i = 0; i < before->len; i++)
                        take(store, before->pdata[i]);
                for (unsigned node = 1; node <= N_NODES + 1; node++) {
                        const AldId id = id_make(node);

                        ald_store_forget(store, &id, 1);
                        ald_store_forget(store, &id, 1);
                }
                g_assert_cmpuint(ald_store_n_nodes(store), ==, 1);
                g_assert_cmpuint(ald_store_n_links(store), ==, 0);
                for (unsigned node = 2; node <= N_NODES; node++)
                        put_presence(store, node, "online");
                for (guint i = 0; i < after->len; i++) {
                        take(store, after->pdata[i]);
                        take(fresh, after->pdata[i]);
                }
                assert_same_content(store, fresh);
        }
}

/* An epoch that somebody else announced in its name does not outlive the node's own word. */
static void test_announced_less(void)
{
        const AldUpdate update = { .node = id_make(2), .key = "", .stamp = { 5, 1 } };
        g_autoptr(AldStore) store = state_make();
        const AldId id = id_make(2);

        put_presence(store, 2, "online");
        ald_store_announce(store, &id, 9);
        g_assert_cmpint(ald_store_put(store, &update, 1), ==, ALD_PUT_KNOWN);
        ald_store_announce(store, &id, 5);
        g_assert_cmpint(ald_store_put(store, &update, 1), ==, ALD_PUT_TAKEN);
        ald_store_announce(store, &id, 0);
        g_assert_nonnull(ald_store_find(store, &id, ALD_KIND_IDENTITY, ""));
}

static void test_forgotten_without_the_links_of_others(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldId id = id_make(2);

        state_put(store, 2, ALD_KIND_MEMORY, "{}");
        state_put(store, 3, ALD_KIND_MEMORY, "{}");
        state_put_link(store, ALD_KIND_LINK_SOCKET, 1, 2, 1, "{}");
        state_put_link(store, ALD_KIND_LINK_SOCKET, 2, 3, 1, "{}");
        state_put_link(store, ALD_KIND_LINK_RDMA, 3, 2, 1, "{}");
        state_put_link(store, ALD_KIND_LINK_SOCKET, 3, 1, 1, "{}");
        ald_store_forget(store, &id, 1);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 2);
        g_assert_cmpuint(ald_store_n_links(store), ==, 3);
        ald_store_drop_own_links(store, &id, 1, 1);
        g_assert_cmpuint(ald_store_n_links(store), ==, 2);
        g_assert_null(ald_store_find_node(store, &id));
}

static void check_unknown(AldStore *store, unsigned node, uint64_t since)
{
        const AldId id = id_make(node);
        const AldEntry *entry = ald_store_find(store, &id, ALD_KIND_PRESENCE, "");
        const AldPresence *presence = ald_record_as(entry->record, PRESENCE, AldPresence);

        g_assert_cmpstr(presence->state, ==, "unknown");
        g_assert_cmpuint(presence->since_usec, ==, since);
        g_assert_cmpint(presence->clock_offset_usec, ==, ALD_ABSENT_INT64);
        g_assert_false(ald_node_counts(entry->node));
}

static void test_others_are_unknown_without_presences(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldId own = id_make(1);

        state_put(store, 2, ALD_KIND_MEMORY, "{}");
        state_put(store, 3, ALD_KIND_MEMORY, "{}");
        for (unsigned node = 1; node <= 2; node++)
                put_presence(store, node, "online");
        put_presence(store, 4, "offline");
        ald_store_lose_presences(store, 500, 1);
        g_assert_null(ald_store_find(store, &own, ALD_KIND_PRESENCE, ""));
        g_assert_true(ald_node_counts(ald_store_local_node(store)));
        for (unsigned node = 2; node <= 4; node++)
                check_unknown(store, node, 500);

        /* What is unknown already stays so since before. */
        put_presence(store, 2, "online");
        ald_store_lose_presences(store, 900, 1);
        check_unknown(store, 2, 900);
        check_unknown(store, 3, 500);
}

/* As after a restart, which links of this node outlive and other nodes do not. */
static void test_sinks_are_unknown(void)
{
        g_autoptr(AldStore) store = state_make();

        state_put_link(store, ALD_KIND_LINK_SOCKET, 1, 2, 1, "{}");
        ald_store_lose_presences(store, 500, 1);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 2);
        check_unknown(store, 2, 500);
}

static void test_a_machine_of_its_own_stays_as_it_is(void)
{
        g_autoptr(AldStore) store = state_make();

        state_put(store, 1, ALD_KIND_MEMORY, "{}");
        ald_store_lose_presences(store, 500, 1);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 1);
        g_assert_null(ald_node_record(ald_store_local_node(store), ALD_KIND_PRESENCE));
}

static void test_kinds_that_never_travel(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(AldRecord) record = record_random(ALD_KIND_PRESENCE);
        AldUpdate update = {
                .node = id_make(2), .kind = ALD_KIND_PRESENCE, .key = "", .stamp = { 9, 9 }, .record = record
        };

        g_assert_cmpint(ald_store_put(store, &update, 1), ==, -EINVAL);
        update.node = id_make(1);
        g_assert_cmpint(ald_store_put(store, &update, 1), ==, -EINVAL);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 1);
}

/* Silence alone lets no node go that is online; what is said of a node is no word of its own. */
static void test_online_nodes_do_not_expire(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldId online = id_make(2), offline = id_make(3);

        state_put(store, 2, ALD_KIND_MEMORY, "{}");
        state_put(store, 3, ALD_KIND_MEMORY, "{}");
        put_presence(store, 2, "online");
        put_presence(store, 3, "offline");
        ald_store_expire(store, 1000, 100, 100);
        g_assert_nonnull(ald_store_find(store, &online, ALD_KIND_MEMORY, ""));
        g_assert_null(ald_store_find_node(store, &offline));
        put_presence(store, 2, "stale");
        ald_store_expire(store, 1000, 100, 100);
        g_assert_null(ald_store_find_node(store, &online));
}

static int put_memory(AldStore *store, unsigned node, uint64_t seq, AldRecord *record)
{
        return ald_store_put(store,
                &(AldUpdate){ .node = id_make(node),
                        .kind = ALD_KIND_MEMORY,
                        .key = "",
                        .stamp = { 1, seq },
                        .record = record },
                1);
}

static bool is_known(AldStore *store, unsigned node)
{
        const AldId id = id_make(node);

        return ald_store_find_node(store, &id);
}

/* Of who has come and gone, deletions stay behind; they make place, the oldest first. */
static void test_deletions_make_place(void)
{
        g_autoptr(AldStore) store = store_with_places(4);
        g_autoptr(AldRecord) record = record_random(ALD_KIND_MEMORY);

        for (unsigned node = 2; node <= 4; node++)
                g_assert_cmpint(put_memory(store, node, 1, record), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 5, 1, record), ==, -ENOSPC);
        g_assert_cmpint(put_memory(store, 3, 2, NULL), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 2, 2, NULL), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 3, 3, record), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 3, 4, NULL), ==, ALD_PUT_TAKEN);

        g_assert_cmpint(put_memory(store, 5, 1, record), ==, ALD_PUT_TAKEN);
        g_assert_false(is_known(store, 2));
        g_assert_true(is_known(store, 3));
        g_assert_cmpint(put_memory(store, 6, 1, record), ==, ALD_PUT_TAKEN);
        g_assert_false(is_known(store, 3));
        g_assert_cmpint(put_memory(store, 7, 1, record), ==, -ENOSPC);
        g_assert_true(is_known(store, 4));
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 4);
}

/* However many ids a peer makes up, the nodes that have records stay, and others find place. */
static void test_churn_of_ids(void)
{
        g_autoptr(AldStore) store = store_with_places(50);
        g_autoptr(AldRecord) record = record_random(ALD_KIND_MEMORY);

        for (unsigned node = 2; node < 40; node++)
                g_assert_cmpint(put_memory(store, node, 1, record), ==, ALD_PUT_TAKEN);
        for (unsigned node = 1000; node < 3000; node++) {
                g_assert_cmpint(put_memory(store, node, 1, record), ==, ALD_PUT_TAKEN);
                g_assert_cmpint(put_memory(store, node, 2, NULL), ==, ALD_PUT_TAKEN);
                g_assert_cmpuint(ald_store_n_nodes(store), <=, 50);
        }
        for (unsigned node = 40; node < 51; node++)
                g_assert_cmpint(put_memory(store, node, 1, record), ==, ALD_PUT_TAKEN);
        for (unsigned node = 2; node < 51; node++)
                g_assert_true(is_known(store, node));
}

/* A node that has links only is no bare one. */
static void test_links_keep_a_place(void)
{
        g_autoptr(AldStore) store = store_with_places(2);
        g_autoptr(AldRecord) record = record_random(ALD_KIND_MEMORY);
        const AldId id = id_make(2);
        AldEntry *link;

        state_put_link(store, ALD_KIND_LINK_SOCKET, 2, 1, 1, "{}");
        g_assert_cmpint(put_memory(store, 3, 1, record), ==, -ENOSPC);
        link = ald_node_after(ald_store_find_node(store, &id), NULL);
        g_assert_cmpint(ald_store_put(store,
                                &(AldUpdate){ .node = id,
                                        .kind = ALD_KIND_LINK_SOCKET,
                                        .key = link->key,
                                        .stamp = { 1, 2 } },
                                1),
                ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 3, 1, record), ==, ALD_PUT_TAKEN);
        g_assert_false(is_known(store, 2));
        g_assert_true(is_known(store, 1));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/store-forget/announced-in-any-order", test_announced_in_any_order);
        g_test_add_func("/store-forget/announced-keeps-its-own", test_announced_keeps_its_own);
        g_test_add_func("/store-forget/forgotten-without-a-trace", test_forgotten_without_a_trace);
        g_test_add_func("/store-forget/announced-less", test_announced_less);
        g_test_add_func("/store-forget/forgotten-without-the-links-of-others",
                test_forgotten_without_the_links_of_others);
        g_test_add_func("/store-forget/others-are-unknown-without-presences",
                test_others_are_unknown_without_presences);
        g_test_add_func("/store-forget/sinks-are-unknown", test_sinks_are_unknown);
        g_test_add_func("/store-forget/a-machine-of-its-own-stays-as-it-is",
                test_a_machine_of_its_own_stays_as_it_is);
        g_test_add_func("/store-forget/kinds-that-never-travel", test_kinds_that_never_travel);
        g_test_add_func("/store-forget/online-nodes-do-not-expire", test_online_nodes_do_not_expire);
        g_test_add_func("/store-forget/deletions-make-place", test_deletions_make_place);
        g_test_add_func("/store-forget/churn-of-ids", test_churn_of_ids);
        g_test_add_func("/store-forget/links-keep-a-place", test_links_keep_a_place);
        return g_test_run();
}
