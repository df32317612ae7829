/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/json.h"
#include "state/store/store.h"
#include "tests/unit/record-maker.h"

#define LOCAL 1u
#define EPOCH 1000u

static const AldStoreLimits roomy = {
        .max_shown_nodes = 1000,
        .max_shown_bytes = SIZE_MAX / 2,
        .max_nodes = 1000,
        .max_links_per_node = 1000,
        .max_bytes = SIZE_MAX / 2,
};

static AldStore *store_new(const AldStoreLimits *limits)
{
        AldId local = id_make(LOCAL);

        return ald_store_new(&local, EPOCH, limits);
}

/* An update that owns what it points to. */
typedef struct Update {
        AldUpdate update;
        char *key;
} Update;

static void update_free(gpointer data)
{
        Update *update = data;

        if (update->update.record)
                ald_record_unref(update->update.record);
        g_free(update->key);
        g_free(update);
}

static Update *update_new(unsigned node, AldKind kind, const char *key, uint64_t epoch, uint64_t seq)
{
        Update *update = g_new0(Update, 1);

        update->key = g_strdup(key);
        update->update = (AldUpdate){
                .node = id_make(node),
                .kind = kind,
                .key = update->key,
                .stamp = { epoch, seq },
        };
        return update;
}

/* Few nodes, keys and stamps, so that most updates meet another one of their entry, often with its stamp. */
static Update *update_random(void)
{
        static const AldKind kinds[] = { ALD_KIND_MEMORY, ALD_KIND_DISK, ALD_KIND_LINK_SOCKET,
                ALD_KIND_LINK_RDMA };
        AldKind kind = kinds[g_test_rand_int_range(0, G_N_ELEMENTS(kinds))];
        unsigned node = (unsigned) g_test_rand_int_range(2, 5);
        AldId sink = id_make((node + (unsigned) g_test_rand_int_range(0, 3)) % 4 + 1);
        g_autofree char *key = ald_kinds[kind].is_link
                                       ? key_make(kind, &sink, (unsigned) g_test_rand_int_range(0, 2))
                                       : g_strdup("");
        Update *update = update_new(node, kind, key, (uint64_t) g_test_rand_int_range(1, 3),
                (uint64_t) g_test_rand_int_range(1, 4));

        update->update.updated_usec = (uint64_t) g_test_rand_int_range(0, 2);
        if (g_test_rand_int_range(0, 4) > 0)
                update->update.record = record_random_for(kind, &update->update.node, key);
        return update;
}

static GPtrArray *updates_random(unsigned n)
{
        GPtrArray *updates = g_ptr_array_new_with_free_func(update_free);

        for (unsigned i = 0; i < n; i++)
                g_ptr_array_add(updates, update_random());
        return updates;
}

static int put(AldStore *store, const Update *update)
{
        return ald_store_put(store, &update->update, 1);
}

static void put_all(AldStore *store, const GPtrArray *updates)
{
        for (guint i = 0; i < updates->len; i++)
                g_assert_cmpint(put(store, updates->pdata[i]), >=, 0);
}

static AldEntry *next_entry(AldStore *store, const AldEntry *entry)
{
        return entry ? ald_store_after(store, &entry->node->id, entry->kind, entry->key ?: "")
                     : ald_store_after(store, NULL, 0, "");
}

static char *describe(const AldUpdate *update)
{
        GString *text = g_string_new(NULL);

        const char *revision;

        ald_update_append_text(text, update, true);
        /* Each machine counts its own. */
        revision = strstr(text->str, "\"revision\":");
        if (revision)
                g_string_erase(text, revision - text->str, (gssize) strcspn(revision, ",") + 1);
        return g_string_free(text, FALSE);
}

