/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

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

static void row_free(gpointer row)
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

static void add_row(AldReport *report, const AldFindingRow *row)
{
        AldFindingRow *copy = row_copy(row);

        copy->text = ald_finding_text(copy) ?: g_strdup(copy->id);
        copy->remedy = ald_finding_remedy(copy);
        g_ptr_array_add(report->findings, copy);
}

void ald_report_add(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id, const AldId *nodes,
        size_t n_nodes, const AldFindingRow *arguments)
{
        g_auto(GStrv) ids = format_ids(nodes, n_nodes), names = names_of(report, nodes, n_nodes);
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (arguments)
                row = *arguments;
        row.id = ald_finding_row_id_to_string(id);
        row.severity = ald_finding_row_severity_to_string(severity);
        row.nodes = (const char *const *) ids;
        row.names = (const char *const *) names;
        add_row(report, &row);
}

bool ald_report_full(AldReport *report, AldFindingRowId id)
{
        return ++report->counts[id] > ALD_FINDINGS_PER_ID;
}

static void count_left_out(AldReport *report)
{
        for (AldFindingRowId id = 0; id < ALD_FINDING_ROW_ID_N; id++) {
                AldFindingRow row = ALD_FINDING_ROW_INIT;

                if (report->counts[id] <= ALD_FINDINGS_PER_ID)
                        continue;
                row.id = ald_finding_row_id_to_string(id);
                row.severity = ald_finding_row_severity_to_string(ALD_FINDING_ROW_SEVERITY_NOTICE);
                row.left_out = report->counts[id] - ALD_FINDINGS_PER_ID;
                add_row(report, &row);
        }
}

static const char *friendly_name(const AldNode *node)
{
        const AldIdentity *identity = ald_record_as(
                ald_node_record(node, ALD_KIND_IDENTITY), IDENTITY, AldIdentity);

        return identity ? identity->friendly_name : NULL;
}

char *ald_report_name(AldReport *report, const AldId *id)
{
        const AldNode *node = ald_store_find_node(report->store, id);
        const char *name = node ? friendly_name(node) : NULL;
        char string[ALD_ID_STRING_SIZE];

        ald_id_format(id, string);
        if (!name)
                return g_strndup(string, ALD_SHORT_ID_DIGITS);
        if (GPOINTER_TO_UINT(g_hash_table_lookup(report->names, name)) > 1)
                return g_strdup_printf("%s (%.*s)", name, ALD_SHORT_ID_DIGITS, string);
        return g_strdup(name);
}

static gboolean count_name(AldNode *node, void *userdata)
{
        GHashTable *names = userdata;
        const char *name = friendly_name(node);

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

static int compare_rows(gconstpointer a, gconstpointer b)
{
        const AldFindingRow *left = *(const AldFindingRow *const *) a,
                            *right = *(const AldFindingRow *const *) b;
        int r = ald_finding_row_severity_from_string(left->severity) -
                ald_finding_row_severity_from_string(right->severity);

        if (r == 0)
                r = strcmp(left->id, right->id);
        if (r == 0)
                r = g_strcmp0(first_node(left), first_node(right));
        return r != 0 ? r : strcmp(left->text, right->text);
}

void ald_report_begin(AldReport *report, AldStore *store, uint64_t now_realtime, bool clock_is_set)
{
        *report = (AldReport){
                .store = store,
                .now_realtime = now_realtime,
                .clock_is_set = clock_is_set,
                .findings = g_ptr_array_new_with_free_func(row_free),
                .names = g_hash_table_new(g_str_hash, g_str_equal),
                .uneven = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        };
        ald_store_foreach_node(store, count_name, report->names);
}

GPtrArray *ald_report_end(AldReport *report)
{
        count_left_out(report);
        g_ptr_array_sort(report->findings, compare_rows);
        g_hash_table_unref(report->names);
        g_hash_table_unref(report->uneven);
        return report->findings;
}
