/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "tests/unit/placement/plan-cases.h"

#define CASES 250
#define NODES_MAX 4u
#define LAYERS_MAX 6u

/* Every ring of every choice of devices, with every split. */
typedef struct Rings {
        const PlanCase *of;
        uint32_t devices[NODES_MAX], layers[NODES_MAX], n;
        uint32_t second; /* bits of the stages that send on the last of several paths */
        void (*visit)(struct Rings *self);
        double best; /* of what visit() looks for */
} Rings;

static void for_each_ring(Rings *self, uint32_t left)
{
        const PlanCase *of = self->of;

        if (left == 0)
                self->visit(self);
        for (uint32_t device = 0; left > 0 && device < of->cluster.n_devices; device++) {
                bool used = false;

                for (uint32_t i = 0; i < self->n; i++)
                        used |= self->devices[i] == device;
                if (used)
                        continue;
                self->devices[self->n++] = device;
                for (uint32_t layers = 1; layers <= left; layers++) {
                        self->layers[self->n - 1] = layers;
                        for_each_ring(self, left - layers);
                }
                self->n--;
        }
}

/* A step with b requests, by the documented model: each layer has 1 GB of weights and 1e12 operations for
 * each request. */
static double stage_nsec(const Rings *ring, uint32_t i, double b)
{
        const PlanCase *of = ring->of;
        const AldPlanDevice *device = &of->devices[ring->devices[i]];
        double operations = 2 * of->workload.token_parameters * b / device->flops;
        double nsec = ring->layers[i] * fmax(1e9 / device->bytes_per_second, operations) * 1e9;

        return nsec + (i + 1 == ring->n ? 0.5e9 / device->bytes_per_second * 1e9 : 0);
}

static bool fits(const Rings *ring)
{
        for (uint32_t i = 0; i < ring->n; i++) {
                double needs = ring->layers[i] * 1e9 + (i == 0 ? 0.5e9 : 0) + (i + 1 == ring->n ? 0.5e9 : 0);

                if (needs > (double) ring->of->devices[ring->devices[i]].free_bytes)
                        return false;
        }
        return true;
}

static const AldPlanPath *path_of(const Rings *ring, uint32_t stage)
{
        uint32_t source = ring->devices[stage], sink = ring->devices[(stage + 1) % ring->n];
        const AldPlanPath *path = plan_case_path(ring->of, source, sink);

        for (uint32_t i = 0; (ring->second & (1u << stage)) && i < ring->of->cluster.n_paths; i++)
                if (ring->of->paths[i].source == source && ring->of->paths[i].sink == sink)
                        path = &ring->of->paths[i];
        return path;
}

static double latency(const Rings *ring, double b, double *ret_busiest)
{
        double nsec = 0;

        *ret_busiest = 0;
        for (uint32_t i = 0; i < ring->n; i++) {
                const AldPlanPath *path = path_of(ring, i);
                double stage = stage_nsec(ring, i, b), transfer;

                nsec += stage;
                *ret_busiest = fmax(*ret_busiest, stage);
                if (ring->n == 1)
                        break;
                if (!path)
                        return INFINITY;
                /* The last stage sends the first one a token of 8 bytes for each request. */
                transfer = b * (i + 1 == ring->n ? 8.0 : 4.0 * ring->of->workload.activation_elements) * 8 /
                           path->bits_per_second * 1e9;
                nsec += path->rtt_nsec / 2 + transfer;
                *ret_busiest = fmax(*ret_busiest, transfer);
        }
        return nsec;
}

/* Between two tokens of a request, with the best number of steps in flight. */
static double interval(const Rings *ring)
{
        uint64_t parallel = ring->of->workload.parallel;
        double best = INFINITY;

        for (uint64_t m = 1; m <= MIN(parallel, ring->n); m++) {
                double busiest, nsec = latency(ring, (double) ((parallel + m - 1) / m), &busiest);

                best = fmin(best, m == 1 ? nsec : fmax(nsec, (double) m * busiest));
        }
        return best;
}

static void visit_interval(Rings *self)
{
        if (fits(self))
                self->best = fmin(self->best, interval(self));
}

static void visit_paths(Rings *self)
{
        for (self->second = 0; self->second < 1u << self->n; self->second++)
                visit_interval(self);
        self->second = 0;
}

static void visit_latency(Rings *self)
{
        double busiest;

        if (fits(self))
                self->best = fmin(self->best, latency(self, (double) self->of->workload.parallel, &busiest));
}

static double best_of(const PlanCase *made, void (*visit)(Rings *self))
{
        Rings all = { .of = made, .visit = visit, .best = INFINITY };

        for_each_ring(&all, (uint32_t) made->workload.layers);
        return all.best;
}

