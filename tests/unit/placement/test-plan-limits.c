/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nothing is planned that the commands for an engine cannot express. */
#include "placement/report/sentences.h"
#include "tests/unit/placement/plan-cases.h"

#define GB UINT64_C(1000000000)

/* GPUs of node n0 are numbers 0 and n, and so on. */
static void add_gpus(PlanCase *made, uint32_t n)
{
        static const char *const ids[] = { "gpu1", "gpu2", "gpu3" };
        uint32_t n_nodes = made->cluster.n_nodes;

        for (uint32_t i = 0; i < n; i++, made->cluster.n_devices++) {
                made->devices[n_nodes + i] = made->devices[i % n_nodes];
                made->devices[n_nodes + i].id = ids[i / n_nodes];
        }
}

static void join_all(PlanCase *made)
{
        for (uint32_t i = 0; i < made->cluster.n_nodes; i++)
                for (uint32_t j = 0; j < made->cluster.n_nodes; j++)
                        if (i != j)
                                plan_case_join(made, i, j, 1e6, 1e9);
}

/* Two GPUs of n0 and one of n1. */
static void init_uneven(PlanCase *made, const char *engine, uint64_t free_bytes)
{
        plan_case_init(made, engine, 2);
        add_gpus(made, 1);
        join_all(made);
        for (uint32_t i = 0; i < made->cluster.n_devices; i++)
                made->devices[i].free_bytes = free_bytes;
}

static void assert_sentence(const PlanCase *made, const char *expected)
{
        g_autofree char *text = NULL;
        AldPlanRefusal refusal = { 0 };

        g_assert_null(plan_case_try(made, &refusal));
        text = ald_plan_refusal_sentence(&made->cluster, &made->request, &refusal);
        g_assert_cmpstr(text, ==, expected);
        g_free(refusal.verdicts);
}

static void assert_verdict(const PlanCase *made, const AldPlan *plan, uint32_t device, const char *expected)
{
        g_autofree char *text = ald_plan_verdict_sentence(
                &made->cluster, &made->request, device, &plan->verdicts[device]);

        g_assert_cmpstr(text, ==, expected);
}

static void test_even(void)
{
        static const char *const all[] = { "n0/gpu", "n0/gpu1", "n1/gpu", NULL };
        g_autoptr(AldPlan) three = NULL, two = NULL;
        PlanCase made;

        init_uneven(&made, "torch", 5 * GB / 2);
        three = plan_case_plan(&made);
        g_assert_cmpuint(three->best.n_stages, ==, 3);
        made.request.engine = ald_plan_engine_find("vllm");
        assert_sentence(&made,
                "It takes more GPUs of one node than of another one; vllm needs as many of each, "
                "which do not suffice.");
        made.request.engine = ald_plan_engine_find("sglang");
        plan_case_assert_refused(&made, ALD_PLAN_NODES_UNEVEN, NULL);
        /* They fit on two, but not with one of each node. */
        init_uneven(&made, "vllm", 7 * GB / 2);
        made.devices[1].free_bytes = 3 * GB / 2;
        two = plan_case_plan(&made);
        g_assert_cmpuint(two->best.n_stages, ==, 2);
        g_assert_cmpfloat(two->best.lower_nsec, ==, two->best.nsec);
        g_assert_cmpint(two->verdicts[1].reason, ==, ALD_PLAN_UNEVEN);
        assert_verdict(&made, two, 1,
                "vllm needs as many GPUs of each node as of the others; with this one, they differ.");
        made.request.must = all;
        plan_case_assert_refused(&made, ALD_PLAN_NODES_UNEVEN, NULL);
}

static void test_even_split(void)
{
        AldPlanPin pins[] = { { (char *) "n0/gpu", 2 }, { (char *) "n0/gpu1", 2 }, { (char *) "n1/gpu", 2 } };
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        init_uneven(&made, "vllm", 20 * GB);
        made.request.pins = pins;
        made.request.n_pins = 3;
        assert_sentence(&made,
                "The split has more GPUs of one node than of another one; vllm needs as many of "
                "each.");
        made.request.engine = ald_plan_engine_find("torch");
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 3);
}

/* More devices than are placed exactly, but of each node alike. A node of two would take a third one's place.
 */
static void test_even_of_many(void)
{
        uint32_t counts[8] = { 0 };
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "vllm", 8);
        add_gpus(&made, 22);
        join_all(&made);
        made.workload.layers = 40;
        for (uint32_t i = 0; i < made.cluster.n_devices; i++) {
                made.devices[i].free_bytes = 9 * GB / 2;
                made.devices[i].bytes_per_second *= 1 + made.devices[i].node / 10.0;
        }
        plan = plan_case_plan(&made);
        for (uint32_t i = 0; i < plan->best.n_stages; i++)
                counts[made.devices[plan->best.stages[i].device].node]++;
        for (uint32_t i = 0; i < 8; i++)
                g_assert_true(counts[i] == 0 ||
                              counts[i] == counts[made.devices[plan->best.stages[0].device].node]);
        g_assert_cmpuint(plan->best.n_stages, >, 9);
        g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-limits/even", test_even);
        g_test_add_func("/plan-limits/even-split", test_even_split);
        g_test_add_func("/plan-limits/even-of-many", test_even_of_many);
        return g_test_run();
}
