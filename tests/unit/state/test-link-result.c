/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/link/link-quality.h"
#include "state/link/path-due.h"
#include "state/link/probe-bytes.h"
#include "state/results/link-result.h"
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
        row.upload.bits_per_second = rate;
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
        AldRecord *merged = ald_link_result_merge(before, told, &ALD_TTL_BOUNDS_NONE);

        g_clear_pointer(&before, ald_record_unref);
        ald_record_unref(told);
        return merged;
}

static void check(
        const AldRecord *record, uint64_t measured, uint64_t rate, uint64_t failed, uint64_t failures)
{
        const AldLinkSocket *row = ald_record_as(record, LINK_SOCKET, AldLinkSocket);

        g_assert_cmpuint(row->measured_usec, ==, measured);
        g_assert_cmpuint(row->upload.bits_per_second, ==, rate);
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
        row = merge(row, success(300, 20));
        for (unsigned i = 0; i < 3; i++) {
                row = merge(row, success(300, 20));
                check(row, 300, 20, ALD_ABSENT_UINT64, ALD_ABSENT_UINT64);
        }
        ald_record_unref(row);
}

/* A row by what matters to checks; the rates are the same both ways. */
typedef struct Row {
        uint64_t measured, rtt_measured, rate, spot, rtt, speed;
        const char *changed, *interface, *sink_interface;
        double spread, width; /* of the interval */
        bool disturbed, suspect;
} Row;

static AldRecord *make_row(const Row *row)
{
        const char *const flags[] = { row->disturbed ? "disturbed" : "suspect", NULL };
        AldLinkSocket fields = ALD_LINK_SOCKET_INIT;

        fields.source = path.source;
        fields.sink = path.sink;
        fields.sink_address = path.sink_address;
        fields.source_interface = row->interface ?: path.source_interface;
        fields.sink_interface = row->sink_interface;
        fields.measured_usec = row->measured ?: ALD_ABSENT_UINT64;
        fields.rtt_measured_usec = row->rtt_measured ?: ALD_ABSENT_UINT64;
        fields.upload.bits_per_second = fields.download.bits_per_second = row->rate ?: ALD_ABSENT_UINT64;
        fields.upload.spot_bits_per_second = fields.download.spot_bits_per_second =
                row->spot ?: ALD_ABSENT_UINT64;
        fields.rtt_p50_nsec = row->rtt ?: ALD_ABSENT_UINT64;
        fields.negotiated_bits_per_second = row->speed ?: ALD_ABSENT_UINT64;
        fields.changed = row->changed;
        if (row->width > 0)
                fields.upload.interval = fields.download.interval = row->width;
        if (row->spread > 0)
                fields.upload.spread = fields.download.spread = row->spread;
        fields.flags = row->disturbed || row->suspect ? flags : NULL;
        return record_make(ALD_KIND_LINK_SOCKET, &fields);
}

static AldRecord *merge_row(AldRecord *before, Row row)
{
        return merge(before, make_row(&row));
}

static const AldLinkSocket *fields_of(const AldRecord *record)
{
        return ald_record_as(record, LINK_SOCKET, AldLinkSocket);
}

static uint64_t interval_of(const AldRecord *record)
{
        const AldLinkSocket *row = fields_of(record);
        AldId source, sink;

        g_assert_cmpint(ald_id_parse(row->source, &source), ==, 0);
        g_assert_cmpint(ald_id_parse(row->sink, &sink), ==, 0);
        return ald_link_ttl_interval(
                row->time_to_live_usec, ald_path_seed(&source, &sink, row->sink_address), row->measured_usec);
}

static void check_interval(const AldRecord *record, double minutes)
{
        uint64_t ttl = fields_of(record)->time_to_live_usec;

        g_assert_cmpfloat_with_epsilon((double) interval_of(record) / 60e6, minutes, 0.01);
        g_assert_cmpfloat((double) ttl, >=, minutes * 60e6 * 0.8 - 1);
        g_assert_cmpfloat((double) ttl, <=, minutes * 60e6 * 1.2 + 1);
}

/* The interval doubles while the figures agree, up to 6 h, and falls back where they do not. */
static void test_interval_doubles(void)
{
        static const double minutes[] = { 5, 10, 20, 40, 80, 160, 320, 360, 360 };
        AldRecord *row = NULL;

        for (unsigned i = 0; i < G_N_ELEMENTS(minutes); i++) {
                row = merge_row(row, (Row){ .measured = 1000 + i, .rate = i % 2 ? 980 : 1000, .rtt = 500 });
                check_interval(row, minutes[i]);
                g_assert_cmpuint(fields_of(row)->rtt_measured_usec, ==, 1000 + i);
                g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, 1000 + i);
        }
        row = merge_row(row, (Row){ .measured = 2000, .rate = 1100 });
        check_interval(row, 5);
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1100);
        ald_record_unref(row);
}

