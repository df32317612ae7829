/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "placement/plan/buffers.h"
#include "placement/plan/cost.h"
#include "placement/plan/find-steps.h"
#include "placement/search/plan-make.h"

#define NODES_MAX 4u
#define DEVICES_MAX 6u
#define CASES 1000
#define GB 1000000000ull
#define MASK_BYTES (2 * 256) /* of any context up to 256 tokens */

/* A cluster whose figures are at hand. */
typedef struct Case {
        AldPlanNode nodes[NODES_MAX];
        AldPlanDevice devices[DEVICES_MAX];
        AldPlanPath paths[NODES_MAX * NODES_MAX * 2];
        AldPlanCluster cluster;
        AldPlanWorkload workload;
        AldPlanRequest request;
} Case;

static const char *const ids[] = { "a", "b", "c", "d" };

/* Constants that are easy to reckon with: all rates are reached, and nothing is kept free. */
static void init_request(Case *made)
{
        ald_plan_constants_init(&made->request.constants, NULL);
        for (size_t i = 0; i < ALD_PLAN_N_CONSTANTS; i++)
                made->request.constants.values[i] = 0;
        made->request.constants.values[ALD_PLAN_GPU_MEMORY_EFFICIENCY] = 1;
        made->request.constants.values[ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY] = 1;
        made->request.constants.values[ALD_PLAN_COMPUTE_EFFICIENCY] = 1;
        made->request.constants.values[ALD_PLAN_PROCESSOR_COMPUTE_EFFICIENCY] = 0.5;
        made->request.constants.values[ALD_PLAN_CLIENT_COMPUTE_EFFICIENCY] = 1;
        made->request.constants.values[ALD_PLAN_ACTIVATION_BYTES] = 4;
        made->request.constants.values[ALD_PLAN_STAR_ROUND_TRIPS] = 1;
        made->request.constants.values[ALD_PLAN_TRANSPORT_OVERHEAD] = 1;
        made->request.engine = ald_plan_engine_find("llama.cpp");
        made->request.workload = &made->workload;
        made->request.assumed_rtt_nsec = made->request.assumed_bits_per_second = NAN;
}

static void init_case(Case *made, uint32_t n_nodes)
{
        *made = (Case){ .workload = { .layers = 6,
                                .layer_bytes = GB,
                                .mean_layer_bytes = GB,
                                .token_bytes = GB,
                                .token_parameters = 1,
                                .embedding_bytes = GB / 2,
                                .head_bytes = GB / 2,
                                .head_parameters = 1,
                                .activation_elements = 1000,
                                .experts = ALD_ABSENT_UINT64,
                                .used_experts = ALD_ABSENT_UINT64,
                                .feed_forward_elements = ALD_ABSENT_UINT64,
                                .vocabulary = 1000,
                                .parallel = 1,
                                .context = 1 } };
        init_request(made);
        for (uint32_t i = 0; i < n_nodes; i++) {
                made->nodes[i] = (AldPlanNode){ .id = ids[i] };
                made->devices[i] = (AldPlanDevice){ .node = i,
                        .id = "cpu",
                        .is_processor = true,
                        .uses_host_memory = true,
                        .free_bytes = 20 * GB,
                        .bytes_per_second = 100e9,
                        .flops = 1e12 };
        }
        made->cluster = (AldPlanCluster){ .nodes = made->nodes,
                .n_nodes = n_nodes,
                .devices = made->devices,
                .n_devices = n_nodes,
                .paths = made->paths };
}

static void add_path(Case *made, uint32_t source, uint32_t sink, double rtt_nsec, double bits_per_second)
{
        made->paths[made->cluster.n_paths++] = (AldPlanPath){ .source = source,
                .sink = sink,
                .rtt_nsec = rtt_nsec,
                .bits_per_second = bits_per_second,
                .reverse = ALD_PLAN_NONE };
}

static void join(Case *made, uint32_t a, uint32_t b, double rtt_nsec, double bits_per_second)
{
        add_path(made, a, b, rtt_nsec, bits_per_second);
        add_path(made, b, a, rtt_nsec, bits_per_second);
}

/* Some of the paths are known to be the two directions of a connection. */
static void connect_some(Case *made)
{
        AldPlanPath *paths = made->paths;

        for (uint32_t i = 0; i < made->cluster.n_paths; i++)
                for (uint32_t j = 0; j < i && paths[i].reverse == ALD_PLAN_NONE; j++)
                        if (paths[j].reverse == ALD_PLAN_NONE && paths[i].source == paths[j].sink &&
                                paths[i].sink == paths[j].source && g_test_rand_int_range(0, 2)) {
                                paths[i].reverse = j;
                                paths[j].reverse = i;
                        }
}

static const char *const a_node[] = { "a", NULL };

static void make_random(Case *made)
{
        uint32_t n_nodes = (uint32_t) g_test_rand_int_range(1, NODES_MAX + 1);
        uint32_t n_devices = n_nodes + (uint32_t) g_test_rand_int_range(0, 3);

        init_case(made, n_nodes);
        made->workload.token_parameters = 1e9;
        made->workload.head_parameters = 0.5e9;
        made->cluster.n_devices = n_devices;
        for (uint32_t i = 0; i < n_devices; i++) {
                /* A node has one processor. */
                bool is_gpu = i >= n_nodes || g_test_rand_int_range(0, 2);

                made->devices[i] = (AldPlanDevice){ .node = i % n_nodes,
                        .id = i < n_nodes ? "first" : "second",
                        .is_processor = !is_gpu,
                        .uses_host_memory = i < n_nodes && !is_gpu,
                        .free_bytes = (uint64_t) g_test_rand_int_range(0, 5) * GB,
                        .bytes_per_second = g_test_rand_double_range(20e9, 400e9),
                        .flops = g_test_rand_double_range(20e9, 800e9) };
        }
        for (uint32_t i = 0; i < n_nodes; i++)
                for (uint32_t j = 0; j < n_nodes; j++)
                        for (int n = 0; i != j && n < g_test_rand_int_range(0, 3); n++)
                                add_path(made, i, j, g_test_rand_double_range(1e3, 2e7),
                                        g_test_rand_double_range(1e7, 1e10));
        connect_some(made);
        if (g_test_rand_int_range(0, 2)) {
                made->workload.feed_forward_elements = (uint32_t) g_test_rand_int_range(500, 3000);
                made->workload.batch_tokens = (uint32_t) g_test_rand_int_range(1000, 60000);
        }
        made->request.constants.values[ALD_PLAN_STAR_FIRST_COPIES] = g_test_rand_int_range(1, 4);
        made->request.constants.values[ALD_PLAN_STAR_SERVER_NSEC] = g_test_rand_double_range(0, 1e7);
        made->workload.layers = (uint32_t) g_test_rand_int_range(1, 8);
        made->workload.vocabulary = (uint32_t) g_test_rand_int_range(100, 30000);
        made->request.devices_max = (uint32_t) g_test_rand_int_range(0, 4);
        made->request.nodes_max = (uint32_t) g_test_rand_int_range(0, 3);
        if (g_test_rand_int_range(0, 3) == 0)
                made->request.required = a_node;
}

/* What a step takes, by the documented model and from the figures alone. */

static double path_nsec(const AldPlanPath *path, double bytes)
{
        return path->rtt_nsec / 2 + bytes * 8 / path->bits_per_second * 1e9;
}

/* What `bytes` bytes take on the path that takes the least for them. */
static double best_path(const Case *made, uint32_t source, uint32_t sink, double bytes)
{
        double best = INFINITY;

        for (uint32_t i = 0; i < made->cluster.n_paths; i++) {
                const AldPlanPath *path = &made->paths[i];

                if (path->source == source && path->sink == sink)
                        best = fmin(best, path_nsec(path, bytes));
        }
        return best;
}

/* Both ways over one connection. */
static double connection_nsec(
        const Case *made, uint32_t client, uint32_t node, double bytes_to, double bytes_from)
{
        double best = INFINITY;

        for (uint32_t i = 0; i < made->cluster.n_paths; i++)
                for (uint32_t j = 0; j < made->cluster.n_paths; j++) {
                        const AldPlanPath *to = &made->paths[i], *from = &made->paths[j];
                        bool are_one = to->reverse == ALD_PLAN_NONE ? from->reverse == ALD_PLAN_NONE
                                                                    : to->reverse == j;

                        if (are_one && to->source == client && to->sink == node && from->source == node &&
                                from->sink == client)
                                best = fmin(best, path_nsec(to, bytes_to) + path_nsec(from, bytes_from));
                }
        return best;
}

static bool is_client_processor(const Case *made, uint32_t device, uint32_t client)
{
        return made->devices[device].is_processor && made->devices[device].node == client;
}

/* Whether llama.cpp can have these ends: the client's processor is the first, and may have the head, too. */
static bool are_ends(const Case *made, uint32_t client, const uint32_t *layers, uint32_t first, uint32_t last)
{
        uint32_t used = 0;

        for (uint32_t i = 0; i < made->cluster.n_devices; i++) {
                used += layers[i] > 0;
                if (layers[i] > 0 && i != first && is_client_processor(made, i, client))
                        return false;
        }
        return layers[first] > 0 && layers[last] > 0 &&
               (first != last || used == 1 || is_client_processor(made, first, client));
}

/* Of inputs: several servers alone compute at the same time. */
static uint32_t copies_of(const Case *made, uint32_t client, const uint32_t *layers, uint32_t first)
{
        uint32_t used = 0;

        for (uint32_t i = 0; i < made->cluster.n_devices; i++)
                used += layers[i] > 0;
        return used == 1 || is_client_processor(made, first, client) ? 1 : 4;
}

static double client_host_bytes(const Case *made, uint32_t client, const uint32_t *layers, uint32_t first)
{
        return (double) made->workload.embedding_bytes +
               ald_plan_client_buffer_bytes(&made->request, copies_of(made, client, layers, first));
}

static double buffer_bytes(const Case *made, uint32_t client, const uint32_t *layers, uint32_t device,
        uint32_t first, uint32_t last)
{
        bool is_client = is_client_processor(made, device, client);
        uint32_t copies = copies_of(made, client, layers, first);

        return ald_plan_device_buffer_bytes(&made->request, (AldPlanBufferUse){ .copies = copies,
                                                                    .is_client = is_client,
                                                                    .is_first = device == first && !is_client,
                                                                    .has_head = device == last,
                                                                    .may_be_last = true }) +
               (is_client ? ald_plan_results_bytes(&made->request) : 0);
}

