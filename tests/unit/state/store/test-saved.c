/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "state/store/saved.h"
#include "tests/unit/log-count.h"
#include "tests/unit/record-maker.h"

#define ROUNDS 50

static const AldStoreLimits roomy = {
        .max_shown_nodes = 1000,
        .max_shown_bytes = SIZE_MAX / 2,
        .max_nodes = 1000,
        .max_links_per_node = 1000,
        .max_bytes = SIZE_MAX / 2,
};

static AldStore *store_new(uint64_t epoch)
{
        const AldId local = id_make(1);

        return ald_store_new(&local, epoch, &roomy);
}

static void put(AldStore *store, AldKind kind, const char *key, AldRecord *record, uint64_t updated)
{
        g_assert_cmpint(ald_store_put_local(store, kind, key, record, updated, 1), ==, ALD_PUT_TAKEN);
}

/* A record of each kind, a few links, now and then a deletion. */
static AldStore *store_random(uint64_t epoch)
{
        const AldId local = id_make(1);
        AldStore *store = store_new(epoch);

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                for (unsigned n = 0; n < (ald_kinds[kind].is_link ? 4u : 1u); n++) {
                        const AldId sink = id_make(2 + n);
                        g_autofree char *key = ald_kinds[kind].is_link ? key_make(kind, &sink, n)
                                                                       : g_strdup("");
                        g_autoptr(AldRecord) record = record_random_for(kind, &local, key);

                        put(store, kind, key, record, 1000 + n);
                        if (g_test_rand_int_range(0, 4) == 0)
                                put(store, kind, key, NULL, 2000 + n);
                }
        return store;
}

static AldSaved *parse(const char *text)
{
        const AldId local = id_make(1);
        g_autofree char *reason = NULL;
        AldSaved *saved = NULL;

        g_assert_cmpint(ald_saved_parse(text, strlen(text), &local, &saved, &reason), ==, 0);
        g_assert_null(reason);
        return saved;
}

static void assert_refused(const char *text, size_t n, const char *expected)
{
        const AldId local = id_make(1);
        g_autofree char *reason = NULL;
        AldSaved *saved = NULL;

        g_assert_cmpint(ald_saved_parse(text, n, &local, &saved, &reason), ==, -EBADMSG);
        g_assert_null(saved);
        g_assert_nonnull(reason);
        if (expected)
                g_assert_nonnull(strstr(reason, expected));
}

/* Entries of the two stores that are kept, in the order of both. */
static void assert_same_kept(AldStore *a, AldStore *b)
{
        AldEntry *right = ald_node_after(ald_store_local_node(b), NULL);

        for (AldEntry *left = ald_node_after(ald_store_local_node(a), NULL); left;
                left = ald_node_after(ald_store_local_node(a), left)) {
                if (!ald_kinds[left->kind].persistent)
                        continue;
                g_assert_nonnull(right);
                g_assert_cmpint(left->kind, ==, right->kind);
                g_assert_cmpstr(left->key, ==, right->key);
                g_assert_cmpuint(left->updated_usec, ==, right->updated_usec);
                g_assert_true(!left->record == !right->record);
                if (left->record)
                        records_assert_same(left->record, right->record);
                right = ald_node_after(ald_store_local_node(b), right);
        }
        g_assert_null(right);
}

static void test_round_trip(void)
{
        for (unsigned i = 0; i < ROUNDS; i++) {
                g_autoptr(AldStore) store = store_random(100);
                g_autofree char *text = ald_saved_format(store);
                g_autoptr(AldSaved) saved = parse(text);
                g_autoptr(AldStore) restored = store_new(200);
                g_autofree char *again = NULL;

                g_assert_cmpuint(saved->epoch, ==, 100);
                ald_saved_restore(saved, restored, 5);
                assert_same_kept(store, restored);

                /* With the stamps of the new store, that is all that differs. */
                again = ald_saved_format(restored);
                g_autoptr(AldSaved) saved_again = parse(again);
                g_assert_cmpuint(saved_again->epoch, ==, 200);
                g_assert_cmpuint(saved_again->n_updates, ==, saved->n_updates);
        }
}

/* What others hold of the time before must lose against it. */
static void test_restored_records_are_newer(void)
{
        g_autoptr(AldStore) store = store_random(100);
        g_autofree char *text = ald_saved_format(store);
        g_autoptr(AldSaved) saved = parse(text);
        g_autoptr(AldStore) restored = store_new(101);
        uint64_t seq = 0;

        ald_saved_restore(saved, restored, 5);
        for (AldEntry *entry = ald_node_after(ald_store_local_node(restored), NULL); entry;
                entry = ald_node_after(ald_store_local_node(restored), entry)) {
                g_assert_cmpuint(entry->stamp.epoch, ==, 101);
                g_assert_cmpuint(entry->stamp.seq, >, seq);
                seq = entry->stamp.seq;
        }
}

