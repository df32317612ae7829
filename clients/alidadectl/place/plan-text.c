/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/place/plan-text.h"
#include "clients/command-line/table.h"
#include "clients/command-line/terminal-text.h"
#include "clients/common/format.h"
#include "clients/common/plan-words.h"

#define FACT_COLUMNS 11u
#define NAME_COLUMNS_LEAST 12u
#define WHY_ROOM 30u /* with fewer columns after the name, the reason goes below it */

/* Names of devices and paths are never cut, since the user acts on them; other columns are dropped
 * instead. */

static const AldColumn stage_columns[] = {
        { "STAGE", .least = NAME_COLUMNS_LEAST },
        { "LAYERS", .right = true },
        { "NEEDS", .right = true },
        { "FREE", .right = true, .priority = 3 },
        { "TIME", .right = true },
        { "HOP", .right = true },
        { "READS", .right = true, .priority = 4 },
        { "LIMIT", .priority = 5 },
        { "MEASURED", .right = true, .priority = 2 },
        { "DEVICE", .priority = 6 },
};

static const AldColumn hop_columns[] = {
        { "HOP", .least = NAME_COLUMNS_LEAST },
        { "PATH", .least = 10, .priority = 1 },
        { "PAYLOAD", .priority = 4 },
        { "BYTES", .right = true, .priority = 3 },
        { "TIME", .right = true },
        { "RATE", .right = true },
        { "RTT/2", .right = true },
        { "MEASURED", .right = true, .priority = 2 },
};

/* Adds a text on lines of its own. */
static void add_paragraph(GString *out, const char *text, unsigned columns)
{
        ald_text_wrap(out, text, columns, 0);
        g_string_append_c(out, '\n');
}

static void add_fact(GString *out, const char *name, const char *value, unsigned columns)
{
        g_autofree char *title = ald_text_fit(name, FACT_COLUMNS, false);

        g_string_append_printf(out, "%s%s%s", ALD_STYLE_HEADER, title, ALD_STYLE_NORMAL);
        ald_text_wrap(out, value, columns, FACT_COLUMNS);
        g_string_append_c(out, '\n');
}

static void add_table(GString *out, AldTable *table, unsigned columns)
{
        if (ald_table_rows(table) == 0)
                return;
        ald_table_layout(table, columns, NULL);
        g_string_append_c(out, '\n');
        ald_table_append(out, table);
}

static void add_stages(GString *out, const AldPlanReport *report, unsigned columns, double now_usec)
{
        g_autoptr(AldTable) table = ald_table_new(stage_columns, G_N_ELEMENTS(stage_columns));

        for (guint i = 0; i < ald_plan_report_n_stages(report); i++) {
                const AldPlanStageRow *stage = &g_array_index(report->stages, AldPlanStageRow, i);

                ald_table_add(table, ald_plan_words_device(stage));
                ald_table_add(table, ald_plan_words_layers(stage));
                ald_table_add(table, ald_format_bytes(ald_uint64_to_double(stage->needs_bytes)));
                ald_table_add(table, ald_format_bytes(ald_uint64_to_double(stage->free_bytes)));
                ald_table_add(table, ald_format_nsec(ald_uint64_to_double(stage->nsec)));
                ald_table_add(table, ald_format_nsec(ald_uint64_to_double(stage->hop_nsec)));
                ald_table_add(table,
                        ald_format_bytes_per_second(ald_uint64_to_double(stage->memory_bytes_per_second)));
                ald_table_add(table, g_strdup(stage->limiter));
                ald_table_add(table, ald_format_age(ald_uint64_to_double(stage->measured_usec), now_usec));
                ald_table_add(table, ald_text_safe_or_null(stage->device_name));
        }
        add_table(out, table, columns);
}

/* Adds the notes about the figures of paths. */
static void add_notes_of_hops(GString *out, const AldPlanReport *report, unsigned columns)
{
        for (guint i = 0; i < report->hops->len; i++) {
                const AldPlanHopRow *hop = &g_array_index(report->hops, AldPlanHopRow, i);
                g_autofree char *name = ald_plan_words_hop(hop);
                g_autofree char *text = ald_text_safe_or_null(hop->text);
                g_autofree char *note = text ? g_strdup_printf("%s: %s", name, text) : NULL;

                if (note && hop->alternative == 0)
                        add_paragraph(out, note, columns);
        }
}

static void add_hops(GString *out, const AldPlanReport *report, unsigned columns, double now_usec)
{
        g_autoptr(AldTable) table = ald_table_new(hop_columns, G_N_ELEMENTS(hop_columns));

        for (guint i = 0; i < report->hops->len; i++) {
                const AldPlanHopRow *hop = &g_array_index(report->hops, AldPlanHopRow, i);

                if (hop->alternative != 0)
                        continue;
                ald_table_add(table, ald_plan_words_hop(hop));
                ald_table_add(table, ald_plan_words_path(hop));
                ald_table_add(table, ald_plan_words_payload(hop));
                ald_table_add(table, ald_format_bytes(ald_uint64_to_double(hop->bytes)));
                ald_table_add(table, ald_format_nsec(ald_uint64_to_double(hop->nsec)));
                ald_table_add(table, ald_format_bits_per_second(ald_uint64_to_double(hop->bits_per_second)));
                ald_table_add(table, ald_format_nsec(ald_uint64_to_double(hop->rtt_nsec) / 2));
                ald_table_add(table, ald_format_age(ald_uint64_to_double(hop->measured_usec), now_usec));
        }
        add_table(out, table, columns);
        add_notes_of_hops(out, report, columns);
}

