/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "placement/search/plan-make.h"
#include "tests/unit/placement/plan-cases.h"
#include "tests/unit/placement/plan-clusters.h"

#define CASES 60
#define NODES_MAX 7u
#define INNER_NSEC 1e3

typedef struct Orders {
        const PlanCase *of;
        uint32_t order[NODES_MAX], n, most;
        double worst, sum; /* of the best one: the slowest hop, and all of them */
} Orders;

/* On the best of several paths. */
static double hop_nsec(const PlanCase *made, uint32_t source, uint32_t sink, uint32_t ranks)
{
        double part = (double) made->workload.message_bytes / ranks, least = INFINITY;

        for (uint32_t i = 0; i < made->cluster.n_paths; i++) {
                const AldPlanPath *path = &made->paths[i];

                if (path->source == source && path->sink == sink)
                        least = fmin(least, path->rtt_nsec / 2 + part * 8 / path->bits_per_second * 1e9);
        }
        return least;
}

static void measure(Orders *self)
{
        double worst = 0, sum = 0;

        for (uint32_t i = 0; self->n > 1 && i < self->n; i++) {
                double nsec = hop_nsec(self->of, self->order[i], self->order[(i + 1) % self->n], self->n);

                worst = fmax(worst, nsec);
                sum += nsec;
        }
        if (worst > self->worst || (worst == self->worst && sum >= self->sum))
                return;
        self->worst = worst;
        self->sum = sum;
}

static void for_each_order(Orders *self, uint32_t used)
{
        if (self->n == self->most) {
                measure(self);
                return;
        }
        for (uint32_t i = 0; i < self->of->cluster.n_nodes; i++) {
                if (used & (1u << i))
                        continue;
                self->order[self->n++] = i;
                for_each_order(self, used | (1u << i));
                self->n--;
        }
}

static void make_random(PlanCase *made, uint32_t n)
{
        plan_case_init(made, "mpi", n);
        plan_case_randomize(made, g_test_rand_double_range(0, 0.3));
        if (g_test_rand_bit())
                plan_case_double_paths(made);
        for (uint32_t i = 0; i < n; i++) {
                made->devices[i].free_bytes = ALD_PLAN_ABSENT;
                made->devices[i].bytes_per_second = made->devices[i].flops = NAN;
        }
        made->workload = (AldPlanWorkload) ALD_PLAN_WORKLOAD_INIT;
        made->workload.message_bytes = (uint64_t) g_test_rand_int_range(1, 10000000);
}

static void assert_close(double a, double b)
{
        g_assert_cmpfloat_with_epsilon(a, b, 1e-6 * b + 1e-6);
}

static void assert_ring(const PlanCase *made, const AldPlan *plan, const Orders *best)
{
        double turns = 2.0 * (plan->best.n_stages - 1), worst = 0, sum = 0;
        uint32_t seen = 0, n = plan->best.n_stages;

        g_assert_cmpuint(n, ==, best->most);
        for (uint32_t i = 0; n > 1 && i < n; i++) {
                uint32_t node = plan->best.stages[i].device, next = plan->best.stages[(i + 1) % n].device;

                seen |= 1u << node;
                worst = fmax(worst, hop_nsec(made, node, next, n));
                sum += hop_nsec(made, node, next, n);
                g_assert_cmpfloat_with_epsilon(plan->best.stages[i].hop_nsec,
                        turns * hop_nsec(made, node, next, n), 1e-6 * plan->best.nsec);
        }
        g_assert_true(n == 1 || (uint32_t) __builtin_popcount(seen) == n);
        assert_close(worst, best->worst);
        assert_close(sum, best->sum);
        assert_close(plan->best.nsec, turns * worst);
        g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
        g_assert_true(isnan(ald_plan_tokens_per_second(&made->workload, &plan->best)));
}

static void test_is_best(void)
{
        unsigned n_plans = 0;

        for (int i = 0; i < CASES; i++) {
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                PlanCase made;
                Orders all = { .of = &made, .worst = INFINITY, .sum = INFINITY };

                make_random(&made, (uint32_t) g_test_rand_int_range(1, NODES_MAX + 1));
                made.request.devices_max = (uint32_t) g_test_rand_int_range(0, NODES_MAX);
                made.request.nodes_max = (uint32_t) g_test_rand_int_range(0, NODES_MAX);
                all.most = made.cluster.n_nodes;
                if (made.request.devices_max > 0)
                        all.most = MIN(made.request.devices_max, all.most);
                if (made.request.nodes_max > 0)
                        all.most = MIN(made.request.nodes_max, all.most);
                for_each_order(&all, 0);
                plan = plan_case_try(&made, &refusal);
                g_free(refusal.verdicts);
                g_assert_true((plan == NULL) == isinf(all.worst));
                if (!plan) {
                        /* More nodes may have a ring where fewer have none. */
                        g_assert_true(refusal.kind == ALD_PLAN_NOT_JOINED ||
                                      (refusal.kind == ALD_PLAN_DEVICES_LIMITED &&
                                              all.most < made.cluster.n_nodes));
                        continue;
                }
                assert_ring(&made, plan, &all);
                n_plans++;
        }
        g_assert_cmpuint(n_plans, >, CASES / 3);
}