static double device_nsec(const Case *made, uint32_t client, uint32_t index, uint32_t layers, bool has_head)
{
        const AldPlanDevice *device = &made->devices[index];
        double flops = device->flops * (device->is_processor && device->node != client ? 0.5 : 1);
        double layer = fmax((double) made->workload.layer_bytes / device->bytes_per_second,
                2 * made->workload.token_parameters / flops);
        double head = fmax((double) made->workload.head_bytes / device->bytes_per_second,
                2 * made->workload.head_parameters / flops);

        return 1e9 * (layers * layer + (has_head ? head : 0));
}

/* One visit of the client, with what its node has of the first and the last layer. */
static double visit_nsec(const Case *made, uint32_t client, uint32_t node, bool has_first, bool has_last)
{
        double activations = 4.0 * made->workload.activation_elements;
        double more = has_first ? made->request.constants.values[ALD_PLAN_STAR_FIRST_COPIES] - 1 : 0;

        return made->request.constants.values[ALD_PLAN_STAR_SERVER_NSEC] +
               connection_nsec(made, client, node, activations + MASK_BYTES + more * (activations + 314),
                       has_last ? 4.0 * made->workload.vocabulary : activations);
}

/* One server has all devices of a node: it is visited once, or twice if it has both ends on two devices and
 * others are used. Each further device takes a round trip, but no longer than another visit. */
static double visits_nsec(const Case *made, uint32_t client, const uint32_t *layers, uint32_t node,
        uint32_t first, uint32_t last)
{
        bool has_first = made->devices[first].node == node, has_last = made->devices[last].node == node;
        double to_first, to_last, to_both, after;
        uint32_t n = 0, others = 0;

        for (uint32_t i = 0; i < made->cluster.n_devices; i++) {
                n += layers[i] > 0 && made->devices[i].node == node;
                others += layers[i] > 0 && made->devices[i].node != node;
        }
        if (n == 0 || node == client)
                return 0;
        if (n == 1)
                return visit_nsec(made, client, node, has_first, has_last);
        to_first = visit_nsec(made, client, node, true, false);
        to_last = visit_nsec(made, client, node, false, true);
        to_both = visit_nsec(made, client, node, true, true);
        after = fmin(connection_nsec(made, client, node, 0, 0), to_first + to_last - to_both);
        if (has_first && has_last && first != last && others > 0)
                return to_first + to_last + (n - 2) * after;
        return visit_nsec(made, client, node, has_first, has_last) + (n - 1) * after;
}

static double step_nsec(
        const Case *made, uint32_t client, const uint32_t *layers, uint32_t first, uint32_t last)
{
        double nsec = 0;

        for (uint32_t node = 0; node < made->cluster.n_nodes; node++)
                nsec += visits_nsec(made, client, layers, node, first, last);
        for (uint32_t i = 0; i < made->cluster.n_devices; i++) {
                const AldPlanDevice *device = &made->devices[i];
                double needs = layers[i] * (double) made->workload.layer_bytes;

                /* The embedding and the client's buffers are on its host, whatever computes there. */
                if (device->is_processor && device->node == client &&
                        (double) device->free_bytes < client_host_bytes(made, client, layers, first))
                        return INFINITY;
                if (layers[i] == 0)
                        continue;
                if (i == last)
                        needs += (double) made->workload.head_bytes;
                if (device->node == client && device->uses_host_memory)
                        needs += (double) made->workload.embedding_bytes;
                needs += buffer_bytes(made, client, layers, i, first, last);
                if (needs > (double) device->free_bytes)
                        return INFINITY;
                nsec += device_nsec(made, client, i, layers[i], i == last);
        }
        return nsec;
}

/* A node without one is no client. */
static bool has_usable_device(const Case *made, uint32_t node)
{
        for (uint32_t i = 0; i < made->cluster.n_devices; i++)
                if (made->devices[i].node == node &&
                        made->devices[i].free_bytes >=
                                ald_plan_least_bytes(&made->request, &made->devices[i], 1))
                        return true;
        return false;
}

typedef struct Search {
        const Case *of;
        uint32_t layers[DEVICES_MAX];
        double best;
} Search;

/* Of nodes that must be used, a device is. */
static bool is_complete(const Case *made, const uint32_t *layers)
{
        bool uses_a = false;

        for (uint32_t i = 0; i < made->cluster.n_devices; i++)
                uses_a |= layers[i] > 0 && made->devices[i].node == 0;
        return uses_a || !made->request.required;
}

/* Of the devices that have layers. */
static uint32_t count_nodes(const Case *made, const uint32_t *layers)
{
        uint32_t nodes = 0;

        for (uint32_t i = 0; i < made->cluster.n_devices; i++)
                nodes |= layers[i] > 0 ? 1u << made->devices[i].node : 0;
        return (uint32_t) __builtin_popcount(nodes);
}

static void search(Search *self, uint32_t device, uint32_t left)
{
        const Case *of = self->of;
        uint32_t used = 0;

        if (device < of->cluster.n_devices) {
                for (uint32_t n = 0; n <= left; n++) {
                        self->layers[device] = n;
                        search(self, device + 1, left - n);
                }
                return;
        }
        for (uint32_t i = 0; i < of->cluster.n_devices; i++)
                used += self->layers[i] > 0;
        if (left > 0 || !is_complete(of, self->layers) ||
                (of->request.devices_max > 0 && used > of->request.devices_max) ||
                (of->request.nodes_max > 0 && count_nodes(of, self->layers) > of->request.nodes_max))
                return;
        for (uint32_t client = 0; client < of->cluster.n_nodes; client++)
                for (uint32_t ends = 0; ends < of->cluster.n_devices * of->cluster.n_devices; ends++) {
                        uint32_t first = ends / of->cluster.n_devices, last = ends % of->cluster.n_devices;

                        if (are_ends(of, client, self->layers, first, last) && has_usable_device(of, client))
                                self->best = fmin(
                                        self->best, step_nsec(of, client, self->layers, first, last));
                }
}

static void assert_best(const Case *made, const AldPlan *plan, double nsec)
{
        uint32_t layers[DEVICES_MAX] = {}, last = 0, sum = 0, heads = 0;

        for (uint32_t i = 0; i < plan->best.n_stages; i++) {
                const AldPlanStage *stage = &plan->best.stages[i];

                g_assert_cmpuint(stage->first_layer, ==, sum);
                g_assert_cmpuint(stage->bytes, <=, made->devices[stage->device].free_bytes);
                g_assert_cmpint(plan->verdicts[stage->device].reason, ==, ALD_PLAN_TAKEN);
                layers[stage->device] = stage->layers;
                sum += stage->layers;
                heads += stage->has_head;
                if (stage->has_head)
                        last = stage->device;
                /* Layers on the client's processor are the first. */
                if (made->devices[stage->device].is_processor &&
                        made->devices[stage->device].node == plan->best.client)
                        g_assert_cmpuint(i, ==, 0);
        }
        g_assert_cmpuint(sum, ==, made->workload.layers);
        g_assert_cmpuint(heads, ==, 1);
        g_assert_cmpfloat_with_epsilon(plan->best.nsec, nsec, 1e-6 * nsec);
        g_assert_true(are_ends(made, plan->best.client, layers, plan->best.stages[0].device, last));
        g_assert_cmpfloat_with_epsilon(
                step_nsec(made, plan->best.client, layers, plan->best.stages[0].device, last), nsec,
                1e-6 * nsec);
        g_assert_cmpfloat(plan->best.lower_nsec, ==, plan->best.nsec);
        g_assert_cmpfloat_with_epsilon(
                ald_plan_tokens_per_second(&made->workload, &plan->best), 1e9 / nsec, 1e-6 * 1e9 / nsec);
}

/* What is said of the plan holds. */
static void assert_explained(const Case *made, const AldPlan *plan)
{
        for (uint32_t i = 0; i < plan->n_alternatives; i++)
                g_assert_cmpfloat(plan->alternatives[i].nsec, >=,
                        i == 0 ? plan->best.nsec * (1 - 1e-12) : plan->alternatives[i - 1].nsec);
        for (uint32_t i = 0; i < made->cluster.n_devices; i++)
                if (plan->verdicts[i].reason == ALD_PLAN_SAVES_TOO_LITTLE)
                        g_assert_cmpfloat(plan->verdicts[i].saves_nsec, <=,
                                plan->verdicts[i].costs_nsec + 1e-6 * plan->best.nsec);
        for (uint32_t i = 0; i < plan->n_sensitivities; i++) {
                g_assert_cmpfloat(plan->sensitivities[i].rate_nsec, <=, plan->best.nsec * (1 + 1e-12));
                g_assert_cmpfloat(plan->sensitivities[i].rtt_nsec, <=, plan->best.nsec * (1 + 1e-12));
        }
}

static double best_star(const Case *made)
{
        Search all = { .of = made, .best = INFINITY };

        search(&all, 0, made->workload.layers);
        return all.best;
}

/* Plans of random clusters take as little as the best of all that there are. */
static void assert_random(void (*make)(Case *made), double (*find_best)(const Case *made),
        void (*assert_it)(const Case *made, const AldPlan *plan, double nsec))
{
        unsigned n_plans = 0;

        for (int i = 0; i < CASES; i++) {
                g_autoptr(AldPlan) plan = NULL;
                AldPlanRefusal refusal = {};
                double best;
                Case made;
                int r;

                make(&made);
                best = find_best(&made);
                r = ald_plan_make(&made.cluster, &made.request, &plan, &refusal);
                g_assert_cmpint(r, ==, isinf(best) ? -EINVAL : 0);
                g_free(refusal.verdicts);
                if (r < 0)
                        continue;
                assert_it(&made, plan, best);
                assert_explained(&made, plan);
                n_plans++;
        }
        g_assert_cmpuint(n_plans, >, CASES / 6);
}

static void test_is_best(void)
{
        assert_random(make_random, best_star, assert_best);
}

/* Rings: every order of every choice of GPUs of one vendor in which no node is in two places, with every
 * split. */

