/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "placement/export/export-header.h"
#include "placement/plan/export-words.h"
#include "record/figure-text.h"

/* Appends a figure unless it is absent. unit is NULL for a number of things. */
static void append_figure(GString *out, const char *before, const AldUnit *unit, uint64_t value)
{
        g_autofree char *text = ald_format_figure(unit, (double) value);

        if (value != ALD_ABSENT_UINT64)
                g_string_append_printf(out, "%s%s", before, text);
}

static void append_port(GString *out, const char *port, const char *address)
{
        if (port) {
                g_string_append_c(out, ' ');
                ald_export_append_safe(out, port);
        }
        if (address) {
                g_string_append_c(out, ' ');
                ald_export_append_safe(out, address);
        }
}

static void append_hop(GString *out, const AldPlanHopRow *hop, const char *mark)
{
        g_string_append_printf(out, "%s   hop ", mark);
        ald_export_append_safe(out, hop->source_name ?: hop->source);
        append_port(out, hop->source_port, hop->source_address);
        g_string_append(out, " -> ");
        ald_export_append_safe(out, hop->sink_name ?: hop->sink);
        append_port(out, hop->sink_port, hop->sink_address);
        append_figure(out, ": ", &ald_unit_nanoseconds, hop->nsec);
        append_figure(out, ", ", &ald_unit_bits_per_second, hop->bits_per_second);
        append_figure(out, ", round trip ", &ald_unit_nanoseconds, hop->rtt_nsec);
        if (ald_export_hop_is(hop, ALD_PLAN_HOP_ROW_KIND_ASSUMED)) {
                g_string_append(out, "; assumed, never measured\n");
                return;
        }
        g_string_append(out, "; ");
        ald_export_append_safe(out, hop->kind);
        if (hop->measured_usec == ALD_ABSENT_UINT64)
                g_string_append(out, ", not measured");
        else {
                g_string_append(out, ", measured ");
                ald_export_append_time(out, hop->measured_usec);
        }
        if (hop->rtt_measured_usec != ALD_ABSENT_UINT64) {
                g_string_append(out, ", round trip ");
                ald_export_append_time(out, hop->rtt_measured_usec);
        }
        g_string_append_c(out, '\n');
}

static void append_stage(GString *out, const AldExportPlan *plan, guint index, const char *mark)
{
        const AldPlanStageRow *stage = &plan->stages[index];
        const GArray *hops = plan->report->hops;

        g_string_append_printf(out, "%s Stage %u: ", mark, index);
        if (ald_export_has_layers(plan))
                g_string_append_printf(out, "layers %" PRIu64 "-%" PRIu64 "%s on ", stage->first_layer,
                        stage->first_layer + stage->layers - 1, stage->has_head == 1 ? " and the head" : "");
        ald_export_append_safe(out, ald_export_stage_name(stage));
        g_string_append(out, ", ");
        ald_export_append_safe(out, stage->device);
        if (stage->device_name && g_strcmp0(stage->device_name, stage->device) != 0) {
                g_string_append_c(out, ' ');
                ald_export_append_safe(out, stage->device_name);
        }
        append_figure(out, ": ", &ald_unit_nanoseconds, stage->nsec);
        if (ald_export_has_layers(plan)) {
                g_string_append(out, "; measured ");
                ald_export_append_time(out, stage->measured_usec);
                if (stage->flags && g_strv_contains(stage->flags, "busy"))
                        g_string_append(out, " beside other work");
        }
        append_figure(out, ", ", &ald_unit_bytes, stage->free_bytes);
        if (stage->free_bytes != ALD_ABSENT_UINT64) {
                g_string_append(out, " free ");
                ald_export_append_time(out, stage->free_usec);
        }
        if (stage->free_assumed == 1)
                g_string_append(out, ", if none of its memory is in use, which is unknown");
        g_string_append_c(out, '\n');
        for (guint i = 0; i < hops->len; i++) {
                const AldPlanHopRow *hop = &g_array_index(hops, AldPlanHopRow, i);

                if (hop->alternative == 0 && hop->stage == index)
                        append_hop(out, hop, mark);
        }
}

void ald_export_append_header(GString *out, const AldExportPlan *plan, const char *format, const char *mark)
{
        g_string_append_printf(
                out, "%s For %s, by Alidade %s, from a plan for ", mark, format, plan->options->version);
        ald_export_append_safe(out, plan->plan->engine);
        append_figure(out, "; revision ", NULL, plan->plan->revision);
        g_string_append_printf(out, "\n%s ", mark);
        if (plan->plan->oldest_usec == ALD_ABSENT_UINT64)
                g_string_append(out, "Nothing of it was measured");
        else {
                g_string_append(out, "Oldest figure: measured ");
                ald_export_append_time(out, plan->plan->oldest_usec);
        }
        append_figure(out,
                ald_export_has_layers(plan) ? "; a step: " : "; an all-reduce: ", &ald_unit_nanoseconds,
                plan->plan->step_nsec);
        append_figure(out, "; requests at once: ", NULL, plan->plan->parallel);
        append_figure(out, "; tokens of context each: ", NULL, plan->plan->context);
        if (plan->plan->kv_type_k && plan->plan->kv_type_v)
                g_string_append_printf(
                        out, "; keys in %s, values in %s", plan->plan->kv_type_k, plan->plan->kv_type_v);
        g_string_append_c(out, '\n');
        for (guint i = 0; i < plan->n_stages; i++)
                append_stage(out, plan, i, mark);
}