/* Two GPUs on each of three nodes, and one of another vendor. */
static void test_gpus(void)
{
        static const char *const must[] = { "n0/odd", NULL };
        g_autoptr(AldPlan) plan = NULL, odd = NULL;
        PlanCase made;

        plan_case_init(&made, "nccl", 3);
        made.workload.message_bytes = 6000000;
        made.request.constants.values[ALD_PLAN_INNER_HOP_NSEC] = INNER_NSEC;
        for (uint32_t i = 0; i < 3; i++) {
                made.devices[3 + i] = made.devices[i];
                made.devices[3 + i].id = "second";
                for (uint32_t j = 0; j < 3; j++)
                        if (i != j)
                                plan_case_join(&made, i, j, 2e6, 1e9);
        }
        made.devices[6] = made.devices[0];
        made.devices[6].id = "odd";
        made.devices[6].vendor = "AMD";
        made.cluster.n_devices = 7;
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 6);
        for (uint32_t i = 0; i < 6; i += 2) {
                const AldPlanStage *stages = &plan->best.stages[i];

                g_assert_cmpuint(
                        made.devices[stages[0].device].node, ==, made.devices[stages[1].device].node);
                g_assert_cmpfloat(stages[0].hop_nsec, ==, 10 * INNER_NSEC);
                g_assert_cmpfloat_with_epsilon(stages[1].hop_nsec, 10 * (1e6 + 8e6), 1);
        }
        g_assert_cmpint(plan->verdicts[6].reason, ==, ALD_PLAN_OTHER_VENDOR);
        made.request.required = must;
        odd = plan_case_plan(&made);
        g_assert_cmpuint(odd->best.n_stages, ==, 1);
        made.request.required = NULL;
        made.request.devices_max = 2;
        plan_case_assert_refused(&made, ALD_PLAN_DEVICES_LIMITED, NULL);
        made.request.devices_max = 0;
        made.request.nodes_max = 2;
        plan_case_assert_refused(&made, ALD_PLAN_DEVICES_LIMITED, NULL);
}

/* More nodes than are solved exactly, of which each has a fast path to one other. */
static void test_many(void)
{
        g_autoptr(AldPlan) plan = NULL;
        const uint32_t n = 22;
        PlanCase made;

        plan_case_init(&made, "mpi", n);
        made.workload.message_bytes = 22000000;
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t step = 1; step < n; step++)
                        plan_case_join(&made, i, (i + step) % n, 1e5, step == 5 ? 1e10 : 1e9);
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, n);
        assert_close(plan->best.nsec, 2 * (n - 1) * (5e4 + 8e5));
        g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
}

/* A ring of so many nodes is not sought anew for those that are left out, nor with better paths; one of its
 * nodes is farther away than the others. */
static void test_many_left_out(void)
{
        enum { N = 36, USED = 30, LONELY = N - 1 };
        static const char *const must[] = { "n0", NULL };
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;
        uint32_t n_left_out = 0;

        plan_case_init(&made, "mpi", N);
        made.workload.message_bytes = USED * 1000;
        for (uint32_t i = 0; i < LONELY; i++)
                for (uint32_t j = 0; j < LONELY; j++)
                        if (i != j)
                                plan_case_join(&made, i, j, i == 0 || j == 0 ? 2e6 : 1e6, 1e12);
        made.request.nodes_max = USED;
        made.request.required = must;
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, USED);
        assert_close(plan->best.nsec, 2 * (USED - 1) * (1e6 + 8));
        for (uint32_t i = 0; i < LONELY; i++) {
                n_left_out += plan->verdicts[i].reason == ALD_PLAN_SAVES_TOO_LITTLE;
                if (plan->verdicts[i].reason == ALD_PLAN_SAVES_TOO_LITTLE)
                        g_assert_true(isnan(plan->verdicts[i].costs_nsec));
        }
        g_assert_cmpuint(n_left_out, ==, LONELY - USED);
        g_assert_cmpint(plan->verdicts[LONELY].reason, ==, ALD_PLAN_NO_PATH);
        g_assert_cmpuint(plan->n_sensitivities, ==, 3);
        for (uint32_t i = 0; i < 3; i++)
                assert_close(plan->sensitivities[i].rtt_nsec,
                        made.devices[plan->sensitivities[i].device].node == 0 ? 2 * (USED - 1) * (5e5 + 8)
                                                                              : plan->best.nsec);
}