static void add_alternatives(GString *out, const AldPlanReport *report, unsigned columns)
{
        if (report->alternatives->len > 0)
                g_string_append_printf(out, "\n%sNEXT BEST%s\n", ALD_STYLE_HEADER, ALD_STYLE_NORMAL);
        for (guint i = 0; i < report->alternatives->len; i++) {
                const AldPlanAlternativeRow *row = &g_array_index(
                        report->alternatives, AldPlanAlternativeRow, i);
                g_autofree char *text = ald_plan_words_alternative(report, row);

                add_paragraph(out, text, columns);
        }
}

/* The reasons are sentences, some of which say what to do. */
static void add_left_out(GString *out, const AldPlanReport *report, unsigned columns)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        unsigned width = NAME_COLUMNS_LEAST;
        bool narrow;

        for (guint i = 0; i < report->left_out->len; i++) {
                g_ptr_array_add(names,
                        ald_plan_words_left_out(&g_array_index(report->left_out, AldPlanLeftOutRow, i)));
                width = MAX(width, ald_text_width(names->pdata[i]));
        }
        narrow = columns > 0 && width + 2 + WHY_ROOM > columns;
        if (names->len > 0)
                g_string_append_printf(out, "\n%s%-*s  WHY%s\n", ALD_STYLE_HEADER, narrow ? 0 : (int) width,
                        "LEFT OUT", ALD_STYLE_NORMAL);
        for (guint i = 0; i < names->len; i++) {
                const AldPlanLeftOutRow *row = &g_array_index(report->left_out, AldPlanLeftOutRow, i);
                g_autofree char *why = ald_text_safe(row->text ?: row->reason ?: ALD_ABSENT_TEXT);
                g_autofree char *name = narrow ? g_strdup_printf("%s\n", (char *) names->pdata[i])
                                               : ald_text_fit(names->pdata[i], width, false);

                g_string_append_printf(out, "%s  ", name);
                ald_text_wrap(out, why, columns, narrow ? 2 : width + 2);
                g_string_append_c(out, '\n');
        }
}

/* Changes that make little difference are only in the JSON. */
static void add_sensitivities(GString *out, const AldPlanReport *report, unsigned columns)
{
        bool begun = false;

        for (guint i = 0; i < report->sensitivities->len; i++) {
                const AldPlanSensitivityRow *row = &g_array_index(
                        report->sensitivities, AldPlanSensitivityRow, i);
                g_autofree char *text = ald_text_safe_or_null(row->text);

                if (!ald_plan_is_notable(report, row))
                        continue;
                if (!begun)
                        g_string_append_printf(
                                out, "\n%sFASTER PATHS%s\n", ALD_STYLE_HEADER, ALD_STYLE_NORMAL);
                begun = true;
                add_paragraph(out, text, columns);
        }
}

static void add_notes(GString *out, const AldPlanRow *plan, unsigned columns)
{
        for (size_t i = 0; plan->notes && plan->notes[i]; i++) {
                g_autofree char *text = ald_text_safe(plan->notes[i]);

                add_fact(out, "Note", text, columns);
        }
}

static void add_plan(GString *out, const AldPlanReport *report, unsigned columns, double now_usec)
{
        const AldPlanRow *plan = &report->plan;
        g_autofree char *speed = ald_plan_words_speed(plan);
        g_autofree char *certainty = ald_plan_words_certainty(plan);
        g_autofree char *engine = ald_text_safe(plan->engine);
        g_autofree char *text = g_strdup_printf("%s with %s, %s", speed, engine, certainty);
        g_autofree char *client = plan->client ? ald_plan_words_node(plan->client_name, plan->client) : NULL;
        g_autofree char *age = ald_format_age(ald_uint64_to_double(plan->oldest_usec), now_usec);
        g_autofree char *oldest = g_strdup_printf("the oldest was measured %s", age);
        g_autofree char *disturbed = ald_plan_words_disturbed(report);
        g_autofree char *assumed_free = ald_plan_words_assumed_free(report);

        add_fact(out, "Plan", text, columns);
        if (client)
                add_fact(out, "Client", client, columns);
        if (plan->oldest_usec != ALD_ABSENT_UINT64)
                add_fact(out, "Figures", oldest, columns);
        if (disturbed)
                add_fact(out, "Disturbed", disturbed, columns);
        if (assumed_free)
                add_fact(out, "Assumed", assumed_free, columns);
        if (plan->unmeasured != ALD_ABSENT_UINT64)
                add_fact(out, "Assumed", "the figures of some paths, which were never measured", columns);
}

void ald_plan_write_text(GString *out, const AldPlanReport *report, const AldPlaceOrder *order,
        unsigned columns, double now_usec)
{
        g_autofree char *request = ald_plan_words_request(&report->plan, order->title);

        add_fact(out, "Model", request, columns);
        if (order->note)
                add_fact(out, "Note", order->note, columns);
        if (report->plan.problem) {
                g_autofree char *text = ald_text_safe(
                        report->plan.text ? report->plan.text : report->plan.problem);

                add_fact(out, "No plan", text, columns);
                add_notes(out, &report->plan, columns);
                add_left_out(out, report, columns);
                return;
        }
        add_plan(out, report, columns, now_usec);
        add_notes(out, &report->plan, columns);
        add_stages(out, report, columns, now_usec);
        add_hops(out, report, columns, now_usec);
        add_alternatives(out, report, columns);
        add_left_out(out, report, columns);
        add_sensitivities(out, report, columns);
}
