/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rings of models whose layers differ much in size, compared with every order of devices and every cut. */
#include <math.h>

#include "tests/unit/placement/plan-cases.h"

#define CASES 240u
#define GPUS_MIN 2u
#define GPUS_MAX 6u
#define LAYERS 10u
#define NODES_MAX 4u
#define GB 1000000000ull
#define INNER_HOP_NSEC 2e4
#define LARGE_CASES 1u
#define LARGE_GPUS 18u
#define MANY_GPUS 24u
#define LARGE_LAYERS 24u

typedef enum Wildness {
        WILD_APART,      /* each GPU on a node of its own, all joined */
        WILD_SPARSE,     /* some paths are missing */
        WILD_TOGETHER,   /* several GPUs on a node */
        WILD_EVEN,       /* as many of each node as of the others */
        WILD_LIMITED,    /* at most some devices, or some nodes */
        WILD_OVERLAPPED, /* several steps at once */
} Wildness;

/* A ring, of which the first stages are chosen. */
typedef struct Wild {
        PlanCase made;
        uint64_t weights[LAYERS];
        GStrv texts;
        AldPlanLayerSizes *sizes;
        uint32_t devices[GPUS_MAX], layers[GPUS_MAX], n;
        bool is_lifted; /* whatever limits and paths there are */
        double best;
} Wild;

static void wild_clear(Wild *wild)
{
        g_strfreev(wild->texts);
        g_free(wild->sizes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Wild, wild_clear)

/* One layer in four is up to ten times as large as the others. */
static double make_layers(PlanCase *made, GRand *rand, uint64_t *weights, uint32_t n)
{
        double sum = 0;

        made->workload.layers = n;
        made->workload.layer_bytes = 0;
        for (uint32_t i = 0; i < n; i++) {
                weights[i] = (uint64_t) g_rand_int_range(rand, 1, 5) * GB / 10;
                if (g_rand_int_range(rand, 0, 4) == 0)
                        weights[i] *= (uint64_t) g_rand_int_range(rand, 2, 11);
                made->workload.layer_bytes = MAX(made->workload.layer_bytes, weights[i]);
                sum += (double) weights[i];
        }
        made->workload.mean_layer_bytes = sum / n;
        return sum;
}

static AldPlanLayerSizes *read_sizes(PlanCase *made, GStrv texts)
{
        AldPlanLayerSizes *sizes;
        const char *reason = NULL;

        made->workload.layer_sizes = (const char *const *) texts;
        sizes = texts ? ald_plan_layer_sizes_new(&made->workload, &reason) : NULL;
        g_assert_null(reason);
        made->request.sizes = sizes;
        return sizes;
}

static void make_gpus(PlanCase *made, GRand *rand, uint32_t n, uint32_t n_nodes, double bytes)
{
        for (uint32_t i = 0; i < n; i++) {
                made->devices[i] = made->devices[0];
                made->devices[i].node = i < n_nodes ? i : (uint32_t) g_rand_int_range(rand, 0, (int) n_nodes);
                made->devices[i].id = made->ids[n_nodes + i];
                made->devices[i].bytes_per_second = g_rand_double_range(rand, 50e9, 1000e9);
                made->devices[i].free_bytes = (uint64_t) (bytes * g_rand_double_range(rand, 0.3, 2.2) / n);
                g_snprintf(made->ids[n_nodes + i], sizeof made->ids[0], "gpu%u", i);
        }
        made->cluster.n_devices = n;
}

static void join_nodes(PlanCase *made, GRand *rand, double missing)
{
        for (uint32_t i = 0; i < made->cluster.n_nodes; i++)
                for (uint32_t j = 0; j < made->cluster.n_nodes; j++)
                        if (i != j && g_rand_double(rand) >= missing)
                                plan_case_join(made, i, j, g_rand_double_range(rand, 1e4, 5e6),
                                        g_rand_double_range(rand, 1e8, 1e10));
}

static void wild_make(Wild *wild, guint32 seed, Wildness wildness)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        uint32_t n = GPUS_MIN + seed % (GPUS_MAX - GPUS_MIN + 1), n_nodes = n;
        PlanCase *made = &wild->made;
        uint64_t none[LAYERS] = { 0 };
        double bytes;

        if (wildness == WILD_TOGETHER || wildness == WILD_EVEN || (wildness == WILD_LIMITED && seed % 2))
                n_nodes = MIN(n, (uint32_t) g_rand_int_range(rand, 1, NODES_MAX + 1));
        *wild = (Wild){ .best = INFINITY };
        plan_case_init(made, wildness == WILD_EVEN ? "vllm" : "torch", n_nodes);
        made->request.constants.values[ALD_PLAN_INNER_HOP_NSEC] = INNER_HOP_NSEC;
        made->workload.parallel = 1;
        bytes = make_layers(made, rand, wild->weights, LAYERS);
        made->workload.embedding_bytes = (uint64_t) g_rand_int_range(rand, 0, 4) * GB / 4;
        made->workload.head_bytes = (uint64_t) g_rand_int_range(rand, 0, 4) * GB / 4;
        made->workload.head_tied = (uint64_t) g_rand_int_range(rand, 0, 2);
        make_gpus(made, rand, n, n_nodes,
                bytes + (double) (made->workload.embedding_bytes + made->workload.head_bytes));
        join_nodes(made, rand, wildness == WILD_SPARSE ? 0.25 : 0);
        if (wildness == WILD_LIMITED && seed % 2)
                made->request.nodes_max = (uint32_t) g_rand_int_range(rand, 1, 3);
        else if (wildness == WILD_LIMITED)
                made->request.devices_max = (uint32_t) g_rand_int_range(rand, 2, (int) n + 1);
        if (wildness == WILD_OVERLAPPED) {
                made->request.goal = ALD_PLAN_OPTIONS_GOAL_THROUGHPUT;
                made->workload.parallel = (uint64_t) g_rand_int_range(rand, 2, 9);
                made->workload.token_parameters = g_rand_double_range(rand, 1, 3e11);
        }
        wild->texts = ald_plan_layer_sizes_to_text(wild->weights, none, LAYERS);
        wild->sizes = read_sizes(made, wild->texts);
}