static Rings ring_of(const PlanCase *made, const AldPlanSteps *steps)
{
        Rings ring = { .of = made, .n = steps->n_stages };

        for (uint32_t i = 0; i < steps->n_stages; i++) {
                ring.devices[i] = steps->stages[i].device;
                ring.layers[i] = steps->stages[i].layers;
        }
        g_assert_true(fits(&ring));
        return ring;
}

static void assert_close(double a, double b)
{
        g_assert_cmpfloat_with_epsilon(a, b, 1e-6 * b);
}

static void make_random(PlanCase *made, AldPlanOptionsGoal goal)
{
        plan_case_init(made, "vllm", (uint32_t) g_test_rand_int_range(1, NODES_MAX + 1));
        plan_case_randomize(made, g_test_rand_double_range(0, 0.3));
        made->workload.layers = (uint32_t) g_test_rand_int_range(1, LAYERS_MAX + 1);
        made->workload.parallel = (uint32_t) g_test_rand_int_range(1, 10);
        made->workload.token_parameters = g_test_rand_double_range(1, 1e13);
        if (g_test_rand_bit())
                for (uint32_t i = 0; i < made->cluster.n_paths; i++)
                        made->paths[i].rtt_nsec /= 100;
        made->request.goal = goal;
}

static void assert_throughput(const PlanCase *made, const AldPlan *plan, double best, unsigned *n_best)
{
        Rings ring = ring_of(made, &plan->best);
        uint64_t m = plan->best.in_flight, b = (made->workload.parallel + m - 1) / m;
        double busiest, nsec = latency(&ring, (double) b, &busiest);

        g_assert_cmpuint(m, <=, ring.n);
        assert_close(plan->best.nsec, nsec);
        assert_close(plan->best.busiest_nsec, busiest);
        assert_close(plan->best.interval_nsec, m == 1 ? nsec : fmax(nsec, (double) m * busiest));
        assert_close(ald_plan_tokens_per_second(&made->workload, &plan->best),
                1e9 * (double) made->workload.parallel / plan->best.interval_nsec);
        g_assert_cmpfloat(plan->best.lower_nsec, <=, best * (1 + 1e-9));
        g_assert_cmpfloat(plan->best.interval_nsec, >=, best * (1 - 1e-9));
        if (plan->best.lower_nsec == plan->best.interval_nsec)
                assert_close(plan->best.interval_nsec, best);
        *n_best += plan->best.interval_nsec <= best * (1 + 1e-9);
        for (uint32_t i = 0; i < plan->n_alternatives; i++)
                g_assert_cmpfloat(plan->alternatives[i].interval_nsec, >=, best * (1 - 1e-9));
}

/* The bound holds, and is reached but where more steps than stages would have been better. */
static void test_throughput(void)
{
        unsigned n = 0, n_best = 0, n_overlapped = 0;

        for (int i = 0; i < CASES; i++) {
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                PlanCase made;
                double best;

                make_random(&made, ALD_PLAN_OPTIONS_GOAL_THROUGHPUT);
                best = best_of(&made, visit_interval);
                plan = plan_case_try(&made, &refusal);
                g_free(refusal.verdicts);
                g_assert_true((plan == NULL) == isinf(best));
                if (!plan)
                        continue;
                assert_throughput(&made, plan, best, &n_best);
                n_overlapped += plan->best.in_flight > 1;
                n++;
        }
        g_test_message("%u plans, %u with several steps in flight, %u best", n, n_overlapped, n_best);
        g_assert_cmpuint(n_overlapped, >, n / 8);
        g_assert_cmpuint(n_best, >=, n * 95 / 100);
}

/* Two paths between nodes, of which one may have less latency and the other a higher rate. */
static void test_paths(void)
{
        unsigned n_plans = 0, n_best = 0, n_proven = 0;

        for (int i = 0; i < CASES / 2; i++) {
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                PlanCase made;
                double best;

                make_random(&made, ALD_PLAN_OPTIONS_GOAL_THROUGHPUT);
                made.workload.layers = MIN(made.workload.layers, 4);
                made.workload.activation_elements *= 100;
                plan_case_double_paths(&made);
                best = best_of(&made, visit_paths);
                plan = plan_case_try(&made, &refusal);
                g_free(refusal.verdicts);
                g_assert_true((plan == NULL) == isinf(best));
                if (!plan)
                        continue;
                g_assert_cmpfloat(plan->best.lower_nsec, <=, best * (1 + 1e-9));
                g_assert_cmpfloat(plan->best.interval_nsec, >=, best * (1 - 1e-9));
                n_best += plan->best.interval_nsec <= best * (1 + 1e-9);
                n_proven += plan->best.lower_nsec == plan->best.interval_nsec;
                n_plans++;
        }
        g_test_message("%u plans, %u best, %u proven", n_plans, n_best, n_proven);
        g_assert_cmpuint(n_best, >=, n_plans * 9 / 10);
        g_assert_cmpuint(n_proven, >, n_plans / 2);
}

