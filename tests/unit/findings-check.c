/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/findings-check.h"
#include "tests/unit/state-maker.h"

const AldFinding *findings_find(GPtrArray *findings, const char *id, guint nth)
{
        for (guint i = 0; i < findings->len; i++) {
                const AldFinding *finding = findings->pdata[i];

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
        g_autoptr(GPtrArray) findings = ald_findings_compute(store, FINDINGS_NOW, true);

        return findings_count(findings, id);
}

void findings_check(AldStore *store, const char *id, AldSeverity severity, const unsigned *nodes,
        const char *text, const char *remedy)
{
        g_autoptr(GPtrArray) findings = ald_findings_compute(store, FINDINGS_NOW, true);
        const AldFinding *finding = findings_find(findings, id, 0);
        guint n = 0;

        g_assert_cmpuint(findings_count(findings, id), ==, 1);
        g_assert_cmpstr(finding->text, ==, text);
        g_assert_cmpstr(finding->remedy, ==, remedy);
        g_assert_cmpint(finding->severity, ==, severity);
        for (; nodes[n] != 0; n++) {
                g_autofree char *node = state_id(nodes[n]);

                g_assert_cmpstr(finding->nodes[n], ==, node);
        }
        g_assert_null(finding->nodes[n]);
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
