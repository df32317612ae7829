/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>

#include <glib.h>

#include "probes/rdma/gid.h"

static struct in6_addr address(const char *text)
{
        struct in6_addr bytes;

        g_assert_cmpint(inet_pton(AF_INET6, text, &bytes), ==, 1);
        return bytes;
}

static AldGid gid(unsigned index, AldGidType type, const char *text)
{
        return (AldGid){ .index = index, .type = type, .bytes = address(text), .interface = 3 };
}

static AldGids gids(const AldGid *first, size_t n)
{
        AldGids list = { .n = n };

        for (size_t i = 0; i < n; i++)
                list.gids[i] = first[i];
        return list;
}

/* What the kernel made of the MAC is no address where NetworkManager makes stable-privacy ones. */
static void test_only_addresses(void)
{
        const AldLocalAddress addresses[] = {
                { 2, address("fe80::5054:ff:fe12:3456"), 64 },
                { 3, address("fe80::1b2c:3d4e:5f60:7182"), 64 },
                { 3, address("::ffff:192.0.2.1"), 120 },
        };
        const AldGid of_mac = gid(0, ALD_GID_ROCE_V2, "fe80::5054:ff:fe12:3456");
        const AldGid real = gid(2, ALD_GID_ROCE_V2, "fe80::1b2c:3d4e:5f60:7182");
        const AldGid ipv4 = gid(4, ALD_GID_ROCE_V2, "::ffff:192.0.2.1"), none = gid(5, ALD_GID_ROCE_V2, "::");
        const AldGid infiniband = gid(0, ALD_GID_IB, "fe80::b8ce:f603:12:3457");
        AldGids list = {};

        g_assert_false(ald_gids_add(&list, &of_mac, addresses, G_N_ELEMENTS(addresses)));
        g_assert_false(ald_gids_add(&list, &none, addresses, G_N_ELEMENTS(addresses)));
        g_assert_cmpuint(list.n, ==, 0);
        g_assert_true(ald_gids_add(&list, &real, addresses, G_N_ELEMENTS(addresses)));
        g_assert_true(ald_gids_add(&list, &ipv4, addresses, G_N_ELEMENTS(addresses)));
        g_assert_true(ald_gids_add(&list, &infiniband, addresses, G_N_ELEMENTS(addresses)));
        g_assert_cmpuint(list.n, ==, 3);
        g_assert_cmpuint(list.gids[0].index, ==, 2);
        g_assert_cmpuint(list.gids[1].prefix, ==, 120);
        for (unsigned i = 3; i < ALD_GIDS_MAX; i++)
                g_assert_true(ald_gids_add(&list, &infiniband, NULL, 0));
        g_assert_false(ald_gids_add(&list, &infiniband, NULL, 0));
}

typedef struct Case {
        AldGid own[3], peer[3];
        size_t n_own, n_peer;
        int own_index, peer_index; /* -1: none fit */
        const char *hint_own, *hint_peer;
} Case;

static void check(const Case *c)
{
        const AldGids own = gids(c->own, c->n_own), peer = gids(c->peer, c->n_peer);
        struct in6_addr from = address(c->hint_own ?: "::"), to = address(c->hint_peer ?: "::");
        const AldGidHint hint = { c->hint_own ? &from : NULL, c->hint_peer ? &to : NULL };
        const AldGid *a = NULL, *b = NULL;

        g_assert_cmpint(ald_gids_match(&own, &peer, &hint, &a, &b), ==, c->own_index >= 0);
        if (c->own_index < 0)
                return;
        g_assert_cmpuint(a->index, ==, (unsigned) c->own_index);
        g_assert_cmpuint(b->index, ==, (unsigned) c->peer_index);
}

static AldGid in_network(AldGid of, unsigned prefix)
{
        of.prefix = prefix;
        return of;
}

static void test_matches(void)
{
        const AldGid link = gid(0, ALD_GID_ROCE_V2, "fe80::1"), link2 = gid(7, ALD_GID_ROCE_V2, "fe80::2");
        const AldGid link_v1 = gid(1, ALD_GID_ROCE_V1, "fe80::1"),
                     link2_v1 = gid(6, ALD_GID_ROCE_V1, "fe80::2");
        const AldGid v4 = in_network(gid(2, ALD_GID_ROCE_V2, "::ffff:192.0.2.1"), 120);
        const AldGid v4_near = gid(3, ALD_GID_ROCE_V2, "::ffff:192.0.2.9");
        const AldGid v4_far = gid(4, ALD_GID_ROCE_V2, "::ffff:198.51.100.1");
        const AldGid ib = gid(0, ALD_GID_IB, "fe80::3"), ib2 = gid(0, ALD_GID_IB, "fe80::4");
        const Case cases[] = {
                { { link_v1, link }, { link2_v1, link2 }, 2, 2, 0, 7, NULL, NULL },
                { { link_v1 }, { link2_v1, link2 }, 1, 2, 1, 6, NULL, NULL },
                { { link, v4 }, { link2, v4_near }, 2, 2, 2, 3, NULL, NULL },
                { { link, v4 }, { link2, v4_far }, 2, 2, 0, 7, NULL, NULL },
                { { v4 }, { v4_far }, 1, 1, 2, 4, NULL, NULL },
                { { link, v4 }, { link2, v4_near }, 2, 2, 0, 7, "fe80::1", "fe80::2" },
                { { link, v4 }, { link2, v4_far }, 2, 2, 2, 4, "::ffff:192.0.2.1", "::ffff:198.51.100.1" },
                { { link, v4 }, { v4_far, v4_near }, 2, 2, 2, 3, "::1", "::1" },
                { { link }, { v4 }, 1, 1, -1, -1, NULL, NULL },
                { { link }, { link2_v1 }, 1, 1, -1, -1, NULL, NULL },
                { { ib }, { ib2 }, 1, 1, 0, 0, NULL, NULL },
                { { ib }, { link2 }, 1, 1, -1, -1, NULL, NULL },
                { { link }, { link2 }, 1, 0, -1, -1, NULL, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                check(&cases[i]);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/gid/only-addresses", test_only_addresses);
        g_test_add_func("/rdma/gid/matches", test_matches);
        return g_test_run();
}
