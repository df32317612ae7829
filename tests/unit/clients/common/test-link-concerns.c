/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "clients/common/link-concerns.h"

static const char *const ab[] = { "a", "b", NULL }, *const ba[] = { "b", "a", NULL },
                         *const ac[] = { "a", "c", NULL }, *const one[] = { "a", NULL };

static AldFindingRow finding(const char *id, const char *severity, const char *const *nodes)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        row.id = id;
        row.severity = severity;
        row.nodes = nodes;
        row.text = severity;
        return row;
}

/* The gravest counts, in whichever order the nodes are named; other findings do not. */
static void test_gravest(void)
{
        const AldFindingRow rows[] = {
                finding("link-odd", "notice", ab),
                finding("link-odd", "warning", ba),
                finding("link-odd", "notice", ab),
                finding("link-odd", "future", ac),
                finding("link-odd", "error", one),
                finding("disk-odd", "error", ab),
        };
        const AldRows findings = { &ald_finding_row_struct, rows, G_N_ELEMENTS(rows) };
        g_autoptr(AldLinkConcerns) concerns = ald_link_concerns_new(&findings);
        g_autofree char *words = ald_link_concerns_words(concerns, "a", "b", false);

        g_assert_true(ald_link_concerns_find(concerns, "b", "a") == &rows[1]);
        g_assert_cmpstr(words, ==, "warning");
        g_assert_cmpint(
                ald_link_concerns_severity(concerns, "a", "b", true), ==, ALD_FINDING_ROW_SEVERITY_WARNING);
        g_assert_cmpint(
                ald_link_concerns_severity(concerns, "c", "a", false), ==, ALD_FINDING_ROW_SEVERITY_NOTICE);
}

/* Asymmetry without a finding is a notice, as the finding will be: neither good nor a warning. */
static void test_asymmetric(void)
{
        g_autoptr(AldLinkConcerns) concerns = ald_link_concerns_new(NULL);
        g_autofree char *words = ald_link_concerns_words(concerns, "a", "b", true);

        g_assert_cmpstr(words, ==, "asymmetric");
        g_assert_null(ald_link_concerns_words(concerns, "a", "b", false));
        g_assert_cmpint(
                ald_link_concerns_severity(concerns, "a", "b", true), ==, ALD_FINDING_ROW_SEVERITY_NOTICE);
        g_assert_cmpint(
                ald_link_concerns_severity(concerns, "a", "b", false), ==, ALD_FINDING_ROW_SEVERITY_N);
        g_assert_cmpint(ald_severity_tone(ALD_FINDING_ROW_SEVERITY_NOTICE), ==, ALD_TONE_PLAIN);
        g_assert_cmpint(ald_severity_tone(ALD_FINDING_ROW_SEVERITY_WARNING), ==, ALD_TONE_WARNING);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-concerns/gravest", test_gravest);
        g_test_add_func("/link-concerns/asymmetric", test_asymmetric);
        return g_test_run();
}
