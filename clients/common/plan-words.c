/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>

#include "clients/common/format.h"
#include "clients/common/plan-words.h"
#include "clients/common/safe-text.h"
#include "clients/common/words.h"
#include "record/listed-name.h"
#include "record/translate.h"

#define ID_DIGITS 8
#define NOTABLE 0.99 /* of the time of a step */
#define ROUNDING 1.0 /* ns */

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
        g_autofree char *range = NULL;

        if (stage->layers == ALD_ABSENT_UINT64 || stage->first_layer == ALD_ABSENT_UINT64)
                return g_strdup(ALD_ABSENT_TEXT);
        range = stage->layers <= 1 ? g_strdup_printf("%" PRIu64, stage->first_layer)
                                   : g_strdup_printf("%" PRIu64 "–%" PRIu64, stage->first_layer,
                                             stage->first_layer + stage->layers - 1);
        return stage->slices == ALD_ABSENT_UINT64
                       ? g_steal_pointer(&range)
                       : g_strdup_printf("%s (1/%" PRIu64 ")", range, stage->slices);
}

/* Returns the time between two tokens of a request; several steps may be in flight. */
static double token_nsec(const AldPlanRow *plan)
{
        return fmax(ald_uint64_to_double(plan->step_nsec),
                ald_uint64_to_double(plan->steps_in_flight) * ald_uint64_to_double(plan->busiest_nsec));
}

char *ald_plan_words_speed(const AldPlanRow *plan)
{
        g_autofree char *time = ald_format_nsec(token_nsec(plan));
        g_autofree char *rate = ald_format_figure(&ald_unit_tokens_per_second, plan->tokens_per_second);

        return isfinite(plan->tokens_per_second) ? g_strdup_printf(_("%s a token, %s"), time, rate)
                                                 : g_strdup_printf(_("%s an all-reduce"), time);
}

char *ald_plan_words_certainty(const AldPlanRow *plan)
{
        double nsec = token_nsec(plan), lower = ald_uint64_to_double(plan->lower_nsec),
               gap = 100 * (nsec / lower - 1);
        g_autofree char *above = ald_format_percent(gap);

        if (isnan(gap))
                return g_strdup(ALD_ABSENT_TEXT);
        /* Both times are rounded to whole nanoseconds, which are then multiplied by the steps in flight. */
        if (nsec <= lower + ROUNDING * fmax(1, ald_uint64_to_double(plan->steps_in_flight)))
                return g_strdup(_("proven to be the best"));
        return g_strdup_printf(_("at most %s above the best possible"), above);
}

/* Appends a device to a list with commas. */
static void append_device(GString *list, const AldPlanStageRow *stage)
{
        g_autofree char *device = ald_plan_words_device(stage), *listed = ald_listed_name(device);

        g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", listed);
}

char *ald_plan_words_assumed_free(const AldPlanReport *report)
{
        GString *words = g_string_new(NULL);

        for (guint i = 0; i < report->stages->len; i++) {
                const AldPlanStageRow *stage = &g_array_index(report->stages, AldPlanStageRow, i);

                if (stage->alternative == 0 && stage->free_assumed == 1)
                        append_device(words, stage);
        }
        if (words->len > 0)
                g_string_append_printf(
                        words, ": %s", _("all memory is taken as free, as its use is unknown"));
        return g_string_free(words, words->len == 0);
}

char *ald_plan_words_disturbed(const AldPlanReport *report)
{
        GString *words = g_string_new(NULL);

        for (guint i = 0; i < report->stages->len; i++) {
                const AldPlanStageRow *stage = &g_array_index(report->stages, AldPlanStageRow, i);

                if (stage->alternative == 0 && stage->flags && g_strv_contains(stage->flags, "busy"))
                        append_device(words, stage);
        }
        if (words->len > 0)
                g_string_append_printf(words, ": %s", _("measured beside other work, and perhaps faster"));
        return g_string_free(words, words->len == 0);
}