/* Of the first node: one with more bandwidth, which computes more slowly. */
static void add_second_gpu(PlanCase *made)
{
        AldPlanDevice *device = &made->devices[made->cluster.n_devices++];

        made->devices[0].bytes_per_second /= 5;
        *device = made->devices[0];
        device->id = "second";
        device->flops *= g_test_rand_double_range(0.01, 1);
        device->bytes_per_second *= g_test_rand_double_range(1, 4);
}

/* One of two GPUs of a node, however often it is named: the one with which the interval is shorter. */
static void test_must(void)
{
        static const char *const node[] = { "n0", "n0", "n0", "n0", "n0", "n0", "n0", NULL };
        static const char *const gpus[][2] = { { "n0/gpu", NULL }, { "n0/second", NULL } };
        unsigned n_differ = 0, n_best = 0;

        for (int i = 0; i < 4 * CASES; i++) {
                g_autoptr(AldPlan) plan = NULL, one = NULL, other = NULL;
                AldPlanRefusal refusals[2] = {};
                double best;
                PlanCase made;

                make_random(&made, ALD_PLAN_OPTIONS_GOAL_THROUGHPUT);
                add_second_gpu(&made);
                made.request.required = gpus[0];
                one = plan_case_try(&made, &refusals[0]);
                made.request.required = gpus[1];
                other = plan_case_try(&made, &refusals[1]);
                g_free(refusals[0].verdicts);
                g_free(refusals[1].verdicts);
                /* Else the steps could be compared as well. */
                if (!one || !other ||
                        (one->best.nsec < other->best.nsec) ==
                                (one->best.interval_nsec < other->best.interval_nsec))
                        continue;
                made.request.required = node;
                plan = plan_case_plan(&made);
                best = fmin(one->best.interval_nsec, other->best.interval_nsec) * (1 + 1e-9);
                g_assert_cmpfloat(plan->best.lower_nsec, <=, best);
                n_best += plan->best.interval_nsec <= best;
                n_differ++;
        }
        g_test_message("%u of %u best", n_best, n_differ);
        g_assert_cmpuint(n_differ, >, 4);
        /* More steps than stages would have been better. */
        g_assert_cmpuint(n_best, >=, n_differ * 24 / 25);
}

/* What the rows of the stages say adds up to the step. */
static void assert_stages_add_up(const AldPlanSteps *steps)
{
        double nsec = 0, hops = 0;

        for (uint32_t i = 0; i < steps->n_stages; i++) {
                nsec += steps->stages[i].nsec;
                hops += steps->stages[i].hop_nsec;
        }
        g_assert_cmpfloat(fabs(steps->hops_nsec - hops), <=, 1e-6 * steps->nsec);
        assert_close(steps->nsec, nsec + hops);
}

/* From the least latency to the most tokens, each with more of both than the one before. */
static void assert_front(const PlanCase *made, const AldPlan *plan)
{
        const AldPlanSteps *before = &plan->best;

        g_assert_true(plan->is_front);
        for (uint32_t i = 0; i <= plan->n_alternatives; i++) {
                const AldPlanSteps *steps = i == 0 ? &plan->best : &plan->alternatives[i - 1];
                Rings ring = ring_of(made, steps);
                double busiest;

                assert_close(steps->nsec, latency(&ring, (double) made->workload.parallel, &busiest));
                assert_close(steps->interval_nsec, interval(&ring));
                assert_stages_add_up(steps);
                g_assert_cmpfloat(steps->nsec, >=, before->nsec);
                if (i > 0)
                        g_assert_cmpfloat(steps->interval_nsec, <, before->interval_nsec);
                before = steps;
        }
}

