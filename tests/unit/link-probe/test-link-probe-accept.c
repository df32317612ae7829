/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who may connect while others do, and whose turn it is (issue 12: 6 and 11). */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <glib.h>

#include "probes/listen/accept-limit.h"
#include "services/link-probe/link/node-budgets.h"

#define NODE "0000000000000000000000000000000a"
#define OTHER "0000000000000000000000000000000b"
#define SECOND UINT64_C(1000000)
#define NOW (1000 * SECOND)

static AldRemote remote_of(const char *address, unsigned interface, bool is_own, const AldMembers *members)
{
        struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_scope_id = interface };
        AldRemote remote;

        g_assert_cmpint(inet_pton(AF_INET6, address, &six.sin6_addr), ==, 1);
        ald_remote_init(&remote, (const struct sockaddr *) &six, is_own, members, NOW);
        return remote;
}

static void assert_remote(
        const AldMembers *members, const char *address, AldRemoteClass class, const char *place)
{
        AldRemote remote = remote_of(address, 2, false, members);

        g_assert_cmpint(remote.class, ==, class);
        g_assert_cmpstr(remote.place, ==, place);
}

static void test_places(void)
{
        AldMembers *members = ald_members_new();
        AldRemote own = remote_of("2001:db8::1", 0, true, members);

        assert_remote(members, "2001:db8::1:2:3:4", ALD_REMOTE_UNKNOWN, "2001:db8::");
        assert_remote(members, "::ffff:192.0.2.7", ALD_REMOTE_UNKNOWN, "192.0.2.7");
        assert_remote(members, "fe80::1:2:3:4", ALD_REMOTE_UNKNOWN, "fe80::%2");
        assert_remote(members, "fe80::5", ALD_REMOTE_UNKNOWN, "fe80::%2");
        assert_remote(members, "::ffff:127.8.9.1", ALD_REMOTE_LOCAL, "local");
        assert_remote(members, "::1", ALD_REMOTE_LOCAL, "local");
        g_assert_cmpint(own.class, ==, ALD_REMOTE_LOCAL);
        ald_members_free(members);
}

static void test_members(void)
{
        AldMembers *members = ald_members_new();

        ald_members_note_proof(members, "192.0.2.7", NODE, NOW);
        ald_members_note_proof(members, "fe80::5%2", NODE, NOW);
        assert_remote(members, "::ffff:192.0.2.7", ALD_REMOTE_MEMBER, NODE);
        assert_remote(members, "fe80::5", ALD_REMOTE_MEMBER, NODE);
        g_assert_null(ald_members_find(members, "fe80::5%3", NOW));
        g_assert_null(ald_members_find(members, "192.0.2.7", NOW + ALD_MEMBERS_PROOF_USEC));

        /* What nodes say is an address each, behind any interface. */
        ald_members_begin_reported(members);
        ald_members_add_reported(members, "192.0.2.7", OTHER);
        ald_members_add_reported(members, "192.0.2.8", OTHER);
        ald_members_add_reported(members, "fe80::8", OTHER);
        g_assert_null(ald_members_find(members, "192.0.2.8", NOW));
        ald_members_end_reported(members);
        assert_remote(members, "::ffff:192.0.2.7", ALD_REMOTE_MEMBER, NODE);
        assert_remote(members, "::ffff:192.0.2.8", ALD_REMOTE_MEMBER, "192.0.2.8");
        assert_remote(members, "fe80::8", ALD_REMOTE_MEMBER, "fe80::8%2");
        ald_members_begin_reported(members);
        ald_members_end_reported(members);
        g_assert_null(ald_members_find(members, "192.0.2.8", NOW));
        ald_members_free(members);
}

static void test_members_are_bounded(void)
{
        AldMembers *members = ald_members_new();

        ald_members_begin_reported(members);
        for (unsigned i = 0; i <= ALD_MEMBERS_ADDRESSES_MAX; i++) {
                g_autofree char *address = g_strdup_printf("192.0.2.%u", i);

                ald_members_note_proof(members, address, NODE, NOW + i);
                ald_members_add_reported(members, address, OTHER);
        }
        g_assert_null(ald_members_find(members, "192.0.2.0", NOW));
        g_assert_cmpstr(ald_members_find(members, "192.0.2.1", NOW), ==, NODE);
        ald_members_end_reported(members);
        g_assert_cmpstr(ald_members_find(members, "192.0.2.0", NOW), ==, "192.0.2.0");
        g_assert_cmpstr(ald_members_find(members, "192.0.2.16", NOW), ==, NODE);
        ald_members_free(members);
}