/* All that a store holds, in its order. */
static char *dump(AldStore *store)
{
        g_autoptr(GString) text = g_string_new(NULL);

        for (AldEntry *entry = next_entry(store, NULL); entry; entry = next_entry(store, entry)) {
                AldUpdate update = ald_entry_update(entry);
                g_autofree char *line = describe(&update);

                g_string_append_printf(text, "%s\n", line);
        }
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static void assert_same_content(AldStore *a, AldStore *b)
{
        g_autofree char *left = dump(a), *right = dump(b);

        g_assert_cmpstr(left, ==, right);
        g_assert_cmpuint(ald_store_n_nodes(a), ==, ald_store_n_nodes(b));
        g_assert_cmpuint(ald_store_n_links(a), ==, ald_store_n_links(b));
        g_assert_cmpuint(ald_store_n_hidden(a), ==, ald_store_n_hidden(b));
}

/* A random order in which each update occurs at least once. */
static GArray *random_order(guint n, guint duplicates)
{
        GArray *order = g_array_new(FALSE, FALSE, sizeof(guint));

        for (guint i = 0; i < n + duplicates; i++) {
                guint at = i < n ? i : (guint) g_test_rand_int_range(0, (gint32) n);

                g_array_insert_val(order, (guint) g_test_rand_int_range(0, (gint32) i + 1), at);
        }
        return order;
}

/* Commutative and idempotent. */
static void test_any_order(void)
{
        for (unsigned round = 0; round < 150; round++) {
                g_autoptr(GPtrArray) updates = updates_random(60);
                g_autoptr(AldStore) reference = store_new(&roomy);

                put_all(reference, updates);
                for (unsigned shuffle = 0; shuffle < 3; shuffle++) {
                        g_autoptr(AldStore) store = store_new(&roomy);
                        g_autoptr(GArray) order = random_order(updates->len, 20);

                        for (guint i = 0; i < order->len; i++)
                                put(store, updates->pdata[g_array_index(order, guint, i)]);
                        assert_same_content(store, reference);
                }
        }
}

/* Sends all that one store holds to another, as nodes do when they meet. */
static void replay(AldStore *from, AldStore *to)
{
        for (AldEntry *entry = next_entry(from, NULL); entry; entry = next_entry(from, entry)) {
                AldUpdate update = ald_entry_update(entry);

                g_assert_cmpint(ald_store_put(to, &update, 1), >=, 0);
        }
}

/* Associative: updates may go through other stores, in any grouping and by two routes. */
static void test_any_grouping(void)
{
        for (unsigned round = 0; round < 150; round++) {
                g_autoptr(GPtrArray) updates = updates_random(60);
                g_autoptr(AldStore) reference = store_new(&roomy);
                g_autoptr(AldStore) a = store_new(&roomy);
                g_autoptr(AldStore) b = store_new(&roomy);
                g_autoptr(AldStore) c = store_new(&roomy);
                g_autoptr(AldStore) left = store_new(&roomy);
                g_autoptr(AldStore) right = store_new(&roomy);
                AldStore *stores[] = { a, b, c };

                put_all(reference, updates);
                for (guint i = 0; i < updates->len; i++)
                        for (guint copies = 0; copies < 1 + i % 2; copies++)
                                put(stores[g_test_rand_int_range(0, 3)], updates->pdata[i]);

                /* left = (a · b) · c, right = a · (c · b) */
                replay(a, left);
                replay(b, left);
                replay(c, left);
                replay(b, c);
                replay(c, right);
                replay(a, right);
                assert_same_content(left, reference);
                assert_same_content(right, reference);
        }
}

static bool stamp_is_older(const AldStamp *a, const AldStamp *b)
{
        return a->epoch < b->epoch || (a->epoch == b->epoch && a->seq < b->seq);
}

static void test_older_never_beats_newer(void)
{
        for (unsigned round = 0; round < 150; round++) {
                g_autoptr(GPtrArray) updates = updates_random(60);
                g_autoptr(AldStore) store = store_new(&roomy);

                for (guint i = 0; i < updates->len; i++) {
                        const AldUpdate *update = &((Update *) updates->pdata[i])->update;
                        const AldEntry *entry = ald_store_find(
                                store, &update->node, update->kind, update->key);
                        AldStamp before = entry ? entry->stamp : (AldStamp){ 0 };
                        int r = ald_store_put(store, update, 1);

                        entry = ald_store_find(store, &update->node, update->kind, update->key);
                        g_assert_nonnull(entry);
                        g_assert_false(stamp_is_older(&entry->stamp, &before));
                        g_assert_false(stamp_is_older(&entry->stamp, &update->stamp));
                        if (stamp_is_older(&update->stamp, &before))
                                g_assert_cmpint(r, ==, ALD_PUT_KNOWN);
                        if (stamp_is_older(&before, &update->stamp))
                                g_assert_cmpint(r, ==, ALD_PUT_TAKEN);
                }
        }
}

/* The same merge, written down without thinking about cost: a table of all that was ever the greatest. */
static void model_put(GHashTable *model, const Update *update)
{
        char node[ALD_ID_STRING_SIZE];
        g_autofree char *name = g_strdup_printf("%s/%02d/%s", ald_id_format(&update->update.node, node),
                (int) update->update.kind, update->key);
        const Update *known = g_hash_table_lookup(model, name);
        const AldUpdate *a = &update->update, *b = known ? &known->update : NULL;
        bool greater = !known;

        if (known && !(a->stamp.epoch == b->stamp.epoch && a->stamp.seq == b->stamp.seq))
                greater = stamp_is_older(&b->stamp, &a->stamp);
        else if (known && !a->record != !b->record)
                greater = !a->record;
        else if (known && a->record && ald_record_compare(a->record, b->record) != 0)
                greater = ald_record_compare(a->record, b->record) > 0;
        else if (known)
                greater = a->updated_usec > b->updated_usec;
        if (greater)
                g_hash_table_insert(model, g_steal_pointer(&name), (gpointer) update);
}

static char *model_dump(GHashTable *model)
{
        g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(model), (GCompareFunc) strcmp);
        g_autoptr(GString) text = g_string_new(NULL);

        for (GList *name = names; name; name = name->next) {
                const Update *update = g_hash_table_lookup(model, name->data);
                g_autofree char *line = describe(&update->update);

                g_string_append_printf(text, "%s\n", line);
        }
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static void test_as_a_naive_model(void)
{
        for (unsigned round = 0; round < 100; round++) {
                g_autoptr(GPtrArray) updates = updates_random(80);
                g_autoptr(GHashTable) model = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
                g_autoptr(AldStore) store = store_new(&roomy);

                for (guint i = 0; i < updates->len; i++) {
                        put(store, updates->pdata[i]);
                        model_put(model, updates->pdata[i]);
                        if (i % 10 == 0 || i == updates->len - 1) {
                                g_autofree char *content = dump(store), *expected = model_dump(model);

                                g_assert_cmpstr(content, ==, expected);
                        }
                }
        }
}

typedef struct Calls {
        unsigned changed;
        unsigned removing;
        const AldEntry *entry;
        AldRecord *before;
} Calls;

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        Calls *calls = userdata;

        calls->changed++;
        calls->entry = entry;
        calls->before = before;
}

static void on_removing(AldEntry *entry, void *userdata)
{
        Calls *calls = userdata;

        calls->removing++;
        calls->entry = entry;
}

