/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans count each layer as what it is, and level out equally fast devices. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "placement/layers/cuts.h"
#include "placement/model/ggml-types.h"
#include "placement/model/model-file.h"
#include "placement/search/plan-make.h"
#include "tests/unit/gguf-maker.h"
#include "tests/unit/placement/plan-cases.h"

#define CASES 2000
#define STAGES_MAX 4u
#define LAYERS_MAX 9u
#define MIB 1048576.0
#define GIB (UINT64_C(1) << 30)
#define GB 1000000000ull
#define WILD_GPUS 5u
#define WILD_LAYERS 16u
#define WILD_NODES 10u
#define WILD_STARS 24u

/* Every cut of some layers between some stages. */
typedef struct CutCase {
        AldPlanWorkload workload;
        AldPlanRequest request;
        AldPlanLayerSizes *sizes;
        uint32_t n;
        AldPlanStageCut stages[STAGES_MAX];
        double best_nsec;
        double spare[STAGES_MAX]; /* of the equals of the first stage, the least first */
        bool is_alike;
} CutCase;

static double bytes_of(const CutCase *of, uint32_t first, uint32_t end)
{
        return of->sizes ? (double) (of->sizes->sums[end] - of->sizes->sums[first])
                         : (double) (of->workload.layer_bytes * (end - first));
}