static const AldAcceptShare shares[ALD_REMOTE_CLASS_N] = {
        [ALD_REMOTE_UNKNOWN] = { .max = 4, .place_max = 2, .replace_after_usec = SECOND / 2 },
        [ALD_REMOTE_LOCAL] = { .max = 1, .place_max = 1, .replace_after_usec = SECOND / 2 },
        [ALD_REMOTE_MEMBER] = { .max = 2,
                .place_max = 2,
                .replace_after_usec = SECOND,
                .per_second = 2,
                .burst = 4,
                .place_per_second = 1,
                .place_burst = 2 },
};

static int enter(AldAcceptLimit *limit, AldRemoteClass class, const char *place, uint64_t now,
        void *connection, void **ret_evicted)
{
        AldRemote remote = { .class = class };

        g_strlcpy(remote.place, place, sizeof remote.place);
        return ald_accept_limit_enter(limit, &remote, now, connection, ret_evicted);
}

static void test_oldest_gives_way(void)
{
        AldAcceptLimit *limit = ald_accept_limit_new(shares);
        int c[8];
        void *evicted = NULL;

        g_assert_cmpint(enter(limit, ALD_REMOTE_UNKNOWN, "a", NOW, &c[0], &evicted), ==, 0);
        g_assert_cmpint(enter(limit, ALD_REMOTE_UNKNOWN, "b", NOW + 1, &c[1], &evicted), ==, 0);
        g_assert_cmpint(enter(limit, ALD_REMOTE_UNKNOWN, "b", NOW + 2, &c[2], &evicted), ==, 0);
        g_assert_cmpint(enter(limit, ALD_REMOTE_UNKNOWN, "b", NOW + 3, &c[3], &evicted), ==, -EUSERS);
        g_assert_cmpint(enter(limit, ALD_REMOTE_UNKNOWN, "c", NOW + 3, &c[3], &evicted), ==, 0);
        g_assert_cmpint(enter(limit, ALD_REMOTE_UNKNOWN, "d", NOW + 4, &c[4], &evicted), ==, -EUSERS);
        g_assert_null(evicted);
        /* Of a full place the oldest of that place goes, of a full share the oldest of all. */
        g_assert_cmpint(enter(limit, ALD_REMOTE_UNKNOWN, "b", NOW + SECOND, &c[4], &evicted), ==, 0);
        g_assert_true(evicted == &c[1]);
        g_assert_cmpint(enter(limit, ALD_REMOTE_UNKNOWN, "d", NOW + SECOND, &c[5], &evicted), ==, 0);
        g_assert_true(evicted == &c[0]);
        /* Those of this machine, and members, are apart. */
        g_assert_cmpint(enter(limit, ALD_REMOTE_LOCAL, "local", NOW, &c[6], &evicted), ==, 0);
        g_assert_null(evicted);
        g_assert_cmpint(enter(limit, ALD_REMOTE_MEMBER, "m", NOW, &c[7], &evicted), ==, 0);
        g_assert_null(evicted);
        ald_accept_limit_leave(limit, &c[2]);
        ald_accept_limit_leave(limit, &c[2]);
        g_assert_cmpint(enter(limit, ALD_REMOTE_UNKNOWN, "b", NOW + SECOND, &c[2], &evicted), ==, 0);
        g_assert_null(evicted);
        ald_accept_limit_free(limit);
}

static int begin_and_end(AldAcceptLimit *limit, const char *place, uint64_t now)
{
        int connection, r;
        void *evicted = NULL;

        r = enter(limit, ALD_REMOTE_MEMBER, place, now, &connection, &evicted);
        ald_accept_limit_leave(limit, &connection);
        return r;
}