#define INNER_NSEC 5e5

typedef struct RingSearch {
        const Case *of;
        uint32_t devices[DEVICES_MAX], layers[DEVICES_MAX], n;
        double best;
} RingSearch;

static bool is_in_two_places(const RingSearch *self, uint32_t stage)
{
        uint32_t node = self->of->devices[self->devices[stage]].node;
        bool left = false;

        for (uint32_t i = stage; i < self->n; i++) {
                if (left && self->of->devices[self->devices[i]].node == node)
                        return true;
                left |= self->of->devices[self->devices[i]].node != node;
        }
        return false;
}

/* Whether it has as many stages on each node that it has any on. */
static bool is_even(const RingSearch *self)
{
        uint32_t counts[NODES_MAX] = {};

        for (uint32_t i = 0; i < self->n; i++)
                counts[self->of->devices[self->devices[i]].node]++;
        for (uint32_t i = 0; i < NODES_MAX; i++)
                if (counts[i] > 0 && counts[i] != counts[self->of->devices[self->devices[0]].node])
                        return false;
        return true;
}

static double ring_nsec(const RingSearch *self)
{
        const Case *of = self->of;
        uint32_t by_device[DEVICES_MAX] = {};
        double nsec = 0;

        for (uint32_t i = 0; i < self->n; i++)
                by_device[self->devices[i]] = self->layers[i];
        if (!is_complete(of, by_device) ||
                (of->request.nodes_max > 0 && count_nodes(of, by_device) > of->request.nodes_max) ||
                (of->request.engine->nodes_even && !is_even(self)))
                return INFINITY;
        for (uint32_t i = 0; i < self->n; i++) {
                const AldPlanDevice *device = &of->devices[self->devices[i]];
                const AldPlanDevice *next = &of->devices[self->devices[(i + 1) % self->n]];
                double bytes = self->layers[i] * (double) of->workload.layer_bytes, needs;

                if (i + 1 == self->n)
                        bytes += (double) of->workload.head_bytes;
                needs = bytes + (i == 0 ? (double) of->workload.embedding_bytes : 0);
                /* It holds the head once that is the embedding. */
                if (self->n == 1 && of->workload.head_tied)
                        needs -= (double) of->workload.head_bytes;
                if (needs > (double) device->free_bytes || strcmp(device->vendor, next->vendor) != 0 ||
                        is_in_two_places(self, i))
                        return INFINITY;
                nsec += device_nsec(of, ALD_PLAN_NONE, self->devices[i], self->layers[i], i + 1 == self->n);
                /* From the last one the token, of 8 bytes. */
                if (self->n > 1)
                        nsec += device->node == next->node
                                        ? INNER_NSEC
                                        : best_path(of, device->node, next->node,
                                                  i + 1 == self->n ? 8
                                                                   : 4.0 * of->workload.activation_elements);
        }
        return nsec;
}

static void search_rings(RingSearch *self, uint32_t left)
{
        const Case *of = self->of;

        if (left == 0)
                self->best = fmin(self->best, ring_nsec(self));
        if (left == 0 || self->n == of->cluster.n_devices ||
                (of->request.devices_max > 0 && self->n == of->request.devices_max))
                return;
        for (uint32_t device = 0; device < of->cluster.n_devices; device++) {
                bool used = false;

                for (uint32_t i = 0; i < self->n; i++)
                        used |= self->devices[i] == device;
                self->devices[self->n++] = device;
                for (uint32_t layers = 1; !used && layers <= left; layers++) {
                        self->layers[self->n - 1] = layers;
                        search_rings(self, left - layers);
                }
                self->n--;
        }
}

static void make_random_ring(Case *made)
{
        static const char *const vendors[] = { "NVIDIA", "AMD" };

        make_random(made);
        made->request.engine = ald_plan_engine_find(g_test_rand_bit() ? "vllm" : "torch");
        made->request.constants.values[ALD_PLAN_INNER_HOP_NSEC] = INNER_NSEC;
        made->workload.head_tied = g_test_rand_bit();
        for (uint32_t i = 0; i < made->cluster.n_devices; i++) {
                made->devices[i].is_processor = made->devices[i].uses_host_memory = false;
                made->devices[i].vendor = vendors[g_test_rand_int_range(0, 4) == 0];
        }
}

static void assert_ring(const Case *made, const AldPlan *plan, double nsec)
{
        RingSearch found = { .of = made, .n = plan->best.n_stages };

        for (uint32_t i = 0; i < found.n; i++) {
                found.devices[i] = plan->best.stages[i].device;
                found.layers[i] = plan->best.stages[i].layers;
                g_assert_cmpuint(plan->best.stages[i].bytes, <=, made->devices[found.devices[i]].free_bytes);
        }
        g_assert_cmpuint(plan->best.client, ==, ALD_PLAN_NONE);
        g_assert_cmpfloat_with_epsilon(plan->best.nsec, nsec, 1e-6 * nsec);
        g_assert_cmpfloat_with_epsilon(plan->best.lower_nsec, nsec, 1e-6 * nsec);
        g_assert_cmpfloat_with_epsilon(ring_nsec(&found), nsec, 1e-6 * nsec);
        for (uint32_t i = 0; i < made->cluster.n_devices; i++)
                if (strcmp(made->devices[i].vendor, made->devices[found.devices[0]].vendor) != 0)
                        g_assert_cmpint(plan->verdicts[i].reason, !=, ALD_PLAN_TAKEN);
}

static double best_ring(const Case *made)
{
        RingSearch all = { .of = made, .best = INFINITY };

        search_rings(&all, made->workload.layers);
        return all.best;
}

static void test_ring_is_best(void)
{
        assert_random(make_random_ring, best_ring, assert_ring);
}

/* A device that is put among the stages of the plan takes no less than the best ring of them. */
static void test_insertion(void)
{
        unsigned n_found = 0;

        for (int i = 0; i < CASES / 2; i++) {
                g_autoptr(AldPlan) plan = NULL;
                g_auto(AldPlanCandidates) candidates = {};
                AldPlanProgress progress = {};
                AldPlanRefusal refusal = {};
                AldPlanChoice choice;
                AldPlanSteps put, best;
                Case made;

                make_random_ring(&made);
                progress.request = &made.request;
                if (ald_plan_make(&made.cluster, &made.request, &plan, &refusal) < 0) {
                        g_free(refusal.verdicts);
                        ald_plan_candidates_init(
                                &candidates, &made.cluster, &made.request, ALD_PLAN_PREFER_SPEED, &refusal);
                        continue;
                }
                ald_plan_candidates_init(
                        &candidates, &made.cluster, &made.request, ALD_PLAN_PREFER_SPEED, &refusal);
                candidates.progress = &progress;
                choice = ald_plan_choice(&candidates);
                for (uint32_t j = 0; j < candidates.n; j++) {
                        if (plan->verdicts[candidates.devices[j]].reason != ALD_PLAN_SAVES_TOO_LITTLE)
                                continue;
                        choice.required = j;
                        choice.around = &plan->best;
                        if (ald_plan_find_steps(&candidates, &choice, &put) < 0)
                                continue;
                        choice.around = NULL;
                        g_assert_cmpint(ald_plan_find_steps(&candidates, &choice, &best), ==, 0);
                        g_assert_cmpfloat(put.nsec, >=, best.nsec * (1 - 1e-12));
                        g_assert_cmpuint(put.n_stages, ==, plan->best.n_stages + 1);
                        n_found++;
                        ald_plan_steps_clear(&put);
                        ald_plan_steps_clear(&best);
                }
        }
        g_assert_cmpuint(n_found, >, 0);
}

static AldPlan *plan_of(const Case *made)
{
        AldPlanRefusal refusal;
        AldPlan *plan = NULL;

        g_assert_cmpint(ald_plan_make(&made->cluster, &made->request, &plan, &refusal), ==, 0);
        return plan;
}

/* b is the fastest, but has room for five layers. The sixth and the head are on a rather than on c, which is
 * faster, but far away. */