static uint32_t node_at(const Wild *wild, uint32_t stage)
{
        return wild->made.devices[wild->devices[stage % wild->n]].node;
}

static bool is_allowed(const Wild *wild)
{
        uint32_t counts[NODES_MAX + GPUS_MAX] = { 0 }, nodes = 0, most = 0;
        const AldPlanRequest *request = &wild->made.request;

        if (wild->is_lifted)
                return true;
        for (uint32_t i = 0; i < wild->n; i++) {
                nodes += counts[node_at(wild, i)]++ == 0;
                most = MAX(most, counts[node_at(wild, i)]);
        }
        for (uint32_t i = 0; request->engine->nodes_even && i < G_N_ELEMENTS(counts); i++)
                if (counts[i] > 0 && counts[i] < most)
                        return false;
        return (request->devices_max == 0 || wild->n <= request->devices_max) &&
               (request->nodes_max == 0 || nodes <= request->nodes_max);
}

/* Returns the time of a stage in a step with b requests. */
static double stage_nsec(const Wild *wild, uint32_t i, double b)
{
        const AldPlanDevice *device = &wild->made.devices[wild->devices[i]];
        double computing = 2 * wild->made.workload.token_parameters * b / device->flops;
        double nsec = wild->layers[i] * 1e9 *
                      fmax(wild->made.workload.mean_layer_bytes / device->bytes_per_second, computing);

        if (i + 1 < wild->n)
                return nsec;
        return nsec + 1e9 * fmax((double) wild->made.workload.head_bytes / device->bytes_per_second,
                                    2 * b / device->flops);
}

static double step_nsec(const Wild *wild, double b, double *ret_busiest)
{
        double nsec = 0;

        *ret_busiest = 0;
        for (uint32_t i = 0; i < wild->n; i++) {
                double stage = stage_nsec(wild, i, b), bytes = i + 1 < wild->n ? 4000 * b : 8 * b, occupied;
                const AldPlanPath *path = plan_case_path(&wild->made, node_at(wild, i), node_at(wild, i + 1));

                nsec += stage;
                *ret_busiest = fmax(*ret_busiest, stage);
                if (wild->n == 1)
                        break;
                if (node_at(wild, i) == node_at(wild, i + 1)) {
                        nsec += INNER_HOP_NSEC;
                        *ret_busiest = fmax(*ret_busiest, INNER_HOP_NSEC);
                        continue;
                }
                if (!path && !wild->is_lifted)
                        return INFINITY;
                if (!path)
                        continue;
                occupied = bytes * 8 / path->bits_per_second * 1e9;
                nsec += path->rtt_nsec / 2 + occupied;
                *ret_busiest = fmax(*ret_busiest, occupied);
        }
        return nsec;
}

static void measure(Wild *wild)
{
        uint64_t parallel = wild->made.workload.parallel;
        uint64_t most = wild->made.request.goal == ALD_PLAN_OPTIONS_GOAL_THROUGHPUT ? parallel : 1;

        if (!is_allowed(wild))
                return;
        for (uint64_t m = 1; m <= MIN(most, wild->n); m++) {
                double busiest, nsec = step_nsec(wild, (double) ((parallel + m - 1) / m), &busiest);

                wild->best = fmin(wild->best, m == 1 ? nsec : fmax(nsec, (double) m * busiest));
        }
}