static AldRecord *memory_of(uint64_t total)
{
        AldMemory memory = ALD_MEMORY_INIT;

        memory.total_bytes = total;
        return record_make(ALD_KIND_MEMORY, &memory);
}

static int put_memory(AldStore *store, unsigned node, uint64_t seq, uint64_t total, uint64_t now)
{
        g_autoptr(AldRecord) record = total != 0 ? memory_of(total) : NULL;
        const AldUpdate update = {
                .node = id_make(node),
                .kind = ALD_KIND_MEMORY,
                .key = "",
                .stamp = { 1, seq },
                .updated_usec = 100 + seq,
                .record = record,
        };

        return ald_store_put(store, &update, now);
}

static AldRecord *link_between(const AldId *source, const AldId *sink)
{
        char source_string[ALD_ID_STRING_SIZE], sink_string[ALD_ID_STRING_SIZE];
        AldLinkSocket link = ALD_LINK_SOCKET_INIT;

        link.source = ald_id_format(source, source_string);
        link.sink = ald_id_format(sink, sink_string);
        return record_make(ALD_KIND_LINK_SOCKET, &link);
}

static int put_link(AldStore *store, unsigned node, unsigned sink, uint64_t seq, bool deleted, uint64_t now)
{
        AldId node_id = id_make(node), sink_id = id_make(sink);
        g_autofree char *key = key_make(ALD_KIND_LINK_SOCKET, &sink_id, 1);
        g_autoptr(AldRecord) record = deleted ? NULL : link_between(&node_id, &sink_id);
        const AldUpdate update = {
                .node = node_id,
                .kind = ALD_KIND_LINK_SOCKET,
                .key = key,
                .stamp = { 1, seq },
                .record = record,
        };

        return ald_store_put(store, &update, now);
}

static AldEntry *find_memory(AldStore *store, unsigned node)
{
        AldId id = id_make(node);

        return ald_store_find(store, &id, ALD_KIND_MEMORY, "");
}

static AldEntry *find_link(AldStore *store, unsigned node, unsigned sink)
{
        AldId id = id_make(node), sink_id = id_make(sink);
        g_autofree char *key = key_make(ALD_KIND_LINK_SOCKET, &sink_id, 1);

        return ald_store_find(store, &id, ALD_KIND_LINK_SOCKET, key);
}

static void test_watch(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);
        Calls calls = { 0 };
        AldRecord *first;

        ald_store_watch(store, on_changed, on_removing, &calls);
        g_assert_cmpint(put_memory(store, 2, 2, 10, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpuint(calls.changed, ==, 1);
        g_assert_true(calls.entry == find_memory(store, 2));
        g_assert_null(calls.before);
        first = find_memory(store, 2)->record;

        /* Neither the same again nor something older is a change. */
        g_assert_cmpint(put_memory(store, 2, 2, 10, 1), ==, ALD_PUT_KNOWN);
        g_assert_cmpint(put_memory(store, 2, 1, 99, 1), ==, ALD_PUT_KNOWN);
        g_assert_cmpint(put_memory(store, 2, 1, 0, 1), ==, ALD_PUT_KNOWN);
        g_assert_cmpuint(calls.changed, ==, 1);

        ald_record_ref(first);
        g_assert_cmpint(put_memory(store, 2, 3, 0, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpuint(calls.changed, ==, 2);
        g_assert_true(calls.before == first);
        g_assert_null(calls.entry->record);
        ald_record_unref(first);

        ald_store_expire(store, 100, 10, 1000);
        g_assert_cmpuint(calls.removing, ==, 1);
        g_assert_cmpuint(calls.changed, ==, 2);
        g_assert_null(find_memory(store, 2));
}

static void test_revision_counts_changes(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);

        put_memory(store, 2, 1, 10, 1);
        g_assert_cmpuint(find_memory(store, 2)->record->revision, ==, 1);
        g_assert_cmpuint(find_memory(store, 2)->record->updated_usec, ==, 101);
        /* Sent again: newer, but no change. */
        put_memory(store, 2, 2, 10, 1);
        g_assert_cmpuint(find_memory(store, 2)->record->revision, ==, 1);
        g_assert_cmpuint(find_memory(store, 2)->record->updated_usec, ==, 102);
        put_memory(store, 2, 3, 11, 1);
        g_assert_cmpuint(find_memory(store, 2)->record->revision, ==, 2);
        g_assert_cmpuint(find_memory(store, 2)->record->updated_usec, ==, 103);
}

static void test_local_stamps(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);
        g_autoptr(AldRecord) one = memory_of(10);
        g_autoptr(AldRecord) same = memory_of(10);
        g_autoptr(AldRecord) other = memory_of(11);
        AldStamp last = { 0 };

        g_assert_cmpuint(ald_store_epoch(store), ==, EPOCH);
        for (unsigned i = 0; i < 4; i++) {
                AldRecord *record = (AldRecord *[]){ one, same, other, NULL }[i];
                const AldEntry *entry;

                g_assert_cmpint(ald_store_put_local(store, ALD_KIND_MEMORY, "", record, 50 + i, 1), ==,
                        ALD_PUT_TAKEN);
                entry = find_memory(store, LOCAL);
                g_assert_true(entry->record == record);
                g_assert_true(entry->node == ald_store_local_node(store));
                g_assert_cmpuint(entry->stamp.epoch, ==, EPOCH);
                g_assert_true(stamp_is_older(&last, &entry->stamp));
                g_assert_cmpuint(entry->updated_usec, ==, 50 + i);
                last = entry->stamp;
        }
        g_assert_cmpuint(one->revision, ==, 1);
        g_assert_cmpuint(same->revision, ==, 1);
        g_assert_cmpuint(other->revision, ==, 2);
        g_assert_cmpint(ald_store_put_local(store, ALD_KIND_MEMORY, "x", one, 1, 1), ==, -EINVAL);
        g_assert_cmpint(ald_store_put_local(store, ALD_KIND_DISK, "", one, 1, 1), ==, -EINVAL);
}

static int put_own(AldStore *store, uint64_t epoch, uint64_t seq)
{
        g_autoptr(AldRecord) record = memory_of(666);
        const AldUpdate update = {
                .node = id_make(LOCAL),
                .kind = ALD_KIND_MEMORY,
                .key = "",
                .stamp = { epoch, seq },
                .record = record,
        };

        return ald_store_put(store, &update, 1);
}

static void test_nobody_else_writes_this_node(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);
        g_autoptr(AldRecord) record = memory_of(10);
        g_autofree char *before = NULL, *after = NULL;

        ald_store_put_local(store, ALD_KIND_MEMORY, "", record, 1, 1);
        before = dump(store);
        g_assert_cmpint(put_own(store, EPOCH - 1, 1), ==, ALD_PUT_KNOWN);
        g_assert_cmpint(put_own(store, EPOCH, 1000), ==, ALD_PUT_KNOWN);
        g_assert_cmpint(put_own(store, EPOCH + 1, 1), ==, ALD_PUT_OWN);
        /* An epoch that could never be outdone must not be taken over. */
        g_assert_cmpint(put_own(store, (uint64_t) ALD_INTEGER_MAX + 1, 1), ==, -EINVAL);
        g_assert_cmpint(put_own(store, UINT64_MAX, 1), ==, -EINVAL);
        after = dump(store);
        g_assert_cmpstr(before, ==, after);
}

