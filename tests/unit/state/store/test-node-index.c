/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/store/node-index.h"

/* The table of nodes against one of GLib, with ids of few hashes, so that many want the same slots. */

#define N_IDS 600u
#define N_STEPS 20000u

static AldId make_id(unsigned n)
{
        AldId id = {};

        /* The hash is of the difference of both halves, of which there are four here. */
        id.bytes[0] = id.bytes[8] = (uint8_t) (n % 251);
        id.bytes[1] = (uint8_t) (n / 251 + 1);
        id.bytes[9] = n % 3 == 0 ? id.bytes[1] : 0;
        return id;
}

static void check_all(const AldNodeIndex *table, GHashTable *expected)
{
        g_assert_cmpuint(ald_node_index_count(table), ==, g_hash_table_size(expected));
        for (unsigned n = 0; n < N_IDS; n++) {
                AldId id = make_id(n);

                g_assert_true(ald_node_index_find(table, &id) == g_hash_table_lookup(expected, &id));
        }
}

static void test_random(void)
{
        g_autoptr(GHashTable) expected = g_hash_table_new(ald_id_table_hash, ald_id_table_equal);
        g_autofree AldNode *nodes = g_new0(AldNode, N_IDS);
        AldNodeIndex *table = ald_node_index_new();

        for (unsigned n = 0; n < N_IDS; n++)
                nodes[n].id = make_id(n);
        for (unsigned step = 0; step < N_STEPS; step++) {
                /* Few at first, then nearly all, and few again. */
                gint32 most = step < N_STEPS / 2 ? (gint32) N_IDS : 40;
                AldNode *node = &nodes[g_test_rand_int_range(0, (gint32) N_IDS)];

                if (g_hash_table_contains(expected, &node->id)) {
                        if ((gint32) g_hash_table_size(expected) < most && g_test_rand_bit())
                                continue;
                        ald_node_index_remove(table, &node->id);
                        g_hash_table_remove(expected, &node->id);
                } else if ((gint32) g_hash_table_size(expected) < most) {
                        ald_node_index_add(table, node);
                        g_hash_table_insert(expected, &node->id, node);
                }
                if (step % 100 == 0)
                        check_all(table, expected);
        }
        check_all(table, expected);
        ald_node_index_free(table);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/node-index/random", test_random);
        return g_test_run();
}