static void test_explanation(void)
{
        g_autoptr(AldPlan) plan = NULL;
        Case made;

        init_case(&made, 3);
        made.devices[1].bytes_per_second = 200e9;
        made.devices[1].free_bytes = 5 * GB;
        made.devices[2].bytes_per_second = 120e9;
        join(&made, 0, 1, 2e6, 1e9);
        join(&made, 0, 2, 8e6, 1e9);
        join(&made, 1, 2, 8e6, 1e9);
        plan = plan_of(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        /* Whose embedding takes no room from b. */
        g_assert_cmpuint(plan->best.client, ==, 0);
        g_assert_cmpuint(plan->best.stages[0].device, ==, 0);
        g_assert_true(plan->best.stages[0].has_head);
        g_assert_cmpfloat_with_epsilon(plan->best.stages[0].nsec, 15e6, 1);
        g_assert_cmpfloat(plan->best.stages[0].hop_nsec, ==, 0);
        g_assert_cmpuint(plan->best.stages[0].path_to, ==, ALD_PLAN_NONE);
        g_assert_cmpuint(plan->best.stages[1].device, ==, 1);
        g_assert_cmpuint(plan->best.stages[1].layers, ==, 5);
        g_assert_cmpfloat_with_epsilon(plan->best.stages[1].nsec, 25e6, 1);
        g_assert_cmpfloat_with_epsilon(plan->best.stages[1].hop_nsec, 2e6 + 2 * 32e3 + 4096, 1);
        g_assert_cmpuint(plan->best.stages[1].path_to, ==, 0);
        g_assert_cmpuint(plan->best.stages[1].path_from, ==, 1);
        /* It would take the last layer and the head. */
        g_assert_cmpint(plan->verdicts[2].reason, ==, ALD_PLAN_SAVES_TOO_LITTLE);
        g_assert_cmpfloat_with_epsilon(plan->verdicts[2].costs_nsec, 8e6 + 2 * 32e3 + 4096, 1);
        g_assert_cmpfloat_with_epsilon(plan->verdicts[2].saves_nsec, 15e6 - 12.5e6, 1);
        g_assert_cmpuint(plan->n_sensitivities, ==, 1);
        g_assert_cmpuint(plan->sensitivities[0].device, ==, 1);
        g_assert_cmpfloat_with_epsilon(
                plan->best.nsec - plan->sensitivities[0].rate_nsec, 0.9 * (64e3 + 4096), 1);
        g_assert_cmpfloat_with_epsilon(plan->best.nsec - plan->sensitivities[0].rtt_nsec, 0.9 * 2e6, 1);
        g_assert_cmpuint(plan->n_alternatives, ==, 3);
}

/* One GPU has room for the embedding once, of two each has it. */
static void test_tied(void)
{
        static const char *const both[] = { "a", "b", NULL };
        Case made;

        init_case(&made, 2);
        made.request.engine = ald_plan_engine_find("vllm");
        made.workload.head_tied = 1;
        for (uint32_t i = 0; i < 2; i++) {
                made.devices[i].is_processor = made.devices[i].uses_host_memory = false;
                made.devices[i].free_bytes = 6 * GB + GB / 2;
        }
        for (uint32_t n = 1; n <= 2; n++) {
                g_autoptr(AldPlan) plan = NULL;

                made.cluster.n_devices = n;
                made.request.required = n == 2 ? both : NULL;
                if (n == 2)
                        join(&made, 0, 1, 1e6, 1e9);
                plan = plan_of(&made);
                g_assert_cmpuint(plan->best.n_stages, ==, n);
                for (uint32_t i = 0; i < n; i++) {
                        const AldPlanStage *stage = &plan->best.stages[i];

                        g_assert_cmpuint(stage->weight_bytes, ==, stage->layers * GB + GB / 2);
                        g_assert_cmpuint(stage->bytes, ==, stage->weight_bytes);
                }
        }
}

static void assert_verdict(const Case *made, uint32_t device, AldPlanReason reason)
{
        g_autoptr(AldPlan) plan = plan_of(made);

        g_assert_cmpint(plan->verdicts[device].reason, ==, reason);
}

static void test_reasons(void)
{
        static const char *const without[] = { "b", NULL }, *const without_device[] = { "b/cpu", NULL };
        Case made, changed;

        init_case(&made, 2);
        join(&made, 0, 1, 1e3, 1e9);
        made.devices[1].bytes_per_second = 50e9;
        assert_verdict(&made, 1, ALD_PLAN_SAVES_TOO_LITTLE);
#define CHANGED(...)                                  \
        changed = made;                               \
        changed.cluster.nodes = changed.nodes;        \
        changed.cluster.devices = changed.devices;    \
        changed.cluster.paths = changed.paths;        \
        changed.request.workload = &changed.workload; \
        __VA_ARGS__;                                  \
        assert_verdict
        CHANGED(changed.nodes[1].unusable = "offline")(&changed, 1, ALD_PLAN_UNUSABLE);
        CHANGED(changed.request.without = without)(&changed, 1, ALD_PLAN_EXCLUDED);
        CHANGED(changed.request.without = without_device)(&changed, 1, ALD_PLAN_EXCLUDED);
        CHANGED(changed.devices[1].bytes_per_second = NAN)(&changed, 1, ALD_PLAN_BANDWIDTH_UNMEASURED);
        CHANGED(changed.devices[1].flops = NAN)(&changed, 1, ALD_PLAN_COMPUTE_UNMEASURED);
        CHANGED(changed.devices[1].free_bytes = ALD_PLAN_ABSENT)(&changed, 1, ALD_PLAN_MEMORY_UNKNOWN);
        CHANGED(changed.devices[1].free_bytes = GB - 1)(&changed, 1, ALD_PLAN_MEMORY_TOO_SMALL);
        CHANGED(changed.cluster.n_paths = 0)(&changed, 1, ALD_PLAN_NO_PATH);
        CHANGED(changed.devices[1].node = 0)(&changed, 1, ALD_PLAN_SHARES_MEMORY);
#undef CHANGED
}

static void assert_kind(const Case *made, AldPlanRefusalKind kind)
{
        AldPlanRefusal refusal = {};
        AldPlan *plan = NULL;

        g_assert_cmpint(ald_plan_make(&made->cluster, &made->request, &plan, &refusal), ==, -EINVAL);
        g_assert_cmpint(refusal.kind, ==, kind);
        g_free(refusal.verdicts);
}

static void assert_refused(const Case *made, AldPlanRefusalKind kind, const char *text)
{
        AldPlanRefusal refusal = {};
        AldPlan *plan = NULL;

        g_assert_cmpint(ald_plan_make(&made->cluster, &made->request, &plan, &refusal), ==, -EINVAL);
        g_assert_null(plan);
        g_assert_cmpint(refusal.kind, ==, kind);
        g_assert_cmpstr(refusal.text, ==, text);
        g_assert_nonnull(refusal.verdicts);
        g_free(refusal.verdicts);
        if (kind != ALD_PLAN_TOO_LITTLE_MEMORY)
                return;
        g_assert_cmpuint(refusal.needs_bytes, ==, 7 * GB);
        g_assert_cmpuint(refusal.free_bytes, ==, 4 * GB);
        g_assert_cmpuint(refusal.n_devices, ==, 2);
}

/* All layers fit on a GPU, but the host has room for half of the embedding. */
static void test_client_memory(void)
{
        g_autoptr(AldPlan) plan = NULL;
        AldPlanRefusal refusal = {};
        Case made;

        init_case(&made, 2);
        made.workload.embedding_bytes = 2 * GB;
        made.request.constants.values[ALD_PLAN_HOST_RESERVE_BYTES] = 1e9;
        made.cluster.n_devices = 3;
        made.devices[2] = made.devices[0];
        made.devices[2].id = "gpu";
        made.devices[2].is_processor = made.devices[2].uses_host_memory = false;
        made.devices[2].bytes_per_second = 1e12;
        made.devices[0].free_bytes = made.devices[1].free_bytes = GB;
        join(&made, 0, 1, 1e6, 1e9);
        g_assert_cmpint(ald_plan_make(&made.cluster, &made.request, &plan, &refusal), ==, -EINVAL);
        g_assert_cmpint(refusal.kind, ==, ALD_PLAN_CLIENT_TOO_SMALL);
        g_assert_cmpstr(refusal.text, ==, "a");
        g_assert_cmpuint(refusal.needs_bytes, ==, 3 * GB);
        g_assert_cmpuint(refusal.free_bytes, ==, GB);
        g_free(refusal.verdicts);
        /* It is not known to be enough. */
        made.devices[0].free_bytes = ALD_PLAN_ABSENT;
        assert_refused(&made, ALD_PLAN_CLIENT_TOO_SMALL, "a");
        made.request.client = "a";
        assert_refused(&made, ALD_PLAN_CLIENT_TOO_SMALL, "a");
        made.request.client = NULL;
        /* The client is where there is room. */
        made.devices[1].free_bytes = 4 * GB;
        plan = plan_of(&made);
        g_assert_cmpuint(plan->best.client, ==, 1);
        g_assert_cmpuint(plan->best.stages[0].device, ==, 2);
        g_assert_cmpuint(plan->best.stages[0].layers, ==, 6);
        made.devices[0].free_bytes = GB;
        made.request.client = "a";
        assert_kind(&made, ALD_PLAN_CLIENT_TOO_SMALL);
}

/* Two GPUs have room for the layers, and their hosts for the client, but not with what two servers need. */
static void test_client_copies(void)
{
        AldPlanRefusal refusal = {};
        AldPlan *plan = NULL;
        Case made;

        init_case(&made, 2);
        made.workload.activation_elements = made.workload.feed_forward_elements = 20000;
        made.workload.batch_tokens = 512;
        made.workload.context = 4096;
        made.cluster.n_devices = 4;
        for (uint32_t i = 0; i < 2; i++) {
                made.devices[i].free_bytes = 8 * GB / 10;
                made.devices[2 + i] = made.devices[i];
                made.devices[2 + i].id = "gpu";
                made.devices[2 + i].is_processor = made.devices[2 + i].uses_host_memory = false;
                made.devices[2 + i].free_bytes = 11 * GB / 2;
        }
        join(&made, 0, 1, 1e6, 1e9);
        g_assert_cmpint(ald_plan_make(&made.cluster, &made.request, &plan, &refusal), ==, -EINVAL);
        g_assert_cmpint(refusal.kind, ==, ALD_PLAN_CLIENT_TOO_SMALL);
        g_assert_cmpstr(refusal.text, ==, "a");
        g_assert_cmpuint(refusal.needs_bytes, ==, ald_plan_client_host_bytes(&made.request, 4));
        g_assert_cmpuint(ald_plan_client_host_bytes(&made.request, 1), <, refusal.free_bytes);
        g_free(refusal.verdicts);
        made.devices[1].free_bytes = 95 * GB / 100;
        plan = plan_of(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        ald_plan_free(plan);
}

/* A GPU that computes in host memory, and is faster than the processor. */
static void add_unified_gpu(Case *made, uint64_t free_bytes)
{
        made->devices[made->cluster.n_devices++] = (AldPlanDevice){ .node = 0,
                .id = "gpu",
                .uses_host_memory = true,
                .free_bytes = free_bytes,
                .bytes_per_second = 200e9,
                .flops = 1e12 };
}

/* Of what it may use of the host's memory. */
static void test_shared_memory(void)
{
        static const struct {
                uint64_t free_bytes, layers;
                bool is_gpu;
                AldPlanReason reason; /* of the other one */
        } cases[] = {
                { 20 * GB, 6, true, ALD_PLAN_SHARES_MEMORY },
                /* No layer fits. */
                { GB / 2, 6, false, ALD_PLAN_MEMORY_TOO_SMALL },
                /* Some do, but not all. */
                { 3 * GB, 6, false, ALD_PLAN_SHARES_MEMORY },
                { 3 * GB, 2, true, ALD_PLAN_SHARES_MEMORY },
                { ALD_PLAN_ABSENT, 6, false, ALD_PLAN_MEMORY_UNKNOWN },
        };
        static const char *const gpu[] = { "a/gpu", NULL };
        Case made;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldPlan) plan = NULL;

                init_case(&made, 1);
                add_unified_gpu(&made, cases[i].free_bytes);
                made.workload.layers = cases[i].layers;
                plan = plan_of(&made);
                g_assert_cmpuint(plan->best.n_stages, ==, 1);
                g_assert_cmpuint(plan->best.stages[0].device, ==, cases[i].is_gpu);
                g_assert_cmpint(plan->verdicts[!cases[i].is_gpu].reason, ==, cases[i].reason);
        }
        /* It must be used, so that the model does not fit. */
        init_case(&made, 1);
        add_unified_gpu(&made, 3 * GB);
        made.request.required = gpu;
        assert_kind(&made, ALD_PLAN_TOO_LITTLE_MEMORY);
}

