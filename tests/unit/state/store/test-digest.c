/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/store/digest.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

static AldDigest digest(AldStore *store)
{
        return ald_digest_compute(store, -1);
}

static void assert_equal(AldDigest a, AldDigest b)
{
        g_assert_cmpuint(a.count, ==, b.count);
        g_assert_cmpuint(a.sum, ==, b.sum);
}

static void put(AldStore *store, unsigned node, uint64_t epoch, uint64_t updated, AldRecord *record)
{
        const AldUpdate update = { .node = id_make(node),
                .kind = record->kind,
                .key = "",
                .stamp = { epoch, epoch },
                .updated_usec = updated,
                .record = record };

        g_assert_cmpint(ald_store_put(store, &update, 1), ==, ALD_PUT_TAKEN);
}

/* Each of two nodes is the local one of its own store, and all stamps, times and orders differ. */
static void test_same_records_same_digest(void)
{
        g_autoptr(AldStore) here = state_make(), there = NULL;
        const AldStoreLimits limits = { 100, SIZE_MAX / 2, 100, 100, SIZE_MAX / 2 };
        const AldId second = id_make(2);

        there = ald_store_new(&second, 77, &limits);
        for (AldKind kind = 0; kind < ALD_KIND_PRESENCE; kind++) {
                g_autoptr(AldRecord) one = record_random(kind), two = record_random(kind);

                g_assert_cmpint(ald_store_put_local(here, kind, "", one, 5, 1), ==, ALD_PUT_TAKEN);
                put(here, 2, 3, 5, two);
                put(there, 1, 4, 6, one);
                g_assert_cmpint(ald_store_put_local(there, kind, "", two, 7, 2), ==, ALD_PUT_TAKEN);
        }
        g_assert_cmpuint(digest(here).count, ==, 2 * ALD_KIND_PRESENCE);
        assert_equal(digest(here), digest(there));
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                assert_equal(ald_digest_compute(here, (int) kind), ald_digest_compute(there, (int) kind));
}

static void test_every_difference_counts(void)
{
        g_autoptr(AldStore) store = state_make();
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        AldDigest now;

#define ASSERT_NEW                                                             \
        do {                                                                   \
                now = digest(store);                                           \
                g_assert_true(g_hash_table_add(seen, g_memdup2(&now.sum, 8))); \
        } while (0)

        g_assert_cmpuint(digest(store).count, ==, 0);
        ASSERT_NEW;
        state_put(store, 1, ALD_KIND_MEMORY, "{}");
        ASSERT_NEW;
        state_put(store, 2, ALD_KIND_MEMORY, "{}");
        ASSERT_NEW;
        state_put(store, 2, ALD_KIND_MEMORY, "{'TotalBytes': 0}");
        ASSERT_NEW;
        state_put(store, 2, ALD_KIND_MEMORY, "{'TotalBytes': 1}");
        ASSERT_NEW;
        state_put(store, 2, ALD_KIND_MEMORY, "{'AvailableBytes': 1}");
        ASSERT_NEW;
        state_put(store, 2, ALD_KIND_DISK, "{}");
        ASSERT_NEW;
        state_put_link(store, ALD_KIND_LINK_SOCKET, 2, 1, 1, "{}");
        ASSERT_NEW;
        state_put_link(store, ALD_KIND_LINK_SOCKET, 2, 1, 2, "{}");
        ASSERT_NEW;
        g_assert_cmpuint(digest(store).count, ==, 5);
#undef ASSERT_NEW
}

/* A value that moves from one node to another is another state, though the same values are there. */
static void test_exchanged_values_count(void)
{
        g_autoptr(AldStore) a = state_make(), b = state_make();

        state_put(a, 2, ALD_KIND_MEMORY, "{'TotalBytes': 2}");
        state_put(a, 3, ALD_KIND_MEMORY, "{'TotalBytes': 3}");
        state_put(b, 2, ALD_KIND_MEMORY, "{'TotalBytes': 3}");
        state_put(b, 3, ALD_KIND_MEMORY, "{'TotalBytes': 2}");
        g_assert_cmpuint(digest(a).count, ==, digest(b).count);
        g_assert_cmpuint(digest(a).sum, !=, digest(b).sum);
}

static void test_what_is_left_out(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldId id = id_make(2);
        AldDigest before;

        state_put(store, 2, ALD_KIND_MEMORY, "{}");
        before = digest(store);
        state_put(store, 2, ALD_KIND_PRESENCE, "{'State': 'online'}");
        assert_equal(digest(store), before);
        g_assert_cmpuint(ald_digest_compute(store, ALD_KIND_PRESENCE).count, ==, 1);
        g_assert_cmpint(
                ald_store_put(store,
                        &(AldUpdate){ .node = id, .kind = ALD_KIND_DISK, .key = "", .stamp = { 9, 9 } }, 1),
                ==, ALD_PUT_TAKEN);
        assert_equal(digest(store), before);
        g_assert_cmpuint(ald_digest_compute(store, ALD_KIND_DISK).count, ==, 0);
}

/* Machines of another byte order must come to the same. */
static void test_known_digest(void)
{
        g_autoptr(AldStore) store = state_make();

        state_put(store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth0', 'Carrier': true, 'Mtu': 1500, 'Addresses': ['192.0.2.1']}]}");
        g_assert_cmphex(digest(store).sum, ==, UINT64_C(0xeabe4b4eac93929d));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/digest/same-records-same-digest", test_same_records_same_digest);
        g_test_add_func("/digest/every-difference-counts", test_every_difference_counts);
        g_test_add_func("/digest/exchanged-values-count", test_exchanged_values_count);
        g_test_add_func("/digest/what-is-left-out", test_what_is_left_out);
        g_test_add_func("/digest/known-digest", test_known_digest);
        return g_test_run();
}
