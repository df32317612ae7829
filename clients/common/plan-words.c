/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "clients/common/plan-words.h"
#include "clients/common/format.h"
#include "clients/common/safe-text.h"

#define ID_DIGITS 8
#define NSEC_PER_USEC 1e3

char *ald_plan_words_node(const char *name, const char *id)
{
        g_autofree char *digits = g_strndup(id ? id : ALD_ABSENT_TEXT, ID_DIGITS);

        return ald_text_safe(name ? name : digits);
}

char *ald_plan_words_device(const AldPlanStageRow *stage)
{
        g_autofree char *node = ald_plan_words_node(stage->node_name, stage->node);
        g_autofree char *device = ald_text_safe(stage->device ? stage->device : ALD_ABSENT_TEXT);

        return g_strdup_printf("%s/%s", node, device);
}

char *ald_plan_words_layers(const AldPlanStageRow *stage)
{
        if (stage->layers == ALD_ABSENT_UINT64 || stage->first_layer == ALD_ABSENT_UINT64)
                return g_strdup(ALD_ABSENT_TEXT);
        if (stage->layers <= 1)
                return g_strdup_printf("%" PRIu64, stage->first_layer);
        return g_strdup_printf(
                "%" PRIu64 "–%" PRIu64, stage->first_layer, stage->first_layer + stage->layers - 1);
}

char *ald_plan_words_speed(double step_nsec, double tokens_per_second)
{
        g_autofree char *step = ald_format_nsec(step_nsec);

        return g_strdup_printf("%s a token, %.3g tokens/s", step, tokens_per_second);
}

char *ald_plan_words_certainty(const AldPlanRow *plan)
{
        double gap = 100 * (ald_figure(plan->step_nsec) / ald_figure(plan->lower_nsec) - 1);

        if (plan->step_nsec == plan->lower_nsec)
                return g_strdup("proven to be the best");
        return g_strdup_printf("at most %.1f %% above the best possible", gap);
}

char *ald_plan_words_stages(const AldPlanReport *report, uint64_t alternative)
{
        GString *words = g_string_new(NULL);

        for (guint i = 0; i < report->stages->len; i++) {
                const AldPlanStageRow *stage = &g_array_index(report->stages, AldPlanStageRow, i);
                g_autofree char *device = NULL, *layers = NULL;

                if (stage->alternative != alternative)
                        continue;
                device = ald_plan_words_device(stage);
                layers = ald_format_count(ald_figure(stage->layers));
                g_string_append_printf(words, "%s%s %s", words->len > 0 ? ", " : "", device, layers);
        }
        return g_string_free(words, FALSE);
}

char *ald_plan_words_hop(const AldPlanHopRow *hop)
{
        g_autofree char *source = ald_plan_words_node(hop->source_name, hop->source);
        g_autofree char *sink = ald_plan_words_node(hop->sink_name, hop->sink);

        return g_strdup_printf("%s → %s", source, sink);
}

char *ald_plan_words_path(const AldPlanHopRow *hop)
{
        g_autofree char *source = ald_text_safe_or_null(hop->source_port);
        g_autofree char *sink = ald_text_safe_or_null(hop->sink_port);
        g_autofree char *address = ald_text_safe_or_null(hop->sink_address);
        GString *words = g_string_new(hop->kind ? hop->kind : ALD_ABSENT_TEXT);

        if (source && sink)
                g_string_append_printf(words, " %s → %s", source, sink);
        if (address)
                g_string_append_printf(words, ", %s", address);
        return g_string_free(words, FALSE);
}
