/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/own/stale-own-records.h"
#include "tests/unit/record-maker.h"

typedef struct Fixture {
        AldStaleOwnRecords *stale;
        GArray *met; /* epochs */
        bool busy;
} Fixture;

static bool on_meet(const AldUpdate *update, void *userdata)
{
        Fixture *f = userdata;

        g_assert_cmpstr(update->key, ==, "");
        g_assert_true(ald_id_equal(&update->node, &(AldId){ { 1 } }));
        g_array_append_val(f->met, update->stamp.epoch);
        f->busy = !f->busy;
        return f->busy;
}

static void set_up(Fixture *f, gconstpointer unused)
{
        f->stale = ald_stale_own_records_new(on_meet, f);
        f->met = g_array_new(FALSE, FALSE, sizeof(uint64_t));
}

static void tear_down(Fixture *f, gconstpointer unused)
{
        ald_stale_own_records_free(f->stale);
        g_array_unref(f->met);
}

static void find(Fixture *f, uint64_t epoch, AldRecord *record)
{
        char key[] = "";

        ald_stale_own_records_found(f->stale, &(AldUpdate){ .node = { { 1 } },
                                                      .kind = ALD_KIND_MEMORY,
                                                      .key = key,
                                                      .stamp = { epoch, 1 },
                                                      .record = record });
}

static void wait_for(Fixture *f, unsigned n)
{
        while (f->met->len < n)
                g_main_context_iteration(NULL, TRUE);
}

static void test_newest_stands_for_all(Fixture *f, gconstpointer unused)
{
        g_autoptr(AldRecord) record = record_random(ALD_KIND_MEMORY);

        find(f, 5, record);
        find(f, 7, record);
        find(f, 7, NULL);
        find(f, 6, record);
        g_assert_cmpuint(f->met->len, ==, 0);
        f->busy = true;
        wait_for(f, 2);
        g_assert_cmpuint(g_array_index(f->met, uint64_t, 0), ==, 7);
        g_assert_cmpuint(g_array_index(f->met, uint64_t, 1), ==, 7);
        /* What comes later is another story. */
        f->busy = false;
        find(f, 6, NULL);
        wait_for(f, 3);
        g_assert_cmpuint(g_array_index(f->met, uint64_t, 2), ==, 6);
}

static void test_ends_while_it_waits(Fixture *f, gconstpointer unused)
{
        g_autoptr(AldRecord) record = record_random(ALD_KIND_MEMORY);

        find(f, 5, record);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add("/stale-own-records/newest-stands-for-all", Fixture, NULL, set_up,
                test_newest_stands_for_all, tear_down);
        g_test_add("/stale-own-records/ends-while-it-waits", Fixture, NULL, set_up, test_ends_while_it_waits,
                tear_down);
        return g_test_run();
}
