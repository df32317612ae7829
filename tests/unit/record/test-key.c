/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/record-key.h"
#include "tests/unit/record-maker.h"

#define A "0123456789abcdef0123456789abcdef"
#define B "fedcba9876543210fedcba9876543210"

static void check(AldKind kind, const char *key, int expected)
{
        AldId sink, wanted;

        g_test_message("%s \"%.80s\"", ald_kinds[kind].name, key);
        g_assert_cmpint(ald_key_parse(kind, key, &sink), ==, expected);
        g_assert_cmpint(ald_key_parse(kind, key, NULL), ==, expected);
        if (expected < 0 || !ald_kinds[kind].is_link)
                return;
        g_assert_cmpint(ald_id_parse(A, &wanted), ==, 0);
        g_assert_true(ald_id_equal(&sink, &wanted));
}

static void test_nodes_have_no_key(void)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                if (ald_kinds[kind].is_link)
                        continue;
                check(kind, "", 0);
                check(kind, A, -EINVAL);
                check(kind, " ", -EINVAL);
        }
}

static void test_sockets(void)
{
        static const char *const right[] = { A ",192.0.2.1", A ",0.0.0.0", A ",2001:db8::1",
                A ",::", A ",fe80::1", A ",::ffff:192.0.2.1" };
        static const char *const wrong[] = { "", ",", A, A ",", ",192.0.2.1", B "x,192.0.2.1",
                A ",192.0.2.1,", A ",192.0.2.1,x", A ",192.0.2.01", A ",192.0.2", A ",192.0.2.256",
                A ", 192.0.2.1", A ",192.0.2.1 ", A ",192.0.2.1/24", A ",2001:DB8::1", A ",2001:db8:0::1",
                A ",fe80::1%eth0", A ",::1::", A ",example.org", "mlx5_0.1," A ",mlx5_0.1",
                "00000000000000000000000000000000,192.0.2.1" };

        for (unsigned i = 0; i < G_N_ELEMENTS(right); i++)
                check(ALD_KIND_LINK_SOCKET, right[i], 0);
        for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++)
                check(ALD_KIND_LINK_SOCKET, wrong[i], -EINVAL);
}

static void test_rdma(void)
{
        static const char *const right[] = { "mlx5_0.1," A ",mlx5_0.1", "rxe-eth0.255," A ",a.1",
                "dev.with.dots.1," A ",b.2" };
        static const char *const wrong[] = { "", ",,", "mlx5_0.1," A, "mlx5_0.1," A ",",
                "mlx5_0," A ",mlx5_0.1", "mlx5_0.0," A ",mlx5_0.1", "mlx5_0.256," A ",mlx5_0.1",
                "mlx5_0.01," A ",mlx5_0.1", "mlx5_0.+1," A ",mlx5_0.1", "mlx5_0.1x," A ",mlx5_0.1",
                ".1," A ",mlx5_0.1", "a b.1," A ",mlx5_0.1", "a/b.1," A ",mlx5_0.1",
                "\xc3\xa4.1," A ",mlx5_0.1", "mlx5_0.1," A ",mlx5_0.1,x", A ",192.0.2.1" };

        for (unsigned i = 0; i < G_N_ELEMENTS(right); i++)
                check(ALD_KIND_LINK_RDMA, right[i], 0);
        for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++)
                check(ALD_KIND_LINK_RDMA, wrong[i], -EINVAL);
}

static void test_length(void)
{
        size_t room = ALD_KEY_MAX - strlen(".1," A ",b.1");
        g_autofree char *device = g_strnfill(room + 1, 'd');
        g_autofree char *too_long = g_strdup_printf("%s.1," A ",b.1", device);
        g_autofree char *longest = g_strdup_printf("%s.1," A ",b.1", device + 1);
        g_autofree char *huge = g_strnfill(1024 * 1024, 'd');

        check(ALD_KIND_LINK_RDMA, longest, 0);
        check(ALD_KIND_LINK_RDMA, too_long, -EINVAL);
        g_assert_cmpint(ald_key_parse(ALD_KIND_LINK_RDMA, huge, NULL), ==, -EINVAL);
        g_assert_cmpint(ald_key_parse(ALD_KIND_LINK_SOCKET, huge, NULL), ==, -EINVAL);
}

static bool is_named(AldKind kind, const char *key, const char *source, const char *sink)
{
        AldLinkSocket socket = ALD_LINK_SOCKET_INIT;
        AldLinkRdma rdma = ALD_LINK_RDMA_INIT;
        g_autoptr(AldRecord) record = NULL;
        AldId node;

        socket.source = rdma.source = source;
        socket.sink = rdma.sink = sink;
        record = record_make(kind, kind == ALD_KIND_LINK_SOCKET ? (void *) &socket : (void *) &rdma);
        g_assert_cmpint(ald_id_parse(B, &node), ==, 0);
        g_assert_cmpint(ald_key_parse(kind, key, NULL), ==, 0);
        return ald_key_names(kind, key, &node, record);
}

static void test_link_is_that_of_its_key(void)
{
        static const char socket[] = A ",192.0.2.1", rdma[] = "a.1," A ",b.1";

        g_assert_true(is_named(ALD_KIND_LINK_SOCKET, socket, B, A));
        g_assert_true(is_named(ALD_KIND_LINK_RDMA, rdma, B, A));
        g_assert_false(is_named(ALD_KIND_LINK_SOCKET, socket, A, A));
        g_assert_false(is_named(ALD_KIND_LINK_SOCKET, socket, B, B));
        g_assert_false(is_named(ALD_KIND_LINK_SOCKET, socket, NULL, A));
        g_assert_false(is_named(ALD_KIND_LINK_SOCKET, socket, B, NULL));
        g_assert_false(is_named(ALD_KIND_LINK_SOCKET, socket, "x", A));
        g_assert_false(is_named(ALD_KIND_LINK_RDMA, rdma, B, B));
        g_assert_false(is_named(ALD_KIND_LINK_SOCKET, B ",192.0.2.1", B, B));
        g_assert_false(is_named(ALD_KIND_LINK_RDMA, "a.1," B ",b.1", B, B));
}

static void test_node_records_name_none(void)
{
        g_autoptr(AldRecord) record = record_random(ALD_KIND_MEMORY);
        AldId node = id_make(1);

        g_assert_true(ald_key_names(ALD_KIND_MEMORY, "", &node, record));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/key/nodes-have-no-key", test_nodes_have_no_key);
        g_test_add_func("/key/sockets", test_sockets);
        g_test_add_func("/key/rdma", test_rdma);
        g_test_add_func("/key/length", test_length);
        g_test_add_func("/key/link-is-that-of-its-key", test_link_is_that_of_its_key);
        g_test_add_func("/key/node-records-name-none", test_node_records_name_none);
        return g_test_run();
}
