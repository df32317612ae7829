/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "tests/unit/findings-check.h"
#include "tests/unit/state-maker.h"

/* What a member publishes hides neither what this node sees itself nor what others report. */

#define LOCAL 500u
#define LIAR 1u
#define NEARLY "'TotalBytes': 1000, 'AvailableBytes': 20"

static void put(AldStore *store, unsigned node, AldKind kind, const char *text)
{
        state_put(store, node, kind, text);
        state_put_online(store, node);
}

static void put_full_disks(AldStore *store, unsigned node, unsigned n)
{
        g_autoptr(GString) text = g_string_new("{'Paths': [");

        for (unsigned i = 0; i < n; i++)
                g_string_append_printf(text, "%s{'Id': '/%u', " NEARLY "}", i > 0 ? ", " : "", i);
        g_string_append(text, "]}");
        put(store, node, ALD_KIND_DISK, text->str);
}

/* The number of rows of the reporter, but for those with LeftOut; what these count is added to *left_out. */
static guint count_of(const GPtrArray *findings, const char *id, unsigned reporter, uint64_t *left_out)
{
        g_autofree char *node = reporter ? state_id(reporter) : NULL;
        guint n = 0;

        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *row = findings->pdata[i];

                if (g_strcmp0(row->id, id) != 0 || g_strcmp0(row->reporter, node) != 0)
                        continue;
                if (row->left_out == ALD_ABSENT_UINT64)
                        n++;
                else if (left_out)
                        *left_out += row->left_out;
        }
        return n;
}

/* A member has many full disks, and comes first. */
static void test_others_stay(void)
{
        g_autoptr(AldStore) store = state_make_of(LOCAL, 1);
        g_autoptr(GPtrArray) findings = NULL;
        uint64_t left_out = 0;

        put_full_disks(store, LIAR, 3 * ALD_FINDINGS_PER_ID);
        for (unsigned node = 2; node < 12; node++)
                put_full_disks(store, node, 3);
        put_full_disks(store, LOCAL, 2);
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(count_of(findings, "disk-nearly-full", LOCAL, NULL), ==, 2);
        for (unsigned node = 2; node < 12; node++)
                g_assert_cmpuint(count_of(findings, "disk-nearly-full", node, &left_out), ==, 3);
        g_assert_cmpuint(left_out, ==, 0);
        g_assert_cmpuint(
                count_of(findings, "disk-nearly-full", LIAR, &left_out), ==, ALD_FINDINGS_PER_ID - 30);
        g_assert_cmpuint(left_out, ==, 2 * ALD_FINDINGS_PER_ID + 30);
        findings_check_words(findings);
}

/* Two members with too many have equal shares, and a row each says how much is missing. */
static void test_equal_shares(void)
{
        g_autoptr(AldStore) store = state_make_of(LOCAL, 1);
        g_autoptr(GPtrArray) findings = NULL;
        const AldFindingRow *first;
        uint64_t left_out = 0;

        put_full_disks(store, LIAR, 150);
        put_full_disks(store, 2, 120);
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(findings->len, ==, ALD_FINDINGS_PER_ID + 2);
        g_assert_cmpuint(count_of(findings, "disk-nearly-full", LIAR, &left_out), ==, 50);
        g_assert_cmpuint(left_out, ==, 100);
        g_assert_cmpuint(count_of(findings, "disk-nearly-full", 2, &left_out), ==, 50);
        g_assert_cmpuint(left_out, ==, 170);
        first = findings->pdata[ALD_FINDINGS_PER_ID];
        g_assert_cmpstr(
                first->text, ==, "100 more disk-nearly-full findings that 00000001 reports are left out.");
        g_assert_cmpstr(first->nodes[0], ==, first->reporter);
        g_assert_null(first->remedy);
}

/* One row counts those of all reporters of which there is none. */
static void test_rest(void)
{
        g_autoptr(AldStore) store = state_make_of(LOCAL, 1);
        g_autoptr(GPtrArray) findings = NULL;
        const AldFindingRow *last;

        for (unsigned node = 1; node <= ALD_FINDINGS_PER_ID + 20; node++)
                put_full_disks(store, node, 2);
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(findings->len, ==, 2 * ALD_FINDINGS_PER_ID + 1);
        for (unsigned node = 1; node <= ALD_FINDINGS_PER_ID; node++) {
                uint64_t left_out = 0;

                g_assert_cmpuint(count_of(findings, "disk-nearly-full", node, &left_out), ==, 1);
                g_assert_cmpuint(left_out, ==, 1);
        }
        last = findings->pdata[findings->len - 1];
        g_assert_null(last->reporter);
        g_assert_null(last->nodes);
        g_assert_cmpuint(last->left_out, ==, 40);
        findings_check_words(findings);
}

