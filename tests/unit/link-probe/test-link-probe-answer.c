/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/link/link-validation.h"
#include "services/link-probe/schedule/disturbed-results.h"

#define RATES "\"UploadBitsPerSecond\":5,\"DownloadBitsPerSecond\":7"

static void assert_read(const char *output, const char *failure, AldProbeVerdict verdict, const char *reason)
{
        g_auto(AldProbeAnswer) answer = { 0 };

        ald_probe_answer_read(ALD_KIND_SOCKET_RESULT, output, failure, &answer);
        g_assert_cmpint(answer.verdict, ==, verdict);
        g_assert_cmpstr(answer.reason, ==, reason);
        g_assert_true((answer.result != NULL) == (verdict == ALD_PROBE_DONE));
}

static void test_verdict(void)
{
        assert_read("{" RATES "}\n", NULL, ALD_PROBE_DONE, NULL);
        assert_read("noise\n{" RATES "}\n\n", NULL, ALD_PROBE_DONE, NULL);
        assert_read("{" RATES "}", "was killed", ALD_PROBE_FAILED, "the probe was killed");
        assert_read("{\"error\":\"refused\",\"message\":\"nobody listens\"}", NULL, ALD_PROBE_FAILED,
                "nobody listens");
        assert_read("{\"error\":\"busy\",\"message\":\"later\"}", NULL, ALD_PROBE_LATER, "later");
        assert_read("{\"error\":\"inhibited\"}", NULL, ALD_PROBE_LATER, "inhibited");
        assert_read("{\"error\":\"round-trips-only\"}", NULL, ALD_PROBE_LATER, "round-trips-only");
        assert_read("{\"error\":\"x\",\"message\":\"\\u001b[31m\"}", NULL, ALD_PROBE_FAILED, "x");
        assert_read("{\"error\":\"newer\",\"message\":7}", NULL, ALD_PROBE_FAILED, "newer");
}

static void test_nonsense(void)
{
        static const char *const outputs[] = { "", "\n", "{", "[]", "7", "\"x\"", "{\"a\":1,\"a\":2}", "{}{}",
                "{" RATES "}\nlast" };
        g_autofree char *deep = g_strnfill(100000, '['), *words = g_strnfill(64 * 1024, 'a');
        g_autofree char *large = g_strdup_printf("{" RATES ",\"a\":\"%s\"}", words);

        for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++)
                assert_read(outputs[i], NULL, ALD_PROBE_FAILED, "the probe returned no result");
        assert_read(deep, NULL, ALD_PROBE_FAILED, "the probe returned no result");
        assert_read(large, NULL, ALD_PROBE_FAILED, "the probe returned no result");
}

/* The result as it is kept; NULL if it failed. */
static const AldSocketResult *validate(AldProbeAnswer *answer, const char *fields)
{
        g_autofree char *output = g_strdup_printf("{%s}", fields);
        AldProbeTarget target;

        ald_probe_answer_clear(answer);
        g_assert_cmpint(ald_probe_target_set(&target, &ald_probe_socket, "0000000000000000000000000000000a",
                                "192.0.2.2", NULL),
                ==, 0);
        ald_probe_answer_read(ALD_KIND_SOCKET_RESULT, output, NULL, answer);
        g_assert_cmpint(answer->verdict, ==, ALD_PROBE_DONE);
        ald_result_validate(&target, answer);
        g_assert_true(answer->verdict == ALD_PROBE_DONE
                              ? answer->result && !answer->reason
                              : answer->verdict == ALD_PROBE_FAILED && answer->reason);
        return answer->verdict == ALD_PROBE_DONE
                       ? ald_record_as(answer->result, SOCKET_RESULT, AldSocketResult)
                       : NULL;
}

