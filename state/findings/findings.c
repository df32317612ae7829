/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record-source.h"
#include "state/findings/findings-report.h"

static gboolean count_name(AldNode *node, void *userdata)
{
        GHashTable *names = userdata;
        const char *name = ald_report_friendly_name(node);

        if (name) {
                guint count = GPOINTER_TO_UINT(g_hash_table_lookup(names, name));

                g_hash_table_insert(names, g_strdup(name), GUINT_TO_POINTER(count + 1));
        }
        return FALSE;
}

static const char *first_node(const AldFindingRow *row)
{
        return row->nodes ? row->nodes[0] : NULL;
}

/* Ranks rows that count others last of their Id: first those of reporters, then the one without a reporter.
 * */
static int place_of(const AldFindingRow *row)
{
        return row->left_out == ALD_ABSENT_UINT64 ? 0 : row->nodes ? 1 : 2;
}

static int compare_rows(gconstpointer a, gconstpointer b)
{
        const AldFindingRow *left = *(const AldFindingRow *const *) a,
                            *right = *(const AldFindingRow *const *) b;
        int r = ald_finding_row_severity_from_string(left->severity) -
                ald_finding_row_severity_from_string(right->severity);

        if (r == 0)
                r = strcmp(left->id, right->id);
        if (r == 0)
                r = place_of(left) - place_of(right);
        if (r == 0)
                r = g_strcmp0(first_node(left), first_node(right));
        return r != 0 ? r : strcmp(left->text, right->text);
}

static void count_names(AldReport *report)
{
        ald_store_foreach_node(report->store, count_name, report->names);
}

/* Names of nodes are counted before a finding needs them. */
static void (*const steps[])(AldReport *report) = {
        count_names,
        ald_find_in_nodes,
        ald_find_in_presences,
        ald_find_in_links,
        ald_find_changed_rates,
        ald_find_doubted_figures,
        ald_find_in_services,
        ald_find_in_rdma_ports,
        ald_find_contested_hardware,
        ald_find_bridge_loops,
        ald_find_in_groups,
};

struct AldFindingsRound {
        AldReport report;
        char *history_problem;
        size_t step; /* the next one */
};

AldFindingsRound *ald_findings_round_new(AldStore *store, const AldFindingContext *context)
{
        AldFindingsRound *round = g_new0(AldFindingsRound, 1);

        round->history_problem = g_strdup(context->history_problem);
        round->report = (AldReport){
                .store = store,
                .context = *context,
                .names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                .asymmetric = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        };
        round->report.context.history_problem = round->history_problem;
        return round;
}

GPtrArray *ald_findings_round_step(AldFindingsRound *round)
{
        GPtrArray *rows;

        if (round->step < G_N_ELEMENTS(steps)) {
                steps[round->step++](&round->report);
                return NULL;
        }
        rows = ald_report_rows(&round->report);
        g_ptr_array_sort(rows, compare_rows);
        return rows;
}

void ald_findings_round_free(AldFindingsRound *round)
{
        if (!round)
                return;
        for (AldFindingRowId id = 0; id < ALD_FINDING_ROW_ID_N; id++)
                for (AldFindingRowSeverity severity = 0; severity < ALD_FINDING_ROW_SEVERITY_N; severity++)
                        ald_finding_share_free(round->report.shares[id][severity]);
        g_hash_table_unref(round->report.names);
        g_hash_table_unref(round->report.asymmetric);
        g_free(round->history_problem);
        g_free(round);
}

GPtrArray *ald_findings_compute(AldStore *store, const AldFindingContext *context)
{
        g_autoptr(AldFindingsRound) round = ald_findings_round_new(store, context);
        GPtrArray *findings = NULL;

        while (!findings)
                findings = ald_findings_round_step(round);
        return findings;
}

/* Returns whether the service of a record may have been silent until now, which is unknown if the clock of
 * the node was set back. */
static bool is_late(const AldRecord *record, const AldRecord *before)
{
        return record->updated_usec < before->updated_usec ||
               record->updated_usec - before->updated_usec > ALD_RECORD_SOURCE_SILENT_USEC;
}

bool ald_findings_change_with(const AldEntry *entry, const AldRecord *before)
{
        if (!before || !entry->record || is_late(entry->record, before))
                return true;
        if (before->hash == entry->record->hash)
                return false;
        switch (entry->kind) {
        case ALD_KIND_MEMORY:
                return ald_findings_differ_for_memory(ald_record_as(before, MEMORY, AldMemory),
                        ald_record_as(entry->record, MEMORY, AldMemory));
        case ALD_KIND_SYSTEM:
                return ald_findings_differ_for_system(ald_record_as(before, SYSTEM, AldSystem),
                        ald_record_as(entry->record, SYSTEM, AldSystem));
        default:
                return true;
        }
}

/* Returns whether a field stays the same while a finding lasts. Numbers change all the time, and so do the
 * sentences that contain them. */
static bool is_lasting(const AldField *field)
{
        return field->type == ALD_TYPE_BOOLEAN || field->type == ALD_TYPE_STRV ||
               (field->type == ALD_TYPE_STRING && strcmp(field->name, "Text") != 0);
}

uint64_t ald_findings_digest(const GPtrArray *findings)
{
        const AldStruct *type = &ald_finding_row_struct;
        uint64_t hash = ALD_HASH_BASIS;

        for (guint i = 0; i < findings->len; i++)
                for (size_t k = 0; k < type->n_fields; k++)
                        if (is_lasting(&type->fields[k]))
                                hash = ald_field_hash(&type->fields[k],
                                        ald_field_of(&type->fields[k], findings->pdata[i]),
                                        ald_hash_bytes(hash, &k, sizeof k));
        return hash;
}
