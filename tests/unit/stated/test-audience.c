/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/timer.h"
#include "services/state/audience.h"
#include "tests/unit/record-maker.h"

#define SECOND ((gint64) G_USEC_PER_SEC)
#define BURST 64u

G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldAudience, ald_audience_free)

/* Sends as much as the budget allows, and returns how much that was. */
static unsigned send_due(AldAudience *audience, gint64 now)
{
        unsigned n = 0;

        for (; ald_audience_is_due(audience, now); n++)
                ald_audience_spend(audience);
        return n;
}

static AldRecord *make_memory(uint64_t total)
{
        AldMemory fields = ALD_MEMORY_INIT;

        fields.total_bytes = total;
        return record_make(ALD_KIND_MEMORY, &fields);
}

static void test_budget(void)
{
        g_autoptr(AldAudience) audience = ald_audience_new(NULL, 0, SECOND);

        /* However long nothing was sent, a burst is no larger. */
        g_assert_cmpint(ald_audience_next(audience, SECOND), ==, ALD_TIMER_NEVER);
        g_assert_cmpuint(send_due(audience, 100 * SECOND), ==, 0);
        audience->totals = 1;
        g_assert_cmpuint(send_due(audience, 100 * SECOND), ==, BURST);
        g_assert_cmpuint(send_due(audience, 100 * SECOND), ==, 0);
        /* At the time it names there is budget for one, and not before. */
        g_assert_false(ald_audience_is_due(audience, 100 * SECOND + SECOND / ALD_SIGNALS_PER_SECOND - 1));
        g_assert_cmpuint(send_due(audience, ald_audience_next(audience, 100 * SECOND)), ==, 1);
        g_assert_cmpuint(send_due(audience, 100 * SECOND + SECOND / 10), ==, ALD_SIGNALS_PER_SECOND / 10 - 1);
}

/* Of two users, the one with three connections is sent no more than the one with one. */
static void test_shares_of_users(void)
{
        g_autoptr(GPtrArray) audiences = g_ptr_array_new_with_free_func((GDestroyNotify) ald_audience_free);
        AldAudience *everybody = ald_audience_new(NULL, 0, SECOND);
        AldAudience *one = ald_audience_new(":1.1", 1000, SECOND);

        g_ptr_array_add(audiences, one);
        g_ptr_array_add(audiences, everybody);
        ald_audiences_share(audiences, SECOND);
        g_assert_cmpfloat(one->per_second, ==, ALD_SIGNALS_PER_SECOND_SUBSCRIBED);
        for (unsigned i = 0; i < 3; i++)
                g_ptr_array_add(audiences, ald_audience_new(":1.2", 1001, SECOND));
        ald_audiences_share(audiences, SECOND);
        g_assert_cmpfloat_with_epsilon(one->per_second, ALD_SIGNALS_PER_SECOND_SUBSCRIBED / 2.0, 1e-9);
        for (unsigned i = 2; i < audiences->len; i++) {
                const AldAudience *of_three = audiences->pdata[i];

                g_assert_cmpfloat_with_epsilon(
                        of_three->per_second, ALD_SIGNALS_PER_SECOND_SUBSCRIBED / 6.0, 1e-9);
        }
        g_assert_cmpfloat(everybody->per_second, ==, ALD_SIGNALS_PER_SECOND);
}

/* What an audience knows is kept while it keeps up, so that it is sent what differs. */
static void test_change(void)
{
        g_autoptr(AldRecord) before = make_memory(1), between = make_memory(2);
        AldNode node = { .id = id_make(2) };
        AldEntry entry = { .node = &node, .kind = ALD_KIND_MEMORY, .announced = true };
        g_autoptr(AldAudience) audience = ald_audience_new(NULL, 0, SECOND);
        AldNotice *notice;

        g_assert_true(ald_audience_note_change(audience, &entry, before));
        g_assert_false(ald_audience_note_change(audience, &entry, between));
        g_assert_cmpuint(audience->waiting.length, ==, 1);
        g_assert_cmpuint(entry.n_awaiting, ==, 1);
        notice = g_queue_peek_head(&audience->waiting);
        g_assert_true(notice->sent == before);
        ald_audience_drop(audience, notice);
        g_assert_cmpuint(entry.n_awaiting, ==, 0);
        g_assert_true(ald_audience_note_change(audience, &entry, between));
}