static void test_what_is_kept(void)
{
        const AldId other = id_make(2);
        g_autoptr(AldStore) store = store_random(100);
        g_autoptr(AldRecord) record = record_random(ALD_KIND_COMPUTE);
        const AldUpdate update = {
                .node = other, .kind = ALD_KIND_COMPUTE, .key = "", .stamp = { 1, 1 }, .record = record
        };
        g_autofree char *text = NULL;
        g_autoptr(AldSaved) saved = NULL;

        g_assert_cmpint(ald_store_put(store, &update, 1), ==, ALD_PUT_TAKEN);
        text = ald_saved_format(store);
        saved = parse(text);
        g_assert_cmpuint(saved->n_updates, ==, 1 + 5 + 4);
        for (size_t i = 0; i < saved->n_updates; i++) {
                g_assert_true(ald_kinds[saved->updates[i].kind].persistent);
                g_assert_false(ald_id_equal(&saved->updates[i].node, &other));
        }
}

static void test_empty(void)
{
        g_autoptr(AldStore) store = store_new(7);
        g_autofree char *text = ald_saved_format(store);
        g_autoptr(AldSaved) saved = parse(text);
        g_autoptr(AldStore) restored = store_new(8);

        g_assert_cmpuint(saved->epoch, ==, 7);
        g_assert_cmpuint(saved->n_updates, ==, 0);
        ald_saved_restore(saved, restored, 1);
        g_assert_null(ald_node_after(ald_store_local_node(restored), NULL));
}

/* Cut anywhere, it is no such text any more; nothing of it is used. Only the last newline may be missing. */
static void test_truncated(void)
{
        g_autoptr(AldStore) store = store_random(100);
        g_autofree char *text = ald_saved_format(store);
        size_t whole = strlen(text) - 1;

        for (size_t n = 0; n < whole; n += n < 1000 || whole - n < 1000 ? 1 : 97) {
                g_autofree char *cut = g_memdup2(text, MAX(n, 1));

                assert_refused(cut, n, NULL);
        }
        ald_saved_free(parse(text));
}

/* One byte is another: it is refused, or it says something else, but nothing breaks. */
static void test_flipped_bytes(void)
{
        const AldId local = id_make(1);
        g_autoptr(AldStore) store = store_random(100);
        g_autofree char *text = ald_saved_format(store);
        size_t n = strlen(text);

        for (unsigned i = 0; i < 2000; i++) {
                g_autofree char *changed = g_memdup2(text, n);
                g_autofree char *reason = NULL;
                AldSaved *saved = NULL;
                int r;

                changed[g_test_rand_int_range(0, (gint32) n)] = (char) g_test_rand_int_range(0, 256);
                r = ald_saved_parse(changed, n, &local, &saved, &reason);
                g_assert_true(r == 0 ? saved && !reason : r == -EBADMSG && !saved && reason);
                if (saved) {
                        g_autoptr(AldStore) restored = store_new(200);

                        ald_saved_restore(saved, restored, 1);
                        ald_saved_free(saved);
                }
        }
}

#define LOCAL "00000001000000000000000000000000"
#define RECORDS(record) "{\"version\": 1, \"epoch\": 5, \"records\": [" record "]}"

