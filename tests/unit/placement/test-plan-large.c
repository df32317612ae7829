/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "tests/unit/placement/plan-clusters.h"

#define SEEDS 4u

static void assert_explained(const PlannedCluster *planned, const AldPlan *plan)
{
        uint32_t n_reasons = 0;

        for (uint32_t i = 0; i < plan->n_alternatives; i++)
                g_assert_cmpfloat(plan->alternatives[i].nsec, >=, plan->best.lower_nsec);
        for (uint32_t i = 0; i < planned->cluster.n_devices; i++) {
                const AldPlanVerdict *verdict = &plan->verdicts[i];

                n_reasons += verdict->reason != ALD_PLAN_TAKEN;
                if (verdict->reason != ALD_PLAN_SAVES_TOO_LITTLE)
                        continue;
                g_assert_true(isfinite(verdict->costs_nsec) && isfinite(verdict->saves_nsec));
                g_assert_cmpfloat(verdict->saves_nsec - verdict->costs_nsec, <=,
                        plan->best.nsec - plan->best.lower_nsec + 1);
        }
        g_assert_cmpuint(n_reasons + plan->best.n_stages, ==, planned->cluster.n_devices);
        for (uint32_t i = 0; i < plan->n_sensitivities; i++) {
                g_assert_cmpfloat(plan->sensitivities[i].rate_nsec, <=, plan->best.nsec);
                g_assert_cmpfloat(plan->sensitivities[i].rtt_nsec, <, plan->best.nsec);
        }
        g_assert_cmpuint(plan->n_sensitivities, >=, plan->best.client == ALD_PLAN_NONE ? 2 : 0);
}

static void assert_plans(PlacementClusterShape shape, uint32_t n, const char *engine, uint32_t devices_max)
{
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
                g_auto(PlannedCluster) planned = { 0 };
                g_autoptr(AldPlan) plan = NULL, again = NULL;
                AldPlanRefusal refusal;

                planned_cluster_make(&planned, shape, n, seed, engine);
                planned.request.devices_max = devices_max;
                g_assert_cmpint(ald_plan_make(&planned.cluster, &planned.request, &plan, &refusal), ==, 0);
                assert_explained(&planned, plan);
                g_assert_cmpint(ald_plan_make(&planned.cluster, &planned.request, &again, &refusal), ==, 0);
                g_assert_cmpfloat(plan->best.nsec, ==, again->best.nsec);
        }
}

/* Of more stages than are judged exactly. */
static void test_long_ring(void)
{
        assert_plans(PLACEMENT_CLUSTER_RACKS, 28, "vllm", 0);
}

static void test_sparse_star(void)
{
        assert_plans(PLACEMENT_CLUSTER_SPARSE, 160, "llama.cpp", 12);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-large/long-ring", test_long_ring);
        g_test_add_func("/plan-large/sparse-star", test_sparse_star);
        return g_test_run();
}
