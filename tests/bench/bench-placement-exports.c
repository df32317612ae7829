/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many plans for made-up clusters can be exported for their engine: boxes of 1 to 8 GPUs, alike or not,
 * of one vendor or of two, some of them cut into parts; laptops with a GPU or none; and servers in racks;
 * over IPv4, IPv6 or either, some with RDMA, some with names that no command takes or that two nodes have,
 * and some with unknown addresses. Each seed is another cluster. Plans that are made and then refused by
 * their export are listed on stderr. */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "placement/export/plan-export.h"
#include "placement/plan/workload.h"
#include "placement/report/plan-description.h"
#include "placement/search/plan-make.h"

#define NODES_MAX 12u
#define NODES_USUAL 5
#define GPUS_MAX 8u
#define DEVICES_MAX (NODES_MAX * (GPUS_MAX + 1))
#define ASKED_MAX 200u /* questions; some hundred ms after a plan was found */
#define GIB (1024.0 * 1024 * 1024)
#define NOW_USEC (UINT64_C(1795680000) * 1000 * 1000)

typedef struct ExportCluster {
        AldPlanNode nodes[NODES_MAX];
        char *ids[NODES_MAX], *addresses[NODES_MAX];
        uint32_t racks[NODES_MAX];
        AldPlanDevice devices[DEVICES_MAX];
        char *device_ids[GPUS_MAX];
        AldPlanPath paths[NODES_MAX * NODES_MAX];
        AldEdgeRow edges[NODES_MAX * NODES_MAX];
        AldComputeDevice measured;
        AldPlanCluster cluster;
        AldPlanWorkload workload;
} ExportCluster;

