/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What plans for a model count: in llama.cpp on one and on two servers, whose client is another host; and
 * around a ring of three GPUs. bench-layer-bytes FILE CONTEXT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "placement/model/model-file.h"
#include "placement/search/plan-make.h"

#define GPUS_MAX 3u
#define GIB (UINT64_C(1) << 30)
#define PLENTY (UINT64_C(1) << 50)

/* GPUs of nodes of their own with so much free, beside a host without. */
static AldPlan *make_plan(const AldPlanRequest *request, uint32_t n_gpus, uint64_t free_bytes)
{
        static const AldPlanNode nodes[GPUS_MAX + 1] = { { .id = "host" }, { .id = "a" }, { .id = "b" },
                { .id = "c" } };
        AldPlanDevice devices[GPUS_MAX + 1] = { { .id = "cpu",
                .is_processor = true,
                .uses_host_memory = true,
                .free_bytes = PLENTY,
                .bytes_per_second = 1e11,
                .flops = 1e12 } };
        const AldPlanCluster cluster = {
                .nodes = nodes, .n_nodes = n_gpus + 1, .devices = devices, .n_devices = n_gpus + 1
        };
        AldPlanRefusal refusal = {};
        AldPlan *plan = NULL;

        for (uint32_t i = 1; i <= n_gpus; i++)
                devices[i] = (AldPlanDevice){ .node = i,
                        .id = "gpu",
                        .vendor = "NVIDIA",
                        .free_bytes = free_bytes,
                        .bytes_per_second = 1e12,
                        .flops = 1e14 };
        if (ald_plan_make(&cluster, request, &plan, &refusal) < 0)
                g_error("There is no plan on %u GPUs with %" G_GUINT64_FORMAT " bytes", n_gpus, free_bytes);
        return plan;
}

static void print_stages(const char *name, const AldPlan *plan)
{
        printf("\"%s\": [", name);
        for (uint32_t i = 0; i < plan->best.n_stages; i++) {
                const AldPlanStage *stage = &plan->best.stages[i];

                printf("%s{\"first\": %u, \"layers\": %u, \"weights\": %" G_GUINT64_FORMAT
                       ", \"kv\": %" G_GUINT64_FORMAT ", \"buffers\": %" G_GUINT64_FORMAT "}",
                        i > 0 ? ", " : "", stage->first_layer, stage->layers, stage->weight_bytes,
                        stage->kv_bytes, stage->buffer_bytes);
        }
        printf("]");
}

/* On as many devices, none of which has room for all. */
static void print_plans(AldPlanRequest *request)
{
        static const char *const without[] = { "host/cpu", NULL };
        g_autoptr(AldPlan) alone = NULL, two = NULL, ring = NULL;
        uint64_t bytes;

        request->engine = ald_plan_engine_find("llama.cpp");
        request->client = "host";
        request->without = without;
        alone = make_plan(request, 1, PLENTY);
        bytes = alone->best.stages[0].bytes;
        two = make_plan(request, 2, bytes / 2 + bytes / 20 + GIB);
        request->engine = ald_plan_engine_find("vllm");
        request->client = NULL;
        ring = make_plan(request, GPUS_MAX, bytes / GPUS_MAX + bytes / 20 + 3 * GIB);
        printf("{");
        print_stages("alone", alone);
        printf(", ");
        print_stages("two", two);
        printf(", ");
        print_stages("ring", ring);
        printf("}\n");
}

int main(int argc, char *argv[])
{
        uint32_t context = argc == 3 ? (uint32_t) strtoul(argv[2], NULL, 10) : 0;
        g_auto(AldPlanWorkload) workload = ALD_PLAN_WORKLOAD_INIT;
        g_autofree AldPlanLayerSizes *sizes = NULL;
        g_autoptr(AldLlm) llm = NULL;
        g_autofree char *error = NULL;
        const char *reason = NULL;
        AldPlanRequest request = {
                .workload = &workload, .assumed_rtt_nsec = 1e5, .assumed_bits_per_second = 1e10
        };

        if (context == 0)
                return EXIT_FAILURE;
        ald_plan_constants_init(&request.constants, NULL);
        if (ald_llm_read(argv[1], &llm, &error) < 0)
                g_error("%s", error);
        if (ald_plan_workload_of_llm(llm, context, 1, ALD_KV_F16, ALD_KV_F16, &workload) < 0 ||
                ald_plan_workload_complete(&workload, &reason) < 0)
                g_error("%s: no workload can be made of it", argv[1]);
        if (workload.layer_sizes)
                sizes = ald_plan_layer_sizes_new(&workload, &reason);
        request.sizes = sizes;
        print_plans(&request);
        return EXIT_SUCCESS;
}