/* Returns whether the device may come next: once a node is left, none of its devices may. */
static bool may_follow(const Wild *wild, uint32_t device)
{
        uint32_t node = wild->made.devices[device].node;

        for (uint32_t i = 0; i < wild->n; i++)
                if (wild->devices[i] == device ||
                        (node_at(wild, i) == node && node_at(wild, wild->n - 1) != node))
                        return false;
        return true;
}

static double beside_bytes(const PlanCase *made, bool is_first, bool is_last)
{
        double embedding = (double) made->workload.embedding_bytes, head = (double) made->workload.head_bytes;

        if (is_first && is_last && made->workload.head_tied == 1)
                return fmax(embedding, head);
        return (is_first ? embedding : 0) + (is_last ? head : 0);
}

static void for_each_ring(Wild *wild, uint32_t first)
{
        for (uint32_t device = 0; device < wild->made.cluster.n_devices; device++) {
                double bytes = 0;

                if (!may_follow(wild, device))
                        continue;
                wild->devices[wild->n++] = device;
                for (uint32_t end = first + 1; end <= LAYERS; end++) {
                        bytes += (double) wild->weights[end - 1];
                        if (bytes + beside_bytes(&wild->made, first == 0, end == LAYERS) >
                                (double) wild->made.devices[device].free_bytes)
                                continue;
                        wild->layers[wild->n - 1] = end - first;
                        if (end == LAYERS)
                                measure(wild);
                        else
                                for_each_ring(wild, end);
                }
                wild->n--;
        }
}

/* The stages as the plan has them, to be measured by the same definition. */
static void assert_is_ring(Wild *wild, const AldPlan *plan)
{
        const AldPlanSteps *steps = &plan->best;
        uint64_t b = (wild->made.workload.parallel + steps->in_flight - 1) / steps->in_flight;
        double busiest, nsec;
        uint32_t first = 0;

        wild->n = 0;
        for (uint32_t i = 0; i < steps->n_stages; i++) {
                double bytes = beside_bytes(&wild->made, i == 0, i + 1 == steps->n_stages);

                g_assert_true(may_follow(wild, steps->stages[i].device));
                wild->devices[i] = steps->stages[i].device;
                wild->layers[i] = steps->stages[i].layers;
                wild->n++;
                for (uint32_t j = 0; j < steps->stages[i].layers; j++)
                        bytes += (double) wild->weights[first++];
                g_assert_cmpfloat(bytes, <=, (double) wild->made.devices[wild->devices[i]].free_bytes);
                g_assert_cmpfloat_with_epsilon((double) steps->stages[i].bytes, bytes, 1);
        }
        g_assert_cmpuint(first, ==, LAYERS);
        g_assert_true(is_allowed(wild));
        nsec = step_nsec(wild, (double) b, &busiest);
        g_assert_cmpfloat_with_epsilon(steps->nsec, nsec, 1e-6 * nsec);
        if (steps->in_flight > 1)
                nsec = fmax(nsec, steps->in_flight * busiest);
        g_assert_cmpfloat_with_epsilon(steps->interval_nsec, nsec, 1e-6 * nsec);
}

/* Too little memory is only said where there is no order and cut at all, and of so few devices that is known.
 */
static void assert_is_honest(Wild *wild, AldPlanRefusalKind kind)
{
        wild->is_lifted = true;
        for_each_ring(wild, 0);
        g_assert_cmpint(kind == ALD_PLAN_TOO_LITTLE_MEMORY, ==, isinf(wild->best));
        g_assert_cmpint(kind, !=, ALD_PLAN_NO_SPLIT_FOUND);
}

