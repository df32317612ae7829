/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "tests/unit/placement/plan-clusters.h"

#define LAYER_BYTES 1000000000u
#define BITS_PER_SECOND 1e15 /* all of a hop is its round trip */

static void set_request(PlannedCluster *planned, const char *engine)
{
        double *values = planned->request.constants.values;

        for (AldPlanConstant i = 0; i < ALD_PLAN_N_CONSTANTS; i++)
                values[i] = 0;
        values[ALD_PLAN_GPU_MEMORY_EFFICIENCY] = values[ALD_PLAN_COMPUTE_EFFICIENCY] = 1;
        values[ALD_PLAN_ACTIVATION_BYTES] = values[ALD_PLAN_STAR_ROUND_TRIPS] = 1;
        planned->request.engine = ald_plan_engine_find(engine);
        planned->request.workload = &planned->workload;
        planned->request.assumed_rtt_nsec = planned->request.assumed_bits_per_second = NAN;
}

static void set_paths(PlannedCluster *planned, const PlacementCluster *of, uint32_t n)
{
        planned->paths = g_new(AldPlanPath, (size_t) n * n);
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                        if (i != j && isfinite(of->hop_nsec[(size_t) i * n + j]))
                                planned->paths[planned->cluster.n_paths++] = (AldPlanPath){ .source = i,
                                        .sink = j,
                                        .rtt_nsec = 2 * of->hop_nsec[(size_t) i * n + j],
                                        .bits_per_second = BITS_PER_SECOND,
                                        .reverse = ALD_PLAN_NONE };
}

static AldPlanDevice device_of(const AldPlacementDevice *device, uint32_t node)
{
        return (AldPlanDevice){ .node = node,
                .id = "gpu",
                .vendor = "NVIDIA",
                .free_bytes = (uint64_t) device->layers_max * LAYER_BYTES + LAYER_BYTES / 2,
                .bytes_per_second = LAYER_BYTES / device->layer_nsec * 1e9,
                .flops = 1e18 };
}

void planned_cluster_make(
        PlannedCluster *ret, PlacementClusterShape shape, uint32_t n, uint32_t seed, const char *engine)
{
        g_auto(PlacementCluster) of = { 0 };

        placement_cluster_make(&of, shape, n, seed);
        *ret = (PlannedCluster){ .nodes = g_new0(AldPlanNode, n),
                .devices = g_new(AldPlanDevice, n),
                .workload = { .layers = of.problem.layers,
                        .layer_bytes = LAYER_BYTES,
                        .mean_layer_bytes = LAYER_BYTES,
                        .token_bytes = LAYER_BYTES,
                        .token_parameters = 1,
                        .head_bytes = LAYER_BYTES / 4,
                        .head_parameters = 1,
                        .activation_elements = 1,
                        .experts = ALD_ABSENT_UINT64,
                        .used_experts = ALD_ABSENT_UINT64,
                        .feed_forward_elements = ALD_ABSENT_UINT64,
                        .parallel = 1,
                        .context = 1 } };
        for (uint32_t i = 0; i < n; i++) {
                ret->nodes[i].id = g_strdup_printf("n%u", i);
                ret->devices[i] = device_of(&of.devices[i], i);
        }
        set_paths(ret, &of, n);
        ret->cluster = (AldPlanCluster){ .nodes = ret->nodes,
                .n_nodes = n,
                .devices = ret->devices,
                .n_devices = n,
                .paths = ret->paths,
                .n_paths = ret->cluster.n_paths };
        set_request(ret, engine);
        ret->request.devices_max = of.problem.devices_max;
}

void planned_cluster_clear(PlannedCluster *planned)
{
        for (uint32_t i = 0; i < planned->cluster.n_nodes; i++)
                g_free((char *) planned->nodes[i].id);
        g_free(planned->nodes);
        g_free(planned->devices);
        g_free(planned->paths);
}
