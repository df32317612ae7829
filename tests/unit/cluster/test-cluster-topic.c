/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/cluster/mqtt/topic.h"
#include "tests/unit/record-maker.h"

#define A "0123456789abcdef0123456789abcdef"
#define B "fedcba9876543210fedcba9876543210"
#define OWN "alidade/1/home/" A "/"

/* One of ours is written as it was read, and the node is known even if the rest is wrong. */
static void check(const char *text, int expected, AldTopicType type)
{
        AldTopic topic;
        char node[ALD_ID_STRING_SIZE];
        g_autofree char *again = NULL;

        g_test_message("\"%.100s\"", text);
        g_assert_cmpint(ald_topic_parse(text, "home", &topic), ==, expected);
        if (expected != -ENOMSG)
                g_assert_cmpstr(ald_id_format(&topic.node, node), ==, A);
        if (expected < 0)
                return;
        g_assert_cmpint(topic.type, ==, type);
        again = ald_topic_format(&topic, "home");
        g_assert_cmpstr(text, ==, again);
}

static void test_ours(void)
{
        check(OWN "status", 0, ALD_TOPIC_STATUS);
        check(OWN "alive", 0, ALD_TOPIC_ALIVE);
        check(OWN "crl", 0, ALD_TOPIC_CRL);
        check(OWN "forget/" B, 0, ALD_TOPIC_FORGET);
        check(OWN "Node1.Memory", 0, ALD_TOPIC_RECORD);
        check(OWN "Link1.Socket/" B "_2c192_2e0_2e2_2e1", 0, ALD_TOPIC_RECORD);
        check(OWN "Link1.Socket/_31234567890abcdef1234567890abcdef_2c_3a_3a1", 0, ALD_TOPIC_RECORD);
        check(OWN "Link1.Rdma/mlx5_5f0_2e1_2c" B "_2cmlx5_5f1_2e1", 0, ALD_TOPIC_RECORD);
}

static void test_of_no_node(void)
{
        static const char *const topics[] = { "", "alidade", "alidade/1/", "alidade/1/home",
                "alidade/1/home/", "alidade/1/home/" A, "alidade/1/home/0/status",
                "alidade/2/home/" A "/status", "alidade/1/homes/" A "/status", "alidade/1/hom/" A "/status",
                "/alidade/1/home/" A "/status", "alidade/1/home/0123456789ABCDEF0123456789abcdef/status",
                "alidade/1/home/00000000000000000000000000000000/status", "alidade/1/home/" A "0/status" };

        for (unsigned i = 0; i < G_N_ELEMENTS(topics); i++)
                check(topics[i], -ENOMSG, 0);
}

static void test_not_ours(void)
{
        check(OWN "Node1.Nothing", -ENOENT, 0);
        check(OWN "Node2.Memory/key", -ENOENT, 0);
        check(OWN "Link1.Socket.More", -ENOENT, 0);
        check(OWN, -EINVAL, 0);
        check(OWN "Status", -EINVAL, 0);
        check(OWN "status/", -EINVAL, 0);
        check(OWN "status/x", -EINVAL, 0);
        check(OWN "node1.memory", -EINVAL, 0);
        check(OWN "/Node1.Memory", -EINVAL, 0);
        check(OWN "Node1.", -EINVAL, 0);
        check(OWN "Node1.Mem_ory", -EINVAL, 0);
        check(OWN "Node1.Presence", -EPERM, 0);
        check(OWN "Node1.Doubts", -EPERM, 0);
        check(OWN "forget/", -EINVAL, 0);
        check(OWN "forget/" B "/x", -EINVAL, 0);
        check(OWN "forget/" B "0", -EINVAL, 0);
        check(OWN "forget/all", -EINVAL, 0);
}

static void test_odd_keys(void)
{
        g_autofree char *filler = g_strnfill(70000, 'a');
        g_autofree char *long_key = g_strconcat(OWN "Link1.Socket/", filler, NULL);

        check(OWN "Node1.Memory/", -EINVAL, 0);
        check(OWN "Node1.Memory/_", -EINVAL, 0);
        check(OWN "Node1.Memory/x", -EINVAL, 0);
        check(OWN "Link1.Socket", -EINVAL, 0);
        check(OWN "Link1.Socket/" B ",192.0.2.1", -EINVAL, 0);
        check(OWN "Link1.Socket/" B "_2C192_2e0_2e2_2e1", -EINVAL, 0);
        check(OWN "Link1.Socket/" B "_2c_31_392_2e0_2e2_2e1", -EINVAL, 0);
        check(OWN "Link1.Socket/" B "_2c192_2e0_2e2_2e1/x", -EINVAL, 0);
        check(OWN "Link1.Socket/" B "_2c192_2e0_2e2_2e1_00", -EINVAL, 0);
        check(OWN "Link1.Socket/" B "_2c192_2e0_2e2", -EINVAL, 0);
        check(OWN "Link1.Socket/_", -EINVAL, 0);
        check(OWN "Link1.Socket/_zz", -EINVAL, 0);
        check(long_key, -EINVAL, 0);
}

/* Any key of any kind comes back. */
static void test_random_keys(void)
{
        for (unsigned i = 0; i < 2000; i++) {
                AldKind kind = g_test_rand_bit() ? ALD_KIND_LINK_SOCKET : ALD_KIND_LINK_RDMA;
                AldId node = id_make(1 + i % 7), sink = id_make((guint) g_test_rand_int_range(1, 1000));
                g_autofree char *key = key_make(kind, &sink, 1 + i % 200);
                g_autofree char *text = ald_topic_of_record("home", &node, kind, key);
                AldTopic topic;

                g_assert_cmpint(ald_topic_parse(text, "home", &topic), ==, 0);
                g_assert_cmpint(topic.kind, ==, kind);
                g_assert_cmpstr(topic.key, ==, key);
                g_assert_true(ald_id_equal(&topic.node, &node));
        }
}

static void test_names_of_clusters(void)
{
        static const char *const right[] = { "a", "0", "home", "rack-7", "a-",
                "0123456789abcdef0123456789abcdef" };
        static const char *const wrong[] = { "-a", "A", "a b", "a/b", "a+", "#", "a.b", "ä",
                "0123456789abcdef0123456789abcdef0" };

        for (unsigned i = 0; i < G_N_ELEMENTS(right); i++)
                g_assert_null(ald_cluster_name_refuse(right[i]));
        for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++)
                g_assert_nonnull(ald_cluster_name_refuse(wrong[i]));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cluster-topic/ours", test_ours);
        g_test_add_func("/cluster-topic/of-no-node", test_of_no_node);
        g_test_add_func("/cluster-topic/not-ours", test_not_ours);
        g_test_add_func("/cluster-topic/odd-keys", test_odd_keys);
        g_test_add_func("/cluster-topic/random-keys", test_random_keys);
        g_test_add_func("/cluster-topic/names-of-clusters", test_names_of_clusters);
        return g_test_run();
}
