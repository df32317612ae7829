/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/findings-check.h"
#include "common/bus-cleanup.h"
#include "record/record-bus.h"
#include "state/findings/findings-words.h"
#include "tests/unit/bus-pair.h"
#include "tests/unit/state-maker.h"

#define ROWS_MAX (1024u * 1024) /* bytes */

const AldFindingRow *findings_find(GPtrArray *findings, const char *id, guint nth)
{
        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *finding = findings->pdata[i];

                if (g_str_equal(finding->id, id) && nth-- == 0)
                        return finding;
        }
        return NULL;
}

guint findings_count(GPtrArray *findings, const char *id)
{
        guint n = 0;

        while (findings_find(findings, id, n))
                n++;
        return n;
}

guint findings_count_now(AldStore *store, const char *id)
{
        g_autoptr(GPtrArray) findings = ald_findings_compute(store, FINDINGS_CONTEXT);

        return findings_count(findings, id);
}

void findings_check(AldStore *store, const char *id, AldFindingRowSeverity severity, const unsigned *nodes,
        const char *text, const char *remedy)
{
        g_autoptr(GPtrArray) findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        const AldFindingRow *finding = findings_find(findings, id, 0);
        guint n = 0;

        g_assert_cmpuint(findings_count(findings, id), ==, 1);
        g_assert_cmpstr(finding->text, ==, text);
        g_assert_cmpstr(finding->remedy, ==, remedy);
        g_assert_cmpstr(finding->severity, ==, ald_finding_row_severity_to_string(severity));
        findings_check_words(findings);
        for (; nodes[n] != 0; n++) {
                g_autofree char *node = state_id(nodes[n]);

                g_assert_cmpstr(finding->nodes[n], ==, node);
        }
        g_assert_null(finding->nodes[n]);
        g_assert_cmpuint(g_strv_length((char **) finding->names), ==, n);
}

void findings_check_words(GPtrArray *findings)
{
        g_autoptr(BusPair) pair = bus_pair_new();
        g_autoptr(AldMessage) message = bus_pair_message_new(pair);
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldRows rows;

        g_assert_cmpint(sd_bus_message_open_container(message, 'a', "a{sv}"), >=, 0);
        for (guint i = 0; i < findings->len; i++)
                g_assert_cmpint(
                        ald_record_bus_append_struct(message, &ald_finding_row_struct, findings->pdata[i]),
                        >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(message), >=, 0);
        bus_pair_seal(message);
        g_assert_cmpint(
                ald_record_bus_read_rows(message, &ald_finding_row_struct, ROWS_MAX, owned, &rows), >=, 0);
        g_assert_cmpuint(rows.n, ==, findings->len);
        for (size_t i = 0; i < rows.n; i++) {
                const AldFindingRow *row = ald_rows_at(&rows, i);
                g_autofree char *text = ald_finding_text(row), *remedy = ald_finding_remedy(row);

                g_assert_cmpstr(text, ==, row->text);
                g_assert_cmpstr(remedy, ==, row->remedy);
        }
}

void findings_name_node(AldStore *store, unsigned node, const char *name)
{
        g_autofree char *text = g_strdup_printf("{'FriendlyName': '%s'}", name);

        state_put(store, node, ALD_KIND_IDENTITY, text);
        state_put_online(store, node);
}

AldStore *findings_named_store(void)
{
        AldStore *store = state_make();

        findings_name_node(store, 1, "one");
        findings_name_node(store, 2, "two");
        findings_name_node(store, 3, "three");
        return store;
}
