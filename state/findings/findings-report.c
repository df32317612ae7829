/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/id.h"
#include "state/findings/findings-report.h"
#include "state/findings/findings-words.h"

/* Finders pass strings of records and of their own stack, so a row has copies. */
static AldFindingRow *row_copy(const AldFindingRow *row)
{
        AldFindingRow *copy = g_memdup2(row, sizeof *row);

        for (size_t i = 0; i < ald_finding_row_struct.n_fields; i++) {
                const AldField *field = &ald_finding_row_struct.fields[i];
                char *at = (char *) copy + field->offset;

                if (field->type == ALD_TYPE_STRING)
                        *(char **) at = g_strdup(*(char **) at);
                else if (field->type == ALD_TYPE_STRV)
                        *(char ***) at = g_strdupv(*(char ***) at);
        }
        return copy;
}

void ald_report_row_free(gpointer row)
{
        for (size_t i = 0; i < ald_finding_row_struct.n_fields; i++) {
                const AldField *field = &ald_finding_row_struct.fields[i];
                char *at = (char *) row + field->offset;

                if (field->type == ALD_TYPE_STRING)
                        g_free(*(char **) at);
                else if (field->type == ALD_TYPE_STRV)
                        g_strfreev(*(char ***) at);
        }
        g_free(row);
}

static char **format_ids(const AldId *nodes, size_t n)
{
        char **strv = g_new0(char *, n + 1);

        for (size_t i = 0; i < n; i++) {
                strv[i] = g_malloc(ALD_ID_STRING_SIZE);
                ald_id_format(&nodes[i], strv[i]);
        }
        return strv;
}

static char **names_of(AldReport *report, const AldId *nodes, size_t n)
{
        char **strv = g_new0(char *, n + 1);

        for (size_t i = 0; i < n; i++)
                strv[i] = ald_report_name(report, &nodes[i]);
        return strv;
}

static bool take_room(AldReport *report, const AldFindingRow *row)
{
        size_t bytes = ald_struct_wire_size(&ald_finding_row_struct, row);

        if (bytes > ALD_FINDINGS_BYTES_MAX - report->bytes)
                return false;
        report->bytes += bytes;
        return true;
}

void ald_report_add(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id,
        const AldId *reporter, const AldId *nodes, size_t n_nodes, const AldFindingRow *arguments)
{
        char reporter_id[ALD_ID_STRING_SIZE];
        g_auto(GStrv) ids = format_ids(nodes, n_nodes), names = names_of(report, nodes, n_nodes);
        AldFindingRow row = ALD_FINDING_ROW_INIT, *copy;

        if (arguments)
                row = *arguments;
        row.id = ald_finding_row_id_to_string(id);
        row.severity = ald_finding_row_severity_to_string(severity);
        if (reporter)
                row.reporter = ald_id_format(reporter, reporter_id);
        if (n_nodes > 0) {
                row.nodes = (const char *const *) ids;
                row.names = (const char *const *) names;
        }
        copy = row_copy(&row);
        copy->text = ald_finding_text(copy) ?: g_strdup(copy->id);
        copy->remedy = ald_finding_remedy(copy);
        if (copy->left_out == ALD_ABSENT_UINT64 && !take_room(report, copy)) {
                report->left_out[id][severity]++;
                ald_report_row_free(copy);
                return;
        }
        g_ptr_array_add(report->findings, copy);
}

static bool is_about_local(const AldReport *report, const AldId *nodes, size_t n_nodes)
{
        const AldNode *local = ald_store_local_node(report->store);

        for (size_t i = 0; i < n_nodes; i++)
                if (ald_id_equal(&nodes[i], &local->id))
                        return true;
        return false;
}

bool ald_report_full(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id,
        const AldId *nodes, size_t n_nodes)
{
        guint *count = &report->counts[id][severity][is_about_local(report, nodes, n_nodes)];

        if (*count >= ALD_FINDINGS_PER_ID) {
                report->left_out[id][severity]++;
                return true;
        }
        ++*count;
        return false;
}

const char *ald_report_friendly_name(const AldNode *node)
{
        const AldIdentity *identity = ald_record_as(
                ald_node_record(node, ALD_KIND_IDENTITY), IDENTITY, AldIdentity);

        return identity ? identity->friendly_name : NULL;
}

char *ald_report_name(AldReport *report, const AldId *id)
{
        const AldNode *node = ald_store_find_node(report->store, id);
        const char *name = node ? ald_report_friendly_name(node) : NULL;
        char string[ALD_ID_STRING_SIZE];

        ald_id_format(id, string);
        if (!name)
                return g_strndup(string, ALD_SHORT_ID_DIGITS);
        if (GPOINTER_TO_UINT(g_hash_table_lookup(report->names, name)) > 1 || ald_id_reads_like(name))
                return g_strdup_printf("%s (%.*s)", name, ALD_SHORT_ID_DIGITS, string);
        return g_strdup(name);
}