static int compare_doubles(const void *a, const void *b)
{
        const double *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

static uint32_t count_equals(const CutCase *of)
{
        uint32_t n = 0;

        for (uint32_t i = 0; i < of->n; i++)
                n += of->stages[i].layer_nsec == of->stages[0].layer_nsec;
        return n;
}

/* What is left on stages that are as fast as the first one, if any are; INFINITY for the others. False: it
 * does not fit. */
static bool measure(const CutCase *of, const uint32_t *layers, double *ret_nsec, double *ret_spare)
{
        bool has_equals = count_equals(of) > 1;
        uint32_t first = 0;

        *ret_nsec = 0;
        for (uint32_t i = 0; i < of->n; i++) {
                double left = of->stages[i].room - bytes_of(of, first, first + layers[i]);
                bool counts = has_equals && of->stages[i].layer_nsec == of->stages[0].layer_nsec;

                if (left < 0 || layers[i] > of->stages[i].layers_max)
                        return false;
                *ret_nsec += layers[i] * of->stages[i].layer_nsec;
                ret_spare[i] = counts ? floor(left / MIB) : INFINITY;
                first += layers[i];
        }
        qsort(ret_spare, of->n, sizeof *ret_spare, compare_doubles);
        return true;
}

static bool is_more_level(const CutCase *of, const double *spare)
{
        for (uint32_t i = 0; i < of->n; i++)
                if (spare[i] != of->spare[i])
                        return spare[i] > of->spare[i];
        return false;
}

static void for_each_cut(CutCase *of, uint32_t stage, uint32_t left, uint32_t *layers)
{
        double nsec, spare[STAGES_MAX];

        if (stage + 1 < of->n) {
                for (layers[stage] = 1; layers[stage] < left; layers[stage]++)
                        for_each_cut(of, stage + 1, left - layers[stage], layers);
                return;
        }
        layers[stage] = left;
        if (!measure(of, layers, &nsec, spare) || nsec > of->best_nsec)
                return;
        if (nsec == of->best_nsec && !is_more_level(of, spare))
                return;
        of->best_nsec = nsec;
        memcpy(of->spare, spare, sizeof spare);
}

static void make_cut_case(CutCase *made)
{
        uint64_t weights[LAYERS_MAX], none[LAYERS_MAX] = {};
        g_auto(GStrv) texts = NULL;
        const char *reason = NULL;
        uint32_t layers;

        *made = (CutCase){ .n = (uint32_t) g_test_rand_int_range(1, STAGES_MAX + 1),
                .is_alike = g_test_rand_int_range(0, 2),
                .best_nsec = INFINITY };
        layers = (uint32_t) g_test_rand_int_range((int) made->n, LAYERS_MAX + 1);
        for (uint32_t i = 0; i < layers; i++)
                weights[i] = (made->is_alike ? 5 : (uint64_t) g_test_rand_int_range(1, 9)) * (uint64_t) MIB;
        made->workload = (AldPlanWorkload){ .layers = layers,
                .layer_bytes = (made->is_alike ? 5 : 9) * (uint64_t) MIB };
        texts = ald_plan_layer_sizes_to_text(weights, none, layers);
        made->workload.layer_sizes = (const char *const *) texts;
        made->sizes = texts ? ald_plan_layer_sizes_new(&made->workload, &reason) : NULL;
        if (!texts)
                made->workload.layer_bytes = weights[0];
        made->request = (AldPlanRequest){ .workload = &made->workload, .sizes = made->sizes };
        for (uint32_t i = 0; i < made->n; i++)
                made->stages[i] = (AldPlanStageCut){ .room = g_test_rand_int_range(0, 50) * MIB,
                        .layer_nsec = g_test_rand_int_range(1, 4),
                        .layers_max = g_test_rand_int_range(0, 4) ? UINT32_MAX : 2 };
}

/* By trying all: the least time, and of equally fast stages the most room where the least is left; if layers
 * are alike, also on the others. */
static void test_cuts(void)
{
        unsigned n_fit = 0, n_level = 0;

        for (int i = 0; i < CASES; i++) {
                uint32_t layers[STAGES_MAX] = {}, simple[STAGES_MAX], level[STAGES_MAX];
                double nsec, spare[STAGES_MAX];
                CutCase made;
                bool fits;

                make_cut_case(&made);
                for_each_cut(&made, 0, (uint32_t) made.workload.layers, layers);
                fits = ald_plan_cut(&made.request, made.stages, made.n, false);
                g_assert_cmpint(fits, ==, !isinf(made.best_nsec));
                for (uint32_t j = 0; j < made.n; j++)
                        simple[j] = made.stages[j].layers;
                g_assert_cmpint(ald_plan_cut(&made.request, made.stages, made.n, true), ==, fits);
                for (uint32_t j = 0; j < made.n; j++)
                        level[j] = made.stages[j].layers;
                if (fits) {
                        g_assert_true(measure(&made, simple, &nsec, spare));
                        g_assert_cmpfloat(nsec, ==, made.best_nsec);
                        g_assert_true(measure(&made, level, &nsec, spare));
                        g_assert_cmpfloat(nsec, ==, made.best_nsec);
                        g_assert_cmpfloat(spare[0], ==, made.spare[0]);
                        for (uint32_t j = 0; made.is_alike && j < made.n; j++)
                                g_assert_cmpfloat(spare[j], ==, made.spare[j]);
                        n_fit++;
                        n_level += memcmp(simple, level, made.n * sizeof *simple) != 0;
                }
                g_free(made.sizes);
        }
        g_assert_cmpuint(n_fit, >, CASES / 3);
        g_assert_cmpuint(n_level, >, CASES / 20);
}

static void make_equals(PlanCase *made, const char *engine, uint32_t n)
{
        plan_case_init(made, engine, n);
        made->workload.layers = 80;
        made->workload.layer_bytes = 1600 * (uint64_t) MIB;
        made->workload.embedding_bytes = made->workload.head_bytes = GIB;
        for (uint32_t i = 0; i < n; i++) {
                made->devices[i].free_bytes = 115 * GIB;
                made->devices[i].bytes_per_second = 270e9;
                for (uint32_t j = 0; j < n; j++)
                        if (i != j)
                                plan_case_join(made, i, j, 1e5, 1e10);
        }
}

/* Two equal machines share the layers instead of one being filled to the brim. */
static void test_equal_machines(void)
{
        static const char *const engines[] = { "llama.cpp", "vllm" };

        for (size_t i = 0; i < G_N_ELEMENTS(engines); i++) {
                g_autoptr(AldPlan) plan = NULL;
                PlanCase made;

                make_equals(&made, engines[i], 2);
                plan = plan_case_plan(&made);
                g_assert_cmpuint(plan->best.n_stages, ==, 2);
                g_assert_cmpuint(plan->best.stages[0].layers, >=, 39);
                g_assert_cmpuint(plan->best.stages[0].layers, <=, 41);
                g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
        }
}

/* A faster one is filled all the same, and the two equal ones share what is left. */
static void test_equals_beside_a_faster_one(void)
{
        static const AldPlanOptionsGoal goals[] = { ALD_PLAN_OPTIONS_GOAL_LATENCY,
                ALD_PLAN_OPTIONS_GOAL_BOTH };

        for (size_t i = 0; i < G_N_ELEMENTS(goals); i++) {
                uint32_t layers[3];
                PlanCase made;
                g_autoptr(AldPlan) plan = NULL;

                make_equals(&made, "vllm", 3);
                made.request.goal = goals[i];
                made.workload.parallel = 4;
                made.workload.layers = 121;
                made.devices[1].free_bytes = 30 * GIB;
                made.devices[1].bytes_per_second = 1000e9;
                plan = plan_case_plan(&made);
                g_assert_cmpuint(plan->best.n_stages, ==, 3);
                for (uint32_t j = 0; j < 3; j++)
                        layers[plan->best.stages[j].device] = plan->best.stages[j].layers;
                g_assert_cmpuint(layers[1], >=, 18);
                g_assert_cmpint(ABS((int) layers[0] - (int) layers[2]), <=, 2);
        }
}

/* For throughput, no stage may take longer than the busiest before. */
static void test_equals_for_throughput(void)
{
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        make_equals(&made, "vllm", 2);
        made.request.goal = ALD_PLAN_OPTIONS_GOAL_THROUGHPUT;
        made.workload.parallel = 8;
        made.workload.token_parameters = 1e12; /* so that fewer requests in a step take less time */
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        g_assert_cmpuint(plan->best.in_flight, ==, 2);
        g_assert_cmpfloat(plan->best.interval_nsec, <=, fmax(plan->best.nsec, 2 * plan->best.busiest_nsec));
        g_assert_cmpint(ABS((int) plan->best.stages[0].layers - 40), <=, 1);
}

/* Of equally fast devices of which one is needed, the one with the most room. */
static void test_roomier_equal(void)
{
        static const char *const engines[] = { "llama.cpp", "vllm" };

        for (size_t i = 0; i < G_N_ELEMENTS(engines); i++) {
                g_autoptr(AldPlan) plan = NULL;
                PlanCase made;

                make_equals(&made, engines[i], 3);
                made.workload.layers = 20;
                made.devices[0].free_bytes = made.devices[1].free_bytes = 40 * GIB;
                plan = plan_case_plan(&made);
                g_assert_cmpuint(plan->best.n_stages, ==, 1);
                g_assert_cmpuint(plan->best.stages[0].device, ==, 2);
        }
}

static void set_sizes(PlanCase *made, const char *const *texts)
{
        const char *reason = NULL;

        made->workload.layer_sizes = texts;
        made->request.sizes = ald_plan_layer_sizes_new(&made->workload, &reason);
        g_assert_null(reason);
}

/* Three small layers come first. Two devices have room for exactly what there is, if one has these three and
 * 29 others, and the other one the last 29; of which any 32 that follow each other would need more. */
static void test_small_layers_first(void)
{
        static const char *const texts[] = { "3*400000000+100000000", "58*6000000000+100000000", NULL };
        g_autofree AldPlanLayerSizes *sizes = NULL;
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "vllm", 2);
        plan_case_join(&made, 0, 1, 1e5, 1e10);
        plan_case_join(&made, 1, 0, 1e5, 1e10);
        made.workload.layers = 61;
        made.workload.layer_bytes = 6 * GB;
        made.workload.layer_kv_bytes = 100000000;
        set_sizes(&made, texts);
        sizes = (AldPlanLayerSizes *) made.request.sizes;
        made.devices[1].free_bytes = 3 * 500000000ull + 29 * 6100000000ull + GB / 2;
        made.devices[0].free_bytes = 29 * 6100000000ull + GB / 2;
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        g_assert_cmpuint(plan->best.stages[0].device, ==, 1);
        g_assert_cmpuint(plan->best.stages[0].layers, ==, 32);
        g_assert_cmpuint(plan->best.stages[0].bytes, ==, made.devices[1].free_bytes);
        g_assert_cmpuint(plan->best.stages[1].bytes, ==, made.devices[0].free_bytes);
        g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
        made.devices[0].free_bytes--;
        plan_case_assert_refused(&made, ALD_PLAN_TOO_LITTLE_MEMORY, NULL);
}