static void test_take_epoch(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);
        AldId node = id_make(LOCAL), sink = id_make(2);
        g_autofree char *key = key_make(ALD_KIND_LINK_RDMA, &sink, 0);
        g_autoptr(AldRecord) memory = memory_of(10);
        g_autoptr(AldRecord) link = record_random_for(ALD_KIND_LINK_RDMA, &node, key);
        Calls calls = { 0 };
        GHashTable *seen;

        ald_store_put_local(store, ALD_KIND_MEMORY, "", memory, 1, 1);
        ald_store_put_local(store, ALD_KIND_LINK_RDMA, key, link, 2, 1);
        ald_store_put_local(store, ALD_KIND_DISK, "", NULL, 3, 1);
        put_memory(store, 2, 1, 10, 1);
        ald_store_watch(store, on_changed, on_removing, &calls);
        ald_store_advance_epoch(store, EPOCH + 7, 9);

        g_assert_cmpuint(ald_store_epoch(store), ==, EPOCH + 8);
        g_assert_cmpuint(calls.changed, ==, 3);
        g_assert_cmpuint(find_memory(store, 2)->stamp.epoch, ==, 1);
        seen = g_hash_table_new(NULL, NULL);
        for (AldEntry *entry = ald_node_after(ald_store_local_node(store), NULL); entry;
                entry = ald_node_after(ald_store_local_node(store), entry)) {
                g_assert_cmpuint(entry->stamp.epoch, ==, EPOCH + 8);
                g_assert_true(g_hash_table_add(seen, GUINT_TO_POINTER((guint) entry->stamp.seq)));
        }
        g_hash_table_unref(seen);
        g_assert_cmpuint(memory->revision, ==, 1);
        g_assert_true(find_memory(store, LOCAL)->record == memory);

        /* What comes after is newer still, and an older epoch never leads back. */
        ald_store_put_local(store, ALD_KIND_MEMORY, "", memory, 1, 1);
        g_assert_cmpuint(find_memory(store, LOCAL)->stamp.seq, ==, 4);
        ald_store_advance_epoch(store, 5, 9);
        g_assert_cmpuint(ald_store_epoch(store), ==, EPOCH + 9);
        ald_store_advance_epoch(store, (uint64_t) ALD_INTEGER_MAX, 9);
        g_assert_cmpuint(ald_store_epoch(store), ==, ALD_EPOCH_MAX);
        g_assert_cmpint(ald_store_put_local(store, ALD_KIND_MEMORY, "", memory, 1, 1), ==, ALD_PUT_TAKEN);
}

static void check_refused(AldStore *store, Update *update, int error)
{
        g_autofree char *before = dump(store), *after = NULL;

        g_assert_cmpint(put(store, update), ==, error);
        after = dump(store);
        g_assert_cmpstr(before, ==, after);
        update_free(update);
}

static Update *update_with_record(Update *update, AldKind kind, unsigned source, const char *key)
{
        AldId id = id_make(source);

        update->update.record = record_random_for(kind, &id, key);
        return update;
}

