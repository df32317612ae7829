/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <string.h>

#include "placement/export/export-header.h"
#include "placement/export/plan-formats.h"
#include "placement/plan/export-words.h"
#include "record/figure-text.h"

/* Appends a duration such as "12.3 ms"; nothing if it is absent. */
static void append_duration(GString *out, uint64_t nsec)
{
        g_autofree char *text = ald_format_figure(&ald_unit_nanoseconds, (double) nsec);

        if (nsec != ALD_ABSENT_UINT64)
                g_string_append(out, text);
}

static void append_stage(GString *out, const AldExportPlan *plan, guint index)
{
        const AldPlanStageRow *stage = &plan->stages[index];

        g_string_append_printf(out, "  s%u [label=", index);
        ald_export_append_dot(out, ald_export_stage_name(stage));
        g_string_append(out, " + \"\\n\" + ");
        ald_export_append_dot(out, stage->device_name ?: stage->device);
        if (ald_export_has_layers(plan)) {
                g_string_append_printf(out, " + \"\\nlayers %" PRIu64 "-%" PRIu64 "%s\\n", stage->first_layer,
                        stage->first_layer + stage->layers - 1, stage->has_head == 1 ? " and head" : "");
                append_duration(out, stage->nsec);
                g_string_append_c(out, '"');
        }
        g_string_append(out, "];\n");
}

/* Appends an end of a star's hop: a stage of that node, else the client. */
static void append_end(GString *out, const AldExportPlan *plan, const AldPlanHopRow *hop, const char *node)
{
        guint stage = (guint) hop->stage;

        if (strcmp(plan->stages[stage].node, node) != 0 && strcmp(plan->plan->client, node) != 0)
                for (stage = 0; stage < plan->n_stages; stage++)
                        if (strcmp(plan->stages[stage].node, node) == 0)
                                break;
        if (stage < plan->n_stages && strcmp(plan->stages[stage].node, node) == 0)
                g_string_append_printf(out, "s%u", stage);
        else
                g_string_append(out, "client");
}

/* Appends both ends of a hop: in a ring it leads to the next stage, within a node of a star it comes from the
 * previous one. */
static void append_ends(GString *out, const AldExportPlan *plan, const AldPlanHopRow *hop)
{
        guint stage = (guint) hop->stage;

        if (!plan->plan->client) {
                g_string_append_printf(out, "  s%u -> s%u", stage, (stage + 1) % plan->n_stages);
                return;
        }
        if (stage > 0 && ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_INNER)) {
                g_string_append_printf(out, "  s%u -> s%u", stage - 1, stage);
                return;
        }
        g_string_append(out, "  ");
        append_end(out, plan, hop, hop->source);
        g_string_append(out, " -> ");
        append_end(out, plan, hop, hop->sink);
}

static void append_hop(GString *out, const AldExportPlan *plan, const AldPlanHopRow *hop)
{
        bool is_assumed = ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_ASSUMED);

        append_ends(out, plan, hop);
        g_string_append(out, is_assumed ? " [style=dashed label=\"" : " [label=\"");
        append_duration(out, hop->nsec);
        g_string_append(out, is_assumed ? " assumed\"];\n" : "\"];\n");
}

static int write_dot(const AldExportPlan *plan, GString *out, char **ret_reason)
{
        const GArray *hops = plan->report->hops;

        ald_export_append_header(out, plan, "graphviz", "//");
        g_string_append(out,
                "digraph plan {\n"
                "  graph [rankdir=LR];\n"
                "  node [shape=box style=\"rounded,filled\" fillcolor=white fontname=\"sans-serif\"];\n"
                "  edge [fontname=\"sans-serif\" fontsize=10];\n");
        if (plan->plan->client) {
                g_string_append(out, "  client [shape=ellipse label=");
                ald_export_append_dot(out, plan->plan->client_name ?: plan->plan->client);
                g_string_append(out, "];\n");
        }
        for (guint i = 0; i < plan->n_stages; i++)
                append_stage(out, plan, i);
        for (guint i = 0; i < hops->len; i++) {
                const AldPlanHopRow *hop = &g_array_index(hops, AldPlanHopRow, i);

                if (hop->alternative == 0)
                        append_hop(out, plan, hop);
        }
        g_string_append(out, "}\n");
        return 0;
}

const AldExportFormat ald_plan_dot_format = {
        .name = "dot",
        .summary = "A graph for graphviz",
        .write = write_dot,
};