static double stage_bytes(const PlanCase *made, uint32_t first, uint32_t end)
{
        const AldPlanLayerSizes *sizes = made->request.sizes;
        uint64_t ends = (first == 0 ? made->workload.embedding_bytes : 0) +
                        (end == made->workload.layers ? made->workload.head_bytes : 0);

        return (double) (sizes->sums[end] - sizes->sums[first] + ends);
}

/* Of stages in the order of the layers, from this layer on. */
static void try_stages(const PlanCase *made, uint32_t used, uint32_t first_device, uint32_t before,
        uint32_t first, double nsec, double *best)
{
        uint32_t layers = (uint32_t) made->workload.layers;

        for (uint32_t i = 0; i < made->cluster.n_devices; i++) {
                const AldPlanDevice *device = &made->devices[i];
                double hop = 0, layer = 1e9 * made->workload.mean_layer_bytes / device->bytes_per_second;

                if (used & 1u << i)
                        continue;
                if (first > 0)
                        hop = plan_case_path(made, before, i)->rtt_nsec / 2 +
                              4.0 * 1000 * 8 / plan_case_path(made, before, i)->bits_per_second * 1e9;
                for (uint32_t end = first + 1; end <= layers; end++) {
                        uint32_t start = first == 0 ? i : first_device;
                        double now = nsec + hop + (end - first) * layer;

                        if (stage_bytes(made, first, end) > (double) device->free_bytes)
                                continue;
                        if (end < layers) {
                                try_stages(made, used | 1u << i, start, i, end, now, best);
                                continue;
                        }
                        now += 1e9 * (double) made->workload.head_bytes / device->bytes_per_second;
                        if (first > 0)
                                now += plan_case_path(made, i, start)->rtt_nsec / 2 +
                                       8.0 * 8 / plan_case_path(made, i, start)->bits_per_second * 1e9;
                        *best = fmin(*best, now);
                }
        }
}