static void test_front(void)
{
        unsigned n_alternatives = 0;

        for (int i = 0; i < CASES / 2; i++) {
                g_autoptr(AldPlan) plan = NULL, most = NULL;
                AldPlanRefusal refusal = {};
                PlanCase made;

                make_random(&made, ALD_PLAN_OPTIONS_GOAL_BOTH);
                plan = plan_case_try(&made, &refusal);
                g_free(refusal.verdicts);
                if (!plan)
                        continue;
                assert_close(plan->best.nsec, best_of(&made, visit_latency));
                assert_front(&made, plan);
                made.request.goal = ALD_PLAN_OPTIONS_GOAL_THROUGHPUT;
                most = plan_case_plan(&made);
                g_assert_cmpfloat(
                        (plan->n_alternatives > 0 ? plan->alternatives[plan->n_alternatives - 1] : plan->best)
                                .interval_nsec,
                        <=, most->best.interval_nsec * (1 + 1e-9));
                n_alternatives += plan->n_alternatives;
        }
        g_assert_cmpuint(n_alternatives, >, CASES / 20);
}

/* Of a ring that is too large to be found anew: one layer on each of equal nodes. */
static void test_sensitivities(void)
{
        enum { N = 20 };

        for (AldPlanOptionsGoal goal = 0; goal < ALD_PLAN_OPTIONS_GOAL_N; goal++) {
                g_autoptr(AldPlan) plan = NULL;
                PlanCase made;
                double nsec;

                plan_case_init(&made, "vllm", N);
                for (uint32_t i = 0; i < N; i++) {
                        made.devices[i].free_bytes = 1600000000;
                        for (uint32_t j = 0; j < N; j++)
                                if (i != j)
                                        plan_case_join(&made, i, j, 1e6, 1e9);
                }
                made.workload.layers = N;
                made.workload.parallel = 8;
                made.request.goal = goal;
                plan = plan_case_plan(&made);
                nsec = ald_plan_goal_nsec(&plan->best, goal);
                assert_close(nsec, goal == ALD_PLAN_OPTIONS_GOAL_THROUGHPUT ? plan->best.interval_nsec
                                                                            : plan->best.nsec);
                g_assert_true((plan->best.in_flight > 1) == (goal != ALD_PLAN_OPTIONS_GOAL_LATENCY));
                g_assert_cmpuint(plan->n_sensitivities, ==, N);
                for (uint32_t i = 0; i < N; i++) {
                        uint32_t steps = goal == ALD_PLAN_OPTIONS_GOAL_THROUGHPUT ? plan->best.in_flight : 1;
                        double requests = (8 + steps - 1) / steps;
                        double bits = i == 0 || i + 1 == N ? 32e3 + 64 : 2 * 32e3;

                        /* Two hops, of tokens where the ring closes; a step takes longer than all of them
                         * occupy any part. */
                        assert_close(plan->sensitivities[i].rtt_nsec, nsec - 2 * 0.9 * 5e5);
                        assert_close(plan->sensitivities[i].rate_nsec, nsec - 0.9 * bits * requests);
                }
        }
}

/* The narrow path of two nodes carries the tokens, although the head is slower on the last stage then. */
static void test_tokens_close_the_ring(void)
{
        for (AldPlanOptionsGoal goal = 0; goal < ALD_PLAN_OPTIONS_GOAL_N; goal++) {
                g_autoptr(AldPlan) plan = NULL;
                PlanCase made;

                plan_case_init(&made, "sglang", 2);
                plan_case_join(&made, 0, 1, 1e5, 1e10);
                plan_case_join(&made, 1, 0, 1e5, 1e7);
                made.devices[0].free_bytes = made.devices[1].free_bytes = 4600000000;
                made.devices[1].bytes_per_second *= 0.9;
                made.workload.parallel = 2;
                made.request.goal = goal;
                plan = plan_case_plan(&made);
                g_assert_cmpuint(plan->best.n_stages, ==, 2);
                g_assert_cmpuint(plan->best.stages[0].device, ==, 0);
                g_assert_cmpfloat(plan->best.stages[0].bytes_to, ==, 2 * 4000);
                assert_close(plan->best.stages[0].hop_nsec, 5e4 + 2 * 4000 * 8 / 10.0);
                g_assert_cmpfloat(plan->best.stages[1].bytes_to, ==, 2 * 8);
                assert_close(plan->best.stages[1].hop_nsec, 5e4 + 2 * 8 * 8 * 100);
                assert_stages_add_up(&plan->best);
        }
}

/* Two GPUs of a node have the same paths. */
static void test_sensitivity_of_node(void)
{
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "vllm", 2);
        plan_case_join(&made, 0, 1, 1e6, 1e9);
        plan_case_join(&made, 1, 0, 1e6, 1e9);
        made.cluster.n_devices = 4;
        for (uint32_t i = 0; i < 2; i++) {
                made.devices[i].free_bytes = 2600000000;
                made.devices[2 + i] = made.devices[i];
                made.devices[2 + i].id = "second";
        }
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, >=, 3);
        g_assert_cmpuint(plan->n_sensitivities, ==, 2);
        g_assert_cmpuint(made.devices[plan->sensitivities[0].device].node, !=,
                made.devices[plan->sensitivities[1].device].node);
}

