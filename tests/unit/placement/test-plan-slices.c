/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "tests/unit/placement/plan-cases.h"

#define CASES 300
#define NODES_MAX 6u

/* By the documented model, of the nodes in a set; INFINITY: it is none for a plan. */
static double step_nsec(const PlanCase *made, uint32_t set, uint32_t root)
{
        const AldPlanWorkload *workload = &made->workload;
        double n = __builtin_popcount(set), exchanges = 2.0 * workload->layers * workload->parallel;
        double slowest = 0, half = 0, byte = 0, start[2] = {}, end[2] = {};

        for (uint32_t i = 0; i < made->cluster.n_nodes; i++) {
                const AldPlanDevice *device = &made->devices[i];
                double to = 0, from = 0, bytes = (workload->layers * 1e9 + 0.5e9) / n;

                if (!(set & (1u << i)))
                        continue;
                if (bytes + (i == root ? 0.5e9 : 0) > (double) device->free_bytes)
                        return INFINITY;
                slowest = fmax(slowest, bytes / device->bytes_per_second * 1e9);
                for (uint32_t j = 0; j < made->cluster.n_nodes; j++) {
                        const AldPlanPath *there = plan_case_path(made, i, j),
                                          *back = plan_case_path(made, j, i);

                        if (i == j || !(set & (1u << j)))
                                continue;
                        if (!there || !back)
                                return INFINITY;
                        half = fmax(half, there->rtt_nsec / 2);
                        to += 8e9 / there->bits_per_second;
                        from += 8e9 / back->bits_per_second;
                        if (i != root)
                                continue;
                        start[0] = fmax(start[0], there->rtt_nsec / 2);
                        start[1] += 4.0 * workload->activation_elements * 8e9 / there->bits_per_second;
                        end[0] = fmax(end[0], back->rtt_nsec / 2);
                        end[1] += 4.0 * workload->vocabulary / n * 8e9 / back->bits_per_second;
                }
                byte = fmax(byte, fmax(to, from));
        }
        return slowest + exchanges * (half + workload->activation_elements * 34.0 / 32 * byte) +
               workload->parallel * (start[0] + start[1] + end[0] + end[1]);
}

static double best_of(const PlanCase *made)
{
        double best = INFINITY;

        for (uint32_t set = 1; set < 1u << made->cluster.n_nodes; set++) {
                uint32_t n = (uint32_t) __builtin_popcount(set);

                if ((n != 1 && n != 2 && n != 4) || n > made->workload.kv_heads ||
                        made->workload.vocabulary % n != 0)
                        continue;
                for (uint32_t root = 0; root < made->cluster.n_nodes; root++)
                        if (set & (1u << root))
                                best = fmin(best, step_nsec(made, set, root));
        }
        return best;
}

static void assert_close(double a, double b)
{
        g_assert_cmpfloat_with_epsilon(a, b, 1e-6 * b);
}

static void make_random(PlanCase *made)
{
        plan_case_init(made, "distributed-llama", (uint32_t) g_test_rand_int_range(1, NODES_MAX + 1));
        plan_case_randomize(made, g_test_rand_double_range(0, 0.2));
        for (uint32_t i = 0; i < made->cluster.n_paths; i++)
                made->paths[i].rtt_nsec /= 10;
        made->workload.layers = (uint32_t) g_test_rand_int_range(1, 9);
        made->workload.vocabulary = (uint32_t) g_test_rand_int_range(1, 20000) * 2;
        made->workload.kv_heads = (uint32_t) g_test_rand_int_range(1, 9);
        made->workload.parallel = (uint32_t) g_test_rand_int_range(1, 3);
}

static void assert_stages(const PlanCase *made, const AldPlan *plan)
{
        uint32_t set = 0;
        double slowest = 0;

        for (uint32_t i = 0; i < plan->best.n_stages; i++) {
                const AldPlanStage *stage = &plan->best.stages[i];

                g_assert_cmpuint(stage->slices, ==, plan->best.n_stages);
                g_assert_cmpuint(stage->layers, ==, made->workload.layers);
                g_assert_cmpuint(stage->first_layer, ==, 0);
                g_assert_cmpuint(stage->bytes, <=, made->devices[stage->device].free_bytes);
                g_assert_cmpfloat(stage->hop_nsec, <=, plan->best.hops_nsec * (1 + 1e-9));
                g_assert_cmpint(plan->verdicts[stage->device].reason, ==, ALD_PLAN_TAKEN);
                slowest = fmax(slowest, stage->nsec);
                set |= 1u << stage->device;
        }
        assert_close(plan->best.nsec, slowest + plan->best.hops_nsec);
        g_assert_cmpuint(plan->best.client, ==, plan->best.stages[0].device);
        assert_close(plan->best.nsec, step_nsec(made, set, plan->best.stages[0].device));
        assert_close(ald_plan_tokens_per_second(&made->workload, &plan->best),
                1e9 * made->workload.parallel / plan->best.nsec);
}

