/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "placement/search/plan-make.h"
#include "tests/unit/placement/plan-cases.h"

#define GB 1000000000ull

static void init_request(PlanCase *made, const char *engine)
{
        AldPlanConstants *constants = &made->request.constants;

        for (size_t i = 0; i < ALD_PLAN_N_CONSTANTS; i++)
                constants->values[i] = 0;
        constants->values[ALD_PLAN_GPU_MEMORY_EFFICIENCY] = 1;
        constants->values[ALD_PLAN_PROCESSOR_MEMORY_EFFICIENCY] = 1;
        constants->values[ALD_PLAN_COMPUTE_EFFICIENCY] = 1;
        constants->values[ALD_PLAN_PROCESSOR_COMPUTE_EFFICIENCY] = 1;
        constants->values[ALD_PLAN_CLIENT_COMPUTE_EFFICIENCY] = 1;
        constants->values[ALD_PLAN_ACTIVATION_BYTES] = 4;
        constants->values[ALD_PLAN_STAR_ROUND_TRIPS] = 1;
        constants->values[ALD_PLAN_TRANSPORT_OVERHEAD] = 1;
        made->request.engine = ald_plan_engine_find(engine);
        made->request.workload = &made->workload;
        made->request.assumed_rtt_nsec = made->request.assumed_bits_per_second = NAN;
}

void plan_case_init(PlanCase *made, const char *engine, uint32_t n_nodes)
{
        bool is_processor = ald_plan_engine_find(engine)->takes_processors;

        *made = (PlanCase){ .workload = ALD_PLAN_WORKLOAD_INIT };
        made->workload.layers = 6;
        made->workload.layer_bytes = GB;
        made->workload.token_parameters = made->workload.head_parameters = 1;
        made->workload.embedding_bytes = made->workload.head_bytes = GB / 2;
        made->workload.activation_elements = 1000;
        init_request(made, engine);
        for (uint32_t i = 0; i < n_nodes; i++) {
                g_snprintf(made->ids[i], sizeof made->ids[i], "n%u", i);
                made->nodes[i] = (AldPlanNode){ .id = made->ids[i] };
                made->devices[i] = (AldPlanDevice){ .node = i,
                        .id = is_processor ? "cpu" : "gpu",
                        .vendor = is_processor ? NULL : "NVIDIA",
                        .is_processor = is_processor,
                        .uses_host_memory = is_processor,
                        .free_bytes = 20 * GB,
                        .bytes_per_second = 100e9,
                        .flops = 1e15 };
        }
        made->cluster = (AldPlanCluster){ .nodes = made->nodes,
                .n_nodes = n_nodes,
                .devices = made->devices,
                .n_devices = n_nodes,
                .paths = made->paths };
}

void plan_case_join(PlanCase *made, uint32_t source, uint32_t sink, double rtt_nsec, double bits_per_second)
{
        made->paths[made->cluster.n_paths++] = (AldPlanPath){ .source = source,
                .sink = sink,
                .rtt_nsec = rtt_nsec,
                .bits_per_second = bits_per_second,
                .reverse = ALD_PLAN_NONE };
}

void plan_case_randomize(PlanCase *made, double missing)
{
        uint32_t n = made->cluster.n_nodes;

        for (uint32_t i = 0; i < n; i++) {
                made->devices[i].free_bytes = (uint64_t) g_test_rand_int_range(1, 6) * GB;
                made->devices[i].bytes_per_second = g_test_rand_double_range(20e9, 400e9);
        }
        for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++)
                        if (i != j && g_test_rand_double() >= missing)
                                plan_case_join(made, i, j, g_test_rand_double_range(1e3, 2e7),
                                        g_test_rand_double_range(1e7, 1e10));
}

void plan_case_double_paths(PlanCase *made)
{
        for (uint32_t i = made->cluster.n_paths; i-- > 0;)
                plan_case_join(made, made->paths[i].source, made->paths[i].sink,
                        made->paths[i].rtt_nsec * g_test_rand_double_range(0.1, 4),
                        made->paths[i].bits_per_second * g_test_rand_double_range(0.1, 20));
}

const AldPlanPath *plan_case_path(const PlanCase *made, uint32_t source, uint32_t sink)
{
        for (uint32_t i = 0; i < made->cluster.n_paths; i++)
                if (made->paths[i].source == source && made->paths[i].sink == sink)
                        return &made->paths[i];
        return NULL;
}

AldPlan *plan_case_try(const PlanCase *made, AldPlanRefusal *ret_refusal)
{
        PlanCase completed = *made;
        AldPlanRequest request = made->request;
        const char *reason;
        AldPlan *plan = NULL;
        int r;

        g_assert_cmpint(ald_plan_workload_complete(&completed.workload, &reason), ==, 0);
        request.workload = &completed.workload;
        r = ald_plan_make(&made->cluster, &request, &plan, ret_refusal);
        g_assert_cmpint(r, ==, plan ? 0 : -EINVAL);
        return plan;
}

AldPlan *plan_case_plan(const PlanCase *made)
{
        AldPlanRefusal refusal;
        AldPlan *plan = plan_case_try(made, &refusal);

        g_assert_nonnull(plan);
        return plan;
}

void plan_case_assert_refused(const PlanCase *made, AldPlanRefusalKind kind, const char *text)
{
        AldPlanRefusal refusal = {};

        g_assert_null(plan_case_try(made, &refusal));
        g_assert_cmpint(refusal.kind, ==, kind);
        g_assert_cmpstr(refusal.text, ==, text);
        g_assert_nonnull(refusal.verdicts);
        g_free(refusal.verdicts);
}