static void test_refusals(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);
        AldId sink = id_make(3), other = id_make(4);
        g_autofree char *socket = key_make(ALD_KIND_LINK_SOCKET, &sink, 1);
        g_autofree char *other_socket = key_make(ALD_KIND_LINK_SOCKET, &other, 1);
        g_autofree char *rdma = key_make(ALD_KIND_LINK_RDMA, &sink, 1);
        uint64_t large = (uint64_t) ALD_INTEGER_MAX + 1;
        Update *late = update_new(2, ALD_KIND_MEMORY, "", 1, 1);

        check_refused(store, update_new(2, ALD_KIND_MEMORY, "x", 1, 1), -EINVAL);
        check_refused(store, update_new(2, ALD_KIND_LINK_SOCKET, "", 1, 1), -EINVAL);
        check_refused(store, update_new(2, ALD_KIND_LINK_SOCKET, rdma, 1, 1), -EINVAL);
        check_refused(store, update_new(2, ALD_KIND_MEMORY, "", large, 1), -EINVAL);
        check_refused(store, update_new(2, ALD_KIND_MEMORY, "", 1, large), -EINVAL);
        late->update.updated_usec = large;
        check_refused(store, late, -EINVAL);
        check_refused(store,
                update_with_record(update_new(2, ALD_KIND_MEMORY, "", 1, 1), ALD_KIND_DISK, 2, ""), -EINVAL);
        check_refused(store,
                update_with_record(
                        update_new(2, ALD_KIND_LINK_SOCKET, socket, 1, 1), ALD_KIND_LINK_SOCKET, 5, socket),
                -EINVAL);
        check_refused(store,
                update_with_record(update_new(2, ALD_KIND_LINK_SOCKET, socket, 1, 1), ALD_KIND_LINK_SOCKET, 2,
                        other_socket),
                -EINVAL);
        /* A link from a node to itself. */
        check_refused(store,
                update_with_record(
                        update_new(3, ALD_KIND_LINK_SOCKET, socket, 1, 1), ALD_KIND_LINK_SOCKET, 3, socket),
                -EINVAL);
        check_refused(store,
                update_with_record(
                        update_new(3, ALD_KIND_LINK_RDMA, rdma, 1, 1), ALD_KIND_LINK_RDMA, 3, rdma),
                -EINVAL);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 1);
}