/* Layers of random sizes on three devices, by trying all: no bound is too high, and what is proven is the
 * best. */
static void test_random_sizes(void)
{
        unsigned n_plans = 0, n_proven = 0;

        for (int i = 0; i < CASES / 4; i++) {
                uint64_t weights[6], none[6] = {};
                g_auto(GStrv) texts = NULL;
                g_autofree AldPlanLayerSizes *sizes = NULL;
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                double best = INFINITY;
                PlanCase made;

                plan_case_init(&made, "vllm", 3);
                plan_case_randomize(&made, 0);
                made.workload.layer_bytes = 2 * GB;
                made.workload.mean_layer_bytes = 0;
                made.workload.embedding_bytes = made.workload.head_bytes = GB / 4;
                for (uint32_t j = 0; j < 6; j++) {
                        weights[j] = (uint64_t) g_test_rand_int_range(1, 9) * GB / 4;
                        made.workload.mean_layer_bytes += (double) weights[j] / 6;
                }
                texts = ald_plan_layer_sizes_to_text(weights, none, 6);
                if (!texts)
                        continue;
                set_sizes(&made, (const char *const *) texts);
                sizes = (AldPlanLayerSizes *) made.request.sizes;
                try_stages(&made, 0, 0, 0, 0, 0, &best);
                plan = plan_case_try(&made, &refusal);
                if (!plan) {
                        g_free(refusal.verdicts);
                        continue;
                }
                n_plans++;
                g_assert_cmpfloat(plan->best.lower_nsec, <=, best * (1 + 1e-9));
                g_assert_cmpfloat(plan->best.nsec, >=, best * (1 - 1e-9));
                if (plan->best.lower_nsec < plan->best.nsec * (1 - 1e-9))
                        continue;
                n_proven++;
                g_assert_cmpfloat_with_epsilon(plan->best.nsec, best, 1e-6 * best);
        }
        g_assert_cmpuint(n_plans, >, CASES / 16);
        g_assert_cmpuint(n_proven, >, n_plans / 2);
}

/* On the GPUs of one machine, which take turns in any order. */
static void try_gpus(const PlanCase *made, uint32_t used, uint32_t first, double nsec, double *best)
{
        const AldPlanLayerSizes *sizes = made->request.sizes;
        uint32_t layers = (uint32_t) made->workload.layers;

        for (uint32_t i = 0; i < made->cluster.n_devices; i++) {
                const AldPlanDevice *device = &made->devices[i];
                double layer = 1e9 * made->workload.mean_layer_bytes / device->bytes_per_second;

                if (used & 1u << i)
                        continue;
                for (uint32_t end = first + 1; end <= layers; end++) {
                        double bytes = (double) (sizes->sums[end] - sizes->sums[first]);
                        double now = nsec + (end - first) * layer;

                        if (end == layers) {
                                bytes += (double) made->workload.head_bytes;
                                now += 1e9 * (double) made->workload.head_bytes / device->bytes_per_second;
                        }
                        if (bytes > (double) device->free_bytes || now >= *best)
                                break;
                        if (end == layers)
                                *best = now;
                        else
                                try_gpus(made, used | 1u << i, end, now, best);
                }
        }
}

/* One layer in four is up to ten times as large as the others. */
static char **make_wild_layers(PlanCase *made, GRand *rand)
{
        uint64_t weights[WILD_LAYERS], none[WILD_LAYERS] = {};
        double sum = 0;

        made->workload.layers = WILD_LAYERS;
        made->workload.layer_bytes = 0;
        for (uint32_t i = 0; i < WILD_LAYERS; i++) {
                weights[i] = (uint64_t) g_rand_int_range(rand, 1, 5) * GB / 10;
                if (g_rand_int_range(rand, 0, 4) == 0)
                        weights[i] *= (uint64_t) g_rand_int_range(rand, 2, 11);
                made->workload.layer_bytes = MAX(made->workload.layer_bytes, weights[i]);
                sum += (double) weights[i];
        }
        made->workload.mean_layer_bytes = sum / WILD_LAYERS;
        for (uint32_t i = 0; i < made->cluster.n_devices; i++)
                made->devices[i].free_bytes = (uint64_t) (sum * g_rand_double_range(rand, 0.1, 0.8));
        return ald_plan_layer_sizes_to_text(weights, none, WILD_LAYERS);
}

static void make_wild(PlanCase *made, GRand *rand)
{
        plan_case_init(made, "llama.cpp", 1);
        for (uint32_t i = 0; i < WILD_GPUS; i++) {
                made->devices[i] = made->devices[0];
                made->devices[i].id = made->ids[i + 1];
                made->devices[i].is_processor = made->devices[i].uses_host_memory = false;
                made->devices[i].bytes_per_second = g_rand_double_range(rand, 50e9, 1000e9);
                g_snprintf(made->ids[i + 1], sizeof made->ids[i + 1], "gpu%u", i);
        }
        made->cluster.n_devices = WILD_GPUS;
}