/* If several steps are under way, the verdicts say no figures. */
static void test_verdicts(void)
{
        unsigned n = 0, n_told = 0;

        for (int i = 0; i < CASES; i++) {
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                PlanCase made;

                make_random(&made, ALD_PLAN_OPTIONS_GOAL_THROUGHPUT);
                plan = plan_case_try(&made, &refusal);
                g_free(refusal.verdicts);
                for (uint32_t j = 0; plan && j < made.cluster.n_devices; j++) {
                        const AldPlanVerdict *verdict = &plan->verdicts[j];

                        if (verdict->reason != ALD_PLAN_SAVES_TOO_LITTLE)
                                continue;
                        g_assert_true(plan->best.in_flight == 1 || isnan(verdict->saves_nsec));
                        g_assert_true(isnan(verdict->costs_nsec) == isnan(verdict->saves_nsec));
                        n_told += !isnan(verdict->saves_nsec);
                        n++;
                }
        }
        g_assert_cmpuint(n, >, n_told);
        g_assert_cmpuint(n_told, >, 0);
}

/* A client has one step under way. */
static void test_star(void)
{
        g_autoptr(AldPlan) latency_plan = NULL, plan = NULL;
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 2);
        plan_case_join(&made, 0, 1, 1e6, 1e9);
        plan_case_join(&made, 1, 0, 1e6, 1e9);
        made.devices[0].free_bytes = made.devices[1].free_bytes = 5000000000;
        made.workload.parallel = 4;
        latency_plan = plan_case_plan(&made);
        made.request.goal = ALD_PLAN_OPTIONS_GOAL_THROUGHPUT;
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.in_flight, ==, 1);
        g_assert_cmpfloat(plan->best.nsec, ==, latency_plan->best.nsec);
        assert_close(ald_plan_tokens_per_second(&made.workload, &plan->best), 4e9 / plan->best.nsec);
        g_assert_cmpfloat(
                plan->best.busiest_nsec, ==, fmax(plan->best.stages[0].nsec, plan->best.stages[1].nsec));
}

/* 24 layers on a device and one that is slower by a tenth. Two requests take 15 ms to compute, each of them
 * alone 7.5, and weights 10 to be read. */
static void make_limited(PlanCase *made, AldPlanOptionsGoal goal)
{
        plan_case_init(made, "vllm", 2);
        plan_case_join(made, 0, 1, 1e3, 1e10);
        plan_case_join(made, 1, 0, 1e3, 1e10);
        made->devices[0].free_bytes = made->devices[1].free_bytes = 40000000000;
        made->devices[1].bytes_per_second *= 0.9;
        made->devices[1].flops *= 0.9;
        made->workload.layers = 24;
        made->workload.parallel = 2;
        made->workload.token_parameters = 3.75e12;
        made->request.goal = goal;
}

static void check_limiter(const PlanCase *made, const AldPlanSteps *steps, bool is_computing)
{
        for (uint32_t i = 0; i < steps->n_stages; i++) {
                const AldPlanStage *stage = &steps->stages[i];

                g_assert_true(stage->is_computing == is_computing);
                assert_close(stage->nsec,
                        (stage->layers * (is_computing ? 15e6 : 10e6) + (stage->has_head ? 5e6 : 0)) * 100e9 /
                                made->devices[stage->device].bytes_per_second);
        }
}

/* By the requests that are in the step whose time is stated. */
static void test_limiter(void)
{
        g_autoptr(AldPlan) quick = NULL, many = NULL, both = NULL;
        PlanCase made;

        make_limited(&made, ALD_PLAN_OPTIONS_GOAL_LATENCY);
        quick = plan_case_plan(&made);
        check_limiter(&made, &quick->best, true);
        make_limited(&made, ALD_PLAN_OPTIONS_GOAL_THROUGHPUT);
        many = plan_case_plan(&made);
        g_assert_cmpuint(many->best.in_flight, ==, 2);
        check_limiter(&made, &many->best, false);
        make_limited(&made, ALD_PLAN_OPTIONS_GOAL_BOTH);
        both = plan_case_plan(&made);
        check_limiter(&made, &both->best, true);
        g_assert_cmpuint(both->n_alternatives, >, 0);
        for (uint32_t i = 0; i < both->n_alternatives; i++) {
                g_assert_cmpuint(both->alternatives[i].in_flight, ==, 2);
                check_limiter(&made, &both->alternatives[i], true);
        }
}