char *ald_plan_words_stages(const AldPlanReport *report, uint64_t alternative)
{
        GString *words = g_string_new(NULL);

        for (guint i = 0; i < report->stages->len; i++) {
                const AldPlanStageRow *stage = &g_array_index(report->stages, AldPlanStageRow, i);

                if (stage->alternative != alternative)
                        continue;
                append_device(words, stage);
                if (stage->layers != ALD_ABSENT_UINT64)
                        g_string_append_printf(words, " %" PRIu64, stage->layers);
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
        GString *words = g_string_new(hop->kind ? ald_word(hop->kind) : ALD_ABSENT_TEXT);

        if (source && sink)
                g_string_append_printf(words, " %s → %s", source, sink);
        if (address)
                g_string_append_printf(words, ", %s", address);
        return g_string_free(words, FALSE);
}

char *ald_plan_words_request(const AldPlanRow *plan, const char *title)
{
        g_autofree char *safe = ald_text_safe(title);
        GString *text = g_string_new(safe);

        if (plan->context != 0 && plan->context != ALD_ABSENT_UINT64)
                g_string_append_printf(text, _("; context %lu"), (unsigned long) plan->context);
        if (plan->parallel != ALD_ABSENT_UINT64)
                g_string_append_printf(text, ngettext("; %lu request", "; %lu requests", plan->parallel),
                        (unsigned long) plan->parallel);
        return g_string_free(text, FALSE);
}

char *ald_plan_words_alternative(const AldPlanReport *report, const AldPlanAlternativeRow *row)
{
        const AldPlanRow as_plan = { .step_nsec = row->step_nsec,
                .steps_in_flight = row->steps_in_flight,
                .busiest_nsec = row->busiest_nsec,
                .tokens_per_second = row->tokens_per_second };
        g_autofree char *speed = ald_plan_words_speed(&as_plan);
        g_autofree char *stages = ald_plan_words_stages(report, row->number);
        g_autofree char *client = row->client ? ald_plan_words_node(row->client_name, row->client) : NULL;

        return client ? g_strdup_printf(_("%s: %s; client %s"), speed, stages, client)
                      : g_strdup_printf("%s: %s", speed, stages);
}

char *ald_plan_words_left_out(const AldPlanLeftOutRow *row)
{
        g_autofree char *node = ald_plan_words_node(row->node_name, row->node);
        g_autofree char *device = ald_text_safe_or_null(row->device);

        return device ? g_strdup_printf("%s/%s", node, device) : g_steal_pointer(&node);
}

/* Translates the word of an enumeration; a newer service may use one that is unknown here. */
static char *translate_word(const char *const *words, int i, const char *word)
{
        return i >= 0 && words[i] ? g_strdup(_(words[i])) : ald_text_safe_or_null(word);
}

char *ald_plan_words_payload(const AldPlanHopRow *hop)
{
        static const char *const words[ALD_PLAN_HOP_ROW_PAYLOAD_N] = {
                [ALD_PLAN_HOP_ROW_PAYLOAD_ACTIVATIONS] = N_("activations"),
                [ALD_PLAN_HOP_ROW_PAYLOAD_TOKENS] = N_("tokens"),
                [ALD_PLAN_HOP_ROW_PAYLOAD_LOGITS] = N_("logits"),
                [ALD_PLAN_HOP_ROW_PAYLOAD_SUMS] = N_("sums"),
        };

        return translate_word(words, ald_plan_hop_row_payload_from_string(hop->payload), hop->payload);
}

char *ald_plan_words_reason(const AldPlanLeftOutRow *row)
{
        static const char *const words[ALD_PLAN_LEFT_OUT_ROW_REASON_N] = {
                [ALD_PLAN_LEFT_OUT_ROW_REASON_SAVES_TOO_LITTLE] = N_("saves too little"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_UNUSABLE] = N_("unusable"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_EXCLUDED] = N_("excluded"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_NOT_FOR_ENGINE] = N_("not for this engine"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_SHARES_MEMORY] = N_("shares memory"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_MEMORY_UNKNOWN] = N_("memory unknown"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_FIGURES_DISBELIEVED] = N_("not believed"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_BANDWIDTH_UNMEASURED] = N_("not measured"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_COMPUTE_UNMEASURED] = N_("not measured"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_MEMORY_TOO_SMALL] = N_("too little memory"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_OTHER_VENDOR] = N_("other vendor"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_NO_ROOM] = N_("no room"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_BEYOND_LIMIT] = N_("beyond the limit"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_UNEVEN] = N_("uneven nodes"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_PART_OF_GPU] = N_("part of a GPU"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_NO_PATH] = N_("no path"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_NO_DEVICE] = N_("no device"),
                [ALD_PLAN_LEFT_OUT_ROW_REASON_NOT_TRIED] = N_("not tried"),
        };

        return translate_word(words, ald_plan_left_out_row_reason_from_string(row->reason), row->reason);
}

char *ald_plan_words_problem(const AldPlanRow *plan)
{
        static const char *const words[ALD_PLAN_ROW_PROBLEM_N] = {
                [ALD_PLAN_ROW_PROBLEM_NO_DEVICE] = N_("No device can be used"),
                [ALD_PLAN_ROW_PROBLEM_REQUIRED_UNUSABLE] = N_("A required device cannot be used"),
                [ALD_PLAN_ROW_PROBLEM_TOO_LITTLE_MEMORY] = N_("There is too little memory"),
                [ALD_PLAN_ROW_PROBLEM_NO_SPLIT_FOUND] = N_("No split was found that fits"),
                [ALD_PLAN_ROW_PROBLEM_DEVICES_LIMITED] = N_("Too few devices may be used"),
                [ALD_PLAN_ROW_PROBLEM_NODES_UNEVEN] = N_("Nodes would be used unevenly"),
                [ALD_PLAN_ROW_PROBLEM_VENDORS_DIFFER] = N_("The devices are of several vendors"),
                [ALD_PLAN_ROW_PROBLEM_NOT_JOINED] = N_("The devices are not joined by measured paths"),
                [ALD_PLAN_ROW_PROBLEM_NO_RING_FOUND] = N_("No ring was found"),
                [ALD_PLAN_ROW_PROBLEM_TIME_UP] = N_("No plan was found in time"),
                [ALD_PLAN_ROW_PROBLEM_SPLIT_SUM] = N_("The split has another number of layers"),
                [ALD_PLAN_ROW_PROBLEM_SPLIT_MEMORY] = N_("The split does not fit"),
                [ALD_PLAN_ROW_PROBLEM_TOO_MANY_DEVICES] = N_("Too many devices could be used"),
                [ALD_PLAN_ROW_PROBLEM_CONTEXT_TOO_LONG] = N_("The context is too long"),
        };

        return translate_word(words, ald_plan_row_problem_from_string(plan->problem), plan->problem);
}

char *ald_plan_words_limiter(const AldPlanStageRow *stage)
{
        static const char *const words[ALD_PLAN_STAGE_ROW_LIMITER_N] = {
                [ALD_PLAN_STAGE_ROW_LIMITER_MEMORY] = N_("limited by memory bandwidth"),
                [ALD_PLAN_STAGE_ROW_LIMITER_COMPUTE] = N_("limited by compute"),
        };

        return translate_word(words, ald_plan_stage_row_limiter_from_string(stage->limiter), stage->limiter);
}

bool ald_plan_is_notable(const AldPlanReport *report, const AldPlanSensitivityRow *row)
{
        return row->text && ald_uint64_to_double(row->step_nsec) <= NOTABLE * token_nsec(&report->plan);
}