static void test_refusals(void)
{
        static const struct {
                const char *text, *reason;
        } cases[] = {
                { "", NULL },
                { "null", NULL },
                { "[]", "version, epoch or records" },
                { "{}", "version, epoch or records" },
                { "{\"version\": 2, \"epoch\": 5, \"records\": []}", "unknown version 2" },
                { "{\"version\": 0, \"epoch\": 5, \"records\": []}", "unknown version 0" },
                { "{\"version\": \"1\", \"epoch\": 5, \"records\": []}", "version, epoch or records" },
                { "{\"version\": 1.0, \"epoch\": 5, \"records\": []}", "version, epoch or records" },
                { "{\"version\": 1, \"epoch\": -1, \"records\": []}", "version, epoch or records" },
                { "{\"version\": 1, \"epoch\": 9007199254740993, \"records\": []}",
                        "version, epoch or records" },
                { "{\"version\": 1, \"epoch\": 99999999999999999999, \"records\": []}", NULL },
                { "{\"version\": 1, \"epoch\": 5, \"records\": {}}", "version, epoch or records" },
                { "{\"version\": 1, \"version\": 1, \"epoch\": 5, \"records\": []}", NULL },
                { RECORDS("7"), "record 0" },
                { RECORDS("{}"), "record 0" },
                { RECORDS("{\"node\": \"x\", \"kind\": \"Node1.Compute\", \"epoch\": 1, \"seq\": 1, "
                          "\"updated\": 1, \"fields\": {}}"),
                        "record 0" },
                { RECORDS("{\"node\": \"" LOCAL "\", \"kind\": \"Node1.Memory\", \"epoch\": 1, \"seq\": 1, "
                          "\"updated\": 1, \"fields\": {}}"),
                        "record 0: not of a kind that is saved, or of another node" },
                { RECORDS("{\"node\": \"00000002000000000000000000000000\", \"kind\": \"Node1.Compute\", "
                          "\"epoch\": 1, \"seq\": 1, \"updated\": 1, \"fields\": {}}"),
                        "record 0: not of a kind that is saved, or of another node" },
                { RECORDS("{\"node\": \"" LOCAL "\", \"kind\": \"Node1.Compute\", \"epoch\": 1, \"seq\": 1, "
                          "\"updated\": 1, \"fields\": {\"Devices\": 7}}"),
                        "record 0: Devices" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                assert_refused(cases[i].text, strlen(cases[i].text), cases[i].reason);
}

/* Keys are for the store to judge: what does not fit is left out, and told. */
static void test_odd_keys_are_left_out(void)
{
        static const char text[] = RECORDS(
                "{\"node\": \"" LOCAL "\", \"kind\": \"Node1.Compute\", \"key\": \"x\", \"epoch\": 1, "
                "\"seq\": 1, \"updated\": 1, \"fields\": {}}, "
                "{\"node\": \"" LOCAL "\", \"kind\": \"Link1.Socket\", \"key\": \"x\", \"epoch\": 1, "
                "\"seq\": 1, \"updated\": 1, \"fields\": {}}, "
                "{\"node\": \"" LOCAL "\", \"kind\": \"Node1.Compute\", \"epoch\": 1, \"seq\": 1, "
                "\"updated\": 1, \"fields\": {\"Devices\": [{\"Id\": \"a\"}]}}");
        const AldId local = id_make(1);
        g_autoptr(AldSaved) saved = parse(text);
        g_autoptr(AldStore) restored = store_new(8);

        log_count_reset();
        ald_saved_restore(saved, restored, 1);
        g_assert_cmpuint(log_count("Dropping a saved"), ==, 2);
        g_assert_nonnull(ald_store_find(restored, &local, ALD_KIND_COMPUTE, "")->record);
        g_assert_cmpuint(ald_store_n_links(restored), ==, 0);
}

/* After a downgrade, the kinds that the older version knows are kept. */
static void test_kinds_of_a_newer_version_are_left_out(void)
{
        static const char text[] = RECORDS(
                "{\"node\": \"" LOCAL "\", \"kind\": \"Node1.Nothing\", \"epoch\": 1, \"seq\": 1, "
                "\"updated\": 1, \"fields\": {}}, "
                "{\"node\": \"" LOCAL "\", \"kind\": \"Node1.Compute\", \"epoch\": 1, \"seq\": 1, "
                "\"updated\": 1, \"fields\": {\"Devices\": [{\"Id\": \"a\"}]}}");
        const AldId local = id_make(1);
        g_autoptr(AldSaved) saved = parse(text);
        g_autoptr(AldStore) restored = store_new(8);

        log_count_reset();
        ald_saved_restore(saved, restored, 1);
        g_assert_cmpuint(log_count("Dropping 1 saved records"), ==, 1);
        g_assert_cmpuint(saved->n_updates, ==, 1);
        g_assert_nonnull(ald_store_find(restored, &local, ALD_KIND_COMPUTE, "")->record);
}

static void test_too_long(void)
{
        g_autofree char *text = g_strnfill(ALD_SAVED_MAX + 1, ' ');

        assert_refused(text, ALD_SAVED_MAX + 1, NULL);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/saved/round-trip", test_round_trip);
        g_test_add_func("/saved/restored-records-are-newer", test_restored_records_are_newer);
        g_test_add_func("/saved/what-is-kept", test_what_is_kept);
        g_test_add_func("/saved/empty", test_empty);
        g_test_add_func("/saved/truncated", test_truncated);
        g_test_add_func("/saved/flipped-bytes", test_flipped_bytes);
        g_test_add_func("/saved/refusals", test_refusals);
        g_test_add_func("/saved/odd-keys-are-left-out", test_odd_keys_are_left_out);
        g_test_add_func(
                "/saved/kinds-of-a-newer-version-are-left-out", test_kinds_of_a_newer_version_are_left_out);
        g_test_add_func("/saved/too-long", test_too_long);
        return g_test_run();
}