static void test_is_best(void)
{
        unsigned n_plans[NODES_MAX] = {};

        for (int i = 0; i < CASES; i++) {
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                PlanCase made;
                double best;

                make_random(&made);
                best = best_of(&made);
                plan = plan_case_try(&made, &refusal);
                g_free(refusal.verdicts);
                g_assert_true((plan == NULL) == isinf(best));
                if (!plan)
                        continue;
                assert_close(plan->best.nsec, best);
                g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
                assert_stages(&made, plan);
                for (uint32_t j = 0; j < plan->n_alternatives; j++)
                        g_assert_cmpfloat(plan->alternatives[j].nsec, >=, best * (1 - 1e-9));
                n_plans[plan->best.n_stages]++;
        }
        g_test_message("%u plans of one node, %u of two, %u of four", n_plans[1], n_plans[2], n_plans[4]);
        g_assert_cmpuint(n_plans[1], >, 0);
        /* Of four, there is about one in a hundred; test_limits() makes some. */
        g_assert_cmpuint(n_plans[2], >, 0);
}

static void join_all(PlanCase *made, double rtt_nsec, double bits_per_second)
{
        for (uint32_t i = 0; i < made->cluster.n_nodes; i++)
                for (uint32_t j = 0; j < made->cluster.n_nodes; j++)
                        if (i != j)
                                plan_case_join(made, i, j, rtt_nsec, bits_per_second);
}

/* Eight equal nodes, the root of which the request states; then what limits their number. */
static void test_limits(void)
{
        static const char *const must[] = { "n6", NULL };
        PlanCase made;

        plan_case_init(&made, "distributed-llama", 9);
        join_all(&made, 1e4, 1e10);
        made.workload.layers = 100;
        made.request.client = "n5";
        made.request.required = must;
        for (uint32_t i = 0; i < 9; i++)
                made.devices[i].free_bytes = 120000000000;
        for (int i = 0; i < 4; i++) {
                static const uint32_t expected[] = { 8, 4, 2, 1 };
                g_autoptr(AldPlan) plan = NULL;

                made.workload.kv_heads = i == 1 ? 7 : 8;
                made.workload.vocabulary = i == 2 ? 1002 : 1000;
                made.request.devices_max = i == 3 ? 1 : 0;
                made.request.client = i == 3 ? NULL : "n5";
                plan = plan_case_plan(&made);
                g_assert_cmpuint(plan->best.n_stages, ==, expected[i]);
                g_assert_cmpuint(plan->best.client, ==, i == 3 ? 6 : 5);
                g_assert_cmpint(plan->verdicts[6].reason, ==, ALD_PLAN_TAKEN);
        }
}

static void test_refusals(void)
{
        AldPlanPin pin = { (char *) "n0/cpu", 6 };
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "distributed-llama", 2);
        made.devices[1].is_processor = made.devices[1].uses_host_memory = false;
        plan = plan_case_plan(&made);
        g_assert_cmpint(plan->verdicts[1].reason, ==, ALD_PLAN_NOT_FOR_ENGINE);
        made.request.client = "n1";
        plan_case_assert_refused(&made, ALD_PLAN_REQUIRED_UNUSABLE, "n1");
        made.request.client = NULL;
        made.devices[1].is_processor = made.devices[1].uses_host_memory = true;
        made.devices[0].free_bytes = made.devices[1].free_bytes = 4000000000;
        plan_case_assert_refused(&made, ALD_PLAN_NOT_JOINED, NULL);
        join_all(&made, 1e6, 1e9);
        made.request.devices_max = 1;
        plan_case_assert_refused(&made, ALD_PLAN_DEVICES_LIMITED, NULL);
        made.request.devices_max = 0;
        made.devices[0].free_bytes = made.devices[1].free_bytes = 3000000000;
        plan_case_assert_refused(&made, ALD_PLAN_NO_DEVICE, NULL);
        /* Enough for a slice, but not for the embedding beside it. */
        made.devices[0].free_bytes = 3500000000;
        made.devices[1].free_bytes = 3600000000;
        plan_case_assert_refused(&made, ALD_PLAN_CLIENT_TOO_SMALL, "n1");
        made.request.client = "n0";
        plan_case_assert_refused(&made, ALD_PLAN_CLIENT_TOO_SMALL, "n0");
        made.request.client = NULL;
        made.request.pins = &pin;
        made.request.n_pins = 1;
        plan_case_assert_refused(&made, ALD_PLAN_NO_SPLIT, NULL);
}

/* More nodes than are tried in all ways. */
static void test_many(void)
{
        g_autoptr(AldPlan) plan = NULL, equal = NULL;
        PlanCase made;

        plan_case_init(&made, "distributed-llama", 20);
        plan_case_randomize(&made, 0.05);
        for (uint32_t i = 0; i < made.cluster.n_paths; i++)
                made.paths[i].rtt_nsec /= 100;
        /* For one of four slices and the embedding. */
        for (uint32_t i = 0; i < made.cluster.n_devices; i++)
                made.devices[i].free_bytes = MAX(made.devices[i].free_bytes, 4000000000);
        made.workload.layers = 12;
        plan = plan_case_plan(&made);
        g_assert_cmpfloat(plan->best.lower_nsec, <=, plan->best.nsec);
        g_test_message(
                "%u slices, within %.3f", plan->best.n_stages, plan->best.nsec / plan->best.lower_nsec);
        plan_case_init(&made, "distributed-llama", 17);
        join_all(&made, 1e4, 1e10);
        made.workload.layers = 30;
        equal = plan_case_plan(&made);
        g_assert_cmpuint(equal->best.n_stages, ==, 16);
        g_assert_cmpfloat(equal->best.lower_nsec, ==, equal->best.nsec);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-slices/is-best", test_is_best);
        g_test_add_func("/plan-slices/limits", test_limits);
        g_test_add_func("/plan-slices/refusals", test_refusals);
        g_test_add_func("/plan-slices/many", test_many);
        return g_test_run();
}