static void test_bounds(void)
{
        const AldTtlBounds bounds = { 3600 * UINT64_C(1000000), 3600 * UINT64_C(1000000) };
        const Row whole = { .measured = 1000, .rate = 1000 }, check = { .rtt_measured = 2000, .rtt = 5 };
        g_autoptr(AldRecord) told = make_row(&whole), checked = make_row(&check);
        g_autoptr(AldRecord) row = ald_link_result_merge(NULL, told, &bounds);
        g_autoptr(AldRecord) before = ald_link_result_merge(NULL, told, &ALD_TTL_BOUNDS_NONE), after = NULL;

        check_interval(row, 60);
        /* A plan that has filled meanwhile shows with the next check. */
        check_interval(before, 5);
        after = ald_link_result_merge(before, checked, &bounds);
        check_interval(after, 60);
}

/* A check has its own fields and none else. */
static void test_check_confirms(void)
{
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000, .spot = 900, .rtt = 200000 });

        row = merge_row(row, (Row){ .rtt_measured = 200, .spot = 800, .rtt = 210000 });
        g_assert_cmpuint(fields_of(row)->measured_usec, ==, 100);
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1000);
        g_assert_cmpuint(fields_of(row)->upload.spot_bits_per_second, ==, 900);
        g_assert_cmpuint(fields_of(row)->rtt_p50_nsec, ==, 210000);
        g_assert_cmpuint(fields_of(row)->rtt_measured_usec, ==, 200);
        g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, 200);
        g_assert_null(fields_of(row)->changed);
        /* Round trips alone confirm no rate. */
        row = merge_row(row, (Row){ .rtt_measured = 300, .rtt = 205000 });
        g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, 200);
        g_assert_cmpuint(fields_of(row)->rtt_measured_usec, ==, 300);
        ald_record_unref(row);
        /* Of a path that was never measured they are all there is. */
        row = merge_row(NULL, (Row){ .rtt_measured = 300, .rtt = 205000 });
        g_assert_cmpuint(fields_of(row)->rtt_p50_nsec, ==, 205000);
        g_assert_cmpuint(fields_of(row)->measured_usec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpstr(fields_of(row)->source_interface, ==, "eth0");
        ald_record_unref(row);
}

/* Two checks in a row decide what one may have by accident; a port or its counters are certain. */
static void test_checks_find_a_change(void)
{
        static const struct {
                Row check;
                const char *changed;
                bool certain;
        } cases[] = {
                { { .spot = 700, .rtt = 200000, .speed = 1000 }, "rate", false },
                { { .spot = 1200, .rtt = 200000, .speed = 1000 }, "rate", false },
                { { .spot = 900, .rtt = 460000, .speed = 1000 }, "rtt", false },
                { { .spot = 90, .rtt = 200000, .speed = 100 }, "speed", true },
                { { .spot = 900, .rtt = 200000, .speed = 1000, .changed = "errors" }, "errors", true },
                { { .spot = 750, .rtt = 440000, .speed = 1000 }, NULL, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Row check = cases[i].check;
                AldRecord *row = merge_row(NULL,
                        (Row){ .measured = 100, .rate = 1000, .spot = 900, .rtt = 200000, .speed = 1000 });

                /* A repeated report is not another check. */
                check.rtt_measured = 200;
                for (unsigned again = 0; again < 2; again++) {
                        row = merge_row(row, check);
                        g_assert_cmpstr(
                                fields_of(row)->changed, ==, cases[i].certain ? cases[i].changed : NULL);
                        g_assert_cmpuint(fields_of(row)->contradicted_usec, ==,
                                cases[i].changed && !cases[i].certain ? 200 : ALD_ABSENT_UINT64);
                        g_assert_cmpuint(fields_of(row)->rtt_measured_usec, ==, 200);
                }
                check.rtt_measured = 210;
                row = merge_row(row, check);
                g_assert_cmpstr(fields_of(row)->changed, ==, cases[i].changed);
                g_assert_cmpuint(fields_of(row)->changed_usec, ==,
                        !cases[i].changed  ? ALD_ABSENT_UINT64
                        : cases[i].certain ? 200
                                           : 210);
                g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, ALD_ABSENT_UINT64);
                g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, cases[i].changed ? 100 : 210);
                g_assert_cmpuint(fields_of(row)->rtt_p50_nsec, ==, check.rtt);
                g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1000);
                g_assert_cmpuint(fields_of(row)->upload.last_spot_bits_per_second, ==, check.spot);
                g_assert_cmpuint(fields_of(row)->last_spot_usec, ==, 210);
                /* One check that agrees may be an accident, too. */
                row = merge_row(
                        row, (Row){ .rtt_measured = 300, .spot = 900, .rtt = check.rtt, .speed = 1000 });
                g_assert_cmpstr(fields_of(row)->changed, ==, cases[i].changed);
                row = merge_row(row, (Row){ .measured = 400, .rate = 1000, .speed = 1000 });
                g_assert_null(fields_of(row)->changed);
                g_assert_cmpuint(fields_of(row)->changed_usec, ==, ALD_ABSENT_UINT64);
                g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, ALD_ABSENT_UINT64);
                check_interval(row, cases[i].changed ? 5 : 10);
                ald_record_unref(row);
        }
}

