/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/report/engine-builds.h"
#include "placement/plan/cost.h"
#include "placement/report/sentences.h"
#include "record/listed-name.h"

/* Returns the backends that the node needs for its stages, as bits by their places in the list. */
static unsigned backends_of(
        const AldPlanCluster *cluster, const AldPlanEngine *engine, const AldPlanSteps *steps, uint32_t node)
{
        unsigned needed = 0;

        for (uint32_t i = 0; i < steps->n_stages; i++) {
                const AldPlanDevice *device = &cluster->devices[steps->stages[i].device];
                unsigned backend = 0;

                if (device->is_processor || device->node != node)
                        continue;
                while (engine->backends[backend].usual &&
                        !ald_plan_is_of_vendor(device, engine->backends[backend].usual))
                        backend++;
                needed |= 1u << backend;
        }
        return needed;
}

/* Appends names as in "CUDA and ROCm". */
static void append_names(GString *text, const AldEngineBackend *backends, unsigned needed)
{
        bool begun = false;

        for (unsigned i = 0; backends[i].option; i++) {
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

        if (!request->engine->backends)
                return NULL;
        for (uint32_t i = 0; i < cluster->n_nodes; i++) {
                unsigned needed = backends_of(cluster, request->engine, steps, i);
                g_autofree char *label = ald_plan_node_label(&cluster->nodes[i]);
                g_autofree char *listed = ald_listed_name(label);

                if (needed == 0)
                        continue;
                g_string_append_printf(nodes, "%s%s with ", nodes->len > 0 ? ", " : "", listed);
                append_names(nodes, request->engine->backends, needed);
                all |= needed;
                has_both |= (needed & (needed - 1)) != 0;
        }
        if ((all & (all - 1)) == 0)
                return NULL;
        return g_strdup_printf(
                "GPUs of several vendors are used, for which each node needs a build of %s of its own: "
                "%s.%s%s",
                request->engine->name, nodes->str, has_both ? " " : "",
                has_both ? request->engine->backends_text : "");
}
