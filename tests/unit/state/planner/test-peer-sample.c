/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/link/peer-sample.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

#define PERIOD (UINT64_C(300) * 1000 * 1000)

static void set_presence(AldStore *store, unsigned node, AldPresenceState state)
{
        const AldPresence presence = { .state = ald_presence_state_to_string(state),
                .since_usec = ALD_ABSENT_UINT64,
                .clock_offset_usec = ALD_ABSENT_INT64 };
        g_autoptr(AldRecord) record = record_make(ALD_KIND_PRESENCE, &presence);
        AldId id = id_make(node);

        g_assert_cmpint(ald_store_put_about(store, &id, ALD_KIND_PRESENCE, record, 0, 0), ==, ALD_PUT_TAKEN);
}

/* What node number `own` of n holds, all being online. */
static AldStore *make_cluster(unsigned own, unsigned n)
{
        AldStore *store = state_make_of(own, 1);

        for (unsigned node = 1; node <= n; node++)
                set_presence(store, node, ALD_PRESENCE_STATE_ONLINE);
        return store;
}

static unsigned number_of(const AldNode *node)
{
        return (unsigned) node->id.bytes[2] << 8 | node->id.bytes[3];
}

static void test_small(void)
{
        for (unsigned n = 1; n < ALD_PEER_SAMPLE_FROM; n += 31) {
                g_autoptr(AldStore) store = make_cluster(1, n);

                for (unsigned period = 0; period < 3; period++) {
                        g_autoptr(GPtrArray) peers = ald_peer_sample_compute(store, period * PERIOD, PERIOD);
                        g_assert_cmpuint(peers->len, ==, n - 1);
                }
        }
}

static void test_only_who_is_online(void)
{
        g_autoptr(AldStore) store = make_cluster(3, 7);
        g_autoptr(GPtrArray) peers = NULL;

        set_presence(store, 2, ALD_PRESENCE_STATE_STALE);
        set_presence(store, 4, ALD_PRESENCE_STATE_OFFLINE);
        set_presence(store, 5, ALD_PRESENCE_STATE_DUPLICATE);
        set_presence(store, 3, ALD_PRESENCE_STATE_STALE); /* of itself it knows better */
        state_put(store, 9, ALD_KIND_MEMORY, "{'TotalBytes': 1}");
        peers = ald_peer_sample_compute(store, 0, PERIOD);
        g_assert_cmpuint(peers->len, ==, 3);
        for (guint i = 0; i < peers->len; i++)
                g_assert_nonnull(strchr("167", '0' + (int) number_of(peers->pdata[i])));
}

/* In one turn each is met once, and never more than so many at a time. */
static void check_turn(unsigned own, unsigned n, size_t turn)
{
        g_autoptr(AldStore) store = make_cluster(own, n);
        g_autofree unsigned *met = g_new0(unsigned, n + 1);

        g_assert_cmpuint(ald_peer_sample_n_periods(n), ==, turn);
        for (size_t period = 0; period < turn; period++) {
                g_autoptr(GPtrArray) peers = ald_peer_sample_compute(
                        store, (1000 * turn + period) * PERIOD + period, PERIOD);

                g_assert_cmpuint(peers->len, <=, ALD_PEER_SAMPLE);
                for (guint i = 0; i < peers->len; i++)
                        met[number_of(peers->pdata[i])]++;
        }
        for (unsigned node = 1; node <= n; node++)
                g_assert_cmpuint(met[node], ==, node != own);
}

static void test_everyone_has_a_turn(void)
{
        check_turn(1, 64, 4);
        check_turn(64, 64, 4);
        check_turn(17, 65, 4);
        check_turn(100, 127, 8);
        check_turn(1, 128, 8);
        check_turn(500, 1000, 64);
        check_turn(9999, 10000, 1024);
}

/* Both ends of each pair see it alike, so that which of them has the lower id is all there is to settle. */
static void test_both_ends_agree(void)
{
        enum { N = 100 };
        bool met[N + 1][N + 1] = { 0 };

        for (unsigned own = 1; own <= N; own++) {
                g_autoptr(AldStore) store = make_cluster(own, N);
                g_autoptr(GPtrArray) peers = ald_peer_sample_compute(store, 5 * PERIOD, PERIOD);

                g_assert_cmpuint(peers->len, >, 0);
                for (guint i = 0; i < peers->len; i++)
                        met[own][number_of(peers->pdata[i])] = true;
        }
        for (unsigned a = 1; a <= N; a++)
                for (unsigned b = 1; b <= N; b++)
                        g_assert_true(met[a][b] == met[b][a]);
}

/* Nodes come and go all the time; still, all who stay meet within a few turns. */
static void test_coming_and_going(void)
{
        enum { N = 300, STAY = 200 };
        g_autoptr(AldStore) store = make_cluster(1, N);
        g_autofree unsigned *met = g_new0(unsigned, N + 1);
        size_t turn = ald_peer_sample_n_periods(N);

        for (size_t period = 0; period < 8 * turn; period++) {
                unsigned node = STAY + 1 + (unsigned) g_test_rand_int_range(0, N - STAY);
                g_autoptr(GPtrArray) peers = NULL;

                set_presence(store, node,
                        g_test_rand_bit() ? ALD_PRESENCE_STATE_ONLINE : ALD_PRESENCE_STATE_OFFLINE);
                peers = ald_peer_sample_compute(store, period * PERIOD, PERIOD);
                g_assert_cmpuint(peers->len, <=, ALD_PEER_SAMPLE);
                for (guint i = 0; i < peers->len; i++)
                        met[number_of(peers->pdata[i])]++;
        }
        for (unsigned node = 2; node <= STAY; node++)
                g_assert_cmpuint(met[node], >, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/peer-sample/small", test_small);
        g_test_add_func("/peer-sample/online", test_only_who_is_online);
        g_test_add_func("/peer-sample/turn", test_everyone_has_a_turn);
        g_test_add_func("/peer-sample/both-ends", test_both_ends_agree);
        g_test_add_func("/peer-sample/coming-and-going", test_coming_and_going);
        return g_test_run();
}