/* A check of an unchanged link that differs, as on a busy machine, changes nothing that people see. */
static void test_an_accident_is_no_change(void)
{
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000, .spot = 900, .rtt = 200000 });

        row = merge_row(row, (Row){ .rtt_measured = 200, .spot = 400, .rtt = 210000 });
        row = merge_row(row, (Row){ .rtt_measured = 210, .spot = 890, .rtt = 210000 });
        g_assert_null(fields_of(row)->changed);
        g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, 210);
        /* The next accident is the first one again. */
        row = merge_row(row, (Row){ .rtt_measured = 500, .spot = 890, .rtt = 900000 });
        g_assert_null(fields_of(row)->changed);
        g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, 500);
        g_assert_cmpuint(fields_of(row)->rtt_p50_nsec, ==, 210000);
        row = merge_row(row, (Row){ .rtt_measured = 510, .spot = 890, .rtt = 220000 });
        g_assert_null(fields_of(row)->changed);
        g_assert_cmpuint(fields_of(row)->rtt_p50_nsec, ==, 220000);
        /* A check without a rate decides nothing, and an old contradiction counts no more. */
        row = merge_row(row, (Row){ .rtt_measured = 1000, .spot = 400, .rtt = 220000 });
        row = merge_row(row, (Row){ .rtt_measured = 1010, .rtt = 220000 });
        g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, 1000);
        row = merge_row(
                row, (Row){ .rtt_measured = 1001 + 2 * ALD_LINK_CHECK_USEC, .spot = 400, .rtt = 220000 });
        g_assert_null(fields_of(row)->changed);
        g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, 1001 + 2 * ALD_LINK_CHECK_USEC);
        row = merge_row(
                row, (Row){ .rtt_measured = 1002 + 2 * ALD_LINK_CHECK_USEC, .spot = 400, .rtt = 220000 });
        g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
        ald_record_unref(row);
        /* Where there are round trips alone, one that is as before is the end of it. */
        row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000, .rtt = 200000 });
        row = merge_row(row, (Row){ .rtt_measured = 200, .rtt = 900000 });
        row = merge_row(row, (Row){ .rtt_measured = 210, .rtt = 200000 });
        g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, ALD_ABSENT_UINT64);
        ald_record_unref(row);
}

/* What has changed is still checked: two checks in a row that agree with the figures clear it. */
static void test_checks_clear_a_change(void)
{
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000, .spot = 900, .rtt = 200000 });

        for (unsigned i = 0; i < 2; i++)
                row = merge_row(row, (Row){ .rtt_measured = 200 + i, .spot = 500, .rtt = 200000 });
        g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
        row = merge_row(row, (Row){ .rtt_measured = 300, .spot = 880, .rtt = 200000 });
        g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
        g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, 300);
        /* They have to be in a row, and round trips alone are none. */
        row = merge_row(row, (Row){ .rtt_measured = 310, .spot = 500, .rtt = 200000 });
        g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, ALD_ABSENT_UINT64);
        row = merge_row(row, (Row){ .rtt_measured = 400, .spot = 880, .rtt = 200000 });
        row = merge_row(row, (Row){ .rtt_measured = 405, .rtt = 200000 });
        g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
        row = merge_row(row, (Row){ .rtt_measured = 410, .spot = 910, .rtt = 200000 });
        g_assert_null(fields_of(row)->changed);
        g_assert_cmpuint(fields_of(row)->changed_usec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, 410);
        ald_record_unref(row);
        /* Errors of the interface are not over because a check went well. */
        row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000, .spot = 900, .rtt = 200000 });
        row = merge_row(row, (Row){ .rtt_measured = 200, .spot = 900, .changed = "errors" });
        for (unsigned i = 0; i < 3; i++)
                row = merge_row(row, (Row){ .rtt_measured = 300 + i, .spot = 900, .rtt = 200000 });
        g_assert_cmpstr(fields_of(row)->changed, ==, "errors");
        ald_record_unref(row);
}

/* However much the figures spread, a check that is off by more than 30 % does not agree with them. */
static void test_tolerance_of_spot_checks(void)
{
        static const struct {
                double spread;
                uint64_t spot;
                bool agrees;
        } cases[] = { { 0, 810, true }, { 0, 790, false }, { 9, 740, true }, { 9, 720, false },
                { 40, 710, true }, { 40, 690, false }, { 90, 690, false }, { 90, 1500, false } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldRecord) row = merge_row(NULL,
                        (Row){ .measured = 100, .rate = 1000, .spot = 1000, .spread = cases[i].spread });

                row = merge_row(row, (Row){ .rtt_measured = 200, .spot = cases[i].spot });
                g_assert_cmpint(fields_of(row)->contradicted_usec == ALD_ABSENT_UINT64, ==, cases[i].agrees);
        }
}

