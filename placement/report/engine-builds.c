/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/report/engine-builds.h"
#include "placement/plan/cost.h"
#include "placement/report/sentences.h"
#include "record/listed-name.h"

/*
 * A build of llama.cpp computes on the GPUs of the backends that it was built with. Its servers compute
 * whatever their clients send, so that each node may have another build. CUDA and ROCm get into one build
 * only as modules, and Vulkan drives the GPUs of all vendors.
 */
typedef enum GpuBackend {
        GPU_BACKEND_CUDA,
        GPU_BACKEND_ROCM,
        GPU_BACKEND_SYCL,
        GPU_BACKEND_VULKAN, /* for other vendors */
        N_GPU_BACKENDS,
} GpuBackend;

static const struct {
        const char *vendor, *name;
} backends[N_GPU_BACKENDS] = {
        [GPU_BACKEND_CUDA] = { "NVIDIA", "CUDA" },
        [GPU_BACKEND_ROCM] = { "AMD", "ROCm" },
        [GPU_BACKEND_SYCL] = { "Intel", "SYCL" },
        [GPU_BACKEND_VULKAN] = { NULL, "Vulkan" },
};

/* Bits of those that the node needs for its stages. */
static unsigned backends_of(const AldPlanCluster *cluster, const AldPlanSteps *steps, uint32_t node)
{
        unsigned needed = 0;

        for (uint32_t i = 0; i < steps->n_stages; i++) {
                const AldPlanDevice *device = &cluster->devices[steps->stages[i].device];
                GpuBackend backend = 0;

                if (device->is_processor || device->node != node)
                        continue;
                while (backend < GPU_BACKEND_VULKAN &&
                        !ald_plan_is_of_vendor(device, backends[backend].vendor))
                        backend++;
                needed |= 1u << backend;
        }
        return needed;
}

/* "CUDA and ROCm" */
static void append_names(GString *text, unsigned needed)
{
        bool begun = false;

        for (GpuBackend i = 0; i < N_GPU_BACKENDS; i++) {
                if (!(needed & (1u << i)))
                        continue;
                g_string_append_printf(text, "%s%s", begun ? " and " : "", backends[i].name);
                begun = true;
        }
}

char *ald_plan_builds_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps)
{
        g_autoptr(GString) nodes = g_string_new(NULL);
        unsigned all = 0;
        bool has_both = false;

        if (!request->engine->differs_by_backend)
                return NULL;
        for (uint32_t i = 0; i < cluster->n_nodes; i++) {
                unsigned needed = backends_of(cluster, steps, i);
                g_autofree char *label = ald_plan_node_label(&cluster->nodes[i]);
                g_autofree char *listed = ald_listed_name(label);

                if (needed == 0)
                        continue;
                g_string_append_printf(nodes, "%s%s with ", nodes->len > 0 ? ", " : "", listed);
                append_names(nodes, needed);
                all |= needed;
                has_both |= (needed & (needed - 1)) != 0;
        }
        if ((all & (all - 1)) == 0)
                return NULL;
        return g_strdup_printf(
                "GPUs of several vendors are used, for which each node needs a build of %s of its own: %s.%s",
                request->engine->name, nodes->str,
                has_both ? " Several backends in one build need GGML_BACKEND_DL; one with Vulkan drives them "
                           "all."
                         : "");
}
