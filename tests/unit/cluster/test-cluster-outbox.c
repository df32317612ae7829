/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/state/outbox.h"
#include "tests/unit/record-maker.h"

static AldUpdate update_make(unsigned node, const char *key, uint64_t epoch, uint64_t seq, AldRecord *record)
{
        return (AldUpdate){ id_make(node), ALD_KIND_LINK_SOCKET, key, { epoch, seq }, 7, record };
}

static void check_first(AldOutbox *outbox, unsigned node, const char *key, uint64_t seq)
{
        const AldUpdate *first = ald_outbox_first(outbox);
        AldId id = id_make(node);

        g_assert_nonnull(first);
        g_assert_true(ald_id_equal(&first->node, &id));
        g_assert_cmpstr(first->key, ==, key);
        g_assert_cmpuint(first->stamp.seq, ==, seq);
        ald_outbox_drop_first(outbox);
}

static bool add(AldOutbox *outbox, unsigned node, const char *key, uint64_t epoch, uint64_t seq)
{
        AldUpdate update = update_make(node, key, epoch, seq, NULL);

        return ald_outbox_add(outbox, &update);
}

static void test_newest_of_each_key(void)
{
        g_autoptr(AldOutbox) outbox = ald_outbox_new(ALD_OUTBOX_BYTES);

        g_assert_null(ald_outbox_first(outbox));
        g_assert_true(add(outbox, 1, "a", 1, 1));
        g_assert_true(add(outbox, 2, "a", 1, 2));
        g_assert_true(add(outbox, 1, "b", 1, 3));
        g_assert_true(add(outbox, 1, "a", 1, 9));
        g_assert_true(add(outbox, 2, "a", 1, 1)); /* older */
        g_assert_true(add(outbox, 1, "b", 2, 1)); /* a newer epoch */
        g_assert_cmpuint(ald_outbox_count(outbox), ==, 3);
        check_first(outbox, 1, "a", 9);
        check_first(outbox, 2, "a", 2);
        check_first(outbox, 1, "b", 1);
        g_assert_null(ald_outbox_first(outbox));
}

/* A record lives as long as it waits. */
static void test_records_are_held(void)
{
        AldOutbox *outbox = ald_outbox_new(ALD_OUTBOX_BYTES);
        AldRecord *old = record_random(ALD_KIND_LINK_SOCKET), *new = record_random(ALD_KIND_LINK_SOCKET);
        AldUpdate update = update_make(1, "a", 1, 1, old);

        ald_outbox_add(outbox, &update);
        g_assert_cmpuint(old->n_ref, ==, 2);
        update = update_make(1, "a", 1, 2, new);
        ald_outbox_add(outbox, &update);
        g_assert_cmpuint(old->n_ref, ==, 1);
        g_assert_cmpuint(new->n_ref, ==, 2);
        g_assert_true(ald_outbox_first(outbox)->record == new);
        ald_outbox_free(outbox);
        g_assert_cmpuint(new->n_ref, ==, 1);
        ald_record_unref(old);
        ald_record_unref(new);
}

static void test_bounded(void)
{
        g_autoptr(AldOutbox) outbox = ald_outbox_new(2000);
        unsigned n = 0;
        char key[16];

        for (unsigned i = 0; i < 1000; i++) {
                g_snprintf(key, sizeof key, "%u", i);
                n += add(outbox, 1, key, 1, 1);
        }
        g_assert_cmpuint(n, >, 5);
        g_assert_cmpuint(n, <, 40);
        g_assert_cmpuint(ald_outbox_count(outbox), ==, n);

        /* Room comes back. */
        g_assert_false(add(outbox, 1, "x", 1, 1));
        ald_outbox_drop_first(outbox);
        g_assert_true(add(outbox, 1, "x", 1, 1));
        ald_outbox_clear(outbox);
        g_assert_cmpuint(ald_outbox_count(outbox), ==, 0);
        g_assert_null(ald_outbox_first(outbox));
        for (unsigned i = 0; i < n; i++) {
                g_snprintf(key, sizeof key, "%u", i);
                g_assert_true(add(outbox, 1, key, 1, 1));
        }
}

static void test_forget(void)
{
        g_autoptr(AldOutbox) outbox = ald_outbox_new(ALD_OUTBOX_BYTES);
        AldId id = id_make(1);

        add(outbox, 1, "a", 1, 1);
        add(outbox, 2, "a", 1, 2);
        add(outbox, 1, "b", 1, 3);
        ald_outbox_forget(outbox, &id);
        g_assert_cmpuint(ald_outbox_count(outbox), ==, 1);
        check_first(outbox, 2, "a", 2);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cluster-outbox/newest-of-each-key", test_newest_of_each_key);
        g_test_add_func("/cluster-outbox/records-are-held", test_records_are_held);
        g_test_add_func("/cluster-outbox/bounded", test_bounded);
        g_test_add_func("/cluster-outbox/forget", test_forget);
        return g_test_run();
}