static const Row doubtful[] = { { .width = 26 }, { .spread = 51 }, { .suspect = true } };

/* Figures that nobody can rely on are not confirmed, and are repeated soon. */
static void test_doubtful_figures_are_not_confirmed(void)
{
        static const double minutes[] = { 5, 10, 20, 30, 30, 30 };

        for (size_t i = 0; i < G_N_ELEMENTS(doubtful); i++) {
                AldRecord *row = NULL;

                for (unsigned k = 0; k < G_N_ELEMENTS(minutes); k++) {
                        Row full = doubtful[i], check = { .rtt_measured = 1500 + 1000 * k, .spot = 900 };

                        full.measured = 1000 + 1000 * k;
                        full.rate = 1000;
                        full.spot = 900;
                        row = merge_row(row, full);
                        check_interval(row, minutes[k]);
                        row = merge_row(row, check);
                        g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, ALD_ABSENT_UINT64);
                }
                row = merge_row(row, (Row){ .measured = 9000, .rate = 1000, .spot = 900 });
                g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, 9000);
                check_interval(row, 60);
                ald_record_unref(row);
        }
}

/* A token bucket lets a burst through: the same steady rate twice is no accident, one that is less sure is.
 */
static void test_a_bucket_is_not_suspect_for_ever(void)
{
        static const struct {
                double width, again;
                uint64_t rate;
                bool suspect;
        } cases[] = { { 1, 1, 1010, false }, { 1, 1, 900, true }, { 1, 8, 1010, true }, { 8, 1, 1010, true },
                { 0, 0, 1010, true } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Row first = { .measured = 100, .rate = 1000, .width = cases[i].width, .suspect = true };
                Row second = {
                        .measured = 200, .rate = cases[i].rate, .width = cases[i].again, .suspect = true
                };
                AldRecord *row = merge_row(NULL, first);

                g_assert_true(ald_link_has_flag(fields_of(row)->flags, ALD_LINK_SUSPECT));
                row = merge_row(row, second);
                g_assert_cmpuint(fields_of(row)->measured_usec, ==, 200);
                g_assert_true(ald_link_has_flag(fields_of(row)->flags, ALD_LINK_SUSPECT) == cases[i].suspect);
                /* Nor is a later one that agrees with that, though it is lower. */
                if (!cases[i].suspect) {
                        second.measured = 300;
                        second.rate = 995;
                        row = merge_row(row, second);
                        g_assert_cmpuint(fields_of(row)->measured_usec, ==, 300);
                        g_assert_false(ald_link_has_flag(fields_of(row)->flags, ALD_LINK_SUSPECT));
                }
                ald_record_unref(row);
        }
}

/* A lower one that is unsteady or suspect says less than the good one before, also after a change. */
static void test_doubtful_figures_replace_no_good_ones(void)
{
        static const uint64_t hours_18 = 3 * ALD_LINK_TTL_MAX_USEC;

        for (size_t i = 0; i < G_N_ELEMENTS(doubtful); i++)
                for (unsigned changed = 0; changed < 2; changed++) {
                        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 950, .spot = 900 });
                        Row full = doubtful[i];

                        for (unsigned k = 0; k < 2 && changed; k++)
                                row = merge_row(row, (Row){ .rtt_measured = 200 + k, .spot = 500 });
                        full.rate = 630;
                        for (unsigned k = 0; k < 3; k++) {
                                full.measured = 1000 + k;
                                row = merge_row(row, full);
                                g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 950);
                                g_assert_cmpuint(fields_of(row)->measured_usec, ==, 100);
                                g_assert_cmpuint(fields_of(row)->attempted_usec, ==, 1000 + k);
                                g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
                                g_assert_true(ald_link_awaits_measurement(fields_of(row), 2000));
                                g_assert_cmpint(ald_link_awaits_measurement(
                                                        fields_of(row), 2000 + ALD_LINK_CHANGE_URGENT_USEC),
                                        ==, !changed && k == 0);
                        }
                        /* A good one does, or one that is not lower. */
                        full.measured = 2000;
                        full.rate = 1200;
                        row = merge_row(row, full);
                        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1200);
                        row = merge_row(row, (Row){ .measured = 3000, .rate = 1100 });
                        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1100);
                        full.measured = 3000 + hours_18;
                        full.rate = 1000;
                        row = merge_row(row, full);
                        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1100);
                        g_assert_cmpuint(fields_of(row)->upload.held_bits_per_second, ==, 1000);
                        /* However old the good one is, two have to agree. */
                        full.measured++;
                        full.rate = 700;
                        row = merge_row(row, full);
                        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1100);
                        full.measured++;
                        full.rate = 750;
                        row = merge_row(row, full);
                        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 750);
                        g_assert_cmpuint(fields_of(row)->upload.held_bits_per_second, ==, ALD_ABSENT_UINT64);
                        ald_record_unref(row);
                }
}

