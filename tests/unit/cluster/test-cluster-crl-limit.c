/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/cluster/trust/crl-limit.h"
#include "tests/unit/record-maker.h"

#define TURN ((gint64) ALD_CRL_INTERVAL_USEC)
#define START ((gint64) 1000 * G_USEC_PER_SEC)

typedef struct Fixture {
        AldCrlLimit *limit;
        GPtrArray *passed; /* payloads */
        bool again;        /* what has waited goes through once more, as in the receiver */
        gint64 now;
} Fixture;

static int take(Fixture *f, unsigned node, const char *text, size_t size)
{
        const AldId id = id_make(node);
        const AldReceived received = { 1, 1, "topic", text, size, false };

        return ald_crl_limit_take(f->limit, &id, &received, f->now);
}

static void on_passed(const AldReceived *received, void *userdata)
{
        Fixture *f = userdata;
        const AldId id = id_make(2);

        g_assert_true(received->retained);
        g_assert_cmpstr(received->topic, ==, "topic");
        g_ptr_array_add(f->passed, g_strndup(received->payload, received->size));
        if (f->again)
                g_assert_cmpint(ald_crl_limit_take(f->limit, &id, received, f->now), ==, 1);
}

static void set_up(Fixture *f, gconstpointer unused)
{
        f->limit = ald_crl_limit_new(on_passed, f);
        f->passed = g_ptr_array_new_with_free_func(g_free);
        f->now = START;
}

static void tear_down(Fixture *f, gconstpointer unused)
{
        ald_crl_limit_free(f->limit);
        g_ptr_array_unref(f->passed);
}

static void use_burst(Fixture *f, unsigned node)
{
        for (unsigned i = 0; i < ALD_CRL_BURST; i++)
                g_assert_cmpint(take(f, node, "list", 4), ==, 1);
}

static void test_newest_waits(Fixture *f, gconstpointer unused)
{
        f->again = true;
        use_burst(f, 2);
        g_assert_cmpint(take(f, 2, "older", 5), ==, 0);
        g_assert_cmpint(take(f, 2, "newest", 6), ==, 0);
        g_assert_cmpint(take(f, 3, "other", 5), ==, 1);
        f->now += TURN - 1;
        ald_crl_limit_advance(f->limit, f->now);
        g_assert_cmpuint(f->passed->len, ==, 0);
        f->now++;
        ald_crl_limit_advance(f->limit, f->now);
        g_assert_cmpuint(f->passed->len, ==, 1);
        g_assert_cmpstr(f->passed->pdata[0], ==, "newest");
        /* That one was counted. */
        g_assert_cmpint(take(f, 2, "next", 4), ==, 0);
        f->now += TURN;
        ald_crl_limit_advance(f->limit, f->now);
        g_assert_cmpstr(f->passed->pdata[1], ==, "next");
}

/* However many come, so many are read. */
static void test_rate(Fixture *f, gconstpointer unused)
{
        unsigned taken = 0;

        for (; f->now < START + 10 * TURN; f->now += TURN / 100)
                taken += take(f, 2, "list", 4) == 1;
        g_assert_cmpuint(taken, ==, ALD_CRL_BURST + 9);
        /* Who was silent has all of it again. */
        f->now += 10 * TURN;
        ald_crl_limit_advance(f->limit, f->now);
        f->now += 10 * TURN;
        ald_crl_limit_advance(f->limit, f->now);
        use_burst(f, 2);
        g_assert_cmpint(take(f, 2, "list", 4), ==, 0);
}

static void test_what_waits_is_bounded(Fixture *f, gconstpointer unused)
{
        const size_t size = 1024 * 1024;
        g_autofree char *text = g_strnfill(size, 'x');
        unsigned kept = 0;

        for (unsigned node = 2; node < 40; node++) {
                use_burst(f, node);
                int r = take(f, node, text, size);

                g_assert_true(r == 0 || r == -ENOBUFS);
                kept += r == 0;
        }
        g_assert_cmpuint(kept, ==, ALD_CRL_WAITING_BYTES / size);
        /* In place of its own it may always wait; and once those were read there is room. */
        g_assert_cmpint(take(f, 2, text, size), ==, 0);
        f->now += TURN;
        ald_crl_limit_advance(f->limit, f->now);
        g_assert_cmpuint(f->passed->len, ==, kept);
        use_burst(f, 50);
        g_assert_cmpint(take(f, 50, text, size), ==, 0);
}

static void test_nodes_are_bounded(Fixture *f, gconstpointer unused)
{
        for (unsigned node = 2; node < ALD_NODES_MAX + 2; node++)
                g_assert_cmpint(take(f, node, "list", 4), ==, 1);
        g_assert_cmpint(take(f, ALD_NODES_MAX + 2, "list", 4), ==, -ENOBUFS);
        f->now += TURN;
        ald_crl_limit_advance(f->limit, f->now);
        g_assert_cmpint(take(f, ALD_NODES_MAX + 2, "list", 4), ==, 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add("/cluster-crl-limit/" #name, Fixture, NULL, set_up, test_##name, tear_down)
        ADD(newest_waits);
        ADD(rate);
        ADD(what_waits_is_bounded);
        ADD(nodes_are_bounded);
        return g_test_run();
}