static void test_wild(gconstpointer wildness)
{
        unsigned n = 0, n_refused = 0, n_best = 0, n_proven = 0, n_none = 0;
        double sum = 0, most = 1;

        for (guint32 seed = 0; seed < CASES; seed++) {
                g_auto(Wild) wild = { 0 };
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = { 0 };
                double goal;

                wild_make(&wild, seed, (Wildness) GPOINTER_TO_UINT(wildness));
                for_each_ring(&wild, 0);
                plan = plan_case_try(&wild.made, &refusal);
                g_free(refusal.verdicts);
                n_none += isinf(wild.best);
                if (isinf(wild.best)) {
                        g_assert_null(plan);
                        assert_is_honest(&wild, refusal.kind);
                        continue;
                }
                n++;
                n_refused += !plan;
                if (!plan)
                        continue;
                goal = plan->best.interval_nsec;
                assert_is_ring(&wild, plan);
                g_assert_cmpfloat(goal, >=, wild.best * (1 - 1e-9));
                g_assert_cmpfloat(plan->best.lower_nsec, <=, wild.best * (1 + 1e-9));
                n_proven += plan->best.lower_nsec >= goal * (1 - 1e-12);
                n_best += goal <= wild.best * (1 + 1e-9);
                sum += goal / wild.best;
                most = fmax(most, goal / wild.best);
        }
        g_test_message("%u of %u refused, %u are the best, %u proven: %.4f times the best on average, %.3f "
                       "at most; %u do not fit",
                n_refused, n, n_best, n_proven, sum / (n - n_refused), most, n_none);
        g_assert_cmpuint(n, >, CASES / 4);
        g_assert_cmpuint(n_none, >, CASES / 4);
        g_assert_cmpuint(n_refused, ==, 0);
        g_assert_cmpuint(n_best, >=, n * 98 / 100);
        /* The bound of several steps at once does not know of the layers. */
        g_assert_cmpuint(n_proven, >, GPOINTER_TO_UINT(wildness) == WILD_OVERLAPPED ? n / 3 : n * 98 / 100);
}

/* Rooms for a cut of the layers at random, of half of the devices, and less of the others. */
static void make_fitting(PlanCase *made, GRand *rand, const char *engine, uint32_t n, bool is_one_node)
{
        uint64_t weights[LARGE_LAYERS], none[LARGE_LAYERS] = { 0 };
        uint32_t used = n / 2, first = 0;
        GStrv texts;

        plan_case_init(made, engine, is_one_node ? 1 : n);
        make_layers(made, rand, weights, LARGE_LAYERS);
        made->workload.embedding_bytes = made->workload.head_bytes = 0;
        make_gpus(made, rand, n, is_one_node ? 1 : n, 0);
        for (uint32_t i = 0; i < n; i++) {
                AldPlanDevice *device = &made->devices[(i * 5 + 3) % n];
                uint32_t end = i + 1 == used ? LARGE_LAYERS : LARGE_LAYERS * (i + 1) / used;

                device->is_processor = device->uses_host_memory = false;
                device->free_bytes = GB / 10;
                for (; i < used && first < end; first++)
                        device->free_bytes += weights[first];
        }
        join_nodes(made, rand, 0);
        texts = ald_plan_layer_sizes_to_text(weights, none, LARGE_LAYERS);
        (void) read_sizes(made, texts);
}

static void fitting_clear(PlanCase *made)
{
        g_strfreev((GStrv) made->workload.layer_sizes);
        g_free((AldPlanLayerSizes *) made->request.sizes);
}

/* On more devices than there are orders to be tried: each of these models fits. */
static void test_large(void)
{
        for (guint32 seed = 0; seed < LARGE_CASES; seed++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                g_autoptr(AldPlan) plan = NULL;
                PlanCase made;

                make_fitting(&made, rand, "torch", LARGE_GPUS, false);
                plan = plan_case_plan(&made);
                g_assert_cmpuint(plan->best.n_stages, >, 1);
                fitting_clear(&made);
        }
}

/* Where there are too many devices for that, a plan or the truth: none was found, although each model fits.
 */
static void test_too_many(void)
{
        unsigned n_found = 0;

        for (guint32 seed = 0; seed < LARGE_CASES; seed++) {
                g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = { 0 };
                PlanCase made;

                make_fitting(&made, rand, seed % 2 ? "torch" : "llama.cpp", MANY_GPUS, true);
                plan = plan_case_try(&made, &refusal);
                n_found += plan != NULL;
                if (!plan)
                        g_assert_true(refusal.kind == ALD_PLAN_NO_SPLIT_FOUND ||
                                      refusal.kind == ALD_PLAN_DEVICES_LIMITED);
                g_free(refusal.verdicts);
                fitting_clear(&made);
        }
        g_test_message("%u of %u found", n_found, LARGE_CASES);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_data_func("/plan-rings/apart", GUINT_TO_POINTER(WILD_APART), test_wild);
        g_test_add_data_func("/plan-rings/sparse", GUINT_TO_POINTER(WILD_SPARSE), test_wild);
        g_test_add_data_func("/plan-rings/together", GUINT_TO_POINTER(WILD_TOGETHER), test_wild);
        g_test_add_data_func("/plan-rings/even", GUINT_TO_POINTER(WILD_EVEN), test_wild);
        g_test_add_data_func("/plan-rings/limited", GUINT_TO_POINTER(WILD_LIMITED), test_wild);
        g_test_add_data_func("/plan-rings/overlapped", GUINT_TO_POINTER(WILD_OVERLAPPED), test_wild);
        g_test_add_func("/plan-rings/large", test_large);
        g_test_add_func("/plan-rings/too-many", test_too_many);
        return g_test_run();
}