static void test_limit_of_nodes(void)
{
        AldStoreLimits limits = roomy;
        g_autoptr(AldStore) store = NULL;

        limits.max_nodes = 3; /* this one among them */
        store = store_new(&limits);
        g_assert_cmpint(put_memory(store, 2, 1, 10, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 3, 1, 10, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 4, 1, 10, 1), ==, -ENOSPC);
        g_assert_cmpint(put_memory(store, 4, 1, 0, 1), ==, -ENOSPC);
        g_assert_cmpint(put_memory(store, 3, 2, 11, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 3);
        /* There is room again once a node is gone. */
        put_memory(store, 3, 3, 11, 500);
        ald_store_expire(store, 500, 1000, 100);
        g_assert_cmpint(put_memory(store, 4, 1, 10, 1), ==, ALD_PUT_TAKEN);
}

static void test_limit_of_links(void)
{
        AldStoreLimits limits = roomy;
        g_autoptr(AldStore) store = NULL;

        limits.max_links_per_node = 2;
        store = store_new(&limits);
        g_assert_cmpint(put_link(store, 2, 3, 1, false, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_link(store, 2, 4, 1, true, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_link(store, 2, 5, 1, false, 1), ==, -ENOSPC);
        g_assert_cmpint(put_link(store, 2, 5, 1, true, 1), ==, -ENOSPC);
        g_assert_cmpint(put_link(store, 2, 3, 2, false, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_link(store, 3, 5, 1, false, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpuint(ald_store_n_links(store), ==, 2);
}

static void test_limit_of_bytes(void)
{
        g_autoptr(AldRecord) sample = memory_of(10);
        AldStoreLimits limits = roomy;
        g_autoptr(AldStore) store = NULL;

        limits.max_bytes = 2 * sample->size;
        store = store_new(&limits);
        g_assert_cmpint(put_memory(store, 2, 1, 10, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 3, 1, 10, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 4, 1, 10, 1), ==, -ENOSPC);
        g_assert_cmpint(put_memory(store, 3, 2, 11, 1), ==, ALD_PUT_TAKEN);
        /* What others filled up leaves room for this node, whose records come first. */
        g_assert_cmpint(ald_store_put_local(store, ALD_KIND_MEMORY, "", sample, 1, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 2, 2, 0, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 4, 1, 10, 1), ==, -ENOSPC);
        g_assert_cmpint(put_memory(store, 3, 3, 0, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_memory(store, 4, 1, 10, 1), ==, ALD_PUT_TAKEN);
}

/* A deleted link is no record, but takes its place until it expires. */
static void test_deleted_links_take_room(void)
{
        AldStoreLimits limits = roomy;
        g_autoptr(AldStore) store = NULL;
        unsigned taken = 0;

        limits.max_bytes = 10000;
        store = store_new(&limits);
        while (put_link(store, 2, 3 + taken, 1, true, 1) == ALD_PUT_TAKEN)
                g_assert_cmpuint(++taken, <, 100);
        g_assert_cmpuint(taken, >, 10);
        g_assert_cmpint(put_link(store, 2, 3 + taken, 1, true, 1), ==, -ENOSPC);
        /* What is there may be renewed, and once it expires there is room again. */
        g_assert_cmpint(put_link(store, 2, 3, 2, true, 1), ==, ALD_PUT_TAKEN);
        ald_store_expire(store, 1000, 100, UINT64_MAX);
        for (unsigned i = 0; i < taken; i++)
                g_assert_cmpint(put_link(store, 2, 1000 + i, 1, true, 1000), ==, ALD_PUT_TAKEN);
        g_assert_cmpint(put_link(store, 2, 1000 + taken, 1, true, 1000), ==, -ENOSPC);
}

static void test_deletions_expire(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);

        put_memory(store, 2, 1, 10, 100);
        put_memory(store, 2, 2, 0, 200);
        put_link(store, 2, 3, 1, true, 300);
        put_memory(store, 3, 1, 10, 100);
        g_assert_nonnull(find_memory(store, 2));
        g_assert_null(find_memory(store, 2)->record);

        ald_store_expire(store, 1000, 800, UINT64_MAX);
        g_assert_nonnull(find_memory(store, 2));
        ald_store_expire(store, 1001, 800, UINT64_MAX);
        g_assert_null(find_memory(store, 2));
        g_assert_nonnull(find_link(store, 2, 3));
        ald_store_expire(store, 1101, 800, UINT64_MAX);
        g_assert_null(find_link(store, 2, 3));
        g_assert_nonnull(find_memory(store, 3));
        /* Neither duration may be so long that it wraps around. */
        put_memory(store, 3, 2, 0, 1101);
        ald_store_expire(store, 2000, UINT64_MAX, UINT64_MAX);
        g_assert_nonnull(find_memory(store, 3));
}

static void test_nodes_expire_as_source_and_sink(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);
        AldId local = id_make(LOCAL), gone = id_make(2);
        g_autofree char *key = key_make(ALD_KIND_LINK_SOCKET, &gone, 1);
        g_autoptr(AldRecord) own_memory = memory_of(5);
        g_autoptr(AldRecord) own_link = record_random_for(ALD_KIND_LINK_SOCKET, &local, key);
        Calls calls = { 0 };

        ald_store_put_local(store, ALD_KIND_MEMORY, "", own_memory, 1, 1);
        ald_store_put_local(store, ALD_KIND_LINK_SOCKET, key, own_link, 1, 1);
        put_memory(store, 2, 1, 10, 100);
        put_link(store, 2, 3, 1, false, 100);
        put_memory(store, 3, 1, 10, 500);
        put_link(store, 3, 2, 1, false, 500);
        put_link(store, 3, 4, 1, false, 500);
        g_assert_cmpuint(ald_store_n_links(store), ==, 4);

        ald_store_watch(store, on_changed, on_removing, &calls);
        ald_store_expire(store, 1000, 10000, 900);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 3);
        ald_store_expire(store, 1001, 10000, 900);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 2);
        g_assert_null(ald_store_find_node(store, &gone));
        g_assert_null(find_link(store, 3, 2));
        /* Our own is deleted, so that the others hear of it. */
        g_assert_null(find_link(store, LOCAL, 2)->record);
        g_assert_nonnull(find_link(store, 3, 4));
        g_assert_cmpuint(ald_store_n_links(store), ==, 1);
        g_assert_cmpuint(calls.removing, ==, 3);

        /* This node never goes, however long it says nothing. */
        ald_store_expire(store, UINT64_MAX, 10000, 0);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 1);
        g_assert_true(find_memory(store, LOCAL)->record == own_memory);
        /* A node that comes back is as new. */
        g_assert_cmpint(put_memory(store, 2, 1, 10, 1), ==, ALD_PUT_TAKEN);
        g_assert_cmpuint(find_memory(store, 2)->record->revision, ==, 1);
}

static char *name_of(const AldEntry *entry)
{
        char node[ALD_ID_STRING_SIZE];

        return g_strdup_printf(
                "%s/%d/%s", ald_id_format(&entry->node->id, node), (int) entry->kind, entry->key ?: "");
}

static GHashTable *names_of_all(AldStore *store)
{
        GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (AldEntry *entry = next_entry(store, NULL); entry; entry = next_entry(store, entry))
                g_hash_table_add(names, name_of(entry));
        return names;
}

static gboolean is_missing(gpointer name, gpointer value, gpointer names)
{
        return !g_hash_table_contains(names, name);
}

/* Each entry that stays is seen exactly once, whatever comes and goes on the way. */
static void test_paging_under_change(void)
{
        for (unsigned round = 0; round < 50; round++) {
                g_autoptr(GPtrArray) updates = updates_random(60);
                g_autoptr(AldStore) store = store_new(&roomy);
                g_autoptr(GHashTable) staying = NULL;
                g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
                AldEntry *entry;

                put_all(store, updates);
                staying = names_of_all(store);
                entry = ald_store_after(store, NULL, 0, "");
                while (entry) {
                        g_autoptr(GPtrArray) more = updates_random(3);
                        g_autofree char *key = g_strdup(entry->key ?: "");
                        AldId id = entry->node->id;
                        AldKind kind = entry->kind;

                        g_assert_true(g_hash_table_add(seen, name_of(entry)));
                        put_all(store, more);
                        /* The entry that the cursor names may go, too. */
                        if (g_test_rand_int_range(0, 4) == 0) {
                                g_autoptr(GHashTable) names = NULL;

                                ald_store_expire(store, 100, 0, UINT64_MAX);
                                names = names_of_all(store);
                                g_hash_table_foreach_remove(staying, is_missing, names);
                        }
                        entry = ald_store_after(store, &id, kind, key);
                }
                g_assert_cmpuint(g_hash_table_size(staying), >, 0);
                g_hash_table_foreach_remove(seen, is_missing, staying);
                g_assert_cmpuint(g_hash_table_size(seen), ==, g_hash_table_size(staying));
        }
}

/* The order of pages is by node, kind and key, and a cursor need not be an entry. */
static void test_order_of_entries(void)
{
        g_autoptr(GPtrArray) updates = updates_random(100);
        g_autoptr(AldStore) store = store_new(&roomy);
        const AldEntry *last = NULL;
        AldId none = id_make(3);
        unsigned n = 0;

        put_all(store, updates);
        for (AldEntry *entry = next_entry(store, NULL); entry; entry = next_entry(store, entry)) {
                if (last) {
                        int r = ald_id_compare(&last->node->id, &entry->node->id);

                        r = r != 0 ? r : (int) last->kind - (int) entry->kind;
                        r = r != 0 ? r : g_strcmp0(last->key, entry->key);
                        g_assert_cmpint(r, <, 0);
                }
                last = entry;
                n++;
        }
        g_assert_cmpuint(n, >, 20);

        for (AldEntry *entry = ald_store_after(store, &none, ALD_KIND_LINK_SOCKET, ""); entry;
                entry = next_entry(store, entry)) {
                g_assert_cmpint(ald_id_compare(&entry->node->id, &none), >=, 0);
                g_assert_true(ald_kinds[entry->kind].is_link || !ald_id_equal(&entry->node->id, &none));
        }
}

typedef struct Shown {
        size_t nodes;
        size_t bytes;
        size_t hidden;
} Shown;

static gboolean count_shown(AldNode *node, void *userdata)
{
        Shown *shown = userdata;
        bool has_record = false, shows = false;

        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry)) {
                g_assert_true(entry->record || !entry->shown);
                shown->bytes += entry->shown ? entry->record->wire_size : 0;
                if (entry->key) {
                        shown->hidden += entry->record && !entry->shown;
                        continue;
                }
                has_record |= entry->record != NULL;
                shows |= entry->shown;
        }
        g_assert_true(node->shown == shows);
        shown->nodes += node->shown;
        shown->hidden += has_record && !node->shown;
        return FALSE;
}