/* The faster one may use less of the memory, so that its plan would need a second node. */
static void test_roomier_sibling(void)
{
        g_autoptr(AldPlan) plan = NULL, equal = NULL;
        Case made;

        init_case(&made, 2);
        add_unified_gpu(&made, 3 * GB);
        made.devices[1].free_bytes = 5 * GB;
        join(&made, 0, 1, 50e6, 1e9);
        plan = plan_of(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 1);
        g_assert_cmpuint(plan->best.stages[0].device, ==, 0);
        g_assert_cmpint(plan->verdicts[2].reason, ==, ALD_PLAN_SHARES_MEMORY);
        /* One that uses both devices might take less. */
        g_assert_cmpfloat_with_epsilon(plan->best.nsec, 65e6, 1);
        g_assert_cmpfloat_with_epsilon(plan->best.lower_nsec, 32.5e6, 1);
        /* There is no reason for that if both may use as much. */
        made.devices[2].free_bytes = made.devices[0].free_bytes;
        equal = plan_of(&made);
        g_assert_cmpuint(equal->best.stages[0].device, ==, 2);
        g_assert_cmpfloat(equal->best.lower_nsec, ==, equal->best.nsec);
}

static void test_refusals(void)
{
        static const char *const stranger[] = { "z", NULL }, *const b[] = { "b", NULL };
        Case made;

        init_case(&made, 2);
        made.request.required = stranger;
        assert_refused(&made, ALD_PLAN_NO_SUCH_NODE, "z");
        made.request.required = NULL;
        made.request.without = stranger;
        assert_refused(&made, ALD_PLAN_NO_SUCH_NODE, "z");
        made.request.without = NULL;
        made.request.client = "a";
        made.request.engine = ald_plan_engine_find("vllm");
        assert_refused(&made, ALD_PLAN_NO_CLIENT, "a");
        made.request.engine = ald_plan_engine_find("llama.cpp");
        made.request.client = "z";
        assert_refused(&made, ALD_PLAN_NO_SUCH_NODE, "z");
        made.request.client = "b";
        made.nodes[1].unusable = "offline";
        assert_refused(&made, ALD_PLAN_REQUIRED_UNUSABLE, "b");
        made.request.client = NULL;
        made.request.required = b;
        assert_refused(&made, ALD_PLAN_REQUIRED_UNUSABLE, "b");
        made.nodes[0].unusable = "offline";
        made.request.required = NULL;
        assert_refused(&made, ALD_PLAN_NO_DEVICE, NULL);
        made.nodes[0].unusable = made.nodes[1].unusable = NULL;
        made.devices[0].free_bytes = made.devices[1].free_bytes = 2 * GB;
        assert_refused(&made, ALD_PLAN_TOO_LITTLE_MEMORY, NULL);
        made.devices[0].free_bytes = made.devices[1].free_bytes = 4 * GB;
        assert_refused(&made, ALD_PLAN_NOT_JOINED, NULL);
        join(&made, 0, 1, 1e6, 1e9);
        made.request.devices_max = 1;
        assert_refused(&made, ALD_PLAN_DEVICES_LIMITED, NULL);
        made.request.devices_max = 0;
        made.request.engine = ald_plan_engine_find("vllm");
        assert_refused(&made, ALD_PLAN_NO_DEVICE, NULL);
        made.devices[0].is_processor = made.devices[1].is_processor = false;
        made.devices[0].vendor = "NVIDIA";
        made.devices[1].vendor = "AMD";
        assert_refused(&made, ALD_PLAN_VENDORS_DIFFER, NULL);
        /* A path over RDMA is none for llama.cpp. */
        made.request.engine = ald_plan_engine_find("llama.cpp");
        made.paths[0].is_rdma = made.paths[1].is_rdma = true;
        assert_refused(&made, ALD_PLAN_NOT_JOINED, NULL);
}

