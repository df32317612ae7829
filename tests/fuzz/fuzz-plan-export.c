/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "placement/export/plan-export.h"
#include "placement/report/report-json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names from elsewhere neither begin a line nor hide one. */
static void check_text(const char *text)
{
        g_assert_true(g_utf8_validate(text, -1, NULL));
        for (const char *at = text; *at; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                g_assert_true(c == '\n' || g_unichar_isprint(c));
        }
}

static void check_format(const char *format, const AldPlanReport *report, const AldPlanExportOptions *options)
{
        g_autoptr(GString) out = NULL, again = NULL;
        g_autofree char *reason = NULL, *same = NULL;
        int r = ald_plan_export(format, report, options, &out, &reason);

        g_assert_true((r < 0) == (reason != NULL));
        g_assert_true((r < 0) == (out == NULL));
        g_assert_cmpint(ald_plan_export(format, report, options, &again, &same), ==, r);
        g_assert_cmpstr(reason, ==, same);
        if (!out)
                return;
        g_assert_cmpstr(out->str, ==, again->str);
        check_text(out->str);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        AldPlanExportOptions options = { .now_usec = UINT64_C(1795680000) * 1000 * 1000, .version = "1" };
        g_autoptr(AldPlanReport) report = NULL;
        g_autofree char *error = NULL;
        int r = ald_plan_report_from_text((const char *) data, size, &report, &error);

        g_assert_true((r < 0) == (error != NULL));
        for (int force = 0; r >= 0 && force < 2; force++) {
                options.force = force;
                for (size_t i = 0; ald_plan_export_name_at(i); i++)
                        check_format(ald_plan_export_name_at(i), report, &options);
        }
        return 0;
}