static void check_shown(AldStore *store, const AldStoreLimits *limits)
{
        Shown shown = { 0 };

        ald_store_foreach_node(store, count_shown, &shown);
        g_assert_cmpuint(shown.nodes, <=, limits->max_shown_nodes);
        g_assert_cmpuint(shown.bytes, <=, limits->max_shown_bytes);
        g_assert_cmpuint(ald_store_n_hidden(store), ==, shown.hidden);
}

static void test_shown_within_limits(void)
{
        for (unsigned round = 0; round < 60; round++) {
                g_autoptr(GPtrArray) updates = updates_random(80);
                AldStoreLimits limits = roomy;
                g_autoptr(AldStore) store = NULL;

                limits.max_shown_nodes = (size_t) g_test_rand_int_range(0, 5);
                limits.max_shown_bytes = (size_t) g_test_rand_int_range(0, 20000);
                store = store_new(&limits);
                for (guint i = 0; i < updates->len; i++) {
                        put(store, updates->pdata[i]);
                        check_shown(store, &limits);
                }
                ald_store_expire(store, 100, 0, UINT64_MAX);
                check_shown(store, &limits);
                ald_store_expire(store, 100, 0, 0);
                check_shown(store, &limits);
                g_assert_cmpuint(ald_store_n_hidden(store), ==, 0);
                g_assert_cmpuint(ald_store_n_links(store), ==, 0);
        }
}

/* The records of this node may come after those of as many others as may be shown. */
static void test_own_node_has_its_place(void)
{
        g_autoptr(AldRecord) record = record_random(ALD_KIND_MEMORY);
        AldStoreLimits limits = roomy;
        g_autoptr(AldStore) store = NULL;
        AldId last = id_make(4);

        limits.max_shown_nodes = 3;
        store = store_new(&limits);
        for (unsigned node = 2; node < 5; node++)
                put_memory(store, node, 1, 1, 1);
        g_assert_false(ald_store_find_node(store, &last)->shown);
        g_assert_cmpuint(ald_store_n_hidden(store), ==, 1);
        ald_store_put_local(store, ALD_KIND_MEMORY, "", record, 1, 1);
        g_assert_true(ald_store_local_node(store)->shown);
        g_assert_cmpuint(ald_store_n_hidden(store), ==, 1);

        /* Alone, it needs the only place there is. */
        g_clear_pointer(&store, ald_store_free);
        limits.max_shown_nodes = 1;
        store = store_new(&limits);
        put_memory(store, 2, 1, 1, 1);
        g_assert_cmpuint(ald_store_n_hidden(store), ==, 1);
        ald_store_put_local(store, ALD_KIND_MEMORY, "", record, 1, 1);
        g_assert_true(ald_store_local_node(store)->shown);
}

/* All room is given back: after any history as much fits as into a new store. */
static void test_room_comes_back(void)
{
        AldStoreLimits limits = roomy;
        g_autoptr(AldStore) store = NULL;
        size_t hidden = 0;

        limits.max_shown_nodes = 3;
        limits.max_shown_bytes = 12000;
        limits.max_bytes = 200000;
        store = store_new(&limits);
        for (uint64_t round = 1; round < 200; round++) {
                for (unsigned node = 2; node < 7; node++) {
                        put_memory(store, node, 10 * round, round + node, round);
                        put_link(store, node, node + 1, 10 * round, false, round);
                }
                if (round == 1)
                        hidden = ald_store_n_hidden(store);
                g_assert_cmpuint(hidden, >, 0);
                g_assert_cmpuint(ald_store_n_hidden(store), ==, hidden);
                for (unsigned node = 2; node < 7; node++) {
                        if ((round + node) % 3 != 0)
                                put_memory(store, node, 10 * round + 1, 0, round);
                        put_link(store, node, node + 1, 10 * round + 1, true, round);
                }
                ald_store_expire(store, round + 10, 0, 1);
                g_assert_cmpuint(ald_store_n_nodes(store), ==, 1);
        }
}