static void export_cluster_clear(ExportCluster *made)
{
        for (uint32_t i = 0; i < NODES_MAX; i++) {
                g_free(made->ids[i]);
                g_free(made->addresses[i]);
        }
        for (uint32_t i = 0; i < GPUS_MAX; i++)
                g_free(made->device_ids[i]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ExportCluster, export_cluster_clear)

static double pick(GRand *rand, const double *figures, uint32_t n)
{
        return figures[g_rand_int_range(rand, 0, (gint32) n)];
}

/* True once in so many times. */
static bool once_in(GRand *rand, gint32 times)
{
        return g_rand_int_range(rand, 0, times) == 0;
}

static void add_gpus(ExportCluster *made, GRand *rand, uint32_t node)
{
        static const char *const vendors[] = { "NVIDIA", "NVIDIA", "NVIDIA", "AMD" };
        static const double sizes[] = { 8 * GIB, 12 * GIB, 16 * GIB, 24 * GIB, 48 * GIB, 80 * GIB };
        static const double counts[] = { 1, 1, 2, 2, 3, 4, 6, 8 };
        const char *vendor = vendors[g_rand_int_range(rand, 0, G_N_ELEMENTS(vendors))];
        double size = pick(rand, sizes, G_N_ELEMENTS(sizes)), speed = g_rand_double_range(rand, 200e9, 3e12);
        bool differ = once_in(rand, 4), is_mixed = once_in(rand, 8), is_cut = once_in(rand, 20);

        for (uint32_t n = (uint32_t) pick(rand, counts, G_N_ELEMENTS(counts)), i = 0; i < n; i++) {
                if (differ) {
                        size = pick(rand, sizes, G_N_ELEMENTS(sizes));
                        speed = g_rand_double_range(rand, 200e9, 3e12);
                }
                made->devices[made->cluster.n_devices++] = (AldPlanDevice){ .node = node,
                        .id = is_cut && i == 0 ? "0000:01:00.0/1-0" : made->device_ids[i],
                        .vendor = is_mixed && i % 2 ? "Intel" : vendor,
                        .free_bytes = (uint64_t) (size * g_rand_double_range(rand, 0.7, 0.98)),
                        .total_bytes = (uint64_t) size,
                        .bytes_per_second = speed,
                        .flops = speed * 60,
                        .free_usec = NOW_USEC,
                        .measured = &made->measured };
        }
}

/* Some have an address that only neighbours on the same link understand. */
static char *make_address(GRand *rand, uint32_t node, bool has_ipv6)
{
        if (once_in(rand, 30))
                return g_strdup_printf("fe80::%u%%enp1s0", node + 1);
        return g_strdup_printf(has_ipv6 ? "2001:db8::%u" : "192.0.2.%u", node + 1);
}

/* Some have a name that no command takes, or that of the first node in other letters. */
static const char *choose_host_name(GRand *rand, const char *id)
{
        if (once_in(rand, 20))
                return "Anna's laptop";
        return once_in(rand, 20) ? "NODE0" : id;
}

static void add_node(ExportCluster *made, GRand *rand, bool has_ipv6)
{
        uint32_t node = made->cluster.n_nodes++;
        double free_bytes, bytes_per_second, flops;

        made->ids[node] = g_strdup_printf("node%u", node);
        made->addresses[node] = make_address(rand, node, has_ipv6);
        made->racks[node] = (uint32_t) g_rand_int_range(rand, 0, 3);
        made->nodes[node] = (AldPlanNode){ .id = made->ids[node],
                .name = made->ids[node],
                .host_name = choose_host_name(rand, made->ids[node]) };
        free_bytes = g_rand_double_range(rand, 8, 256) * GIB;
        bytes_per_second = g_rand_double_range(rand, 30e9, 400e9);
        flops = g_rand_double_range(rand, 0.3e12, 4e12);
        made->devices[made->cluster.n_devices++] = (AldPlanDevice){ .node = node,
                .id = "cpu",
                .vendor = "AMD",
                .is_processor = true,
                .uses_host_memory = true,
                .free_bytes = (uint64_t) free_bytes,
                .total_bytes = (uint64_t) (256 * GIB),
                .bytes_per_second = bytes_per_second,
                .flops = flops,
                .free_usec = NOW_USEC,
                .measured = &made->measured };
        if (!once_in(rand, 5))
                add_gpus(made, rand, node);
}

/* One in ten was never measured; between racks, paths are slower and longer. */
static void add_path(
        ExportCluster *made, GRand *rand, uint32_t source, uint32_t sink, double rate, bool is_rdma)
{
        uint32_t at = made->cluster.n_paths;
        double far = made->racks[source] == made->racks[sink] ? 1 : 4, rtt_nsec, share;

        if (once_in(rand, 10))
                return;
        rtt_nsec = g_rand_double_range(rand, 5e3, 2e6) * far;
        share = g_rand_double_range(rand, 0.6, 1) / far;
        made->cluster.n_paths++;
        made->edges[at] = (AldEdgeRow) ALD_EDGE_ROW_INIT;
        made->edges[at].source_port = is_rdma ? "mlx5_0.1" : "enp1s0";
        made->edges[at].sink_port = is_rdma ? "mlx5_0.1" : once_in(rand, 50) ? "enp1s0:1" : "enp1s0";
        made->edges[at].measured_usec = NOW_USEC;
        made->paths[at] = (AldPlanPath){ .source = source,
                .sink = sink,
                .is_rdma = is_rdma,
                .rtt_nsec = rtt_nsec,
                .bits_per_second = rate * share,
                .edge = &made->edges[at],
                .source_address = made->addresses[source],
                .sink_address = made->addresses[sink],
                .reverse = ALD_PLAN_NONE };
        if (once_in(rand, 30))
                made->paths[at].sink_address = NULL;
}

static void make(ExportCluster *made, uint32_t seed)
{
        static const double rates[] = { 0.3e9, 1e9, 2.5e9, 10e9, 100e9 };
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        /* Most are small, as plans for dozens of GPUs take seconds. */
        uint32_t n = (uint32_t) g_rand_int_range(rand, 1, once_in(rand, 5) ? NODES_MAX + 1 : NODES_USUAL + 1);
        bool has_ipv6 = once_in(rand, 4), is_either = once_in(rand, 4), has_rdma = once_in(rand, 4);
        double layer = g_rand_double_range(rand, 0.05, 1.5) * GIB,
               rate = pick(rand, rates, G_N_ELEMENTS(rates));

        *made = (ExportCluster){ .measured = ALD_COMPUTE_DEVICE_INIT, .workload = ALD_PLAN_WORKLOAD_INIT };
        made->measured.measured_usec = NOW_USEC;
        for (uint32_t i = 0; i < GPUS_MAX; i++)
                made->device_ids[i] = g_strdup_printf("0000:%02x:00.0", i + 1);
        for (uint32_t i = 0; i < n; i++)
                add_node(made, rand, is_either ? once_in(rand, 2) : has_ipv6);
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                        if (i != j)
                                add_path(made, rand, i, j, rate, has_rdma && rate > 5e9);
        made->cluster.nodes = made->nodes;
        made->cluster.devices = made->devices;
        made->cluster.paths = made->paths;
        made->workload.layers = (uint64_t) g_rand_int_range(rand, 16, 96);
        made->workload.layer_bytes = (uint64_t) layer;
        made->workload.layer_kv_bytes = (uint64_t) (layer * g_rand_double_range(rand, 0, 0.2));
        made->workload.embedding_bytes = made->workload.head_bytes = (uint64_t) layer;
        made->workload.activation_elements = 4096;
        made->workload.vocabulary = 32768;
        made->workload.kv_heads = 8;
        made->workload.parallel = (uint64_t) g_rand_int_range(rand, 1, 9);
        made->workload.context = 4096;
        made->workload.message_bytes = 1 << 20;
}

typedef struct ExportCount {
        uint32_t seed, plans, refused, unplanned;
} ExportCount;

/* Stops a plan after a certain number of questions instead of a time, so that its result stays the same. */
static bool is_enough(void *userdata)
{
        uint32_t *asked = userdata;

        return ++*asked > ASKED_MAX;
}

/* The engines of one method have equal plans, which differ in what their formats can express. */
static void try_exports(const ExportCluster *made, const char *const formats[][2], ExportCount *count)
{
        const AldPlanExportOptions export_options = { .now_usec = NOW_USEC, .version = "0" };
        AldPlanOptions options = ALD_PLAN_OPTIONS_INIT;
        uint32_t asked = 0;
        AldPlanRequest request = { .engine = ald_plan_engine_find(formats[0][0]),
                .workload = &made->workload,
                .assumed_rtt_nsec = NAN,
                .assumed_bits_per_second = NAN,
                .is_late = is_enough,
                .userdata = &asked };
        g_autoptr(AldPlan) plan = NULL;
        AldPlanRefusal refusal = { 0 };

        ald_plan_constants_init(&request.constants, &options);
        if (ald_plan_make(&made->cluster, &request, &plan, &refusal) < 0) {
                g_free(refusal.verdicts);
                count->unplanned++;
                return;
        }
        for (; (*formats)[0]; formats++) {
                g_autoptr(AldPlanReport) report = NULL;
                g_autoptr(GString) out = NULL;
                g_autofree char *reason = NULL;

                options.engine = (*formats)[0];
                request.engine = ald_plan_engine_find((*formats)[0]);
                report = ald_plan_describe(&made->cluster, &request, &options, 1, plan, NULL);
                count->plans++;
                if (ald_plan_export((*formats)[1], report, &export_options, &out, &reason) == 0)
                        continue;
                count->refused++;
                fprintf(stderr, "Cluster %u, %s: %s\n", count->seed, (*formats)[0], reason);
        }
}

int main(int argc, char *argv[])
{
        static const char *const star[][2] = { { "llama.cpp", "llama.cpp" }, { NULL } };
        static const char *const even[][2] = { { "vllm", "vllm" }, { "sglang", "sglang" }, { NULL } };
        static const char *const ring[][2] = { { "torch", "torchrun" }, { NULL } };
        static const char *const mpi[][2] = { { "mpi", "mpi" }, { NULL } };
        static const char *const nccl[][2] = { { "nccl", "torchrun" }, { NULL } };
        static const char *const slices[][2] = { { "distributed-llama", "distributed-llama" }, { NULL } };
        uint32_t clusters = argc == 2 || argc == 3 ? (uint32_t) atoi(argv[1]) : 0;
        ExportCount count = { .seed = argc == 3 ? (uint32_t) atoi(argv[2]) : 0 };
        const uint32_t end = count.seed + clusters;

        if (clusters == 0)
                g_error("Needs a number of clusters, and optionally the seed of the first one");
        for (; count.seed < end; count.seed++) {
                g_auto(ExportCluster) made = { 0 };
                const char *reason = NULL;

                make(&made, count.seed);
                if (ald_plan_workload_complete(&made.workload, &reason) < 0)
                        g_error("%s", reason);
                try_exports(&made, star, &count);
                try_exports(&made, even, &count);
                try_exports(&made, ring, &count);
                try_exports(&made, mpi, &count);
                try_exports(&made, nccl, &count);
                try_exports(&made, slices, &count);
        }
        printf("{\"exported_plans\": %u, \"unplanned\": %u, \"unexportable_percent\": %.2f}\n", count.plans,
                count.unplanned, 100.0 * count.refused / MAX(count.plans, 1));
        return 0;
}