/* A busy machine may leave the burst of a full measurement no rate; a later one is as good. */
static void test_a_first_spot_is_adopted_later(void)
{
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000, .rtt = 200000 });

        /* One that looks like a change is none to compare with. */
        row = merge_row(row, (Row){ .rtt_measured = 200, .spot = 490, .rtt = 200000 });
        g_assert_cmpuint(fields_of(row)->upload.spot_bits_per_second, ==, ALD_ABSENT_UINT64);
        row = merge_row(row, (Row){ .rtt_measured = 300, .spot = 900, .rtt = 200000 });
        g_assert_cmpuint(fields_of(row)->upload.spot_bits_per_second, ==, 900);
        g_assert_cmpuint(fields_of(row)->download.spot_bits_per_second, ==, 900);
        g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, 300);
        row = merge_row(row, (Row){ .rtt_measured = 400, .spot = 800, .rtt = 200000 });
        g_assert_cmpuint(fields_of(row)->upload.spot_bits_per_second, ==, 900);
        g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, 400);
        for (unsigned i = 0; i < 2; i++)
                row = merge_row(row, (Row){ .rtt_measured = 500 + i, .spot = 500, .rtt = 200000 });
        g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
        ald_record_unref(row);
}

/* Without the burst of the full measurement its rate is compared, and a check after a change does not take
 * its place. One that has no rate decides nothing. */
static void test_a_change_without_a_first_spot(void)
{
        static const uint64_t rates[] = { 600, 1600 };

        for (size_t i = 0; i < G_N_ELEMENTS(rates); i++) {
                const uint64_t rate = rates[i];
                AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000, .rtt = 200000 });

                row = merge_row(row, (Row){ .rtt_measured = 200, .spot = rate, .rtt = 200000 });
                g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, 200);
                g_assert_cmpuint(fields_of(row)->download.spot_bits_per_second, ==, ALD_ABSENT_UINT64);
                row = merge_row(row, (Row){ .rtt_measured = 210, .rtt = 200000 });
                g_assert_cmpuint(fields_of(row)->contradicted_usec, ==, 200);
                g_assert_null(fields_of(row)->changed);
                row = merge_row(row, (Row){ .rtt_measured = 220, .spot = rate, .rtt = 200000 });
                g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
                g_assert_cmpuint(fields_of(row)->download.spot_bits_per_second, ==, ALD_ABSENT_UINT64);
                ald_record_unref(row);
        }
}

/* The rates before a change are kept for an hour, and not longer. */
static void test_rates_before_a_change(void)
{
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 190, .spot = 200 });

        g_assert_cmpuint(fields_of(row)->rate_changed_usec, ==, ALD_ABSENT_UINT64);
        for (unsigned i = 0; i < 2; i++)
                row = merge_row(row, (Row){ .rtt_measured = 200 + i, .spot = 120 });
        row = merge_row(row, (Row){ .measured = 300, .rate = 115, .spot = 120 });
        g_assert_cmpuint(fields_of(row)->rate_changed_usec, ==, 201);
        g_assert_cmpuint(fields_of(row)->upload.before_bits_per_second, ==, 190);
        g_assert_cmpuint(fields_of(row)->download.before_bits_per_second, ==, 190);
        /* The same figure again is no other change. */
        row = merge_row(row, (Row){ .measured = 400, .rate = 116, .spot = 120 });
        g_assert_cmpuint(fields_of(row)->upload.before_bits_per_second, ==, 190);
        row = merge_row(row, (Row){ .measured = 201 + ALD_LINK_CHANGE_SHOWN_USEC, .rate = 115 });
        g_assert_cmpuint(fields_of(row)->rate_changed_usec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(fields_of(row)->upload.before_bits_per_second, ==, ALD_ABSENT_UINT64);
        /* And back, by a measurement alone. */
        row = merge_row(row, (Row){ .measured = 300 + ALD_LINK_CHANGE_SHOWN_USEC, .rate = 190 });
        g_assert_cmpuint(fields_of(row)->rate_changed_usec, ==, 300 + ALD_LINK_CHANGE_SHOWN_USEC);
        g_assert_cmpuint(fields_of(row)->upload.before_bits_per_second, ==, 115);
        ald_record_unref(row);
        /* An unsteady figure shows a change only if checks have found it before. */
        for (unsigned found = 0; found < 2; found++) {
                row = merge_row(NULL, (Row){ .measured = 100, .rate = 115, .spot = 120 });
                for (unsigned i = 0; i < 2 && found; i++)
                        row = merge_row(row, (Row){ .rtt_measured = 200 + i, .spot = 200 });
                row = merge_row(row, (Row){ .measured = 300, .rate = 190, .spot = 200, .width = 30 });
                g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 190);
                g_assert_cmpuint(fields_of(row)->rate_changed_usec, ==, found ? 201 : ALD_ABSENT_UINT64);
                row = merge_row(row, (Row){ .measured = 400, .rate = 191, .spot = 200 });
                g_assert_cmpuint(
                        fields_of(row)->upload.before_bits_per_second, ==, found ? 115 : ALD_ABSENT_UINT64);
                if (found == 0)
                        ald_record_unref(row);
        }
        ald_record_unref(row);
}

