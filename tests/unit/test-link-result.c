/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/link-result.h"
#include "tests/unit/record-maker.h"

#define ID "00000000000000000000000000000002"

static const AldLinkSocket path = { .source = "00000000000000000000000000000001",
        .sink = ID,
        .sink_address = "192.0.2.2",
        .source_interface = "eth0" };

static AldRecord *make(uint64_t measured, uint64_t rate, const char *failure, uint64_t failed)
{
        AldLinkSocket row = ALD_LINK_SOCKET_INIT;

        row.source = path.source;
        row.sink = path.sink;
        row.sink_address = path.sink_address;
        row.source_interface = path.source_interface;
        row.measured_usec = measured;
        row.upload_bits_per_second = rate;
        row.failure = failure;
        row.failed_usec = failed;
        return record_make(ALD_KIND_LINK_SOCKET, &row);
}

static AldRecord *success(uint64_t measured, uint64_t rate)
{
        return make(measured, rate, NULL, ALD_ABSENT_UINT64);
}

static AldRecord *failure(uint64_t failed)
{
        return make(ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, "refused", failed);
}

/* Takes both references of what is merged. */
static AldRecord *merge(AldRecord *before, AldRecord *told)
{
        AldRecord *merged = ald_link_result_merge(before, told);

        g_clear_pointer(&before, ald_record_unref);
        ald_record_unref(told);
        return merged;
}

static void check(
        const AldRecord *record, uint64_t measured, uint64_t rate, uint64_t failed, uint64_t failures)
{
        const AldLinkSocket *row = ald_record_as(record, LINK_SOCKET, AldLinkSocket);

        g_assert_cmpuint(row->measured_usec, ==, measured);
        g_assert_cmpuint(row->upload_bits_per_second, ==, rate);
        g_assert_cmpuint(row->failed_usec, ==, failed);
        g_assert_cmpuint(row->failures, ==, failures);
        g_assert_cmpstr(row->failure, ==, failed == ALD_ABSENT_UINT64 ? NULL : "refused");
        g_assert_cmpstr(row->source_interface, ==, "eth0");
}

static void test_a_failure_keeps_the_figures(void)
{
        AldRecord *row = merge(NULL, success(100, 10));

        check(row, 100, 10, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        row = merge(row, failure(200));
        check(row, 100, 10, 200, 1);
        row = merge(row, failure(300));
        check(row, 100, 10, 300, 2);
        row = merge(row, success(400, 20));
        check(row, 400, 20, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        row = merge(row, failure(500));
        check(row, 400, 20, 500, 1);
        ald_record_unref(row);
}

static void test_never_measured(void)
{
        AldRecord *row = merge(NULL, failure(200));

        check(row, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, 200, 1);
        row = merge(row, failure(300));
        check(row, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64, 300, 2);
        ald_record_unref(row);
}

static void test_told_again(void)
{
        AldRecord *row = merge(merge(NULL, success(100, 10)), failure(200));

        for (unsigned i = 0; i < 3; i++) {
                row = merge(row, failure(200));
                check(row, 100, 10, 200, 1);
        }
        ald_record_unref(row);
}

/* Who keeps the figures itself and shows the failure beside them says the same. */
static void test_told_whole(void)
{
        AldRecord *row = merge(NULL, success(100, 10));

        row = merge(row, make(100, 10, "refused", 200));
        check(row, 100, 10, 200, 1);
        row = merge(row, make(100, 10, "refused", 300));
        check(row, 100, 10, 300, 2);
        /* A success that was not seen by itself. */
        row = merge(row, make(350, 30, "refused", 400));
        check(row, 350, 30, 400, 1);
        ald_record_unref(row);
}

static void check_key(const char *sink, const char *address, const char *expected)
{
        AldLinkSocket row = ALD_LINK_SOCKET_INIT;
        g_autoptr(AldRecord) record = NULL;
        g_autofree char *key = NULL;

        row.sink = sink;
        row.sink_address = address;
        record = record_make(ALD_KIND_LINK_SOCKET, &row);
        key = ald_link_result_key(record);
        g_assert_cmpstr(key, ==, expected);
}

static void test_keys(void)
{
        check_key(ID, "192.0.2.2", ID ",192.0.2.2");
        check_key(ID, "fe80::2", ID ",fe80::2");
        check_key(ID, "fe80::2%eth0", NULL);
        check_key(ID, "FE80::2", NULL);
        check_key(ID, NULL, NULL);
        check_key(NULL, "192.0.2.2", NULL);
        check_key("2", "192.0.2.2", NULL);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-result/failure", test_a_failure_keeps_the_figures);
        g_test_add_func("/link-result/never-measured", test_never_measured);
        g_test_add_func("/link-result/again", test_told_again);
        g_test_add_func("/link-result/whole", test_told_whole);
        g_test_add_func("/link-result/keys", test_keys);
        return g_test_run();
}