/* Plans for layers of very different sizes, of which the solver knows an average, are near the best. */
static void test_wild_sizes(void)
{
        double sum = 0, most = 1;
        unsigned n = 0, n_missed = 0, n_near = 0;

        for (int i = 0; i < CASES / 10; i++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed((guint32) i);
                double best = INFINITY;
                g_auto(GStrv) texts = NULL;
                g_autofree AldPlanLayerSizes *sizes = NULL;
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                PlanCase made;

                make_wild(&made, rand);
                texts = make_wild_layers(&made, rand);
                set_sizes(&made, (const char *const *) texts);
                sizes = (AldPlanLayerSizes *) made.request.sizes;
                try_gpus(&made, 0, 0, 0, &best);
                plan = plan_case_try(&made, &refusal);
                g_free(refusal.verdicts);
                if (isinf(best)) {
                        g_assert_null(plan);
                        continue;
                }
                n++;
                n_missed += !plan;
                if (!plan)
                        continue;
                g_assert_cmpfloat(plan->best.nsec, >=, best * (1 - 1e-9));
                g_assert_cmpfloat(plan->best.lower_nsec, <=, best * (1 + 1e-9));
                sum += plan->best.nsec / best;
                most = fmax(most, plan->best.nsec / best);
                n_near += plan->best.nsec < 1.05 * best;
        }
        g_test_message("%u plans, %u missed, %u near: %.4f times the best on average, %.3f at most", n,
                n_missed, n_near, sum / (n - n_missed), most);
        g_assert_cmpuint(n, >, CASES / 20);
        g_assert_cmpuint(n_missed, <=, n / 100);
        g_assert_cmpuint(n_near, >, n * 9 / 10);
        g_assert_cmpfloat(sum / (n - n_missed), <, 1.01);
        g_assert_cmpfloat(most, <, 1.25);
}

/* A GPU on each node, of which the plan needs about half. */
static void make_wild_star(PlanCase *made, GRand *rand)
{
        plan_case_init(made, "llama.cpp", WILD_NODES);
        for (uint32_t i = 0; i < WILD_NODES; i++) {
                made->devices[i].id = "gpu";
                made->devices[i].is_processor = made->devices[i].uses_host_memory = false;
                made->devices[i].bytes_per_second = g_rand_double_range(rand, 50e9, 1000e9);
                for (uint32_t j = 0; j < WILD_NODES; j++)
                        if (j != i)
                                plan_case_join(made, i, j, g_rand_double_range(rand, 1e4, 2e6), 1e10);
        }
}

/* A plan has each device with which it would be faster, as the search for it may find out only afterwards. */
static void test_what_a_plan_lacks(void)
{
        unsigned n = 0;

        for (guint32 seed = 0; seed < WILD_STARS; seed++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                g_auto(GStrv) texts = NULL;
                g_autofree AldPlanLayerSizes *sizes = NULL;
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                PlanCase made;

                make_wild_star(&made, rand);
                texts = make_wild_layers(&made, rand);
                for (uint32_t i = 0; i < WILD_NODES; i++)
                        made.devices[i].free_bytes /= 2;
                set_sizes(&made, (const char *const *) texts);
                sizes = (AldPlanLayerSizes *) made.request.sizes;
                plan = plan_case_try(&made, &refusal);
                g_free(refusal.verdicts);
                for (uint32_t i = 0; plan && i < WILD_NODES; i++) {
                        const AldPlanVerdict *verdict = &plan->verdicts[i];

                        if (verdict->reason != ALD_PLAN_SAVES_TOO_LITTLE)
                                continue;
                        n++;
                        g_test_message("seed %u, n%u: costs %g, saves %g", seed, i, verdict->costs_nsec,
                                verdict->saves_nsec);
                        g_assert_cmpfloat(
                                verdict->saves_nsec - verdict->costs_nsec, <=, 1e-6 * plan->best.nsec);
                }
                for (uint32_t i = 0; plan && i < plan->n_alternatives; i++)
                        g_assert_cmpfloat(plan->alternatives[i].nsec, >=, plan->best.nsec * (1 - 1e-9));
        }
        g_assert_cmpuint(n, >, WILD_STARS);
}

/* A published model: the header of its file, and what each layer keeps. */
typedef struct Shape {
        GgufMaker maker;
        const char *architecture;
        uint64_t weights, embedding; /* of the layers, and of a matrix at an end */
} Shape;

static void number(Shape *shape, const char *key, uint32_t value)
{
        g_autofree char *full = g_strdup_printf("%s.%s", shape->architecture, key);

        gguf_u32(&shape->maker, full, value);
}

