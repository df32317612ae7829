/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>

#include "placement/report/plan-report.h"

const AldPlanReportPart ald_plan_report_parts[ALD_PLAN_REPORT_PARTS] = {
        { "Stages", &ald_plan_stage_row_struct, offsetof(AldPlanReport, stages) },
        { "Hops", &ald_plan_hop_row_struct, offsetof(AldPlanReport, hops) },
        { "Alternatives", &ald_plan_alternative_row_struct, offsetof(AldPlanReport, alternatives) },
        { "LeftOut", &ald_plan_left_out_row_struct, offsetof(AldPlanReport, left_out) },
        { "Sensitivities", &ald_plan_sensitivity_row_struct, offsetof(AldPlanReport, sensitivities) },
        { "Constants", &ald_plan_constant_row_struct, offsetof(AldPlanReport, constants) },
};

AldPlanReport *ald_plan_report_new(void)
{
        AldPlanReport *report = g_new(AldPlanReport, 1);

        *report = (AldPlanReport){ .plan = ALD_PLAN_ROW_INIT,
                .owned = g_ptr_array_new_with_free_func(g_free) };
        for (size_t i = 0; i < ALD_PLAN_REPORT_PARTS; i++) {
                const AldPlanReportPart *part = &ald_plan_report_parts[i];

                *(GArray **) ((char *) report + part->offset) = g_array_new(
                        false, false, (guint) part->type->size);
        }
        return report;
}

void ald_plan_report_free(AldPlanReport *report)
{
        if (!report)
                return;
        for (size_t i = 0; i < ALD_PLAN_REPORT_PARTS; i++)
                g_array_unref(ald_plan_report_part(report, &ald_plan_report_parts[i]));
        g_ptr_array_unref(report->owned);
        g_free(report);
}

void ald_plan_report_add_note(AldPlanReport *report, char *text)
{
        const char *const *before = report->plan.notes;
        size_t n = before ? g_strv_length((char **) before) : 0;
        const char **notes = g_new0(const char *, n + 2);

        for (size_t i = 0; i < n; i++)
                notes[i] = before[i];
        notes[n] = text;
        g_ptr_array_add(report->owned, notes);
        g_ptr_array_add(report->owned, text);
        report->plan.notes = notes;
}

guint ald_plan_report_n_stages(const AldPlanReport *report)
{
        guint n = 0;

        while (n < report->stages->len && g_array_index(report->stages, AldPlanStageRow, n).alternative == 0)
                n++;
        return n;
}