/* More devices than are solved exactly. */
static void test_many(void)
{
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "vllm", 9);
        plan_case_randomize(&made, 0.1);
        for (uint32_t i = 0; i < made.cluster.n_paths; i++)
                made.paths[i].rtt_nsec /= 1000;
        for (uint32_t i = 0; i < made.cluster.n_devices; i++)
                made.devices[i].free_bytes = 5000000000;
        made.workload.token_parameters = 1e12;
        made.workload.layers = 24;
        made.workload.parallel = 32;
        made.request.goal = ALD_PLAN_OPTIONS_GOAL_THROUGHPUT;
        plan = plan_case_plan(&made);
        g_assert_cmpfloat(plan->best.lower_nsec, <=, plan->best.interval_nsec);
        g_assert_cmpfloat(plan->best.interval_nsec, <=, 2 * plan->best.lower_nsec);
        g_test_message("%u in flight, within %.3f", plan->best.in_flight,
                plan->best.interval_nsec / plan->best.lower_nsec);
}

/* Of more GPUs than are solved exactly, two each on seven nodes; more nodes would give more tokens. */
static void test_nodes_limit(void)
{
        enum { NODES = 7, LIMIT = 2 };
        g_autoptr(AldPlan) plan = NULL;
        uint32_t nodes = 0;
        PlanCase made;

        plan_case_init(&made, "vllm", NODES);
        made.cluster.n_devices = 2 * NODES;
        for (uint32_t i = 0; i < NODES; i++) {
                made.devices[NODES + i] = made.devices[i];
                made.devices[NODES + i].id = "second";
                for (uint32_t j = 0; j < NODES; j++)
                        if (i != j)
                                plan_case_join(&made, i, j, 1e4, 1e10);
        }
        made.workload.layers = 12;
        made.workload.token_parameters = 1e13;
        made.workload.parallel = 8;
        made.request.goal = ALD_PLAN_OPTIONS_GOAL_THROUGHPUT;
        made.request.nodes_max = LIMIT;
        plan = plan_case_plan(&made);
        for (uint32_t i = 0; i < plan->best.n_stages; i++)
                nodes |= 1u << made.devices[plan->best.stages[i].device].node;
        g_assert_cmpuint(plan->best.in_flight, >, 1);
        g_assert_cmpint(__builtin_popcount(nodes), <=, LIMIT);
}

/* So many GPUs on each of some nodes that are all joined, each with room for these layers and one end; the
 * later, the slower. */
static void make_hosts(PlanCase *made, uint32_t n_gpus, const uint32_t *rooms, uint32_t n_nodes)
{
        plan_case_init(made, "vllm", n_nodes);
        for (uint32_t i = 0; i < n_nodes; i++)
                for (uint32_t j = 0; j < n_nodes; j++)
                        if (i != j)
                                plan_case_join(made, i, j, 1e3, 1e12);
        made->cluster.n_devices = n_gpus * n_nodes;
        for (uint32_t i = 0; i < made->cluster.n_devices; i++) {
                made->devices[i] = made->devices[0];
                made->devices[i].node = i / n_gpus;
                made->devices[i].id = made->ids[i % n_gpus];
                made->devices[i].free_bytes = rooms[i / n_gpus] * UINT64_C(1000000000) + 600000000;
                made->devices[i].bytes_per_second = 100e9 / (1 + i / n_gpus);
        }
}

/* Those that have the most layers without the limit have too little memory for all of them. */
static void test_roomy_nodes(void)
{
        static const uint32_t one[] = { 1, 2, 4 }, two[] = { 2, 2, 4, 4 };
        g_autoptr(AldPlan) alone = NULL, pair = NULL;
        PlanCase made;

        make_hosts(&made, 8, one, G_N_ELEMENTS(one));
        made.workload.layers = 24;
        made.request.nodes_max = 1;
        alone = plan_case_plan(&made);
        for (uint32_t i = 0; i < alone->best.n_stages; i++)
                g_assert_cmpuint(made.devices[alone->best.stages[i].device].node, ==, 2);
        g_assert_cmpfloat(alone->best.lower_nsec, ==, alone->best.nsec);
        made.workload.layers = 33;
        plan_case_assert_refused(&made, ALD_PLAN_DEVICES_LIMITED, NULL);
        make_hosts(&made, 6, two, G_N_ELEMENTS(two));
        made.workload.layers = 44;
        made.request.nodes_max = 2;
        pair = plan_case_plan(&made);
        for (uint32_t i = 0; i < pair->best.n_stages; i++)
                g_assert_cmpuint(made.devices[pair->best.stages[i].device].node, >=, 2);
}