/* The bytes of the first measurement after each change add up, and count less the older they are. */
static void test_bytes_of_changes(void)
{
        const uint64_t hour = UINT64_C(3600) * 1000 * 1000, rate = 8000000;
        const uint64_t bytes = 3 * rate / 8, left = (uint64_t) ((double) bytes / G_E);
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = rate });

        g_assert_cmpuint(fields_of(row)->change_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(fields_of(row)->attempted_usec, ==, 100);
        row = merge_row(row, (Row){ .measured = 200, .rate = rate / 2 });
        g_assert_cmpuint(fields_of(row)->attempted_usec, ==, 200);
        g_assert_true(ald_link_awaits_measurement(fields_of(row), 250));
        g_assert_cmpuint(fields_of(row)->change_bytes, ==, ALD_ABSENT_UINT64);
        for (unsigned again = 0; again < 2; again++)
                row = merge_row(row, (Row){ .measured = 300, .rate = rate });
        g_assert_cmpuint(fields_of(row)->change_bytes, ==, bytes);
        g_assert_cmpuint(ald_change_bytes_at(fields_of(row), 300 + hour), ==, left);
        g_assert_cmpuint(ald_change_bytes_at(fields_of(row), 1), ==, bytes);
        /* Others do not count. */
        row = merge_row(row, (Row){ .measured = 300 + hour, .rate = rate });
        g_assert_cmpuint(fields_of(row)->change_bytes, ==, left);
        ald_record_unref(row);
}

/* One low figure may be an accident. */
static void test_lower_is_measured_again(void)
{
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000, .rtt = 5 });

        for (unsigned again = 0; again < 3; again++) {
                row = merge_row(row, (Row){ .measured = 200, .rate = 790, .rtt = 6 });
                g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1000);
                g_assert_cmpuint(fields_of(row)->measured_usec, ==, 100);
                g_assert_cmpuint(fields_of(row)->rtt_measured_usec, ==, 200);
                g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
        }
        /* What comes in between does not decide. */
        row = merge_row(row, (Row){ .rtt_measured = 250, .rtt = 6 });
        row = merge(row, failure(260));
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1000);
        g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
        row = merge_row(row, (Row){ .measured = 300, .rate = 780 });
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 780);
        g_assert_null(fields_of(row)->changed);
        check_interval(row, 5);
        /* What is higher, or lower by less, is taken at once. */
        row = merge_row(row, (Row){ .measured = 400, .rate = 1000 });
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1000);
        row = merge_row(row, (Row){ .measured = 500, .rate = 800 });
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 800);
        /* An accident. */
        row = merge_row(row, (Row){ .measured = 600, .rate = 500 });
        row = merge_row(row, (Row){ .measured = 700, .rate = 790 });
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 790);
        g_assert_null(fields_of(row)->changed);
        ald_record_unref(row);
}

/* What is measured because something changed is taken as it is, lower or not. */
static void test_lower_after_a_change(void)
{
        static const Row checks[] = {
                { .rtt_measured = 200, .rtt = 200000, .speed = 100 },
                { .rtt_measured = 200, .rtt = 200000, .speed = 1000, .changed = "errors" },
                { .rtt_measured = 200, .spot = 300, .rtt = 200000, .speed = 1000 },
                { .rtt_measured = 200, .rtt = 900000, .speed = 1000 },
        };
        static const char *const changes[] = { "speed", "errors", "rate", "rtt" };

        for (size_t i = 0; i < G_N_ELEMENTS(checks); i++) {
                AldRecord *row = merge_row(NULL,
                        (Row){ .measured = 100, .rate = 1000, .spot = 900, .rtt = 200000, .speed = 1000 });

                for (unsigned k = 0; k < 2; k++) {
                        Row check = checks[i];

                        check.rtt_measured += k;
                        row = merge_row(row, check);
                }
                g_assert_cmpstr(fields_of(row)->changed, ==, changes[i]);
                row = merge_row(row, (Row){ .measured = 300, .rate = 100, .speed = checks[i].speed });
                g_assert_cmpuint(fields_of(row)->measured_usec, ==, 300);
                g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 100);
                g_assert_null(fields_of(row)->changed);
                ald_record_unref(row);
        }
}

