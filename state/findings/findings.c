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

                g_hash_table_insert(names, (gpointer) name, GUINT_TO_POINTER(count + 1));
        }
        return FALSE;
}

static const char *first_node(const AldFindingRow *row)
{
        return row->nodes ? row->nodes[0] : NULL;
}

/* Rows that count others are last of their Id, that of no single reporter behind those of reporters. */
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

static void report_begin(AldReport *report, AldStore *store, const AldFindingContext *context)
{
        *report = (AldReport){
                .store = store,
                .context = *context,
                .names = g_hash_table_new(g_str_hash, g_str_equal),
                .asymmetric = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        };
        ald_store_foreach_node(store, count_name, report->names);
}

/* The findings in their order. Nothing else of the report may be used then. */
static GPtrArray *report_end(AldReport *report)
{
        GPtrArray *rows = ald_report_rows(report);

        g_ptr_array_sort(rows, compare_rows);
        for (AldFindingRowId id = 0; id < ALD_FINDING_ROW_ID_N; id++)
                for (AldFindingRowSeverity severity = 0; severity < ALD_FINDING_ROW_SEVERITY_N; severity++)
                        ald_finding_share_free(report->shares[id][severity]);
        g_hash_table_unref(report->names);
        g_hash_table_unref(report->asymmetric);
        return rows;
}

GPtrArray *ald_findings_compute(AldStore *store, const AldFindingContext *context)
{
        AldReport report;

        report_begin(&report, store, context);
        ald_find_in_nodes(&report);
        ald_find_in_presences(&report);
        ald_find_in_links(&report);
        ald_find_changed_rates(&report);
        ald_find_doubted_figures(&report);
        ald_find_in_services(&report);
        ald_find_in_rdma_ports(&report);
        ald_find_contested_hardware(&report);
        ald_find_bridge_loops(&report);
        ald_find_in_groups(&report);
        return report_end(&report);
}

/* Its service may have been silent until now. After the clock of the node was set back nobody knows. */
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

/* Numbers change all the time, and so do the sentences that contain them. */
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