static void test_figures(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        const AldSocketResult *result = validate(&answer,
                RATES ",\"RttP50NSec\":-1,\"JitterNSec\":9007199254740993,\"Streams\":2.5,"
                      "\"UploadLimiter\":\"moon\",\"DownloadLimiter\":\"sender\",\"Sink\":\"x\","
                      "\"UploadBytes\":3,\"nested\":{\"a\":1},\"Method\":\"\\n\"");
        AldLinkSocket row;

        g_assert_nonnull(result);
        g_assert_cmpuint(result->upload.bytes, ==, 3);
        g_assert_null(result->sink);
        g_assert_null(result->method);
        g_assert_null(result->flags);
        row = ald_result_link(answer.result);
        g_assert_cmpuint(row.upload.bits_per_second, ==, 5);
        g_assert_cmpuint(row.download.bits_per_second, ==, 7);
        g_assert_cmpuint(row.rtt_p50_nsec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.jitter_nsec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.streams, ==, ALD_ABSENT_UINT64);
        g_assert_null(row.upload.limiter);
        g_assert_cmpstr(row.download.limiter, ==, "sender");
        g_assert_true(isnan(row.upload.interval) && isnan(row.upload.spread));
        g_assert_null(row.source);
}

static void test_certainty(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        const AldSocketResult *row = validate(&answer,
                RATES ",\"UploadInterval\":0.4,\"DownloadInterval\":3,\"UploadSpread\":0,"
                      "\"DownloadSpread\":50.5,\"UploadOtherBitsPerSecond\":0,"
                      "\"SinkInterface\":\"eth7\",\"SpotUploadBitsPerSecond\":9");

        g_assert_nonnull(row);
        g_assert_cmpfloat(row->upload.interval, ==, 0.4);
        g_assert_cmpfloat(row->download.interval, ==, 3);
        g_assert_cmpfloat(row->upload.spread, ==, 0);
        g_assert_cmpfloat(row->download.spread, ==, 50.5);
        g_assert_cmpuint(row->upload.other_bits_per_second, ==, 0);
        g_assert_cmpuint(row->download.other_bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row->upload.spot_bits_per_second, ==, 9);
        g_assert_cmpstr(row->sink_interface, ==, "eth7");
        g_assert_cmpstr(row->flags[0], ==, "unsteady");
        g_assert_null(row->flags[1]);
        /* An unknown interval is not 0. */
        row = validate(&answer, RATES ",\"UploadInterval\":0,\"DownloadInterval\":-1,\"UploadSpread\":\"x\","
                                      "\"SinkInterface\":\"a-name-that-is-too-long\"");
        g_assert_nonnull(row);
        g_assert_true(
                isnan(row->upload.interval) && isnan(row->download.interval) && isnan(row->upload.spread));
        g_assert_null(row->sink_interface);
}

