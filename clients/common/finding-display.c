/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/finding-display.h"
#include "clients/common/node-summary.h"
#include "clients/common/safe-text.h"
#include "clients/common/tone.h"
#include "clients/common/words.h"
#include "record/listed-name.h"
#include "record/translate.h"

/* The enumeration of severities has the same order: the worst is first. */
static const AldTone tones[ALD_FINDING_ROW_SEVERITY_N] = {
        [ALD_FINDING_ROW_SEVERITY_ERROR] = ALD_TONE_ERROR,
        [ALD_FINDING_ROW_SEVERITY_WARNING] = ALD_TONE_WARNING,
        [ALD_FINDING_ROW_SEVERITY_NOTICE] = ALD_TONE_PLAIN,
};

/* The history stores a long row without the names of its nodes, and without some of the nodes, but with its
 * text. */
static bool is_shortened(const AldFindingRow *finding)
{
        return finding->nodes && finding->nodes[0] && !finding->names && finding->text;
}

/* Uses the text of the service for a finding that this version does not know. */
char *ald_finding_words(const AldFindingRow *finding)
{
        g_autofree char *text = is_shortened(finding) ? NULL : ald_finding_text(finding);

        return ald_text_safe_or_null(text ?: finding->text);
}

char *ald_finding_words_with_times(const AldFindingRow *finding, AldFindingTime format_time)
{
        g_autofree char *text = is_shortened(finding) ? NULL
                                                      : ald_finding_text_with_times(finding, format_time);

        return ald_text_safe_or_null(text ?: finding->text);
}

/* A known finding without a remedy has none, whatever the row says. */
char *ald_finding_remedy_words(const AldFindingRow *finding)
{
        g_autofree char *text = ald_finding_text(finding), *remedy = ald_finding_remedy(finding);

        return ald_text_safe_or_null(text ? remedy : finding->remedy);
}

AldFindingRowSeverity ald_finding_severity_of(const AldFindingRow *finding)
{
        int severity = ald_finding_row_severity_from_string(finding->severity);

        return severity < 0 ? ALD_FINDING_ROW_SEVERITY_NOTICE : (AldFindingRowSeverity) severity;
}

AldTone ald_severity_tone(AldFindingRowSeverity severity)
{
        return severity < ALD_FINDING_ROW_SEVERITY_N ? tones[severity] : ALD_TONE_PLAIN;
}

char *ald_finding_severity(const AldFindingRow *finding, AldTone *ret_tone)
{
        *ret_tone = tones[ald_finding_severity_of(finding)];
        return ald_text_safe(ald_word(finding->severity) ?: ALD_ABSENT_TEXT);
}

/* Returns the name of the i-th node: the model's, or else the finding's. */
static char *node_name(const AldFindingRow *finding, size_t i, AldModel *model)
{
        const AldEntity *known = model ? ald_model_get(model, finding->nodes[i]) : NULL;
        size_t n = finding->names ? g_strv_length((char **) finding->names) : 0;

        return known ? ald_entity_label(known) : ald_text_safe(i < n ? finding->names[i] : finding->nodes[i]);
}

char *ald_finding_node_names(const AldFindingRow *finding, AldModel *model)
{
        GString *names = g_string_new(NULL);

        for (size_t i = 0; finding->nodes && finding->nodes[i]; i++) {
                g_autofree char *name = node_name(finding, i, model), *listed = ald_listed_name(name);

                g_string_append_printf(names, "%s%s", i == 0 ? "" : ", ", listed);
        }
        return g_string_free(names, names->len == 0);
}

char *ald_finding_title(const AldFindingRow *finding, AldModel *model)
{
        g_autofree char *id = ald_text_safe(finding->id ?: ALD_ABSENT_TEXT);
        g_autofree char *names = ald_finding_node_names(finding, model);

        return names ? g_strdup_printf("%s: %s", id, names) : g_steal_pointer(&id);
}

bool ald_finding_is_about(const AldFindingRow *finding, const char *node_id)
{
        return finding->nodes && g_strv_contains(finding->nodes, node_id);
}

