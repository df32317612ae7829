/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/rdma/transfer-plan.h"

static const AldRdmaPlanLimits none = {};

static void test_large(void)
{
        AldRdmaPlan plan;

        g_assert_true(ald_rdma_plan_make(&none, ALD_RDMA_USE_OPERATION_WRITE, 1u << 20, 4, &plan));
        g_assert_cmpuint(plan.depth, ==, 16);
        g_assert_cmpuint(plan.queues, ==, 4);
        g_assert_cmpuint(plan.size, ==, 1u << 20);
        g_assert_cmpuint(plan.bytes, ==, 4u << 20);
        g_assert_cmpuint(plan.receive_bytes, ==, ALD_RDMA_PLAN_PING);
        g_assert_cmpuint(plan.n_receives, ==, 64);
        g_assert_true(ald_rdma_plan_make(&none, ALD_RDMA_USE_OPERATION_WRITE, 8u << 20, 1, &plan));
        g_assert_cmpuint(plan.bytes, ==, 8u << 20);
        g_assert_true(ald_rdma_plan_make(&none, ALD_RDMA_USE_OPERATION_WRITE, 65536, 1, &plan));
        g_assert_cmpuint(plan.depth, ==, 128);
}

/* What is sent needs room for all of it, which requests share. */
static void test_send(void)
{
        AldRdmaPlan plan;

        g_assert_true(ald_rdma_plan_make(&none, ALD_RDMA_USE_OPERATION_SEND, 1u << 20, 1, &plan));
        g_assert_cmpuint(plan.depth, ==, 64);
        g_assert_cmpuint(plan.receive_bytes, ==, 1u << 20);
        g_assert_cmpuint(plan.n_receives, ==, 4);
        g_assert_cmpuint(ald_rdma_plan_total(&plan), ==, 8u << 20);
        g_assert_true(ald_rdma_plan_make(&none, ALD_RDMA_USE_OPERATION_SEND, 1024, 1, &plan));
        g_assert_cmpuint(plan.n_receives, ==, 128);
        g_assert_true(ald_rdma_plan_make(&none, ALD_RDMA_USE_OPERATION_SEND, 8u << 20, 1, &plan));
        g_assert_cmpuint(plan.n_receives, ==, 1);
}

static void test_small_device(void)
{
        const AldRdmaPlanLimits small = {
                .requests = 4, .completions = 10, .message = 4096, .region = 64u << 10
        };
        const AldRdmaPlanLimits smallest = { .requests = 1, .completions = 1 };
        const AldRdmaPlanLimits too_small = { .region = 32u << 10 }, no_message = { .message = 512 };
        AldRdmaPlan plan;

        g_assert_true(ald_rdma_plan_make(&small, ALD_RDMA_USE_OPERATION_WRITE, 1u << 20, 4, &plan));
        g_assert_cmpuint(plan.depth, ==, 4);
        g_assert_cmpuint(plan.queues, ==, 2);
        g_assert_cmpuint(plan.size, ==, 4096);
        g_assert_cmpuint(ald_rdma_plan_total(&plan), <=, 64u << 10);
        g_assert_true(ald_rdma_plan_make(&smallest, ALD_RDMA_USE_OPERATION_SEND, 65536, 4, &plan));
        g_assert_cmpuint(plan.depth, ==, 1);
        g_assert_cmpuint(plan.queues, ==, 1);
        g_assert_false(ald_rdma_plan_make(&too_small, ALD_RDMA_USE_OPERATION_WRITE, 65536, 1, &plan));
        g_assert_false(ald_rdma_plan_make(&no_message, ALD_RDMA_USE_OPERATION_WRITE, 65536, 1, &plan));
}

/* Less is taken where less may be locked; never less than one message, which the kernel then refuses. */
static void test_locked(void)
{
        const AldRdmaPlanLimits some = { .locked = 2u << 20 }, hardly = { .locked = 64u << 10 };
        AldRdmaPlan plan;

        g_assert_true(ald_rdma_plan_make(&some, ALD_RDMA_USE_OPERATION_WRITE, 65536, 1, &plan));
        g_assert_cmpuint(ald_rdma_plan_total(&plan), <=, 1u << 20);
        g_assert_true(ald_rdma_plan_make(&hardly, ALD_RDMA_USE_OPERATION_WRITE, 65536, 1, &plan));
        g_assert_cmpuint(plan.bytes, ==, 65536);
}

static void test_group(void)
{
        g_assert_cmpuint(ald_rdma_plan_group(1), ==, 1);
        g_assert_cmpuint(ald_rdma_plan_group(7), ==, 1);
        g_assert_cmpuint(ald_rdma_plan_group(16), ==, 4);
        g_assert_cmpuint(ald_rdma_plan_group(65535), ==, 16);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/plan/large", test_large);
        g_test_add_func("/rdma/plan/send", test_send);
        g_test_add_func("/rdma/plan/small-device", test_small_device);
        g_test_add_func("/rdma/plan/locked", test_locked);
        g_test_add_func("/rdma/plan/group", test_group);
        return g_test_run();
}