/* A member that its broker refuses accuses others of the same, so that the row with its own key is lost. */
static void test_refused_publisher(void)
{
        g_autoptr(AldStore) store = state_make_of(LOCAL, 1);
        g_autoptr(GString) text = g_string_new("{'RefusedPublishers': [");
        g_autoptr(GPtrArray) findings = NULL;
        g_autofree char *liar = state_id(LIAR), *honest = NULL;
        guint n_named = 0;

        for (unsigned i = 0; i < 2 * ALD_FINDINGS_PER_ID; i++) {
                g_autofree char *other = state_id(100 + i);

                g_string_append_printf(text, "%s{'Id': '%s', 'KeptBytes': 1, 'RefusedMessages': 1}",
                        i > 0 ? ", " : "", other);
        }
        g_string_append(text, "]}");
        honest = g_strdup_printf(
                "{'RefusedPublishers': [{'Id': '%s', 'KeptBytes': 1, 'RefusedMessages': 9}]}", liar);
        put(store, LIAR, ALD_KIND_MEMBERSHIP, text->str);
        put(store, 2, ALD_KIND_MEMBERSHIP, honest);
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *row = findings->pdata[i];

                n_named += g_strcmp0(row->id, "broker-refuses-node") == 0 &&
                           row->left_out == ALD_ABSENT_UINT64 && g_str_equal(row->nodes[0], liar);
        }
        g_assert_cmpuint(n_named, ==, 1);
}

/* Failing links to this node, as others claim, take no place of those that it measures. */
static void test_links_about_this_node(void)
{
        static const char failing[] = "{'FailedUSec': 6, 'Failure': 'no answer'}";
        g_autoptr(AldStore) store = state_make_of(LOCAL, 1);
        g_autoptr(GPtrArray) findings = NULL;

        state_put_online(store, LOCAL);
        state_put_online(store, LIAR);
        state_put_online(store, LOCAL - 1);
        for (unsigned i = 0; i < 2 * ALD_FINDINGS_PER_ID; i++)
                state_put_link(store, ALD_KIND_LINK_SOCKET, LIAR, LOCAL, i, failing);
        state_put_link(store, ALD_KIND_LINK_SOCKET, LOCAL - 1, LOCAL, 1, failing);
        for (unsigned i = 0; i < 5; i++)
                state_put_link(store, ALD_KIND_LINK_SOCKET, LOCAL, LIAR, i, failing);
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        g_assert_cmpuint(count_of(findings, "link-probe-failing", LOCAL, NULL), ==, 5);
        g_assert_cmpuint(count_of(findings, "link-probe-failing", LOCAL - 1, NULL), ==, 1);
        g_assert_cmpuint(count_of(findings, "link-probe-failing", LIAR, NULL), ==, ALD_FINDINGS_PER_ID - 1);
}

/* A member claims the hardware of many others. That another pair claims the same is not lost. */
static void test_claims_of_several(void)
{
        static const char format[] = "%s{'Id': 'mlx5_%u.1', 'NodeGuid': '0002:c903:0000:%04x'}";
        g_autoptr(AldStore) store = state_make_of(LOCAL, 1);
        g_autoptr(GString) claims = g_string_new("{'RdmaPorts': [");
        g_autoptr(GPtrArray) findings = NULL;
        g_autofree char *last = state_id(403);
        guint n_last = 0;

        for (unsigned i = 1; i <= 2 * ALD_FINDINGS_PER_ID; i++) {
                g_autoptr(GString) text = g_string_new("{'RdmaPorts': [");

                g_string_append_printf(text, format, "", 0u, i);
                g_string_append(text, "]}");
                put(store, 100 + i, ALD_KIND_FABRIC, text->str);
                g_string_append_printf(claims, format, i > 1 ? ", " : "", i, i);
        }
        g_string_append(claims, "]}");
        put(store, 400, ALD_KIND_FABRIC, claims->str);
        for (unsigned node = 402; node <= 403; node++)
                put(store, node, ALD_KIND_FABRIC,
                        "{'RdmaPorts': [{'Id': 'mlx5_0.1', 'NodeGuid': '0002:c903:0000:f000'}]}");
        findings = ald_findings_compute(store, FINDINGS_CONTEXT);
        for (guint i = 0; i < findings->len; i++) {
                const AldFindingRow *row = findings->pdata[i];

                n_last += row->nodes && g_strv_contains(row->nodes, last);
        }
        g_assert_cmpuint(n_last, ==, 1);
        g_assert_cmpuint(findings_count(findings, "hardware-claimed-twice"), ==, ALD_FINDINGS_PER_ID + 1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/findings-share/others-stay", test_others_stay);
        g_test_add_func("/findings-share/equal-shares", test_equal_shares);
        g_test_add_func("/findings-share/rest", test_rest);
        g_test_add_func("/findings-share/refused-publisher", test_refused_publisher);
        g_test_add_func("/findings-share/links-about-this-node", test_links_about_this_node);
        g_test_add_func("/findings-share/claims-of-several", test_claims_of_several);
        return g_test_run();
}