/* A path that was never measured is used only where the request says what to assume of it. */
static void test_assumption(void)
{
        g_autoptr(AldPlan) plan = NULL;
        Case made;

        init_case(&made, 2);
        made.devices[0].free_bytes = made.devices[1].free_bytes = 4 * GB;
        made.request.assumed_rtt_nsec = 1e6;
        made.request.assumed_bits_per_second = 1e9;
        plan = plan_of(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        for (uint32_t i = 0; i < 2; i++)
                g_assert_cmpuint(plan->best.stages[i].path_to, ==, ALD_PLAN_NONE);
        g_assert_cmpfloat(plan->best.stages[0].hop_nsec + plan->best.stages[1].hop_nsec, >, 1e6);
}

static void test_required(void)
{
        static const char *const b[] = { "b", NULL };
        g_autoptr(AldPlan) plan = NULL;
        Case made;

        init_case(&made, 2);
        join(&made, 0, 1, 1e6, 1e9);
        made.devices[1].bytes_per_second = 50e9;
        made.request.required = b;
        made.request.client = "a";
        plan = plan_of(&made);
        g_assert_cmpuint(plan->best.client, ==, 0);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        g_assert_cmpuint(
                plan->best.stages[1].device == 1 ? plan->best.stages[1].layers : plan->best.stages[0].layers,
                ==, 1);
}

static void test_constants(void)
{
        AldPlanOptions options = ALD_PLAN_OPTIONS_INIT;
        AldPlanConstants constants;

        for (AldPlanConstant i = 0; i < ALD_PLAN_N_CONSTANTS; i++) {
                const AldPlanConstantInfo *info = &ald_plan_constants[i];
                const AldField *field = ald_struct_find(&ald_plan_options_struct, info->name);
                double *stated;

                g_assert_nonnull(field);
                g_assert_true(field->limited_below && field->limited_above);
                ald_plan_constants_init(&constants, &options);
                /* One that stands for several others has no value by itself. */
                if (i == ALD_PLAN_LAYER_NSEC) {
                        g_assert_true(isnan(info->value) && isnan(constants.values[i]));
                } else {
                        g_assert_cmpfloat(field->minimum, <=, info->value);
                        g_assert_cmpfloat(info->value, <=, field->maximum);
                        g_assert_cmpfloat(constants.values[i], ==, info->value);
                }
                g_assert_false(ald_plan_constant_is_given(&options, i));
                stated = (double *) ald_field_of(field, &options);
                *stated = field->maximum;
                ald_plan_constants_init(&constants, &options);
                g_assert_cmpfloat(constants.values[i], ==, field->maximum);
                g_assert_true(ald_plan_constant_is_given(&options, i));
        }
}

static void test_engine_names(void)
{
        for (size_t i = 0; ald_plan_engine_name_at(i); i++)
                g_assert_true(ald_plan_engine_find(ald_plan_engine_name_at(i)) == &ald_plan_engines[i]);
        g_assert_null(ald_plan_engine_find("llama"));
}

static void test_workload_defaults(void)
{
        AldPlanWorkload workload = ALD_PLAN_WORKLOAD_INIT;
        const char *reason = NULL;

        workload.layers = 10;
        workload.layer_bytes = 100;
        workload.layer_kv_bytes = 40;
        workload.parallel = 4;
        workload.activation_elements = 5;
        workload.head_bytes = 30;
        g_assert_cmpint(ald_plan_workload_complete(&workload, &reason), ==, 0);
        g_assert_cmpfloat(workload.mean_layer_bytes, ==, 100);
        g_assert_cmpfloat(workload.token_bytes, ==, 100);
        g_assert_cmpfloat(workload.token_kv_bytes, ==, 10);
        g_assert_cmpfloat(workload.token_parameters, ==, 50);
        g_assert_cmpfloat(workload.head_parameters, ==, 15);
        g_assert_cmpuint(workload.embedding_bytes, ==, 0);
        g_assert_cmpint(workload.head_tied, ==, 0);
        g_assert_cmpuint(workload.batch_tokens, ==, 512);
        g_assert_cmpuint(workload.feed_forward_elements, ==, ALD_ABSENT_UINT64);
        for (size_t i = 0; i < ald_plan_workload_struct.n_fields; i++) {
                const AldField *field = &ald_plan_workload_struct.fields[i];
                bool has_no_default = g_str_equal(field->name, "KvHeads") ||
                                      g_str_equal(field->name, "DraftLayers") ||
                                      g_str_equal(field->name, "LayerSizes") ||
                                      g_str_equal(field->name, "FeedForwardElements") ||
                                      g_str_has_suffix(field->name, "Experts") ||
                                      g_str_has_prefix(field->name, "KvType") ||
                                      g_str_equal(field->name, "ModelFormat") ||
                                      g_str_equal(field->name, "Architecture") ||
                                      g_str_equal(field->name, "MessageBytes");

                g_assert_true(ald_field_is_absent(field, ald_field_of(field, &workload)) == has_no_default);
        }
        workload.token_bytes = 101;
        g_assert_cmpint(ald_plan_workload_complete(&workload, &reason), ==, -EINVAL);
        g_assert_nonnull(strstr(reason, "TokenBytes"));
        workload.mean_layer_bytes = 101;
        g_assert_cmpint(ald_plan_workload_complete(&workload, &reason), ==, -EINVAL);
        g_assert_nonnull(strstr(reason, "LayerBytes"));
        workload.mean_layer_bytes = 100;
        workload.token_bytes = 50;
        workload.experts = 8;
        g_assert_cmpint(ald_plan_workload_complete(&workload, &reason), ==, -EINVAL);
        g_assert_nonnull(strstr(reason, "together"));
        workload.used_experts = 9;
        g_assert_cmpint(ald_plan_workload_complete(&workload, &reason), ==, -EINVAL);
        g_assert_nonnull(strstr(reason, "more than Experts"));
        workload.used_experts = 8;
        g_assert_cmpint(ald_plan_workload_complete(&workload, &reason), ==, 0);
}

static uint32_t layers_max(const AldPlanRequest *request, const AldPlanDevice *device, uint64_t beside)
{
        return ald_plan_layers_max(
                request, ALD_PLAN_RUN_LARGEST, ald_plan_layers_room(request, device, beside, 3e9));
}

/* 100 GB/s and 10 TFLOPS; layers of 2 GB, of which a token reads 0.5, and 1 GB of keys and values for each
 * request; 1e9 parameters of a layer that a token uses. */
static void test_costs(void)
{
        const AldPlanDevice gpu = { .free_bytes = 100 * GB, .bytes_per_second = 100e9, .flops = 10e12 };
        const AldPlanDevice cpu = { .is_processor = true,
                .uses_host_memory = true,
                .free_bytes = 100 * GB,
                .bytes_per_second = 100e9,
                .flops = 10e12 };
        AldPlanWorkload workload = { .layers = 80,
                .layer_bytes = 3 * GB,
                .layer_kv_bytes = 2 * GB,
                .mean_layer_bytes = 2e9,
                .token_bytes = 0.5e9,
                .token_kv_bytes = 1e9,
                .token_parameters = 1e9,
                .experts = ALD_ABSENT_UINT64,
                .used_experts = ALD_ABSENT_UINT64,
                .head_bytes = 4 * GB,
                .head_parameters = 2e9,
                .activation_elements = 1000,
                .vocabulary = 5000,
                .parallel = 2,
                .context = 300 };
        AldPlanRequest request = { .workload = &workload };
        AldPlanConstants constants;
        AldPlanPath path = { .rtt_nsec = 1e6, .bits_per_second = 1e9 };

        ald_plan_constants_init(&constants, NULL);
        constants.values[ALD_PLAN_GPU_MEMORY_EFFICIENCY] = 0.5;
        constants.values[ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY] = 0.25;
        constants.values[ALD_PLAN_COMPUTE_EFFICIENCY] = 0.1;
        constants.values[ALD_PLAN_PROCESSOR_COMPUTE_EFFICIENCY] = 0.05;
        constants.values[ALD_PLAN_CLIENT_COMPUTE_EFFICIENCY] = 0.1;
        constants.values[ALD_PLAN_LAYER_NSEC] = 1000;
        constants.values[ALD_PLAN_GPU_RESERVE_BYTES] = 1e9;
        constants.values[ALD_PLAN_HOST_RESERVE_BYTES] = 2e9;
        constants.values[ALD_PLAN_STAR_STEP_BYTES] = 100;
        constants.values[ALD_PLAN_TRANSPORT_OVERHEAD] = 2;
        request.constants = constants;
        /* 2 · 0.5 + 2 · 1 GB at 50 and 25 GB/s; then computing 2 · 2 · 1e9 operations, at 1e12 a second, is
         * slower. */
        g_assert_cmpfloat_with_epsilon(ald_plan_layer_nsec(&constants, &gpu, &workload), 60e6 + 1000, 1);
        g_assert_cmpfloat_with_epsilon(ald_plan_layer_nsec(&constants, &cpu, &workload), 120e6 + 1000, 1);
        workload.token_parameters = 100e9;
        g_assert_cmpfloat_with_epsilon(ald_plan_layer_nsec(&constants, &gpu, &workload), 400e6 + 1000, 1);
        g_assert_cmpfloat_with_epsilon(ald_plan_layer_nsec(&constants, &cpu, &workload), 800e6 + 1000, 1);
        g_assert_cmpfloat_with_epsilon(
                ald_plan_client_layer_nsec(&constants, &cpu, &workload), 400e6 + 1000, 1);
        workload.token_parameters = 1e9;
        /* If it is not known how many experts there are, those of eight tokens are all of them. */
        workload.parallel = 8;
        g_assert_cmpfloat_with_epsilon(ald_plan_layer_nsec(&constants, &gpu, &workload), 200e6 + 1000, 1);
        g_assert_cmpfloat_with_epsilon(ald_plan_head_nsec(&constants, &gpu, &workload), 80e6, 1);
        g_assert_cmpuint(ald_plan_stage_bytes(&request, &gpu, 3, GB, 3e9), ==, 20 * GB);
        g_assert_cmpuint(ald_plan_stage_bytes(&request, &cpu, 3, GB, 3e9), ==, 21 * GB);
        g_assert_cmpuint(layers_max(&request, &gpu, 0), ==, 19);
        g_assert_cmpuint(layers_max(&request, &cpu, GB), ==, 18);
        g_assert_cmpuint(layers_max(&request, &gpu, 200 * GB), ==, 0);
        /* 512 tokens of the mask. */
        g_assert_cmpfloat(ald_plan_activation_bytes(&constants, &workload), ==, 2 * 4 * 1000 * 8);
        g_assert_cmpfloat(ald_plan_star_bytes(&constants, &workload, false), ==,
                2 * (4 * 1000 * 8 + 2 * 512 * 8 + 100));
        /* Twice more. */
        g_assert_cmpfloat(ald_plan_star_bytes(&constants, &workload, true), ==,
                2 * (3 * 4 * 1000 * 8 + 2 * 512 * 8 + 100 + 2 * 314));
        g_assert_cmpfloat(ald_plan_result_bytes(&constants, &workload), ==, 2 * 4 * 5000 * 8);
        g_assert_cmpfloat_with_epsilon(ald_plan_path_nsec(&path, 1000), 0.5e6 + 8000, 1);
        path.bits_per_second = NAN;
        g_assert_true(isinf(ald_plan_path_nsec(&path, 1000)));
}

static double small_layer_nsec(AldPlanConstants *constants, const char *vendor, bool is_processor)
{
        const AldPlanDevice device = {
                .vendor = vendor, .is_processor = is_processor, .bytes_per_second = 1e30, .flops = 1e30
        };
        const AldPlanWorkload workload = { .token_bytes = 1,
                .mean_layer_bytes = 1,
                .token_parameters = 1,
                .experts = ALD_ABSENT_UINT64,
                .used_experts = ALD_ABSENT_UINT64,
                .parallel = 1 };

        return ald_plan_layer_nsec(constants, &device, &workload);
}

/* By the library that drives a device, unless one figure is stated for all. */
static void test_small_layers(void)
{
        static const struct {
                const char *vendor;
                bool is_processor;
                AldPlanConstant constant;
        } cases[] = {
                { "NVIDIA Corporation", false, ALD_PLAN_CUDA_LAYER_NSEC },
                { "AMD", false, ALD_PLAN_ROCM_LAYER_NSEC },
                { "Apple", false, ALD_PLAN_METAL_LAYER_NSEC },
                { "Intel", false, ALD_PLAN_VULKAN_LAYER_NSEC },
                { NULL, false, ALD_PLAN_VULKAN_LAYER_NSEC },
                { "AMD", true, ALD_PLAN_PROCESSOR_LAYER_NSEC },
        };
        AldPlanConstants constants;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                ald_plan_constants_init(&constants, NULL);
                g_assert_true(isnan(constants.values[ALD_PLAN_LAYER_NSEC]));
                g_assert_cmpfloat_with_epsilon(
                        small_layer_nsec(&constants, cases[i].vendor, cases[i].is_processor),
                        ald_plan_constants[cases[i].constant].value, 1e-6);
                constants.values[ALD_PLAN_LAYER_NSEC] = 1000;
                g_assert_cmpfloat_with_epsilon(
                        small_layer_nsec(&constants, cases[i].vendor, cases[i].is_processor), 1000, 1e-6);
        }
}

/* Bytes of a layer that a step reads, by the time that a device takes which reads one in a nanosecond. */
static double read_in_step(AldPlanWorkload *workload, uint64_t parallel)
{
        const AldPlanDevice gpu = { .bytes_per_second = 1e9, .flops = 1e30 };
        AldPlanConstants constants;

        ald_plan_constants_init(&constants, NULL);
        constants.values[ALD_PLAN_GPU_MEMORY_EFFICIENCY] = 1;
        constants.values[ALD_PLAN_LAYER_NSEC] = 0;
        workload->parallel = parallel;
        return ald_plan_layer_nsec(&constants, &gpu, workload);
}

/* A layer of 100 that all tokens use and eight experts of 50, of which each token takes two. */
static void test_experts(void)
{
        AldPlanWorkload workload = { .layers = 1,
                .mean_layer_bytes = 500,
                .token_bytes = 200,
                .token_parameters = 1,
                .experts = 8,
                .used_experts = 2 };

        g_assert_cmpfloat_with_epsilon(read_in_step(&workload, 1), 100 + 400 * 0.25, 1e-6);
        g_assert_cmpfloat_with_epsilon(read_in_step(&workload, 2), 100 + 400 * (1 - 0.75 * 0.75), 1e-6);
        g_assert_cmpfloat_with_epsilon(read_in_step(&workload, 3), 100 + 400 * (1 - 0.421875), 1e-6);
        g_assert_cmpfloat_with_epsilon(read_in_step(&workload, 1000), 500, 1e-6);
        /* Dense layers among them have no experts, and are read once: three in four here. */
        workload.mean_layer_bytes = (500 + 3 * 120) / 4.0;
        workload.token_bytes = (200 + 3 * 120) / 4.0;
        g_assert_cmpfloat_with_epsilon(read_in_step(&workload, 2), (100 + 400 * 0.4375 + 3 * 120) / 4, 1e-6);
        /* As many as there are. */
        workload.used_experts = 8;
        workload.token_bytes = workload.mean_layer_bytes;
        g_assert_cmpfloat_with_epsilon(read_in_step(&workload, 1), 215, 1e-6);
        g_assert_cmpfloat_with_epsilon(read_in_step(&workload, 2), 215, 1e-6);
}

/* Logged by llama.cpp 0.7.0: elements, feed-forward elements, vocabulary, context; layers and copies; MiB.
 * The last one is how much more it may be. */
