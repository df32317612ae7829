/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/history/fair-queue.h"

static void serve(AldFairPlace *place, void *userdata)
{
        g_ptr_array_add(userdata, place);
}

static void settle(void)
{
        while (g_main_context_iteration(NULL, FALSE))
                ;
}

static void test_turns(void)
{
        g_autoptr(GPtrArray) served = g_ptr_array_new();
        AldFairQueue *queue = ald_fair_queue_new(serve, served);
        AldFairPlace places[4] = { 0 };

        for (unsigned i = 0; i < 3; i++)
                ald_fair_queue_push(queue, "one", &places[i]);
        ald_fair_queue_push(queue, "two", &places[3]);
        ald_fair_queue_push(queue, "two", &places[3]);
        ald_fair_queue_remove(queue, &places[1]);
        ald_fair_queue_remove(queue, &places[1]);
        g_assert_true(ald_fair_queue_is_busy(queue));
        settle();
        g_assert_false(ald_fair_queue_is_busy(queue));
        g_assert_cmpuint(served->len, ==, 3);
        /* The other node's, although it came last, does not wait for all of the first one's. */
        g_assert_true(served->pdata[2] != &places[3]);
        ald_fair_queue_free(queue);
}

static void test_limit(void)
{
        const unsigned n = ALD_FAIR_SAVED + 1000;
        g_autoptr(GPtrArray) served = g_ptr_array_new();
        AldFairQueue *queue = ald_fair_queue_new(serve, served);
        g_autofree AldFairPlace *places = g_new0(AldFairPlace, n);
        AldFairPlace other = { 0 };
        guint before;

        for (unsigned i = 0; i < n; i++)
                ald_fair_queue_push(queue, "liar", &places[i]);
        settle();
        /* One a second is added meanwhile. */
        g_assert_cmpuint(served->len, >=, ALD_FAIR_SAVED);
        g_assert_cmpuint(served->len, <, ALD_FAIR_SAVED + 900);
        before = served->len;
        ald_fair_queue_push(queue, "other", &other);
        settle();
        g_assert_cmpuint(served->len, >, before);
        g_assert_true(other.link.data == NULL);
        while (served->len < before + 3)
                g_main_context_iteration(NULL, TRUE);
        ald_fair_queue_free(queue);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/fair-queue/turns", test_turns);
        g_test_add_func("/fair-queue/limit", test_limit);
        return g_test_run();
}