static uint64_t matrix(
        Shape *shape, const char *name, uint32_t type, uint64_t columns, uint64_t rows, uint64_t matrices)
{
        const AldGgmlType *ggml = ald_ggml_type(type);
        uint64_t bytes = columns / ggml->block * ggml->bytes * rows * MAX(matrices, 1);

        gguf_tensor(&shape->maker, name, type, bytes, (uint64_t[4]){ columns, rows, matrices });
        return bytes;
}

static void in_layer(Shape *shape, uint32_t layer, const char *name, uint32_t type, uint64_t columns,
        uint64_t rows, uint64_t matrices)
{
        g_autofree char *full = g_strdup_printf("blk.%u.%s.weight", layer, name);

        shape->weights += matrix(shape, full, type, columns, rows, matrices);
}

static void shape_init(Shape *shape, const char *architecture, uint32_t layers, uint32_t width,
        uint32_t vocabulary, bool has_output)
{
        *shape = (Shape){ .architecture = architecture };
        gguf_maker_init(&shape->maker);
        gguf_string(&shape->maker, "general.architecture", architecture);
        number(shape, "block_count", layers);
        number(shape, "embedding_length", width);
        number(shape, "vocab_size", vocabulary);
        shape->embedding = matrix(shape, "token_embd.weight", ALD_GGML_Q8_0, width, vocabulary, 0);
        if (has_output)
                (void) matrix(shape, "output.weight", ALD_GGML_Q8_0, width, vocabulary, 0);
}

/* The plan for the GPUs and processors of one host with so much free, at a context; the workload is to be
 * cleared. */
static AldPlan *plan_of_shape(Shape *shape, uint32_t context, uint64_t gpu_bytes, uint64_t host_bytes,
        AldPlanWorkload *ret_workload)
{
        char *folder = model_folder_new();
        g_autofree char *path = g_build_filename(folder, "m.gguf", NULL), *error = NULL;
        g_autofree AldPlanLayerSizes *sizes = NULL;
        g_autoptr(AldLlm) llm = NULL;
        AldPlanRefusal refusal = {};
        const char *reason = NULL;
        AldPlan *plan;
        PlanCase made;

        gguf_write(&shape->maker, path);
        gguf_maker_clear(&shape->maker);
        ald_llm_read(path, &llm, &error);
        g_assert_cmpstr(error, ==, NULL);
        model_folder_remove(folder);
        plan_case_init(&made, "llama.cpp", 1);
        ald_plan_constants_init(&made.request.constants, NULL);
        made.devices[0].free_bytes = host_bytes;
        made.devices[1] = (AldPlanDevice){ .id = "gpu",
                .vendor = "NVIDIA",
                .free_bytes = gpu_bytes,
                .bytes_per_second = 900e9,
                .flops = 1e14 };
        made.cluster.n_devices = 2;
        g_assert_cmpint(
                ald_plan_workload_of_llm(llm, context, 1, ALD_KV_F16, ALD_KV_F16, ret_workload), ==, 0);
        g_assert_cmpint(ald_plan_workload_complete(ret_workload, &reason), ==, 0);
        made.request.workload = ret_workload;
        if (ret_workload->layer_sizes)
                sizes = ald_plan_layer_sizes_new(ret_workload, &reason);
        made.request.sizes = sizes;
        if (ald_plan_make(&made.cluster, &made.request, &plan, &refusal) < 0) {
                g_free(refusal.verdicts);
                return NULL;
        }
        return plan;
}

/* Gemma 3 27B with 4 bits: all fits on a card of 24 GB at 32,768 tokens, as only every sixth layer keeps all
 * of them. */
static void test_gemma(void)
{
        g_auto(AldPlanWorkload) workload = ALD_PLAN_WORKLOAD_INIT;
        g_autoptr(AldPlan) plan = NULL;
        Shape shape;

        shape_init(&shape, "gemma3", 62, 5376, 262208, false);
        number(&shape, "attention.head_count", 32);
        number(&shape, "attention.head_count_kv", 16);
        number(&shape, "attention.key_length", 128);
        number(&shape, "attention.value_length", 128);
        number(&shape, "attention.sliding_window", 1024);
        number(&shape, "feed_forward_length", 21504);
        for (uint32_t i = 0; i < 62; i++) {
                in_layer(&shape, i, "attn_q", ALD_GGML_Q4_0, 5376, 4096, 0);
                in_layer(&shape, i, "attn_k", ALD_GGML_Q4_0, 5376, 2048, 0);
                in_layer(&shape, i, "attn_v", ALD_GGML_Q4_0, 5376, 2048, 0);
                in_layer(&shape, i, "attn_output", ALD_GGML_Q4_0, 4096, 5376, 0);
                in_layer(&shape, i, "ffn_gate", ALD_GGML_Q4_0, 5376, 21504, 0);
                in_layer(&shape, i, "ffn_up", ALD_GGML_Q4_0, 5376, 21504, 0);
                in_layer(&shape, i, "ffn_down", ALD_GGML_Q4_0, 21504, 5376, 0);
        }
        plan = plan_of_shape(&shape, 32768, 23 * GIB + GIB / 2, 60 * GIB, &workload);
        g_assert_cmpuint(plan->best.n_stages, ==, 1);
        g_assert_cmpuint(plan->best.stages[0].device, ==, 1);
        g_assert_cmpuint(plan->best.stages[0].weight_bytes, ==, shape.weights + shape.embedding);
        g_assert_cmpuint(
                plan->best.stages[0].kv_bytes, ==, UINT64_C(8192) * (10 * 32768 + 52 * (1024 + 512)));
        g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
}