static const struct {
        uint64_t elements, feed_forward, vocabulary, context;
        AldPlanBufferUse use;
        double mib, more;
} logged_buffers[] = {
        /* Several servers. */
        { 4096, 14336, 128256, 4096, { 1, 4, .is_first = true }, 220.05, 0 },
        { 4096, 14336, 128256, 16384, { 2, 4, .is_first = true }, 276.05, 0 },
        { 4096, 14336, 128256, 4096, { 2, 4 }, 156.04, 0 },
        { 4096, 14336, 128256, 16384, { 1, 4 }, 196.04, 0 },
        { 4096, 14336, 128256, 4096, { 1, 4, .has_head = true }, 314.55, 0 },
        { 4096, 14336, 128256, 4096, { 2, 4, .has_head = true }, 306.55, 0 },
        { 4096, 11008, 32000, 4096, { 2, 4, .has_head = true }, 128.55, 0 },
        { 4096, 11008, 32000, 4096, { 4, 4, .has_head = true }, 136.55, 0 },
        { 8192, 28672, 128256, 4096, { 2, 4, .is_first = true }, 440.05, 0 },
        { 8192, 28672, 128256, 512, { 2, 4, .has_head = true }, 332.55, 0 },
        { 3584, 18944, 152064, 4096, { 2, 4, .is_first = true }, 239.05, 0 },
        { 960, 2560, 49152, 16384, { 1, 4 }, 90.29, 0.01 },
        { 960, 2560, 49152, 4096, { 2, 4, .has_head = true }, 121.42, 0 },
        { 768, 2048, 8192, 4096, { 2, 4 }, 38.54, 0 },
        /* The client has the first layers. */
        { 4096, 14336, 128256, 4096, { 2, 1 }, 104.01, 0 },
        { 4096, 14336, 128256, 4096, { 1, 1 }, 100, 0.05 },
        { 4096, 11008, 32000, 4096, { 13, 1, .may_be_last = true }, 92.51, 0 },
        { 2048, 5632, 32000, 4096, { 10, 1, .may_be_last = true }, 45.01, 0.09 },
        { 4096, 11008, 32000, 4096, { 1, 1, .has_head = true }, 92.51, 0 },
        { 4096, 14336, 128256, 4096, { 2, 1, .has_head = true }, 258.5, 0.11 },
        { 3072, 8192, 128256, 4096, { 2, 1, .has_head = true }, 278.51, 0 },
        { 1536, 4096, 2048, 512, { 3, 1, .has_head = true }, 33.51, 0 },
        { 4096, 14336, 128256, 4096, { 2, 1, .is_client = true }, 128.02, 0 },
        { 960, 2560, 49152, 4096, { 2, 1, .is_client = true }, 28.39, 0 },
        /* The client alone, and a server alone. */
        { 4096, 11008, 32000, 4096, { 6, 1, .is_client = true, .has_head = true }, 108.52, 0 },
        { 4096, 14336, 128256, 4096, { 6, 1, .is_client = true, .has_head = true }, 294.52, 0.03 },
        { 768, 2048, 8192, 4096, { 6, 1, .is_client = true, .has_head = true }, 29.02, 0 },
        { 4096, 11008, 32000, 4096, { 6, 1, .is_first = true, .has_head = true }, 100.52, 0 },
        { 4096, 14336, 128256, 4096, { 6, 1, .is_first = true, .has_head = true }, 286.52, 0 },
        /* Feed-forward layers that are hardly longer than an embedding, or shorter. */
        { 1024, 1024, 4096, 4096, { 2, 4, .is_first = true }, 50.05, 0.09 },
        { 1024, 1024, 4096, 4096, { 2, 4, .has_head = true }, 38.05, 0.11 },
        { 1024, 1024, 32768, 4096, { 2, 4, .has_head = true }, 94, 0.05 },
        { 2048, 1024, 4096, 4096, { 2, 4, .is_first = true }, 84, 0.03 },
        { 2048, 1024, 4096, 4096, { 2, 4, .has_head = true }, 50, 0.13 },
        { 1024, 1024, 4096, 4096, { 2, 1, .is_first = true, .has_head = true }, 20.02, 0.21 },
};

static void test_buffers(void)
{
        const double mib = 1024 * 1024;
        AldPlanBufferUse use = { .copies = 4, .is_first = true, .has_head = true };
        Case made;

        init_case(&made, 1);
        made.request.constants.values[ALD_PLAN_BUFFER_BYTES] = 7;
        g_assert_cmpfloat(ald_plan_device_buffer_bytes(&made.request, use), ==, 7);
        g_assert_cmpfloat(ald_plan_client_buffer_bytes(&made.request, 4), ==, 0);
        made.workload.batch_tokens = 512;
        for (size_t i = 0; i < G_N_ELEMENTS(logged_buffers); i++) {
                double bytes;

                made.workload.activation_elements = logged_buffers[i].elements;
                made.workload.feed_forward_elements = logged_buffers[i].feed_forward;
                made.workload.vocabulary = logged_buffers[i].vocabulary;
                made.workload.context = logged_buffers[i].context;
                use = logged_buffers[i].use;
                bytes = ald_plan_device_buffer_bytes(&made.request, use);
                g_assert_cmpfloat(bytes, >=, (logged_buffers[i].mib - 0.06) * mib);
                g_assert_cmpfloat(bytes, <=, logged_buffers[i].mib * (1.001 + logged_buffers[i].more) * mib);
                use.layers = 0;
                g_assert_cmpfloat(ald_plan_device_buffer_bytes(&made.request, use), >=, bytes);
        }
        made.workload.activation_elements = 1024;
        made.workload.vocabulary = 4096;
        made.workload.context = 4096;
        g_assert_cmpfloat(ald_plan_client_buffer_bytes(&made.request, 4), ==, 36 * mib + 4096 * 4);
        /* No more tokens at once than there may be, but for a mask of 256 cells. */
        made.workload.context = 128;
        g_assert_cmpfloat(ald_plan_client_buffer_bytes(&made.request, 4), ==,
                4 * 256 * 128 * 2 + 10 * 1024 * 128 * 4 + 4096 * 4);
        made.request.constants.is_given[ALD_PLAN_BUFFER_BYTES] = true;
        g_assert_cmpfloat(ald_plan_device_buffer_bytes(&made.request, use), ==, 7);
}

