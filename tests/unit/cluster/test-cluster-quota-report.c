/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record.h"
#include "services/cluster/own/membership.h"

#define A "0123456789abcdef0123456789abcdef"
#define B "fedcba9876543210fedcba9876543210"

static const char report[] = "{\"nodes\":[{\"node\":\"" A
                             "\",\"kept_bytes\":33554432,\"kept_topics\":31,\"refused\":369},"
                             "{\"node\":\"nobody\",\"kept_bytes\":1,\"kept_topics\":1,\"refused\":1},"
                             "{\"node\":\"" B "\",\"kept_bytes\":512,\"kept_topics\":1,\"refused\":2}]}";

static void test_read(void)
{
        static const char *const others[] = { "", "{}", "[]", "{\"nodes\":7}", "{\"nodes\":[7]}",
                "{\"nodes\":[{\"node\":\"" A "\",\"kept_bytes\":-1,\"kept_topics\":1,\"refused\":1}]}",
                "{\"nodes\":[{\"node\":\"" A "\"}]}" };
        AldQuotaReportRow found[ALD_QUOTA_REPORT_NODES];

        g_assert_cmpuint(ald_quota_report_read(report, strlen(report), found), ==, 2);
        g_assert_cmpuint(found[0].kept_bytes, ==, 33554432);
        g_assert_cmpuint(found[0].kept_topics, ==, 31);
        g_assert_cmpuint(found[1].refused, ==, 2);
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                g_assert_cmpuint(ald_quota_report_read(others[i], strlen(others[i]), found), ==, 0);
}

/* A broker that reports more nodes than are asked for is not believed beyond. */
static void test_too_many(void)
{
        g_autoptr(GString) text = g_string_new("{\"nodes\":[");
        AldQuotaReportRow found[ALD_QUOTA_REPORT_NODES];

        for (unsigned i = 0; i < 20; i++)
                g_string_append_printf(text,
                        "%s{\"node\":\"%032x\",\"kept_bytes\":1,\"kept_topics\":1,\"refused\":1}",
                        i > 0 ? "," : "", i + 1);
        g_string_append(text, "]}");
        g_assert_cmpuint(ald_quota_report_read(text->str, text->len, found), ==, ALD_QUOTA_REPORT_NODES);
}

static void test_membership(void)
{
        const AldTrustEnds ends = { 1, 2, UINT64_MAX, 4 };
        AldQuotaReportRow found[ALD_QUOTA_REPORT_NODES];
        size_t n = ald_quota_report_read(report, strlen(report), found);
        g_autoptr(AldRecord) record = NULL, none = NULL;
        const AldMembership *fields;
        AldMembershipMade made;

        ald_membership_make("lab", &ends, found, n, &made);
        g_assert_cmpint(ald_record_new(ALD_KIND_MEMBERSHIP, &made.fields, &record), ==, 0);
        fields = ald_record_as(record, MEMBERSHIP, AldMembership);
        g_assert_cmpstr(fields->cluster_name, ==, "lab");
        g_assert_cmpuint(fields->certificate_expiry_usec, ==, 1);
        g_assert_cmpuint(fields->bridge_expiry_usec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(fields->refused_publishers.n, ==, 2);
        g_assert_cmpstr(
                ((const AldRefusedPublisher *) ald_rows_at(&fields->refused_publishers, 0))->id, ==, A);
        /* A machine that has left its cluster says nothing of its files. */
        ald_membership_make("", &ends, found, n, &made);
        g_assert_cmpint(ald_record_new(ALD_KIND_MEMBERSHIP, &made.fields, &none), ==, 0);
        fields = ald_record_as(none, MEMBERSHIP, AldMembership);
        g_assert_null(fields->cluster_name);
        g_assert_cmpuint(fields->certificate_expiry_usec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(fields->refused_publishers.n, ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cluster-quota-report/read", test_read);
        g_test_add_func("/cluster-quota-report/too-many", test_too_many);
        g_test_add_func("/cluster-quota-report/membership", test_membership);
        return g_test_run();
}