static void test_rates(void)
{
        AldAcceptLimit *limit = ald_accept_limit_new(shares);

        for (unsigned i = 0; i < 2; i++)
                g_assert_cmpint(begin_and_end(limit, "a", NOW), ==, 0);
        g_assert_cmpint(begin_and_end(limit, "a", NOW), ==, -EBUSY);
        for (unsigned i = 0; i < 2; i++)
                g_assert_cmpint(begin_and_end(limit, "b", NOW), ==, 0);
        g_assert_cmpint(begin_and_end(limit, "c", NOW), ==, -EBUSY);
        g_assert_cmpint(begin_and_end(limit, "c", NOW + SECOND / 2), ==, 0);
        g_assert_cmpint(begin_and_end(limit, "d", NOW + SECOND / 2), ==, -EBUSY);
        /* What is known of places is bounded. */
        for (unsigned i = 0; i < 2 * ALD_ACCEPT_LIMIT_PLACES_MAX; i++) {
                g_autofree char *place = g_strdup_printf("%u", i);

                g_assert_cmpint(begin_and_end(limit, place, NOW + (10 + i) * SECOND), ==, 0);
        }
        ald_accept_limit_free(limit);
}

static void assert_refused(
        const AldNodeBudgets *budgets, const char *node, const char *port, uint64_t now, const char *part)
{
        g_autofree char *reason = ald_node_budgets_refuse(budgets, node, port, now);

        if (part)
                g_assert_nonnull(strstr(reason ?: "", part));
        else
                g_assert_cmpstr(reason, ==, NULL);
}

static void test_node_budgets(void)
{
        AldNodeBudgets *budgets = ald_node_budgets_new();

        ald_node_budgets_wait(budgets, OTHER, "eth0", NOW);
        assert_refused(budgets, NODE, "eth0", NOW, NULL);
        ald_node_budgets_charge(budgets, NODE, ALD_NODE_BUDGET_LEAD_USEC, NOW);
        assert_refused(budgets, NODE, "eth0", NOW, "goes first");
        assert_refused(budgets, NODE, "eth1", NOW, NULL);
        assert_refused(budgets, OTHER, "eth0", NOW, NULL);
        ald_node_budgets_wait(budgets, OTHER, "", NOW);
        assert_refused(budgets, NODE, "eth1", NOW, "goes first");
        ald_node_budgets_end_wait(budgets, OTHER);
        assert_refused(budgets, NODE, "eth0", NOW, NULL);
        ald_node_budgets_charge(budgets, NODE, ALD_NODE_BUDGET_LEAD_USEC, NOW);
        /* One that does not come holds up nobody for long. */
        for (unsigned i = 0; i < 3; i++) {
                ald_node_budgets_wait(budgets, OTHER, "eth0", NOW + i * ALD_NODE_BUDGET_WAIT_USEC);
                assert_refused(
                        budgets, NODE, "eth0", NOW + i * ALD_NODE_BUDGET_WAIT_USEC, i == 0 ? "first" : NULL);
        }
        ald_node_budgets_free(budgets);
}

static void test_budget(void)
{
        AldNodeBudgets *budgets = ald_node_budgets_new();
        const uint64_t share = ALD_NODE_BUDGET_HOUR_USEC / ALD_NODE_BUDGET_USEC;

        ald_node_budgets_charge(budgets, NODE, ALD_NODE_BUDGET_USEC - 1, NOW);
        assert_refused(budgets, NODE, "eth0", NOW, NULL);
        ald_node_budgets_charge(budgets, NODE, 1, NOW);
        assert_refused(budgets, NODE, "eth0", NOW, "15 minutes in the last hour");
        assert_refused(budgets, OTHER, "eth0", NOW, NULL);
        assert_refused(budgets, NODE, "eth0", NOW + share * SECOND, NULL);
        /* What is known of nodes is bounded, and those that have used most stay. */
        ald_node_budgets_charge(budgets, NODE, 2 * ALD_NODE_BUDGET_USEC, NOW);
        for (unsigned i = 0; i < 2 * ALD_NODE_BUDGETS_MAX; i++) {
                g_autofree char *node = g_strdup_printf("%032x", i + 16);

                ald_node_budgets_charge(budgets, node, 0, NOW);
        }
        assert_refused(budgets, NODE, "eth0", NOW, "15 minutes");
        ald_node_budgets_free(budgets);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-accept/places", test_places);
        g_test_add_func("/link-probe-accept/members", test_members);
        g_test_add_func("/link-probe-accept/members-are-bounded", test_members_are_bounded);
        g_test_add_func("/link-probe-accept/oldest-gives-way", test_oldest_gives_way);
        g_test_add_func("/link-probe-accept/rates", test_rates);
        g_test_add_func("/link-probe-accept/node-budgets", test_node_budgets);
        g_test_add_func("/link-probe-accept/budget", test_budget);
        return g_test_run();
}