static void test_hidden_are_counted_as_objects(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);

        /* A node of which nothing is known yet is not hidden, nor one of which only links are known. */
        g_assert_cmpuint(ald_store_n_hidden(store), ==, 0);
        put_link(store, 2, 3, 1, false, 1);
        g_assert_cmpuint(ald_store_n_hidden(store), ==, 0);
        put_memory(store, 3, 1, 0, 1);
        g_assert_cmpuint(ald_store_n_hidden(store), ==, 0);
        g_assert_cmpuint(ald_store_n_nodes(store), ==, 3);
}

/* A long key makes a long path. */
static void test_long_keys_count(void)
{
        AldId node = id_make(2), sink = id_make(3);
        char sink_string[ALD_ID_STRING_SIZE];
        g_autofree char *device = g_strnfill(200, '-');
        g_autofree char *key = g_strdup_printf("%s.1,%s,b.1", device, ald_id_format(&sink, sink_string));
        Update *update = update_new(2, ALD_KIND_LINK_RDMA, key, 1, 1);
        AldStoreLimits limits = roomy;
        g_autoptr(AldStore) store = NULL;

        update->update.record = record_random_for(ALD_KIND_LINK_RDMA, &node, key);
        limits.max_shown_bytes = update->update.record->wire_size + 3 * 200;
        store = store_new(&limits);
        g_assert_cmpint(put(store, update), ==, ALD_PUT_TAKEN);
        g_assert_cmpuint(ald_store_n_hidden(store), ==, 1);
        update_free(update);
}

static gboolean count_node(AldNode *node, void *userdata)
{
        ++*(unsigned *) userdata;
        return *(unsigned *) userdata == 2;
}

static gboolean count_link(AldEntry *entry, void *userdata)
{
        g_assert_nonnull(entry->record);
        g_assert_true(ald_kinds[entry->kind].is_link);
        ++*(unsigned *) userdata;
        return FALSE;
}

static gboolean stop(AldEntry *entry, void *userdata)
{
        ++*(unsigned *) userdata;
        return TRUE;
}

static void test_visits(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);
        unsigned nodes = 0, links = 0, first = 0;

        for (unsigned node = 2; node < 6; node++) {
                put_link(store, node, 7, 1, false, 1);
                put_link(store, node, 8, 1, node % 2, 1);
        }
        ald_store_foreach_node(store, count_node, &nodes);
        ald_store_foreach_link(store, count_link, &links);
        ald_store_foreach_link(store, stop, &first);
        g_assert_cmpuint(nodes, ==, 2);
        g_assert_cmpuint(links, ==, 6);
        g_assert_cmpuint(ald_store_n_links(store), ==, 6);
        g_assert_cmpuint(first, ==, 1);
}

static void test_absent_stays_absent(void)
{
        g_autoptr(AldStore) store = store_new(&roomy);

        for (AldKind kind = 0; kind < ALD_KIND_PRESENCE; kind++) {
                g_autoptr(AldRecord) absent = record_make(kind, ald_kinds[kind].type->absent);
                Update *update = update_new(2, kind, "", 1, 1);
                const AldRecord *record;

                update->update.record = ald_record_ref(absent);
                g_assert_cmpint(put(store, update), ==, ALD_PUT_TAKEN);
                record = ald_node_record(ald_store_find_node(store, &update->update.node), kind);
                for (size_t i = 0; i < ald_record_type(record)->n_fields; i++) {
                        const AldField *field = &ald_record_type(record)->fields[i];

                        if (field->type != ALD_TYPE_ROWS)
                                g_assert_true(ald_field_is_absent(field, ald_record_field(record, field)));
                }
                update_free(update);
        }
        g_assert_null(ald_node_record(ald_store_local_node(store), ALD_KIND_MEMORY));
        g_assert_null(find_memory(store, 3));
        g_assert_null(find_link(store, 2, 3));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/store/any-order", test_any_order);
        g_test_add_func("/store/any-grouping", test_any_grouping);
        g_test_add_func("/store/older-never-beats-newer", test_older_never_beats_newer);
        g_test_add_func("/store/as-a-naive-model", test_as_a_naive_model);
        g_test_add_func("/store/watch", test_watch);
        g_test_add_func("/store/revision-counts-changes", test_revision_counts_changes);
        g_test_add_func("/store/local-stamps", test_local_stamps);
        g_test_add_func("/store/nobody-else-writes-this-node", test_nobody_else_writes_this_node);
        g_test_add_func("/store/take-epoch", test_take_epoch);
        g_test_add_func("/store/refusals", test_refusals);
        g_test_add_func("/store/limit-of-nodes", test_limit_of_nodes);
        g_test_add_func("/store/limit-of-links", test_limit_of_links);
        g_test_add_func("/store/limit-of-bytes", test_limit_of_bytes);
        g_test_add_func("/store/deleted-links-take-room", test_deleted_links_take_room);
        g_test_add_func("/store/deletions-expire", test_deletions_expire);
        g_test_add_func("/store/nodes-expire-as-source-and-sink", test_nodes_expire_as_source_and_sink);
        g_test_add_func("/store/paging-under-change", test_paging_under_change);
        g_test_add_func("/store/order-of-entries", test_order_of_entries);
        g_test_add_func("/store/shown-within-limits", test_shown_within_limits);
        g_test_add_func("/store/own-node-has-its-place", test_own_node_has_its_place);
        g_test_add_func("/store/room-comes-back", test_room_comes_back);
        g_test_add_func("/store/hidden-are-counted-as-objects", test_hidden_are_counted_as_objects);
        g_test_add_func("/store/long-keys-count", test_long_keys_count);
        g_test_add_func("/store/visits", test_visits);
        g_test_add_func("/store/absent-stays-absent", test_absent_stays_absent);
        return g_test_run();
}