/* A rate below half of that of the burst in the same measurement cannot be relied on, in either direction. */
static void test_suspect(void)
{
        static const struct {
                const char *spots;
                bool suspect;
        } cases[] = {
                { "\"SpotUploadBitsPerSecond\":11,\"SpotDownloadBitsPerSecond\":15", false },
                { "\"SpotUploadBitsPerSecond\":12,\"SpotDownloadBitsPerSecond\":7", true },
                { "\"SpotUploadBitsPerSecond\":5,\"SpotDownloadBitsPerSecond\":16", true },
                { "\"SpotUploadBitsPerSecond\":1", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_auto(AldProbeAnswer) answer = { 0 };
                g_autofree char *fields = g_strdup_printf(RATES ",%s", cases[i].spots);
                const AldSocketResult *row = validate(&answer, fields);

                g_assert_nonnull(row);
                g_assert_cmpstr(row->flags ? row->flags[0] : NULL, ==, cases[i].suspect ? "suspect" : NULL);
        }
}

/* A rate of 0 is left out, and with it all other figures that describe a rate of that direction. */
static void test_one_direction(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        const AldSocketResult *row = validate(&answer,
                "\"UploadBitsPerSecond\":0,\"DownloadBitsPerSecond\":7,\"UploadInterval\":3,"
                "\"UploadSpread\":3,\"UploadLimiter\":\"sender\",\"UploadReason\":\"too little arrived\"");

        g_assert_nonnull(row);
        g_assert_cmpuint(row->upload.bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row->download.bits_per_second, ==, 7);
        g_assert_true(isnan(row->upload.interval) && isnan(row->upload.spread) && !row->upload.limiter);
        g_assert_cmpstr(row->upload.reason, ==, "too little arrived");
        g_assert_null(validate(&answer, "\"UploadBitsPerSecond\":0,\"DownloadReason\":\"lost\""));
        g_assert_cmpstr(answer.reason, ==, "the probe returned no rates: download: lost");
        g_assert_null(validate(&answer, "\"UploadReason\":\"slow\",\"DownloadReason\":\"lost\""));
        g_assert_cmpstr(answer.reason, ==, "the probe returned no rates: upload: slow; download: lost");
        g_assert_null(answer.result);
        /* Round trips are figures, too. */
        g_assert_null(validate(&answer, "\"RttP50NSec\":9"));
        g_assert_cmpstr(answer.reason, ==, "the probe returned no rates");
        g_assert_cmpuint(ald_result_link(answer.result).rtt_p50_nsec, ==, 9);
        g_assert_null(validate(&answer, "\"error\":7"));
}

static void test_check(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        const AldSocketResult *row = validate(&answer,
                RATES ",\"Scope\":\"check\",\"RttP50NSec\":9,\"SpotDownloadBitsPerSecond\":11,"
                      "\"SpotUploadBitsPerSecond\":0,\"Streams\":2,\"UploadInterval\":3");

        g_assert_nonnull(row);
        g_assert_true(ald_result_is_check(answer.result));
        g_assert_cmpuint(row->rtt_p50_nsec, ==, 9);
        g_assert_cmpuint(row->download.spot_bits_per_second, ==, 11);
        g_assert_cmpuint(row->upload.spot_bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row->upload.bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row->streams, ==, ALD_ABSENT_UINT64);
        g_assert_true(isnan(row->upload.interval));
        g_assert_nonnull(validate(&answer, "\"Scope\":\"round-trips\",\"RttP50NSec\":9"));
        g_assert_null(validate(&answer, "\"Scope\":\"round-trips\""));
        g_assert_cmpstr(answer.reason, ==, "the probe returned no round trips");
        g_assert_nonnull(validate(&answer, "\"Scope\":\"full\"," RATES));
        g_assert_false(ald_result_is_check(answer.result));
}

static bool defers(AldDisturbedResults *disturbed, uint64_t other, uint64_t now)
{
        g_autofree char *output = g_strdup_printf(
                "{\"UploadBitsPerSecond\":1000000000,\"UploadInterval\":0.5,"
                "\"UploadOtherBitsPerSecond\":%" G_GUINT64_FORMAT "}",
                other);
        g_auto(AldProbeAnswer) answer = { 0 }, later = { 0 };
        bool deferred;

        ald_probe_answer_read(ALD_KIND_SOCKET_RESULT, output, NULL, &answer);
        deferred = ald_disturbed_results_defer(disturbed, "path", &answer, now, &later);
        if (deferred) {
                g_assert_cmpint(later.verdict, ==, ALD_PROBE_LATER);
                g_assert_cmpstr(later.word, ==, "disturbed");
                g_assert_cmpstr(later.reason, ==, "other traffic of 300 Mb/s disturbed the measurement");
        }
        return deferred;
}

/* For a while; what is disturbed all the time is measured all the same, each time after so long. */
static void test_disturbed_results(void)
{
        AldDisturbedResults *disturbed = ald_disturbed_results_new();
        uint64_t begin = 1000, end = begin + ALD_DISTURBED_MAX_USEC;

        g_assert_false(defers(disturbed, 20000000, begin - 1));
        g_assert_true(defers(disturbed, 300000000, begin));
        g_assert_true(defers(disturbed, 300000000, end - 1));
        g_assert_false(defers(disturbed, 300000000, end));
        g_assert_true(defers(disturbed, 300000000, end + 1));
        g_assert_false(defers(disturbed, 0, end + 2));
        g_assert_true(defers(disturbed, 300000000, 2 * end));
        ald_disturbed_results_free(disturbed);
}

static const AldProbeProgress *read_progress(const char *line, AldRecord **record)
{
        g_clear_pointer(record, ald_record_unref);
        return ald_probe_answer_parse(ALD_KIND_PROBE_PROGRESS, line, record) < 0
                       ? NULL
                       : ald_record_as(*record, PROBE_PROGRESS, AldProbeProgress);
}

static void test_progress(void)
{
        g_autoptr(AldRecord) record = NULL;
        const AldProbeProgress *progress = read_progress("{\"phase\":\"rtt\",\"fraction\":0.5}", &record);

        g_assert_nonnull(progress);
        g_assert_cmpstr(progress->phase, ==, "rtt");
        g_assert_cmpfloat(progress->fraction, ==, 0.5);
        progress = read_progress("{\"phase\":\"\\n\",\"fraction\":1}", &record);
        g_assert_nonnull(progress);
        g_assert_null(progress->phase);
        g_assert_null(read_progress("{\"phase\":\"rtt\",\"fraction\":7}", &record));
        g_assert_null(read_progress("{\"phase\":\"rtt\"}", &record));
        g_assert_null(read_progress("rtt", &record));
}

static const AldSessionReport *read_report(const char *line, AldRecord **record)
{
        g_clear_pointer(record, ald_record_unref);
        return ald_probe_answer_parse(ALD_KIND_SESSION_REPORT, line, record) < 0
                       ? NULL
                       : ald_record_as(*record, SESSION_REPORT, AldSessionReport);
}

static void test_report(void)
{
        static const char *const odd[] = { "{\"peer\":\"\"}", "{\"scope\":\"moon\"}", "{\"peer\":7}",
                "{\"bytes\":1}" };
        g_autoptr(AldRecord) record = NULL;
        const AldSessionReport *report;
        AldProbeWanted wanted;

        g_assert_null(read_report("full", &record));
        for (unsigned i = 0; i < G_N_ELEMENTS(odd); i++) {
                report = read_report(odd[i], &record);
                g_assert_true(report && !report->peer && !ald_probe_wanted(report, &wanted));
        }
        report = read_report("{\"peer\":\"0000000000000000000000000000000a\"}", &record);
        g_assert_nonnull(report);
        g_assert_cmpstr(report->peer, ==, "0000000000000000000000000000000a");
        g_assert_null(report->port);
        g_assert_false(ald_probe_wanted(report, &wanted));
        report = read_report("{\"peer\":\"0000000000000000000000000000000a\","
                             "\"port\":\"mlx5_0.1\",\"scope\":\"full\"}",
                &record);
        g_assert_nonnull(report);
        g_assert_cmpstr(report->port, ==, "mlx5_0.1");
        g_assert_true(ald_probe_wanted(report, &wanted) && wanted.scope == ALD_LINK_SCOPE_FULL);
        g_assert_false(wanted.automatic || wanted.overdue);
        /* The peer names the port: a bad name hides neither who it is nor what it asks for. */
        report = read_report("{\"peer\":\"0000000000000000000000000000000a\","
                             "\"port\":\"\\u001b[31m\",\"scope\":\"full\"}",
                &record);
        g_assert_nonnull(report);
        g_assert_cmpstr(report->peer, ==, "0000000000000000000000000000000a");
        g_assert_null(report->port);
        g_assert_true(ald_probe_wanted(report, &wanted) && wanted.scope == ALD_LINK_SCOPE_FULL);
        report = read_report("{\"peer\":7,\"scope\":\"full\",\"automatic\":1}", &record);
        g_assert_nonnull(report);
        g_assert_null(report->peer);
        g_assert_true(ald_probe_wanted(report, &wanted) && !wanted.automatic);
        report = read_report("{\"scope\":\"check\",\"automatic\":true,\"overdue\":true}", &record);
        g_assert_nonnull(report);
        g_assert_null(report->peer);
        g_assert_true(ald_probe_wanted(report, &wanted) && wanted.scope == ALD_LINK_SCOPE_CHECK);
        g_assert_true(wanted.automatic && wanted.overdue);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-answer/verdict", test_verdict);
        g_test_add_func("/link-probe-answer/nonsense", test_nonsense);
        g_test_add_func("/link-probe-answer/figures", test_figures);
        g_test_add_func("/link-probe-answer/certainty", test_certainty);
        g_test_add_func("/link-probe-answer/suspect", test_suspect);
        g_test_add_func("/link-probe-answer/one-direction", test_one_direction);
        g_test_add_func("/link-probe-answer/check", test_check);
        g_test_add_func("/link-probe-answer/disturbed-results", test_disturbed_results);
        g_test_add_func("/link-probe-answer/progress", test_progress);
        g_test_add_func("/link-probe-answer/report", test_report);
        return g_test_run();
}
