/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/check/check-result.h"
#include "common/bus-names.h"

typedef struct Problem {
        char *id, *text;
        char *reporter, *reporter_name; /* another node that reports it, or NULL */
        AldFindingRowSeverity severity;
} Problem;

static void problem_free(gpointer data)
{
        Problem *problem = data;

        g_free(problem->id);
        g_free(problem->text);
        g_free(problem->reporter);
        g_free(problem->reporter_name);
        g_free(problem);
}

void ald_check_result_init(AldCheckResult *result)
{
        *result = (AldCheckResult){ .problems = g_ptr_array_new_with_free_func(problem_free) };
}

void ald_check_result_clear(AldCheckResult *result)
{
        g_clear_pointer(&result->problems, g_ptr_array_unref);
        g_clear_pointer(&result->about, g_free);
}

void ald_check_result_add(AldCheckResult *result, const char *id, AldFindingRowSeverity severity, char *text)
{
        Problem *problem = g_new(Problem, 1);

        *problem = (Problem){ .id = g_strdup(id), .text = text, .severity = severity };
        g_ptr_array_add(result->problems, problem);
}

void ald_check_result_set_reporter(AldCheckResult *result, const char *reporter, const char *name)
{
        Problem *problem = result->problems->pdata[result->problems->len - 1];

        problem->reporter = g_strdup(reporter);
        problem->reporter_name = g_strdup(name);
}

int ald_check_result_exit_code(const AldCheckResult *result, bool plugin)
{
        int code = ALD_PLUGIN_OK;

        if (!plugin)
                return result->problems->len > 0;
        if (result->unknown)
                return ALD_PLUGIN_UNKNOWN;
        for (guint i = 0; i < result->problems->len; i++) {
                const Problem *problem = result->problems->pdata[i];

                code = MAX(code, problem->severity == ALD_FINDING_ROW_SEVERITY_ERROR ? ALD_PLUGIN_CRITICAL
                                                                                     : ALD_PLUGIN_WARNING);
        }
        return code;
}

static void append_problems(GString *line, const AldCheckResult *result)
{
        for (guint i = 0; i < result->problems->len; i++) {
                const Problem *problem = result->problems->pdata[i];

                g_string_append_printf(line, "%s%s: %s", i > 0 ? "; " : "", problem->id, problem->text);
                /* The texts of findings are sentences. */
                if (g_str_has_suffix(line->str, "."))
                        g_string_truncate(line, line->len - 1);
                if (problem->reporter)
                        g_string_append_printf(line, " (reported by %s)", problem->reporter_name);
        }
}

/* Names only the severities that count, since milder findings may exist. */
static const char *words_of_none(AldFindingRowSeverity severity)
{
        switch (severity) {
        case ALD_FINDING_ROW_SEVERITY_ERROR:
                return "no errors";
        case ALD_FINDING_ROW_SEVERITY_WARNING:
                return "no warnings or errors";
        default:
                return "no findings";
        }
}

char *ald_check_result_line(const AldCheckResult *result, bool plugin)
{
        static const char *const words[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };
        g_autoptr(GString) line = g_string_new(NULL);

        if (plugin)
                g_string_append_printf(line, "%s - ", words[ald_check_result_exit_code(result, true)]);
        else
                g_string_append(line, result->problems->len > 0 ? "NOT OK: " : "OK: ");
        append_problems(line, result);
        if (result->problems->len == 0)
                g_string_append_printf(line, "%s about %s", words_of_none(result->severity), result->about);
        if (result->problems->len == 0 && result->n_required > 0)
                g_string_append(line, ", all requirements met");
        if (result->is_history_late)
                g_string_append(line, " (" ALD_HISTORY_UNIT " did not answer)");
        for (char *at = line->str; plugin && (at = strchr(at, '|'));)
                *at = '/';
        return g_string_free(g_steal_pointer(&line), FALSE);
}

json_t *ald_check_result_to_json(const AldCheckResult *result)
{
        json_t *problems = json_array(), *unanswered = json_array();

        for (guint i = 0; i < result->problems->len; i++) {
                const Problem *problem = result->problems->pdata[i];

                json_array_append_new(
                        problems, json_pack("{s:s, s:s, s:s, s:s*}", "Id", problem->id, "Severity",
                                          ald_finding_row_severity_to_string(problem->severity), "Text",
                                          problem->text, "Reporter", problem->reporter));
        }
        if (result->is_state_late)
                json_array_append_new(unanswered, json_string(ALD_STATE_UNIT));
        if (result->is_history_late)
                json_array_append_new(unanswered, json_string(ALD_HISTORY_UNIT));
        return json_pack("{s:b, s:b, s:o, s:o}", "Ok", result->problems->len == 0, "Unknown", result->unknown,
                "Problems", problems, "Unanswered", unanswered);
}
