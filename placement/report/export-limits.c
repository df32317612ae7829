/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/report/export-limits.h"
#include "placement/plan/export-words.h"
#include "placement/report/sentences.h"
#include "record/listed-name.h"

static uint32_t node_of(const AldPlanCluster *cluster, const AldPlanStage *stage)
{
        return cluster->devices[stage->device].node;
}

/* Returns whether the client or root reaches the stage over an assumed path, which has no address. Further
 * stages of a node are reached with its first one. */
static bool is_reached_by_none(const AldPlanCluster *cluster, const AldPlanSteps *steps, uint32_t stage)
{
        uint32_t node = node_of(cluster, &steps->stages[stage]);

        return node != steps->client && steps->stages[stage].path_to == ALD_PLAN_NONE &&
               (stage == 0 || node_of(cluster, &steps->stages[stage - 1]) != node);
}

/* Returns whether the node of a stage has neither a measured path to the ring's other nodes, nor a host name
 * instead. */
static bool is_named_by_none(const AldPlanCluster *cluster, const AldPlanSteps *steps, uint32_t stage)
{
        const AldPlanStage *stages = steps->stages;
        uint32_t n = steps->n_stages, node = node_of(cluster, &stages[stage]), joined = 0, others = 0;

        for (uint32_t i = 0; i < n; i++) {
                uint32_t source = node_of(cluster, &stages[i]), sink = node_of(cluster, &stages[(i + 1) % n]);

                if (source == sink || (source != node && sink != node))
                        continue;
                others++;
                joined += stages[i].path_to != ALD_PLAN_NONE;
        }
        return others > 0 && joined == 0 && !ald_export_is_host_name(cluster->nodes[node].host_name);
}

static bool lacks_name(
        const AldPlanCluster *cluster, const AldPlanEngine *engine, const AldPlanSteps *steps, uint32_t stage)
{
        switch (engine->names) {
        case ALD_PLAN_NAMES_IPV4:
                return is_reached_by_none(cluster, steps, stage);
        case ALD_PLAN_NAMES_RANKS:
                /* All ranks meet at the first one. */
                return stage == 0 && is_named_by_none(cluster, steps, stage);
        case ALD_PLAN_NAMES_HOSTS:
                return is_named_by_none(cluster, steps, stage);
        default:
                return false;
        }
}

/* Lists the labels of the nodes that the commands cannot name, each once; NULL if there are none. */
static char *list_unnamed(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps)
{
        g_autofree bool *seen = g_new0(bool, cluster->n_nodes);
        g_autoptr(GString) list = g_string_new(NULL);

        for (uint32_t i = 0; i < steps->n_stages; i++) {
                uint32_t node = node_of(cluster, &steps->stages[i]);
                g_autofree char *label = NULL, *listed = NULL;

                if (seen[node] || !lacks_name(cluster, request->engine, steps, i))
                        continue;
                seen[node] = true;
                label = ald_plan_node_label(&cluster->nodes[node]);
                listed = ald_listed_name(label);
                g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", listed);
        }
        return list->len > 0 ? g_string_free(g_steal_pointer(&list), false) : NULL;
}

char *ald_plan_export_limits_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps)
{
        const char *engine = request->engine->name;
        g_autofree char *unnamed = list_unnamed(cluster, request, steps);
        bool lacks_context = request->engine->needs_context && request->workload->context == 0;

        if (!unnamed && !lacks_context)
                return NULL;
        return g_strdup_printf("Commands for %s cannot be exported yet:%s%s%s%s.", engine,
                lacks_context ? " they need Context, which is not stated" : "",
                lacks_context && unnamed ? "; and" : "",
                unnamed ? " they need addresses, which are unknown until a path was measured, of " : "",
                unnamed ? unnamed : "");
}
