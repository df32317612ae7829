/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The merge by itself: what an update costs in a small and in a large cluster, and what a node takes in
 * memory. */
#include <malloc.h>
#include <stdio.h>
#include <time.h>

#include "tests/bench/fixture.h"

#define LARGE 10000u
#define BATCH 40000u
#define ROUNDS 7u

static uint64_t now_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static AldStore *filled_store(unsigned nodes)
{
        const AldStoreLimits limits = { 1000, 14u << 20, 20000, 4096, (size_t) 1 << 30 };
        const AldId local = fixture_id(UINT32_MAX - 1);
        AldStore *store = ald_store_new(&local, 1, &limits);
        char key[128];

        for (unsigned node = 0; node < nodes; node++)
                for (unsigned which = 0; which < FIXTURE_RECORDS; which++) {
                        AldUpdate update = fixture_update(node, which, nodes, 0, key);

                        g_assert(ald_store_put(store, &update, 1) == ALD_PUT_TAKEN);
                        ald_record_unref(update.record);
                }
        return store;
}

/* What two looks at the clock cost, so that it can be taken off. */
static double clock_ns(void)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < BATCH; i++) {
                uint64_t start = now_ns();
                sum += now_ns() - start;
        }
        return (double) sum / BATCH;
}

/* Each update is made right before it is merged, as one that was just read from the bus; only the merge is
 * timed. */
static double time_batch(AldStore *store, unsigned nodes, uint64_t turn)
{
        double overhead = clock_ns();
        uint64_t sum = 0;

        for (unsigned i = 0; i < BATCH; i++) {
                unsigned node = (unsigned) g_random_int_range(0, (gint32) nodes);
                unsigned which = (unsigned) g_random_int_range(0, FIXTURE_RECORDS);
                char key[128];
                AldUpdate update = fixture_update(node, which, nodes, turn + i, key);
                uint64_t start = now_ns();

                g_assert(ald_store_put(store, &update, turn) == ALD_PUT_TAKEN);
                sum += now_ns() - start;
                ald_record_unref(update.record);
        }
        return (double) sum / BATCH - overhead;
}

static int compare(const void *a, const void *b)
{
        double left = *(const double *) a, right = *(const double *) b;

        return (left > right) - (left < right);
}

static double median_merge_ns(unsigned nodes)
{
        g_autoptr(AldStore) store = filled_store(nodes);
        double figures[ROUNDS];

        for (unsigned i = 0; i < ROUNDS; i++)
                figures[i] = time_batch(store, nodes, (uint64_t) (i + 1) * BATCH);
        qsort(figures, ROUNDS, sizeof figures[0], compare);
        return figures[ROUNDS / 2];
}

static double bytes_per_node(void)
{
        const unsigned nodes = 1000;
        size_t before = mallinfo2().uordblks;
        AldStore *store = filled_store(nodes);
        size_t after = mallinfo2().uordblks;

        ald_store_free(store);
        return (double) (after - before) / nodes;
}

int main(void)
{
        double bytes = bytes_per_node();
        double small = median_merge_ns(2), large = median_merge_ns(LARGE);

        printf("{\"merge_ns_at_2_nodes\": %.0f, \"merge_ns_at_10000_nodes\": %.0f, \"bytes_per_node\": "
               "%.0f}\n",
                small, large, bytes);
        return 0;
}