/* They decide on what fits, and a stage says what it consists of. */
static void test_stage_bytes(void)
{
        g_autoptr(AldPlan) plan = NULL;
        Case made;

        init_case(&made, 2);
        made.workload.feed_forward_elements = 4000;
        made.workload.batch_tokens = 512;
        made.request.client = "a";
        made.devices[0].free_bytes = 4 * GB;
        made.devices[1].free_bytes = 4 * GB;
        join(&made, 0, 1, 1e3, 1e9);
        plan = plan_of(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        for (uint32_t i = 0; i < 2; i++) {
                const AldPlanStage *stage = &plan->best.stages[i];

                /* No layers of 4 GB, as now something is beside them. */
                g_assert_cmpuint(stage->layers, ==, 3);
                g_assert_cmpuint(stage->buffer_bytes, ==,
                        (uint64_t) (ald_plan_device_buffer_bytes(
                                            &made.request, (AldPlanBufferUse){ .layers = stage->layers,
                                                                   .copies = 1,
                                                                   .is_client = i == 0,
                                                                   .has_head = stage->has_head,
                                                                   .may_be_last = i == 1 }) +
                                    (i == 0 ? ald_plan_results_bytes(&made.request) : 0)));
                g_assert_cmpuint(stage->weight_bytes, ==,
                        3 * GB + (stage->has_head ? GB / 2 : 0) + (i == 0 ? GB / 2 : 0));
                g_assert_cmpuint(stage->bytes, ==, stage->weight_bytes + stage->buffer_bytes);
        }
}

/* A layer takes 10 ms to be read and 15 to be computed on a server, but 7.5 on the processor of the client.
 */
static void test_limiter(void)
{
        g_autoptr(AldPlan) plan = NULL;
        Case made;

        init_case(&made, 2);
        join(&made, 0, 1, 1e3, 1e10);
        made.devices[0].free_bytes = made.devices[1].free_bytes = 5 * GB;
        made.workload.token_parameters = 3.75e9;
        plan = plan_of(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        for (uint32_t i = 0; i < 2; i++) {
                const AldPlanStage *stage = &plan->best.stages[i];
                bool is_client = made.devices[stage->device].node == plan->best.client;

                g_assert_true(stage->is_computing == !is_client);
                g_assert_cmpfloat_with_epsilon(stage->nsec,
                        stage->layers * (is_client ? 10e6 : 15e6) + (stage->has_head ? 5e6 : 0), 1);
        }
}

/* Each round trip counts. */
static void test_round_trips(void)
{
        Case made;
        double nsec[3];

        init_case(&made, 2);
        join(&made, 0, 1, 2e6, 1e9);
        made.devices[0].free_bytes = made.devices[1].free_bytes = 5 * GB;
        for (int trips = 1; trips <= 3; trips++) {
                g_autoptr(AldPlan) plan = NULL;

                made.request.constants.values[ALD_PLAN_STAR_ROUND_TRIPS] = trips;
                plan = plan_of(&made);
                nsec[trips - 1] = plan->best.nsec;
        }
        g_assert_cmpfloat_with_epsilon(nsec[1] - nsec[0], 2e6, 1);
        g_assert_cmpfloat_with_epsilon(nsec[2] - nsec[0], 4e6, 1);
}

static void set_sizes(Case *made, const char *const *texts)
{
        const char *reason = NULL;

        made->workload.layer_sizes = texts;
        made->request.sizes = ald_plan_layer_sizes_new(&made->workload, &reason);
        g_assert_null(reason);
}

/* Six layers, of which the last has as much as all others together: 4 GB and 2 GB of keys and values in all.
 */
static void test_uneven_layers(void)
{
        static const char *const texts[] = { "2*400000000+0", "2*400000000+300000000",
                "1*400000000+400000000", "1*2000000000+1000000000", NULL };
        g_autoptr(AldPlan) alone = NULL, split = NULL;
        g_autofree AldPlanLayerSizes *sizes = NULL;
        AldPlanRefusal refusal;
        uint32_t n_paths;
        Case made;

        init_case(&made, 2);
        made.workload.layer_bytes = 2 * GB;
        made.workload.layer_kv_bytes = GB;
        join(&made, 0, 1, 1e6, 1e9);
        set_sizes(&made, texts);
        sizes = (AldPlanLayerSizes *) made.request.sizes;
        g_assert_cmpuint(sizes->most[1], ==, 3 * GB);
        g_assert_cmpuint(sizes->most[3], ==, 3 * GB + 800000000 + 700000000);
        g_assert_cmpuint(sizes->most[6], ==, 6 * GB);
        /* All layers on one device take what they add up to, with the embedding and the head. */
        made.devices[0].free_bytes = 7 * GB;
        made.cluster.n_devices = made.cluster.n_nodes = 1;
        n_paths = made.cluster.n_paths;
        made.cluster.n_paths = 0;
        alone = plan_of(&made);
        g_assert_cmpuint(alone->best.n_stages, ==, 1);
        g_assert_cmpuint(alone->best.stages[0].kv_bytes, ==, 2 * GB);
        g_assert_cmpuint(alone->best.stages[0].weight_bytes, ==, 5 * GB);
        g_assert_cmpuint(alone->best.stages[0].bytes, ==, 7 * GB);
        made.devices[0].free_bytes = 7 * GB - 1;
        g_assert_cmpint(ald_plan_make(&made.cluster, &made.request, &split, &refusal), ==, -EINVAL);
        g_assert_cmpuint(refusal.needs_bytes, ==, 7 * GB);
        g_free(refusal.verdicts);
        /* Of two, neither can have more than any layers that fit there; what each has is counted. */
        made.cluster.n_devices = made.cluster.n_nodes = 2;
        made.cluster.n_paths = n_paths;
        made.devices[0].free_bytes = made.devices[1].free_bytes = 6 * GB;
        split = plan_of(&made);
        g_assert_cmpuint(split->best.n_stages, ==, 2);
        g_assert_cmpuint(split->best.stages[0].kv_bytes + split->best.stages[1].kv_bytes, ==, 2 * GB);
        for (uint32_t i = 0; i < 2; i++) {
                const AldPlanStage *stage = &split->best.stages[i];

                g_assert_cmpuint(stage->kv_bytes, ==,
                        sizes->kv[stage->first_layer + stage->layers] - sizes->kv[stage->first_layer]);
                g_assert_cmpuint(stage->bytes, <=, 6 * GB);
        }
}

static void test_sizes_of_layers(void)
{
        static const uint64_t weights[] = { 5, 5, 7, 7 }, kv[] = { 1, 1, 1, 2 };
        static const struct {
                const char *texts[3];
                const char *reason;
        } bad[] = {
                { { "4*5" }, "not of the form" },
                { { "4*5+" }, "not of the form" },
                { { "0*5+1", "4*5+1" }, "not of the form" },
                { { "-4*5+1" }, "not of the form" },
                { { "4*5+1 " }, "not of the form" },
                { { "4*18446744073709551621+1" }, "not of the form" },
                { { "18446744073709551620*5+1" }, "not of the form" },
                { { "3*5+1", "2*7+2" }, "more layers than Layers" },
                { { "3*5+1" }, "fewer layers than Layers" },
                { { "4*8+1" }, "more than LayerBytes" },
                { { "4*5+3" }, "more keys and values than LayerKvBytes" },
        };
        g_auto(GStrv) texts = ald_plan_layer_sizes_to_text(weights, kv, 4);
        AldPlanWorkload workload = { .layers = 4, .layer_bytes = 7, .layer_kv_bytes = 2 };
        const char *reason = NULL;

        g_assert_cmpstr(texts[0], ==, "2*5+1");
        g_assert_cmpstr(texts[1], ==, "1*7+1");
        g_assert_cmpstr(texts[2], ==, "1*7+2");
        g_assert_null(texts[3]);
        g_assert_null(ald_plan_layer_sizes_to_text(weights, kv, 2));
        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                workload.layer_sizes = bad[i].texts;
                g_assert_null(ald_plan_layer_sizes_new(&workload, &reason));
                g_assert_nonnull(strstr(reason, bad[i].reason));
        }
}

/* Two blocks that differ: what each takes is stated, the mean decides on time. */
static void test_workload(void)
{
        g_autoptr(AldLlm) llm = ald_llm_new(2);
        g_auto(AldPlanWorkload) workload = ALD_PLAN_WORKLOAD_INIT;

        g_assert_cmpint(
                ald_plan_workload_of_llm(llm, 256, 1, ALD_KV_F16, ALD_KV_F16, &workload), ==, -ENODATA);
        llm->embedding_bytes = 1000;
        llm->head_tied = true;
        llm->head_bytes = 0;
        llm->embedding_length = 64;
        llm->vocabulary = 100;
        ald_llm_set_feed_forward(llm, 300, ALD_LLM_ABSENT_COUNT);
        for (uint32_t i = 0; i < 2; i++)
                llm->layers[i] = (AldLlmLayer){ .bytes = 100 + 100 * i,
                        .token_bytes = 50 + 100 * i,
                        .parameters = 80,
                        .token_parameters = 40 + 20 * i,
                        .kv_heads = 2,
                        .key_length = 32,
                        .value_length = 32,
                        .window = ALD_LLM_ABSENT_COUNT };
        g_assert_cmpint(ald_plan_workload_of_llm(llm, 256, 2, ALD_KV_F16, ALD_KV_F16, &workload), ==, 0);
        g_assert_cmpuint(workload.layers, ==, 2);
        g_assert_cmpuint(workload.draft_layers, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(workload.layer_bytes, ==, 200);
        g_assert_cmpstr(workload.layer_sizes[0], ==, "1*100+131072");
        g_assert_cmpstr(workload.layer_sizes[1], ==, "1*200+131072");
        g_assert_cmpfloat(workload.mean_layer_bytes, ==, 150);
        g_assert_cmpfloat(workload.token_bytes, ==, 100);
        g_assert_cmpfloat(workload.token_parameters, ==, 50);
        g_assert_cmpuint(workload.layer_kv_bytes, ==, 2 * 256 * 2 * 32 * 2 * 2);
        g_assert_cmpfloat(workload.token_kv_bytes, ==, 256 * 2 * 32 * 2 * 2);
        g_assert_cmpuint(workload.head_bytes, ==, 1000);
        g_assert_cmpuint(workload.embedding_bytes, ==, 1000);
        g_assert_cmpint(workload.head_tied, ==, 1);
        g_assert_cmpuint(workload.feed_forward_elements, ==, 300);
        g_assert_cmpfloat(workload.head_parameters, ==, 6400);
        /* What is neither of a layer nor the head is kept with the embedding. */
        llm->other_bytes = 5000;
        llm->draft_layers = 1;
        ald_plan_workload_clear(&workload);
        g_assert_cmpint(ald_plan_workload_of_llm(llm, 256, 2, ALD_KV_F16, ALD_KV_F16, &workload), ==, 0);
        g_assert_cmpuint(workload.layers, ==, 2);
        g_assert_cmpuint(workload.draft_layers, ==, 1);
        g_assert_cmpuint(workload.embedding_bytes, ==, 6000);
        g_assert_cmpuint(workload.head_bytes, ==, 1000);
        llm->layers[1].bytes = ALD_LLM_ABSENT;
        g_assert_cmpint(
                ald_plan_workload_of_llm(llm, 256, 1, ALD_KV_F16, ALD_KV_F16, &workload), ==, -ENODATA);
}

typedef struct Told {
        unsigned calls, most; /* after which the plan is given up */
        double fraction;
} Told;

static bool tell(double fraction, void *userdata)
{
        Told *told = userdata;

        g_assert_cmpfloat(fraction, >=, told->fraction);
        g_assert_cmpfloat(fraction, <=, 1);
        told->fraction = fraction;
        return ++told->calls < told->most;
}

/* Whether it was refused, or would have been, makes no difference to a plan that is given up. */
static void test_giving_up(void)
{
        for (int i = 0; i < 40; i++) {
                Told told = { .most = UINT_MAX };
                Case made;

                (i % 2 ? make_random : make_random_ring)(&made);
                made.request.proceed = tell;
                made.request.userdata = &told;
                for (unsigned calls = 0; told.most > 0; told.most = calls - 1) {
                        g_autoptr(AldPlan) plan = NULL;
                        AldPlanRefusal refusal = {};
                        bool all = told.most == UINT_MAX;
                        int r;

                        told.calls = 0;
                        told.fraction = 0;
                        r = ald_plan_make(&made.cluster, &made.request, &plan, &refusal);
                        calls = all ? told.calls + 1 : told.most;
                        if (!all)
                                g_assert_cmpint(r, ==, -ECANCELED);
                        g_assert_true((r == 0) == (plan != NULL));
                        g_assert_true((r == -EINVAL) == (refusal.verdicts != NULL));
                        g_assert_true(all || told.calls == told.most);
                        g_free(refusal.verdicts);
                }
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan/is-best", test_is_best);
        g_test_add_func("/plan/ring-is-best", test_ring_is_best);
        g_test_add_func("/plan/insertion", test_insertion);
        g_test_add_func("/plan/explanation", test_explanation);
        g_test_add_func("/plan/tied", test_tied);
        g_test_add_func("/plan/reasons", test_reasons);
        g_test_add_func("/plan/client-memory", test_client_memory);
        g_test_add_func("/plan/client-copies", test_client_copies);
        g_test_add_func("/plan/shared-memory", test_shared_memory);
        g_test_add_func("/plan/roomier-sibling", test_roomier_sibling);
        g_test_add_func("/plan/refusals", test_refusals);
        g_test_add_func("/plan/assumption", test_assumption);
        g_test_add_func("/plan/required", test_required);
        g_test_add_func("/plan/costs", test_costs);
        g_test_add_func("/plan/small-layers", test_small_layers);
        g_test_add_func("/plan/experts", test_experts);
        g_test_add_func("/plan/buffers", test_buffers);
        g_test_add_func("/plan/stage-bytes", test_stage_bytes);
        g_test_add_func("/plan/limiter", test_limiter);
        g_test_add_func("/plan/round-trips", test_round_trips);
        g_test_add_func("/plan/giving-up", test_giving_up);
        g_test_add_func("/plan/constants", test_constants);
        g_test_add_func("/plan/engine-names", test_engine_names);
        g_test_add_func("/plan/workload-defaults", test_workload_defaults);
        g_test_add_func("/plan/uneven-layers", test_uneven_layers);
        g_test_add_func("/plan/sizes-of-layers", test_sizes_of_layers);
        g_test_add_func("/plan/workload", test_workload);
        return g_test_run();
}