static void test_pin_parsing(void)
{
        static const char *const bad[] = { "", "n0/gpu", "n0=3", "n0/=3", "/gpu=3", "n0/gpu=", "n0/gpu=0",
                "n0/gpu=-1", "n0/gpu=1025", "n0/gpu=3x", "n0/gpu= 3", "=/3" };
        g_auto(AldPlanPin) pin = {}, odd = {};

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_cmpint(ald_plan_pin_parse(bad[i], &pin), ==, -EINVAL);
        g_assert_cmpint(ald_plan_pin_parse("n0/gpu=1024", &pin), ==, 0);
        g_assert_cmpstr(pin.device, ==, "n0/gpu");
        g_assert_cmpuint(pin.layers, ==, 1024);
        g_assert_cmpint(ald_plan_pin_parse("n0/a/b=c=7", &odd), ==, 0);
        g_assert_cmpstr(odd.device, ==, "n0/a/b=c");
        g_assert_cmpuint(odd.layers, ==, 7);
}

/* Of all rings only those of these devices with these layers count. */
static void visit_pinned(Rings *self)
{
        const AldPlanRequest *request = &self->of->request;

        if (self->n != request->n_pins)
                return;
        for (uint32_t i = 0; i < self->n; i++) {
                g_autofree char *name = g_strdup_printf("%s/gpu", self->of->nodes[self->devices[i]].id);
                bool found = false;

                for (uint32_t j = 0; j < request->n_pins; j++)
                        found |= g_str_equal(request->pins[j].device, name) &&
                                 request->pins[j].layers == self->layers[i];
                if (!found)
                        return;
        }
        (self->of->request.goal == ALD_PLAN_OPTIONS_GOAL_LATENCY ? visit_latency : visit_interval)(self);
}

static void test_pins_are_kept(void)
{
        unsigned n = 0;

        for (int i = 0; i < CASES; i++) {
                AldPlanPin pins[] = { { (char *) "n0/gpu", 2 }, { (char *) "n2/gpu", 1 },
                        { (char *) "n1/gpu", 1 } };
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                PlanCase made;
                double best;

                make_random(&made, i % 2 ? ALD_PLAN_OPTIONS_GOAL_LATENCY : ALD_PLAN_OPTIONS_GOAL_THROUGHPUT);
                if (made.cluster.n_nodes < G_N_ELEMENTS(pins))
                        continue;
                made.request.pins = pins;
                made.request.n_pins = G_N_ELEMENTS(pins);
                made.workload.layers = 4;
                best = best_of(&made, visit_pinned);
                plan = plan_case_try(&made, &refusal);
                g_free(refusal.verdicts);
                g_assert_true((plan == NULL) == isinf(best));
                if (!plan)
                        continue;
                assert_close(plan->best.interval_nsec, best);
                for (uint32_t j = 3; j < made.cluster.n_devices; j++)
                        g_assert_cmpint(plan->verdicts[j].reason, ==, ALD_PLAN_EXCLUDED);
                n++;
        }
        g_assert_cmpuint(n, >, CASES / 16);
}

static void test_pin_refusals(void)
{
        AldPlanPin pins[] = { { (char *) "n0/cpu", 2 }, { (char *) "n1/cpu", 3 } };
        AldPlanRefusal refusal = {};
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 2);
        plan_case_join(&made, 0, 1, 1e6, 1e9);
        plan_case_join(&made, 1, 0, 1e6, 1e9);
        made.request.pins = pins;
        made.request.n_pins = 2;
        g_assert_null(plan_case_try(&made, &refusal));
        g_assert_cmpint(refusal.kind, ==, ALD_PLAN_PINS_DO_NOT_ADD_UP);
        g_assert_cmpuint(refusal.pinned_layers, ==, 5);
        g_free(refusal.verdicts);
        pins[0].layers = 3;
        made.devices[1].free_bytes = 2000000000;
        g_assert_null(plan_case_try(&made, &refusal));
        g_assert_cmpint(refusal.kind, ==, ALD_PLAN_PINNED_TOO_MANY);
        g_assert_cmpstr(refusal.text, ==, "n1/cpu");
        g_assert_cmpuint(refusal.needs_bytes, ==, 3000000000);
        g_assert_cmpuint(refusal.free_bytes, ==, 2000000000);
        g_free(refusal.verdicts);
        /* Neither has room for the head. */
        made.devices[0].free_bytes = 3300000000;
        made.devices[1].free_bytes = 3200000000;
        g_assert_null(plan_case_try(&made, &refusal));
        g_assert_cmpint(refusal.kind, ==, ALD_PLAN_PINNED_TOO_MANY);
        g_assert_cmpstr(refusal.text, ==, "n0/cpu");
        g_assert_cmpuint(refusal.needs_bytes - refusal.free_bytes, ==, 200000000);
        g_free(refusal.verdicts);
        made.nodes[0].unusable = "offline";
        plan_case_assert_refused(&made, ALD_PLAN_REQUIRED_UNUSABLE, "n0/cpu");
        pins[0].device = (char *) "n7/cpu";
        plan_case_assert_refused(&made, ALD_PLAN_NO_SUCH_NODE, "n7/cpu");
        pins[0].device = pins[1].device;
        made.devices[1].free_bytes = 9000000000;
        plan_case_assert_refused(&made, ALD_PLAN_PINNED_TWICE, "n1/cpu");
}

