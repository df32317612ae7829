/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/common/link-concerns.h"
#include "record/translate.h"

struct AldLinkConcerns {
        GHashTable *by_pair; /* "A\nB", in the order of their ids → AldFindingRow */
};

static char *key_of(const char *a, const char *b)
{
        return strcmp(a, b) < 0 ? g_strdup_printf("%s\n%s", a, b) : g_strdup_printf("%s\n%s", b, a);
}

static void add_finding(AldLinkConcerns *concerns, const AldFindingRow *row)
{
        g_autofree char *key = NULL;
        const AldFindingRow *before;

        if (!row->id || !g_str_has_prefix(row->id, "link-") || !row->nodes ||
                g_strv_length((GStrv) row->nodes) != 2)
                return;
        key = key_of(row->nodes[0], row->nodes[1]);
        before = g_hash_table_lookup(concerns->by_pair, key);
        if (!before || ald_finding_severity_of(row) < ald_finding_severity_of(before))
                g_hash_table_replace(concerns->by_pair, g_steal_pointer(&key), (gpointer) row);
}

AldLinkConcerns *ald_link_concerns_new(const AldRows *findings)
{
        AldLinkConcerns *concerns = g_new(AldLinkConcerns, 1);

        concerns->by_pair = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (size_t i = 0; findings && i < findings->n; i++)
                add_finding(concerns, ald_rows_at(findings, i));
        return concerns;
}

void ald_link_concerns_free(AldLinkConcerns *concerns)
{
        if (!concerns)
                return;
        g_hash_table_unref(concerns->by_pair);
        g_free(concerns);
}

const AldFindingRow *ald_link_concerns_find(const AldLinkConcerns *concerns, const char *a, const char *b)
{
        g_autofree char *key = key_of(a, b);

        return g_hash_table_lookup(concerns->by_pair, key);
}

AldFindingRowSeverity ald_link_concerns_severity(
        const AldLinkConcerns *concerns, const char *a, const char *b, bool asymmetric)
{
        const AldFindingRow *row = ald_link_concerns_find(concerns, a, b);

        if (row)
                return ald_finding_severity_of(row);
        return asymmetric ? ALD_FINDING_ROW_SEVERITY_NOTICE : ALD_FINDING_ROW_SEVERITY_N;
}

char *ald_link_concerns_words(const AldLinkConcerns *concerns, const char *a, const char *b, bool asymmetric)
{
        const AldFindingRow *row = ald_link_concerns_find(concerns, a, b);
        g_autofree char *words = row ? ald_finding_words(row) : NULL;

        if (words)
                return g_steal_pointer(&words);
        return asymmetric ? g_strdup(_("asymmetric")) : NULL;
}