/* A path that changes its interface at either end loses its rates, but not its times. */
static void test_rerouted(void)
{
        static const Row routes[] = {
                { .interface = "eth1", .sink_interface = "eth0" },
                { .sink_interface = "eth1" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(routes); i++) {
                AldRecord *row = merge_row(NULL, (Row){ .measured = 100,
                                                         .rate = 1000,
                                                         .spot = 900,
                                                         .rtt = 5,
                                                         .sink_interface = "eth0" });
                uint64_t ttl = fields_of(row)->time_to_live_usec;
                Row check = routes[i], full = routes[i];

                row = merge(row, failure(150));
                check.rtt_measured = 200;
                check.rtt = 7;
                /* A repeated report changes nothing. */
                for (unsigned again = 0; again < 2; again++) {
                        row = merge_row(row, check);
                        g_assert_cmpuint(fields_of(row)->measured_usec, ==, 100);
                        g_assert_cmpuint(fields_of(row)->time_to_live_usec, ==, ttl);
                        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, ALD_ABSENT_UINT64);
                        g_assert_cmpuint(fields_of(row)->upload.spot_bits_per_second, ==, ALD_ABSENT_UINT64);
                        g_assert_cmpuint(fields_of(row)->confirmed_usec, ==, ALD_ABSENT_UINT64);
                        g_assert_cmpuint(fields_of(row)->rtt_measured_usec, ==, 200);
                        g_assert_cmpuint(fields_of(row)->rtt_p50_nsec, ==, 7);
                        g_assert_cmpstr(fields_of(row)->source_interface, ==, check.interface ?: "eth0");
                        g_assert_cmpstr(fields_of(row)->sink_interface, ==, check.sink_interface);
                        g_assert_cmpstr(fields_of(row)->changed, ==, "route");
                        g_assert_null(fields_of(row)->failure);
                }
                full.measured = 300;
                full.rate = 10;
                full.disturbed = true;
                row = merge_row(row, full);
                g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 10);
                g_assert_null(fields_of(row)->changed);
                /* An unknown interface is not a different one. */
                row = merge_row(row, (Row){ .interface = check.interface, .rtt_measured = 400, .rtt = 7 });
                g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 10);
                ald_record_unref(row);
        }
}

/* A measurement over another route is taken as it is, and a failure there changes no figure. */
static void test_measured_over_another_route(void)
{
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000 });
        AldLinkSocket failed = ALD_LINK_SOCKET_INIT;

        failed.source = path.source;
        failed.sink = path.sink;
        failed.sink_address = path.sink_address;
        failed.source_interface = "eth1";
        failed.failure = "refused";
        failed.failed_usec = 150;
        row = merge(row, record_make(ALD_KIND_LINK_SOCKET, &failed));
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1000);
        g_assert_cmpstr(fields_of(row)->source_interface, ==, "eth0");
        row = merge_row(row, (Row){ .measured = 200, .rate = 10, .interface = "eth1", .disturbed = true });
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 10);
        g_assert_cmpstr(fields_of(row)->source_interface, ==, "eth1");
        ald_record_unref(row);
}

/* What stood still in one direction has a reason instead of a rate. */
static void test_partial(void)
{
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000 });

        for (unsigned again = 0; again < 2; again++) {
                row = merge(row, make(200, 1000, "partial: download: it stood still", ALD_ABSENT_UINT64));
                g_assert_cmpuint(fields_of(row)->download.bits_per_second, ==, 1000);
                g_assert_cmpstr(fields_of(row)->changed, ==, "rate");
                g_assert_null(fields_of(row)->failure);
        }
        row = merge(row, make(300, 1000, "partial: download: it stood still", ALD_ABSENT_UINT64));
        g_assert_cmpuint(fields_of(row)->download.bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpstr(fields_of(row)->failure, ==, "partial: download: it stood still");
        ald_record_unref(row);
}

/* A successful check has no information about the direction without a rate. */
static void test_partial_is_kept(void)
{
        static const char reason[] = "partial: download: it stood still";
        AldRecord *row = merge(NULL, make(100, 1000, reason, ALD_ABSENT_UINT64));

        row = merge_row(row, (Row){ .rtt_measured = 200, .rtt = 5 });
        g_assert_cmpstr(fields_of(row)->failure, ==, reason);
        /* So does a measurement that is held. */
        row = merge(row, success(300, 500));
        g_assert_cmpuint(fields_of(row)->measured_usec, ==, 100);
        g_assert_cmpstr(fields_of(row)->failure, ==, reason);
        row = merge_row(row, (Row){ .measured = 400, .rate = 1000 });
        g_assert_null(fields_of(row)->failure);
        row = merge(row, failure(500));
        row = merge_row(row, (Row){ .rtt_measured = 600, .rtt = 5 });
        g_assert_null(fields_of(row)->failure);
        g_assert_cmpuint(fields_of(row)->failed_usec, ==, ALD_ABSENT_UINT64);
        ald_record_unref(row);
}

/* Failures are recorded beside the figures that were not taken. */
static void test_failures_after_a_held_one(void)
{
        AldRecord *row = merge(merge(NULL, success(100, 1000)), success(200, 500));

        g_assert_cmpuint(fields_of(row)->measured_usec, ==, 100);
        for (unsigned i = 1; i <= 3; i++) {
                row = merge(row, failure(200 + 100 * i));
                check(row, 100, 1000, 200 + 100 * i, i);
        }
        ald_record_unref(row);
}