static bool is_of_offline_node(AldModel *model, const AldFindingRow *finding)
{
        const char *offline = ald_presence_state_to_string(ALD_PRESENCE_STATE_OFFLINE);

        for (const char *const *id = finding->nodes; id && *id; id++) {
                const AldEntity *node = ald_model_get(model, *id);

                if (node && g_strcmp0(ald_node_exclusion(model, node), offline) == 0)
                        return true;
        }
        return g_strcmp0(finding->id, ald_finding_row_id_to_string(ALD_FINDING_ROW_ID_NODE_OFFLINE)) == 0;
}

static void add_sorted(
        GPtrArray *sorted, AldModel *model, const char *node_id, AldFindingRowSeverity severity, bool offline)
{
        const AldRows *rows = ald_model_findings(model);

        for (size_t i = 0; i < rows->n; i++) {
                const AldFindingRow *finding = ald_rows_at(rows, i);

                if (ald_finding_severity_of(finding) == severity &&
                        is_of_offline_node(model, finding) == offline &&
                        (!node_id || ald_finding_is_about(finding, node_id)))
                        g_ptr_array_add(sorted, (gpointer) finding);
        }
}

/* An offline node is only a notice, but it matters more than the speed of a link. */
GPtrArray *ald_findings_sorted(AldModel *model, const char *node_id)
{
        GPtrArray *sorted = g_ptr_array_new();

        for (AldFindingRowSeverity severity = 0; severity < ALD_FINDING_ROW_SEVERITY_N; severity++) {
                add_sorted(sorted, model, node_id, severity, true);
                add_sorted(sorted, model, node_id, severity, false);
        }
        return sorted;
}

const AldFindingRow *ald_find_brokerless(AldModel *model)
{
        const AldRows *rows = ald_model_findings(model);

        for (size_t i = 0; i < rows->n; i++) {
                const AldFindingRow *finding = ald_rows_at(rows, i);

                if (g_strcmp0(finding->id, ald_finding_row_id_to_string(ALD_FINDING_ROW_ID_NO_BROKER)) == 0)
                        return finding;
        }
        return NULL;
}

/* Findings that were left out count as well. */
static unsigned count_findings(AldModel *model, const char *severity)
{
        const AldRows *rows = ald_model_findings(model);
        uint64_t n = 0;

        for (size_t i = 0; i < rows->n; i++) {
                const AldFindingRow *row = ald_rows_at(rows, i);

                if (g_strcmp0(row->severity, severity) == 0)
                        n += row->left_out == ALD_ABSENT_UINT64 ? 1 : MIN(row->left_out, UINT_MAX);
        }
        return (unsigned) MIN(n, UINT_MAX);
}

static const char *count_format(AldFindingRowSeverity severity, unsigned n)
{
        switch (severity) {
        case ALD_FINDING_ROW_SEVERITY_ERROR:
                return ngettext("%u error", "%u errors", n);
        case ALD_FINDING_ROW_SEVERITY_WARNING:
                return ngettext("%u warning", "%u warnings", n);
        case ALD_FINDING_ROW_SEVERITY_NOTICE:
                return ngettext("%u notice", "%u notices", n);
        case ALD_FINDING_ROW_SEVERITY_N:
                break;
        }
        g_assert_not_reached();
}

char *ald_findings_count_words(AldFindingRowSeverity severity, unsigned n)
{
        return g_strdup_printf(count_format(severity, n), n);
}

GPtrArray *ald_findings_counts(AldModel *model)
{
        GPtrArray *facts = ald_facts_new();

        for (AldFindingRowSeverity severity = 0; severity < ALD_FINDING_ROW_SEVERITY_N; severity++) {
                const char *name = ald_finding_row_severity_to_string(severity);
                unsigned n = count_findings(model, name);

                if (n > 0)
                        ald_facts_add_toned(
                                facts, name, ald_findings_count_words(severity, n), tones[severity]);
        }
        return facts;
}