/* With sanitizers, so many nodes take a minute. */
#ifndef WITH_SANITIZER
static void make_large(PlannedCluster *planned, const char *engine, uint32_t n)
{
        planned_cluster_make(planned, PLACEMENT_CLUSTER_SPARSE, n, 0, engine);
        planned->request.devices_max = 0;
        planned->workload.message_bytes = 1000000;
        for (uint32_t i = 0; i < n; i++)
                planned->devices[i].is_processor = planned->devices[i].uses_host_memory =
                        planned->request.engine->takes_processors;
}

static void assert_large_refused(const PlannedCluster *planned, AldPlanRefusalKind kind)
{
        AldPlanRefusal refusal = {};
        AldPlan *plan = NULL;

        g_assert_cmpint(ald_plan_make(&planned->cluster, &planned->request, &plan, &refusal), ==, -EINVAL);
        g_assert_cmpint(refusal.kind, ==, kind);
        g_free(refusal.verdicts);
}

/* A ring of all GPUs has more nodes than are planned with; MPI may leave some out, but no paths join them. */
static void test_too_many(void)
{
        g_auto(PlannedCluster) gpus = { 0 }, processors = { 0 };

        make_large(&gpus, "nccl", 260);
        assert_large_refused(&gpus, ALD_PLAN_TOO_MANY_DEVICES);
        make_large(&processors, "mpi", 260);
        processors.cluster.n_paths = 0;
        assert_large_refused(&processors, ALD_PLAN_NOT_JOINED);
}
#endif

/* Of the message, the first path would pass all of it faster, but the other one each part. */
static void test_paths(void)
{
        const uint32_t n = 16;
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "mpi", n);
        made.workload.message_bytes = 1000000;
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                        if (i != j) {
                                plan_case_join(&made, i, j, 2e6, 1e10);
                                plan_case_join(&made, i, j, 1e5, 1e9);
                        }
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, n);
        assert_close(plan->best.nsec, 2 * (n - 1) * (5e4 + 1e6 / n * 8));
        g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
        for (uint32_t i = 0; i < n; i++)
                g_assert_cmpfloat(made.paths[plan->best.stages[i].path_to].rtt_nsec, ==, 1e5);
}

static void test_workload(void)
{
        AldPlanWorkload workload = ALD_PLAN_WORKLOAD_INIT;
        const AldPlanEngine *ring = ald_plan_engine_find("mpi"), *star = ald_plan_engine_find("llama.cpp");
        const char *reason = NULL;

        g_assert_cmpint(ald_plan_workload_check(&workload, ring, &reason), ==, -EINVAL);
        g_assert_nonnull(strstr(reason, "MessageBytes"));
        workload.message_bytes = 1;
        g_assert_cmpint(ald_plan_workload_check(&workload, ring, &reason), ==, 0);
        g_assert_cmpint(ald_plan_workload_check(&workload, star, &reason), ==, -EINVAL);
        workload.layers = 1;
        g_assert_cmpint(ald_plan_workload_check(&workload, star, &reason), ==, -EINVAL);
        g_assert_nonnull(strstr(reason, "LayerBytes"));
        workload.layer_bytes = 1;
        g_assert_cmpint(ald_plan_workload_check(&workload, star, &reason), ==, -EINVAL);
        workload.activation_elements = 1;
        g_assert_cmpint(ald_plan_workload_check(&workload, star, &reason), ==, 0);
}

/* Of many nodes, it is only said that there is no ring if that is certain. */
static void test_no_ring_is_found(void)
{
        PlanCase made;

        plan_case_init(&made, "mpi", 30);
        made.workload.message_bytes = 1000;
        for (uint32_t i = 1; i < 30; i++) {
                plan_case_join(&made, 0, i, 1e6, 1e9);
                plan_case_join(&made, i, 0, 1e6, 1e9);
        }
        plan_case_assert_refused(&made, ALD_PLAN_NO_RING_FOUND, NULL);
        made.cluster.n_paths -= 1;
        plan_case_assert_refused(&made, ALD_PLAN_NOT_JOINED, NULL);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-all-reduce/is-best", test_is_best);
        g_test_add_func("/plan-all-reduce/gpus", test_gpus);
        g_test_add_func("/plan-all-reduce/many", test_many);
        g_test_add_func("/plan-all-reduce/many-left-out", test_many_left_out);
#ifndef WITH_SANITIZER
        g_test_add_func("/plan-all-reduce/too-many", test_too_many);
#endif
        g_test_add_func("/plan-all-reduce/paths", test_paths);
        g_test_add_func("/plan-all-reduce/workload", test_workload);
        g_test_add_func("/plan-all-reduce/no-ring-is-found", test_no_ring_is_found);
        return g_test_run();
}