static void test_removal(void)
{
        g_autoptr(AldRecord) before = make_memory(1);
        AldNode node = { .id = id_make(2) };
        AldEntry known = { .node = &node, .kind = ALD_KIND_MEMORY, .announced = true };
        AldEntry new = { .node = &node, .kind = ALD_KIND_DISK };
        g_autoptr(AldAudience) audience = ald_audience_new(NULL, 0, SECOND);
        const AldNotice *notice;

        /* Whoever has not heard of it needs not hear that it is gone. */
        ald_audience_note_change(audience, &new, NULL);
        g_assert_false(ald_audience_note_removal(audience, &new));
        g_assert_cmpuint(audience->waiting.length, ==, 0);
        g_assert_cmpuint(new.n_awaiting, ==, 0);

        ald_audience_note_change(audience, &known, before);
        g_assert_false(ald_audience_note_removal(audience, &known));
        g_assert_cmpuint(known.n_awaiting, ==, 0);
        notice = g_queue_peek_head(&audience->waiting);
        g_assert_null(notice->entry);
        g_assert_null(notice->sent);
        g_assert_nonnull(notice->path);
}

/* Who takes nothing for a second receives all fields of what changes, until it takes something again. */
static void test_behind(void)
{
        g_autoptr(AldRecord) before = make_memory(1);
        AldNode node = { .id = id_make(2) };
        AldEntry memory = { .node = &node, .kind = ALD_KIND_MEMORY, .announced = true };
        AldEntry disk = { .node = &node, .kind = ALD_KIND_DISK, .announced = true };
        g_autoptr(AldAudience) audience = ald_audience_new(":1.1", 1000, SECOND);
        const AldNotice *notice;

        ald_audience_note_change(audience, &memory, before);
        notice = g_queue_peek_head(&audience->waiting);
        g_assert_cmpint(ald_audience_note_blocked(audience, 2 * SECOND), >, 2 * SECOND);
        g_assert_cmpint(ald_audience_note_blocked(audience, 3 * SECOND - 1), >, 3 * SECOND);
        g_assert_true(notice->sent == before);
        g_assert_cmpint(ald_audience_note_blocked(audience, 3 * SECOND), >, 3 * SECOND);
        g_assert_null(notice->sent);
        ald_audience_note_change(audience, &disk, before);
        notice = g_queue_peek_tail(&audience->waiting);
        g_assert_null(notice->sent);

        ald_audience_spend(audience);
        ald_audience_drop(audience, g_queue_peek_tail(&audience->waiting));
        ald_audience_note_change(audience, &disk, before);
        notice = g_queue_peek_tail(&audience->waiting);
        g_assert_true(notice->sent == before);
}

/* Views go first: each has a number that only grows, and what is read after it is current. */
static void test_views(void)
{
        g_autoptr(AldAudience) audience = ald_audience_new(NULL, 0, SECOND);

        g_assert_cmpint(ald_audience_waiting_view(audience), ==, ALD_DERIVED_N);
        audience->views[ALD_DERIVED_FINDINGS] = 7;
        g_assert_cmpint(ald_audience_waiting_view(audience), ==, ALD_DERIVED_FINDINGS);
        audience->views[ALD_DERIVED_TOPOLOGY] = 3;
        g_assert_cmpint(ald_audience_waiting_view(audience), ==, ALD_DERIVED_TOPOLOGY);
        g_assert_true(ald_audience_is_due(audience, SECOND));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/audience/budget", test_budget);
        g_test_add_func("/audience/shares-of-users", test_shares_of_users);
        g_test_add_func("/audience/change", test_change);
        g_test_add_func("/audience/removal", test_removal);
        g_test_add_func("/audience/behind", test_behind);
        g_test_add_func("/audience/views", test_views);
        return g_test_run();
}