/* gpt-oss-20b at 131,072 tokens: 3.24 GB of keys and values, as llama.cpp allocates. */
static void test_gpt_oss(void)
{
        g_auto(AldPlanWorkload) workload = ALD_PLAN_WORKLOAD_INIT;
        g_autoptr(AldPlan) plan = NULL;
        Shape shape;

        shape_init(&shape, "gpt-oss", 24, 2880, 201088, true);
        number(&shape, "attention.head_count", 64);
        number(&shape, "attention.head_count_kv", 8);
        number(&shape, "attention.key_length", 64);
        number(&shape, "attention.value_length", 64);
        number(&shape, "attention.sliding_window", 128);
        number(&shape, "expert_count", 32);
        number(&shape, "expert_used_count", 4);
        number(&shape, "expert_feed_forward_length", 2880);
        for (uint32_t i = 0; i < 24; i++) {
                in_layer(&shape, i, "attn_q", ALD_GGML_BF16, 2880, 4096, 0);
                in_layer(&shape, i, "attn_k", ALD_GGML_BF16, 2880, 512, 0);
                in_layer(&shape, i, "attn_v", ALD_GGML_BF16, 2880, 512, 0);
                in_layer(&shape, i, "attn_output", ALD_GGML_BF16, 4096, 2880, 0);
                in_layer(&shape, i, "ffn_gate_exps", ALD_GGML_MXFP4, 2880, 2880, 32);
                in_layer(&shape, i, "ffn_up_exps", ALD_GGML_MXFP4, 2880, 2880, 32);
                in_layer(&shape, i, "ffn_down_exps", ALD_GGML_MXFP4, 2880, 2880, 32);
        }
        plan = plan_of_shape(&shape, 131072, 23 * GIB, 60 * GIB, &workload);
        g_assert_cmpuint(plan->best.n_stages, ==, 1);
        g_assert_cmpuint(plan->best.stages[0].device, ==, 1);
        g_assert_cmpuint(plan->best.stages[0].kv_bytes, ==, 3240099840);
        g_assert_cmpuint(plan->best.stages[0].weight_bytes, ==, shape.weights + shape.embedding);
}

static void make_deepseek(Shape *shape)
{
        shape_init(shape, "deepseek2", 61, 7168, 129280, true);
        number(shape, "attention.head_count", 128);
        number(shape, "attention.head_count_kv", 1);
        number(shape, "attention.q_lora_rank", 1536);
        number(shape, "attention.kv_lora_rank", 512);
        number(shape, "attention.key_length", 576);
        number(shape, "attention.value_length", 512);
        number(shape, "attention.key_length_mla", 192);
        number(shape, "attention.value_length_mla", 128);
        number(shape, "rope.dimension_count", 64);
        number(shape, "leading_dense_block_count", 3);
        number(shape, "feed_forward_length", 18432);
        number(shape, "expert_count", 256);
        number(shape, "expert_used_count", 8);
        number(shape, "expert_shared_count", 1);
        number(shape, "expert_feed_forward_length", 2048);
        for (uint32_t i = 0; i < 61; i++) {
                in_layer(shape, i, "attn_q_a", ALD_GGML_Q4_0, 7168, 1536, 0);
                in_layer(shape, i, "attn_q_b", ALD_GGML_Q4_0, 1536, 24576, 0);
                in_layer(shape, i, "attn_kv_a_mqa", ALD_GGML_Q4_0, 7168, 576, 0);
                in_layer(shape, i, "attn_k_b", ALD_GGML_Q4_0, 128, 512, 128);
                in_layer(shape, i, "attn_v_b", ALD_GGML_Q4_0, 512, 128, 128);
                in_layer(shape, i, "attn_output", ALD_GGML_Q4_0, 16384, 7168, 0);
                for (uint32_t j = 0; j < 2; j++)
                        in_layer(shape, i,
                                i < 3 ? j ? "ffn_up" : "ffn_gate"
                                : j   ? "ffn_up_exps"
                                      : "ffn_gate_exps",
                                ALD_GGML_Q4_0, 7168, i < 3 ? 18432 : 2048, i < 3 ? 0 : 256);
                in_layer(shape, i, i < 3 ? "ffn_down" : "ffn_down_exps", ALD_GGML_Q4_0, i < 3 ? 18432 : 2048,
                        7168, i < 3 ? 0 : 256);
        }
}