/* Of two stages of a ring, each is an end; one of these has room for neither, in either order. */
static void test_pinned_ends(void)
{
        for (uint32_t tight = 0; tight < 2; tight++) {
                AldPlanPin pins[] = { { (char *) "n0/gpu", 3 }, { (char *) "n1/gpu", 3 } };
                AldPlanRefusal refusal = {};
                PlanCase made;

                plan_case_init(&made, "vllm", 2);
                plan_case_join(&made, 0, 1, 1e6, 1e9);
                plan_case_join(&made, 1, 0, 1e6, 1e9);
                made.request.pins = pins;
                made.request.n_pins = 2;
                made.workload.head_bytes = 700000000;
                made.devices[tight].free_bytes = 3200000000;
                g_assert_null(plan_case_try(&made, &refusal));
                g_assert_cmpint(refusal.kind, ==, ALD_PLAN_PINNED_TOO_MANY);
                g_assert_cmpstr(refusal.text, ==, pins[tight].device);
                g_assert_cmpuint(refusal.needs_bytes, ==, 3500000000);
                g_assert_cmpuint(refusal.free_bytes, ==, 3200000000);
                g_free(refusal.verdicts);
        }
}

/* Either of two GPUs of a node must be used, with one other at most. With the second one that would have to
 * be the fast one, to which the node has no path; among so many, that is not proven to be impossible. */
static void test_unproven_choice(void)
{
        enum { N = 23, FAST = 1, NEAR = 2 };
        static const char *const must[] = { "n0", NULL };
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "vllm", N);
        for (uint32_t i = 0; i < N; i++)
                made.devices[i].free_bytes = 1600000000;
        made.devices[FAST].free_bytes = 8000000000;
        made.devices[FAST].bytes_per_second = 200e9;
        made.devices[NEAR].free_bytes = 4600000000;
        made.devices[N] = made.devices[0];
        made.devices[N].id = "second";
        made.devices[0].free_bytes = 3600000000;
        made.cluster.n_devices = N + 1;
        plan_case_join(&made, 0, NEAR, 1e6, 1e9);
        plan_case_join(&made, NEAR, 0, 1e6, 1e9);
        made.request.devices_max = 2;
        made.request.required = must;
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        g_assert_cmpfloat(plan->best.lower_nsec, <, plan->best.nsec);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-goals/throughput", test_throughput);
        g_test_add_func("/plan-goals/paths", test_paths);
        g_test_add_func("/plan-goals/must", test_must);
        g_test_add_func("/plan-goals/unproven-choice", test_unproven_choice);
        g_test_add_func("/plan-goals/front", test_front);
        g_test_add_func("/plan-goals/tokens-close-the-ring", test_tokens_close_the_ring);
        g_test_add_func("/plan-goals/sensitivities", test_sensitivities);
        g_test_add_func("/plan-goals/sensitivity-of-node", test_sensitivity_of_node);
        g_test_add_func("/plan-goals/verdicts", test_verdicts);
        g_test_add_func("/plan-goals/star", test_star);
        g_test_add_func("/plan-goals/limiter", test_limiter);
        g_test_add_func("/plan-goals/many", test_many);
        g_test_add_func("/plan-goals/nodes-limit", test_nodes_limit);
        g_test_add_func("/plan-goals/roomy-nodes", test_roomy_nodes);
        g_test_add_func("/plan-goals/pin-parsing", test_pin_parsing);
        g_test_add_func("/plan-goals/pins-are-kept", test_pins_are_kept);
        g_test_add_func("/plan-goals/pin-refusals", test_pin_refusals);
        g_test_add_func("/plan-goals/pinned-ends", test_pinned_ends);
        return g_test_run();
}
