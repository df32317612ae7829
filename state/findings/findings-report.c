/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/findings/findings-report.h"
#include "record/character.h"
#include "record/id.h"
#include "state/findings/findings-words.h"

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

bool ald_report_full(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id,
        const AldId *reporter, const AldId *nodes, size_t n_nodes)
{
        AldFindingShare **share = &report->shares[id][severity];

        if (!*share)
                *share = ald_finding_share_new(&ald_store_local_node(report->store)->id);
        return ald_finding_share_full(*share, reporter, nodes, n_nodes);
}

void ald_report_add(AldReport *report, AldFindingRowSeverity severity, AldFindingRowId id,
        const AldId *reporter, const AldId *nodes, size_t n_nodes, const AldFindingRow *arguments)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        char reporter_id[ALD_ID_STRING_SIZE];

        if (arguments)
                row = *arguments;
        row.id = ald_finding_row_id_to_string(id);
        row.severity = ald_finding_row_severity_to_string(severity);
        row.reporter = reporter ? ald_id_format(reporter, reporter_id) : NULL;
        ald_finding_share_add(report->shares[id][severity], &row, nodes, n_nodes);
}

/* Rows while they are written. */
typedef struct RowWriting {
        AldReport *report;
        GPtrArray *rows;
        size_t bytes; /* of the rows */
} RowWriting;

/* Returns whether a row counts the rest. There are few such rows, and without them findings would be hidden
 * silently. */
static bool counts_rest(const AldFindingRow *row)
{
        return row->left_out != ALD_ABSENT_UINT64 && !row->reporter;
}

/* Writes a row. Returns false if there is no room for it. */
static bool write_row(RowWriting *writing, const AldFindingRow *draft, const AldId *nodes, size_t n_nodes)
{
        g_auto(GStrv) ids = format_ids(nodes, n_nodes), names = names_of(writing->report, nodes, n_nodes);
        g_autofree char *text = NULL, *remedy = NULL;
        AldFindingRow row = *draft;
        size_t bytes;

        if (n_nodes > 0) {
                row.nodes = (const char *const *) ids;
                row.names = (const char *const *) names;
        }
        row.text = text = ald_finding_text(&row) ?: g_strdup(row.id);
        row.remedy = remedy = ald_finding_remedy(&row);
        bytes = ald_struct_wire_size(&ald_finding_row_struct, &row);
        if (writing->bytes + bytes > ALD_FINDINGS_BYTES_MAX && !counts_rest(&row))
                return false;
        writing->bytes += bytes;
        g_ptr_array_add(writing->rows, ald_struct_dup(&ald_finding_row_struct, &row));
        return true;
}

/* Writes a row that counts the findings that are left out, of one reporter or the rest. */
static bool write_left_out(RowWriting *writing, AldFindingRowSeverity severity, AldFindingRowId id,
        uint64_t n, const AldId *reporter)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        char reporter_id[ALD_ID_STRING_SIZE];

        row.id = ald_finding_row_id_to_string(id);
        row.severity = ald_finding_row_severity_to_string(severity);
        row.left_out = n;
        row.reporter = reporter ? ald_id_format(reporter, reporter_id) : NULL;
        return n == 0 || write_row(writing, &row, reporter, reporter != NULL);
}

static void write_all_left_out(RowWriting *writing, AldFindingRowSeverity severity, AldFindingRowId id)
{
        const AldFindingShare *share = writing->report->shares[id][severity];
        g_autoptr(GPtrArray) cut = ald_finding_share_cut(share);
        uint64_t rest = ald_finding_share_rest(share);

        for (guint i = 0; i < cut->len; i++) {
                const AldFindingAccount *account = cut->pdata[i];

                if (!write_left_out(writing, severity, id, account->left_out, &account->id))
                        rest += account->left_out;
        }
        (void) write_left_out(writing, severity, id, rest, NULL);
}

/* A draft and its share. */
typedef struct Candidate {
        AldFindingShare *share;
        const AldFindingDraft *draft;
} Candidate;

static int compare_candidates(gconstpointer a, gconstpointer b)
{
        const AldFindingDraft *left = ((const Candidate *) a)->draft, *right = ((const Candidate *) b)->draft;
        bool left_is_own = left->nearness == ALD_NEARNESS_OWN,
             right_is_own = right->nearness == ALD_NEARNESS_OWN;

        if (left_is_own != right_is_own)
                return right_is_own - left_is_own;
        return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static void collect_candidates(GArray *candidates, AldFindingShare *share)
{
        for (AldNearness nearness = 0; nearness < ALD_NEARNESS_N; nearness++) {
                const GPtrArray *drafts = ald_finding_share_drafts(share, nearness);

                for (guint i = 0; i < drafts->len; i++)
                        g_array_append_val(candidates, ((const Candidate){ share, drafts->pdata[i] }));
        }
}

GPtrArray *ald_report_rows(AldReport *report)
{
        RowWriting writing = { .report = report, .rows = g_ptr_array_new_with_free_func(g_free) };
        g_autoptr(GArray) candidates = g_array_new(FALSE, FALSE, sizeof(Candidate));

        for (AldFindingRowId id = 0; id < ALD_FINDING_ROW_ID_N; id++)
                for (AldFindingRowSeverity severity = 0; severity < ALD_FINDING_ROW_SEVERITY_N; severity++)
                        if (report->shares[id][severity])
                                collect_candidates(candidates, report->shares[id][severity]);
        g_array_sort(candidates, compare_candidates);
        for (guint i = 0; i < candidates->len; i++) {
                const Candidate *one = &g_array_index(candidates, Candidate, i);

                /* The names of very many nodes are made only if there may be room. */
                if (writing.bytes + one->draft->bytes > ALD_FINDINGS_BYTES_MAX ||
                        !write_row(&writing, one->draft->row, one->draft->nodes, one->draft->n_nodes))
                        ald_finding_share_leave_out(one->share, one->draft);
        }
        for (AldFindingRowId id = 0; id < ALD_FINDING_ROW_ID_N; id++)
                for (AldFindingRowSeverity severity = 0; severity < ALD_FINDING_ROW_SEVERITY_N; severity++)
                        if (report->shares[id][severity])
                                write_all_left_out(&writing, severity, id);
        return writing.rows;
}

const char *ald_report_friendly_name(const AldNode *node)
{
        const AldIdentity *identity = ald_node_as(node, IDENTITY, AldIdentity);

        return identity ? identity->friendly_name : NULL;
}

char *ald_report_name(AldReport *report, const AldId *id)
{
        const AldNode *node = ald_store_find_node(report->store, id);
        const char *name = node ? ald_report_friendly_name(node) : NULL;
        char string[ALD_ID_STRING_SIZE];

        ald_id_format(id, string);
        if (!name || !ald_characters_are_visible(name))
                return g_strndup(string, ALD_SHORT_ID_DIGITS);
        if (GPOINTER_TO_UINT(g_hash_table_lookup(report->names, name)) > 1 || ald_id_reads_like(name))
                return g_strdup_printf("%s (%.*s)", name, ALD_SHORT_ID_DIGITS, string);
        return g_strdup(name);
}