/* DeepSeek-V3, whose first three layers have no experts, fits where its file and its keys do, to the byte, if
 * the host only has room for the embedding. */
static void test_deepseek(void)
{
        static const int less[] = { 0, 1 };
        uint64_t needs = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(less) + 1; i++) {
                g_auto(AldPlanWorkload) workload = ALD_PLAN_WORKLOAD_INIT;
                g_autoptr(AldPlan) plan = NULL;
                Shape shape;

                make_deepseek(&shape);
                plan = plan_of_shape(&shape, 4096, i == 0 ? 500 * GIB : needs - (uint64_t) less[i - 1],
                        2300000000, &workload);
                if (i == 2) {
                        g_assert_null(plan);
                        break;
                }
                g_assert_cmpuint(plan->best.n_stages, ==, 1);
                g_assert_cmpuint(plan->best.stages[0].kv_bytes, ==, UINT64_C(4096) * 61 * 576 * 2);
                g_assert_cmpuint(plan->best.stages[0].weight_bytes, ==, shape.weights + shape.embedding);
                needs = plan->best.stages[0].bytes;
        }
}

/* deci: every fourth of 80 layers has no attention, and keeps nothing. */
static void test_deci(void)
{
        g_auto(AldPlanWorkload) workload = ALD_PLAN_WORKLOAD_INIT;
        g_autoptr(AldPlan) plan = NULL;
        uint32_t heads[80], kv_heads[80];
        Shape shape;

        shape_init(&shape, "deci", 80, 8192, 128256, true);
        number(&shape, "attention.key_length", 128);
        number(&shape, "attention.value_length", 128);
        number(&shape, "feed_forward_length", 28672);
        for (uint32_t i = 0; i < 80; i++) {
                kv_heads[i] = i % 4 == 3 ? 0 : 8;
                heads[i] = i % 4 == 3 ? 0 : 64;
                if (heads[i] > 0) {
                        in_layer(&shape, i, "attn_q", ALD_GGML_Q4_0, 8192, 8192, 0);
                        in_layer(&shape, i, "attn_k", ALD_GGML_Q4_0, 8192, 1024, 0);
                        in_layer(&shape, i, "attn_v", ALD_GGML_Q4_0, 8192, 1024, 0);
                        in_layer(&shape, i, "attn_output", ALD_GGML_Q4_0, 8192, 8192, 0);
                }
                in_layer(&shape, i, "ffn_gate", ALD_GGML_Q4_0, 8192, 28672, 0);
                in_layer(&shape, i, "ffn_up", ALD_GGML_Q4_0, 8192, 28672, 0);
                in_layer(&shape, i, "ffn_down", ALD_GGML_Q4_0, 28672, 8192, 0);
        }
        gguf_list(&shape.maker, "deci.attention.head_count", 80, heads);
        gguf_list(&shape.maker, "deci.attention.head_count_kv", 80, kv_heads);
        plan = plan_of_shape(&shape, 32768, 100 * GIB, 8 * GIB, &workload);
        g_assert_cmpuint(plan->best.n_stages, ==, 1);
        g_assert_cmpuint(plan->best.stages[0].kv_bytes, ==, UINT64_C(32768) * 60 * 2 * 8 * 128 * 2);
        g_assert_cmpuint(plan->best.stages[0].weight_bytes, ==, shape.weights + shape.embedding);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-layers/cuts", test_cuts);
        g_test_add_func("/plan-layers/equal-machines", test_equal_machines);
        g_test_add_func("/plan-layers/equals-beside-a-faster-one", test_equals_beside_a_faster_one);
        g_test_add_func("/plan-layers/equals-for-throughput", test_equals_for_throughput);
        g_test_add_func("/plan-layers/roomier-equal", test_roomier_equal);
        g_test_add_func("/plan-layers/small-layers-first", test_small_layers_first);
        g_test_add_func("/plan-layers/random-sizes", test_random_sizes);
        g_test_add_func("/plan-layers/wild-sizes", test_wild_sizes);
        g_test_add_func("/plan-layers/what-a-plan-lacks", test_what_a_plan_lacks);
        g_test_add_func("/plan-layers/gemma", test_gemma);
        g_test_add_func("/plan-layers/gpt-oss", test_gpt_oss);
        g_test_add_func("/plan-layers/deepseek", test_deepseek);
        g_test_add_func("/plan-layers/deci", test_deci);
        return g_test_run();
}