/* A radio negotiates its rate anew all the time, at whichever end it is. */
static void test_speed_of_a_radio(void)
{
        static const struct {
                const char *source, *sink;
                bool changed;
        } cases[] = { { "ethernet", "ethernet", true }, { "ethernet", NULL, true }, { NULL, NULL, true },
                { "wifi", "ethernet", false }, { "ethernet", "wifi", false }, { NULL, "wifi", false } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldLinkSocket row = ALD_LINK_SOCKET_INIT;

                row.source_interface_type = cases[i].source;
                row.sink_interface_type = cases[i].sink;
                row.negotiated_bits_per_second = 1000;
                g_assert_cmpint(ald_link_speed_changed(&row, 500), ==, cases[i].changed);
                g_assert_false(ald_link_speed_changed(&row, 900));
        }
}

/* Other traffic makes no good figure worse, until that is old. */
static void test_disturbed(void)
{
        AldRecord *row = merge_row(NULL, (Row){ .measured = 100, .rate = 1000 });
        uint64_t old = 100 + 3 * fields_of(row)->time_to_live_usec;

        row = merge_row(row, (Row){ .measured = old - 1, .rate = 990, .disturbed = true });
        g_assert_cmpuint(fields_of(row)->measured_usec, ==, 100);
        row = merge_row(row, (Row){ .measured = old, .rate = 990, .disturbed = true });
        g_assert_cmpuint(fields_of(row)->measured_usec, ==, old);
        g_assert_cmpstr(fields_of(row)->flags[0], ==, "disturbed");
        /* A disturbed one is replaced by any. */
        row = merge_row(row, (Row){ .measured = old + 1, .rate = 300, .disturbed = true });
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 300);
        row = merge_row(row, (Row){ .measured = old + 2, .rate = 1000 });
        g_assert_cmpuint(fields_of(row)->upload.bits_per_second, ==, 1000);
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

/* The figures of a peer may be anything that a record can hold. */
static void test_estimate(void)
{
        const uint64_t most = ALD_INTEGER_MAX, absent = ALD_ABSENT_UINT64;

        g_assert_cmpuint(ald_link_estimate(1000, 200, 100), ==, 500);
        g_assert_cmpuint(ald_link_estimate(1000, 200, 0), ==, 0);
        g_assert_cmpuint(ald_link_estimate(0, 1, most), ==, 0);
        g_assert_cmpuint(ald_link_estimate(1, 1, most), ==, most);
        g_assert_cmpuint(ald_link_estimate(2, 1, most), ==, absent);
        g_assert_cmpuint(ald_link_estimate(2048, 1, most), ==, absent);
        g_assert_cmpuint(ald_link_estimate(most, 1, most), ==, absent);
        g_assert_cmpuint(ald_link_estimate(most, 0, most), ==, absent);
        g_assert_cmpuint(ald_link_estimate(absent, 1, 1), ==, absent);
        g_assert_cmpuint(ald_link_estimate(1, absent, 1), ==, absent);
        g_assert_cmpuint(ald_link_estimate(1, 1, absent), ==, absent);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-result/estimate", test_estimate);
        g_test_add_func("/link-result/failure", test_a_failure_keeps_the_figures);
        g_test_add_func("/link-result/never-measured", test_never_measured);
        g_test_add_func("/link-result/again", test_told_again);
        g_test_add_func("/link-result/interval", test_interval_doubles);
        g_test_add_func("/link-result/bounds", test_bounds);
        g_test_add_func("/link-result/confirms", test_check_confirms);
        g_test_add_func("/link-result/change", test_checks_find_a_change);
        g_test_add_func("/link-result/accident", test_an_accident_is_no_change);
        g_test_add_func("/link-result/clear", test_checks_clear_a_change);
        g_test_add_func("/link-result/tolerance", test_tolerance_of_spot_checks);
        g_test_add_func("/link-result/doubtful", test_doubtful_figures_are_not_confirmed);
        g_test_add_func("/link-result/doubtful-lower", test_doubtful_figures_replace_no_good_ones);
        g_test_add_func("/link-result/bucket", test_a_bucket_is_not_suspect_for_ever);
        g_test_add_func("/link-result/adopted", test_a_first_spot_is_adopted_later);
        g_test_add_func("/link-result/change-without-spot", test_a_change_without_a_first_spot);
        g_test_add_func("/link-result/before", test_rates_before_a_change);
        g_test_add_func("/link-result/change-bytes", test_bytes_of_changes);
        g_test_add_func("/link-result/lower", test_lower_is_measured_again);
        g_test_add_func("/link-result/lower-changed", test_lower_after_a_change);
        g_test_add_func("/link-result/rerouted", test_rerouted);
        g_test_add_func("/link-result/measured-over-another-route", test_measured_over_another_route);
        g_test_add_func("/link-result/partial", test_partial);
        g_test_add_func("/link-result/partial-kept", test_partial_is_kept);
        g_test_add_func("/link-result/failures-held", test_failures_after_a_held_one);
        g_test_add_func("/link-result/radio", test_speed_of_a_radio);
        g_test_add_func("/link-result/disturbed", test_disturbed);
        g_test_add_func("/link-result/keys", test_keys);
        return g_test_run();
}
