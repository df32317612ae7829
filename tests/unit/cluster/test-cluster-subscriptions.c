/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/subscriptions.h"
#include "state/link/link-ttl.h"
#include "state/link/peer-sample.h"
#include "tests/unit/record-maker.h"

#define REAL (UINT64_C(1790000000) * 1000 * 1000)

/* What node number 1 of n listens to; all others are online, but for the last. */
static char **listen(unsigned n, uint64_t real)
{
        g_autoptr(AldNodes) nodes = ald_nodes_new();
        AldId own = id_make(1);

        for (unsigned i = 2; i <= n + 1; i++) {
                AldId id = id_make(i);

                ald_nodes_get(nodes, &id, 1, real)->presence.state = i <= n ? ALD_PRESENCE_STATE_ONLINE
                                                                            : ALD_PRESENCE_STATE_OFFLINE;
        }
        return ald_subscriptions_to_peers("home", &own, nodes, real);
}

static bool has(char **filters, const char *filter)
{
        return g_strv_contains((const char *const *) filters, filter);
}

static void test_alone(void)
{
        g_auto(GStrv) filters = listen(1, REAL), all = ald_subscriptions_to_all("home");
        AldId own = id_make(1);
        g_autofree char *to_own = ald_subscription_to("home", &own);

        g_assert_cmpuint(g_strv_length(filters), ==, 3);
        g_assert_true(has(filters, to_own));
        g_assert_true(has(filters, "alidade/1/home/+/crl"));
        g_assert_true(has(filters, "alidade/1/home/+/status"));
        g_assert_cmpuint(g_strv_length(all), ==, 1);
        g_assert_cmpstr(all[0], ==, "alidade/1/home/#");
}

static void test_none(void)
{
        AldId own = id_make(1);
        g_auto(GStrv) filters = ald_subscriptions_to_peers("home", &own, NULL, REAL);

        g_assert_cmpuint(g_strv_length(filters), ==, 2);
        g_assert_true(has(filters, "alidade/1/home/+/crl"));
}

static void test_few(void)
{
        for (unsigned n = 2; n < ALD_PEER_SAMPLE_FROM; n += 61) {
                g_auto(GStrv) filters = listen(n, REAL);

                g_assert_cmpuint(g_strv_length(filters), ==, 7);
                g_assert_true(has(filters, "alidade/1/home/+/Node1.Identity"));
                g_assert_true(has(filters, "alidade/1/home/+/Node1.Network"));
                g_assert_true(has(filters, "alidade/1/home/+/Node1.ProbePolicy"));
                g_assert_true(has(filters, "alidade/1/home/+/Node1.Membership"));
        }
}

/* The whole turn brings each of the others once, and what the next period needs is listened to already. */
static void test_many(void)
{
        enum { N = 200 };
        uint64_t period = ald_kind_ttl(ALD_KIND_LINK_SOCKET);
        size_t turn = ald_peer_sample_n_periods(N);
        g_autoptr(GHashTable) heard = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (size_t i = 0; i < turn; i++) {
                g_auto(GStrv) now = listen(N, REAL + i * period), next = listen(N, REAL + (i + 1) * period);
                unsigned shared = 0;

                g_assert_cmpuint(g_strv_length(now), <=, 3 + 2 * 4 * ALD_PEER_SAMPLE);
                for (char **filter = now + 3; *filter; filter++) {
                        shared += has(next, *filter);
                        g_assert_null(strchr(*filter, '+'));
                        if (g_str_has_suffix(*filter, "/Node1.Network"))
                                g_hash_table_add(heard, g_strdup(*filter));
                }
                g_assert_cmpuint(shared, >, 0);
        }
        g_assert_cmpuint(g_hash_table_size(heard), ==, N - 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cluster-subscriptions/alone", test_alone);
        g_test_add_func("/cluster-subscriptions/none", test_none);
        g_test_add_func("/cluster-subscriptions/few", test_few);
        g_test_add_func("/cluster-subscriptions/many", test_many);
        return g_test_run();
}
