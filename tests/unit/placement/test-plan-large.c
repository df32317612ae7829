/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/plan/plan-candidates.h"
#include "placement/search/plan-make.h"
#include "tests/unit/placement/plan-clusters.h"

#define SEEDS 1u
#define LAYER_BYTES 1000000000u

static void assert_explained(const PlannedCluster *planned, const AldPlan *plan)
{
        uint32_t n_reasons = 0;

        for (uint32_t i = 0; i < plan->n_alternatives; i++)
                g_assert_cmpfloat(plan->alternatives[i].nsec, >=, plan->best.lower_nsec);
        for (uint32_t i = 0; !plan->is_front && i < plan->n_alternatives; i++)
                g_assert_cmpfloat(plan->alternatives[i].interval_nsec, >=, plan->best.interval_nsec);
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

static void assert_plan(PlacementClusterShape shape, uint32_t n, uint32_t seed, const char *engine)
{
        g_auto(PlannedCluster) planned = { 0 };
        g_autoptr(AldPlan) plan = NULL, again = NULL;
        AldPlanRefusal refusal;

        planned_cluster_make(&planned, shape, n, seed, engine);
        g_assert_cmpint(ald_plan_make(&planned.cluster, &planned.request, &plan, &refusal), ==, 0);
        assert_explained(&planned, plan);
        g_assert_cmpint(ald_plan_make(&planned.cluster, &planned.request, &again, &refusal), ==, 0);
        g_assert_cmpfloat(plan->best.nsec, ==, again->best.nsec);
        g_assert_cmpuint(plan->n_alternatives, ==, again->n_alternatives);
}

/* Too large to be solved anew for each stage. */
static void test_ring(void)
{
        assert_plan(PLACEMENT_CLUSTER_RACKS, 48, 0, "vllm");
}

static void test_star(void)
{
        for (uint32_t seed = 0; seed < SEEDS; seed++)
                assert_plan(PLACEMENT_CLUSTER_SPARSE, 140, seed, "llama.cpp");
}

/* How often a request is asked whether to go on before the best steps are found. */
typedef struct Asked {
        unsigned calls, most; /* after which it is given up */
} Asked;

static bool on_proceed(double fraction, void *userdata)
{
        Asked *asked = userdata;

        g_assert_cmpfloat(fraction, ==, 0);
        return ++asked->calls < asked->most;
}

static void assert_given_up(PlannedCluster *planned, unsigned most)
{
        g_autoptr(AldPlan) plan = NULL;
        AldPlanRefusal refusal;
        Asked asked = { .most = most };

        planned->request.proceed = on_proceed;
        planned->request.userdata = &asked;
        g_assert_cmpint(ald_plan_make(&planned->cluster, &planned->request, &plan, &refusal), ==, -ECANCELED);
        g_assert_cmpuint(asked.calls, ==, most);
}

/* While one ring is looked for among many devices. */
static void test_giving_up_a_search(void)
{
        g_auto(PlannedCluster) planned = { 0 };

        planned_cluster_make(&planned, PLACEMENT_CLUSTER_FLAT, 40, 0, "vllm");
        assert_given_up(&planned, 1);
        assert_given_up(&planned, 20);
        planned.workload.parallel = 256;
        planned.request.goal = ALD_PLAN_OPTIONS_GOAL_THROUGHPUT;
        assert_given_up(&planned, 150);
}

/* While each choice of one of two GPUs of six nodes is tried. */
static void test_giving_up_tries(void)
{
        static const char *const must[] = { "n0", "n1", "n2", "n3", "n4", "n5", NULL };
        g_auto(PlannedCluster) planned = { 0 };

        planned_cluster_make(&planned, PLACEMENT_CLUSTER_RACKS, 12, 0, "vllm");
        for (uint32_t i = 0; i < planned.cluster.n_devices; i++)
                planned.devices[i].node = i / 2;
        planned.request.required = must;
        assert_given_up(&planned, 64);
}

static bool on_late(void *userdata)
{
        Asked *asked = userdata;

        return ++asked->calls >= asked->most;
}

/* Of the plan that was found until then, `least` is what the best one takes. */
static double assert_stopped(PlannedCluster *planned, unsigned most, double least)
{
        g_autoptr(AldPlan) plan = NULL;
        AldPlanRefusal refusal;
        Asked asked = { .most = most };
        uint32_t n_untried = 0;

        planned->request.is_late = on_late;
        planned->request.userdata = &asked;
        g_assert_cmpint(ald_plan_make(&planned->cluster, &planned->request, &plan, &refusal), ==, 0);
        planned->request.is_late = NULL;
        g_assert_true(plan->is_stopped);
        g_assert_cmpuint(asked.calls, ==, most);
        g_assert_cmpfloat(plan->best.lower_nsec, >, 0);
        g_assert_cmpfloat(plan->best.lower_nsec, <=, least);
        for (uint32_t i = 0; i < planned->cluster.n_devices; i++)
                n_untried += plan->verdicts[i].reason == ALD_PLAN_NOT_TRIED;
        g_assert_cmpuint(n_untried, >, 0);
        g_assert_cmpuint(n_untried + plan->best.n_stages, <=, planned->cluster.n_devices);
        return plan->best.interval_nsec;
}

/* Wherever time is up, there is a plan and a bound. */
static void test_time_is_up(void)
{
        g_auto(PlannedCluster) planned = { 0 };
        g_autoptr(AldPlan) plan = NULL;
        AldPlanRefusal refusal;
        double before = INFINITY;

        planned_cluster_make(&planned, PLACEMENT_CLUSTER_SPARSE, 48, 0, "vllm");
        planned.workload.parallel = 256;
        planned.workload.token_parameters = 1e13;
        planned.request.goal = ALD_PLAN_OPTIONS_GOAL_THROUGHPUT;
        g_assert_cmpint(ald_plan_make(&planned.cluster, &planned.request, &plan, &refusal), ==, 0);
        g_assert_false(plan->is_stopped);
        g_assert_cmpfloat(plan->best.lower_nsec, >, 0);
        g_assert_cmpuint(plan->best.in_flight, >, 1);
        for (unsigned most = 1; most <= 100; most = 10 * most) {
                double interval = assert_stopped(&planned, most, plan->best.interval_nsec);

                g_assert_cmpfloat(interval, <=, before);
                g_assert_cmpfloat(interval, >=, plan->best.interval_nsec);
                before = interval;
        }
}

/* As soon as any engine has a plan, it can be returned. */
static void test_time_is_up_at_once(void)
{
        static const char *const engines[] = { "llama.cpp", "vllm", "torch", "nccl" };

        for (uint32_t i = 0; i < G_N_ELEMENTS(engines); i++) {
                g_auto(PlannedCluster) planned = { 0 };
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal;
                Asked asked = { .most = 1 };

                planned_cluster_make(&planned, PLACEMENT_CLUSTER_FLAT, 40, 1, engines[i]);
                planned.workload.message_bytes = 1 << 20;
                planned.request.is_late = on_late;
                planned.request.userdata = &asked;
                g_assert_cmpint(ald_plan_make(&planned.cluster, &planned.request, &plan, &refusal), ==, 0);
                g_assert_true(plan->is_stopped);
                g_assert_cmpuint(plan->best.n_stages, >, 0);
                g_assert_cmpfloat(plan->best.lower_nsec, >, 0);
                g_assert_cmpfloat(plan->best.lower_nsec, <=, plan->best.nsec);
        }
}

/* Why there is none is not guessed. */
static void test_time_is_up_without_a_plan(void)
{
        g_auto(PlannedCluster) planned = { 0 };
        g_autoptr(AldPlan) plan = NULL;
        AldPlanRefusal refusal = { 0 };
        Asked asked = { .most = 1 };

        planned_cluster_make(&planned, PLACEMENT_CLUSTER_FLAT, 40, 1, "torch");
        planned.cluster.n_paths = 0;
        for (uint32_t i = 0; i < planned.cluster.n_devices; i++)
                planned.devices[i].free_bytes = 3 * (uint64_t) LAYER_BYTES;
        g_assert_cmpint(ald_plan_make(&planned.cluster, &planned.request, &plan, &refusal), ==, -EINVAL);
        g_assert_cmpint(refusal.kind, !=, ALD_PLAN_TIME_UP);
        g_clear_pointer(&refusal.verdicts, g_free);
        planned.request.is_late = on_late;
        planned.request.userdata = &asked;
        g_assert_cmpint(ald_plan_make(&planned.cluster, &planned.request, &plan, &refusal), ==, -EINVAL);
        g_assert_cmpint(refusal.kind, ==, ALD_PLAN_TIME_UP);
        g_free(refusal.verdicts);
}

typedef struct Many {
        AldPlanNode *nodes;
        AldPlanDevice *devices;
        char *ids;
} Many;

static void many_clear(Many *many)
{
        g_free(many->nodes);
        g_free(many->devices);
        g_free(many->ids);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Many, many_clear)

/* Nodes with a device each, without paths. */
static void assert_too_many(const char *name, uint32_t n, bool too_many)
{
        const AldPlanEngine *engine = ald_plan_engine_find(name);
        g_auto(Many) many = { g_new0(AldPlanNode, n), g_new0(AldPlanDevice, n), g_new(char, 8 * n) };
        AldPlanWorkload workload = { .layers = 80,
                .layer_bytes = 1000,
                .mean_layer_bytes = 1000,
                .token_bytes = 1000,
                .token_parameters = 1,
                .activation_elements = 1,
                .message_bytes = 1000,
                .experts = ALD_ABSENT_UINT64,
                .used_experts = ALD_ABSENT_UINT64,
                .feed_forward_elements = ALD_ABSENT_UINT64,
                .parallel = 1 };
        AldPlanRequest request = { .engine = engine,
                .workload = &workload,
                .assumed_rtt_nsec = NAN,
                .assumed_bits_per_second = NAN };
        AldPlanCluster cluster = {
                .nodes = many.nodes, .n_nodes = n, .devices = many.devices, .n_devices = n
        };
        g_auto(AldPlanCandidates) candidates = { 0 };
        AldPlanRefusal refusal = { 0 };
        int r;

        ald_plan_constants_init(&request.constants, NULL);
        for (uint32_t i = 0; i < n; i++) {
                g_snprintf(many.ids + 8 * i, 8, "n%u", i);
                many.nodes[i].id = many.ids + 8 * i;
                many.devices[i] = (AldPlanDevice){ .node = i,
                        .id = "device",
                        .is_processor = engine->takes_processors,
                        .uses_host_memory = engine->takes_processors,
                        .free_bytes = 100000000000,
                        .bytes_per_second = 1e11,
                        .flops = 1e12 };
        }
        r = ald_plan_candidates_init(&candidates, &cluster, &request, ALD_PLAN_PREFER_SPEED, &refusal);
        g_assert_cmpint(r, ==, too_many ? -EINVAL : 0);
        if (too_many)
                g_assert_cmpint(refusal.kind, ==, ALD_PLAN_TOO_MANY_DEVICES);
}

/* Whose tables would not fit into the memory that the service may take. */
static void test_too_many(void)
{
        assert_too_many("vllm", 1500, false);
        assert_too_many("vllm", 3000, true);
        assert_too_many("mpi", 1500, false);
        assert_too_many("mpi", 3000, true);
        assert_too_many("distributed-llama", 4096, false);
        assert_too_many("llama.cpp", 4096, false);
        assert_too_many("llama.cpp", 4097, true);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-large/ring", test_ring);
        g_test_add_func("/plan-large/star", test_star);
        g_test_add_func("/plan-large/too-many", test_too_many);
        g_test_add_func("/plan-large/giving-up-a-search", test_giving_up_a_search);
        g_test_add_func("/plan-large/giving-up-tries", test_giving_up_tries);
        g_test_add_func("/plan-large/time-is-up", test_time_is_up);
        g_test_add_func("/plan-large/time-is-up-at-once", test_time_is_up_at_once);
        g_test_add_func("/plan-large/time-is-up-without-a-plan", test_time_is_up_without_a_plan);
        return g_test_run();
}
