/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "services/link-probe/deferrals.h"
#include "services/link-probe/probe-answer.h"

#define RATES "\"UploadBitsPerSecond\":5,\"DownloadBitsPerSecond\":7"

static void assert_read(const char *output, const char *failure, AldProbeVerdict verdict, const char *reason)
{
        g_auto(AldProbeAnswer) answer = { 0 };

        ald_probe_answer_read(output, failure, &answer);
        g_assert_cmpint(answer.verdict, ==, verdict);
        g_assert_cmpstr(answer.reason, ==, reason);
        g_assert_true((answer.json != NULL) == (verdict == ALD_PROBE_DONE));
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
        assert_read("{\"error\":7}", NULL, ALD_PROBE_FAILED, "the probe did not say why it failed");
        assert_read("{\"error\":\"x\",\"message\":\"\\u001b[31m\"}", NULL, ALD_PROBE_FAILED, "x");
}

static void test_nonsense(void)
{
        static const char *const outputs[] = { "", "\n", "{", "[]", "7", "\"x\"", "{\"a\":1,\"a\":2}", "{}{}",
                "{" RATES "}\nlast" };
        g_autofree char *deep = g_strnfill(100000, '[');

        for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++)
                assert_read(outputs[i], NULL, ALD_PROBE_FAILED, "the probe gave no result");
        assert_read(deep, NULL, ALD_PROBE_FAILED, "the probe gave no result");
}

static int read_figures(AldProbeAnswer *answer, const char *fields, AldLinkSocket *ret)
{
        g_autofree char *output = g_strdup_printf("{%s}", fields);

        ald_probe_answer_clear(answer);
        ald_probe_answer_read(output, NULL, answer);
        g_assert_cmpint(answer->verdict, ==, ALD_PROBE_DONE);
        return ald_probe_answer_figures(answer, ret);
}

static void test_figures(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        AldLinkSocket row;

        g_assert_cmpint(read_figures(&answer,
                                RATES ",\"RttP50NSec\":-1,\"JitterNSec\":9007199254740993,\"Streams\":2.0,"
                                      "\"UploadLimiter\":\"moon\",\"DownloadLimiter\":\"sender\","
                                      "\"UploadBytes\":3,\"nested\":{\"a\":1},\"Odd\":\"\\n\"",
                                &row),
                ==, 0);
        g_assert_cmpuint(row.upload_bits_per_second, ==, 5);
        g_assert_cmpuint(row.download_bits_per_second, ==, 7);
        g_assert_cmpuint(row.rtt_p50_nsec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.jitter_nsec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.streams, ==, ALD_ABSENT_UINT64);
        g_assert_null(row.upload_limiter);
        g_assert_cmpstr(row.download_limiter, ==, "sender");
        g_assert_true(isnan(row.upload_interval) && isnan(row.upload_spread));
        g_assert_null(row.source);
        g_assert_null(json_object_get(answer.json, "nested"));
        g_assert_null(json_object_get(answer.json, "Odd"));
}

static void test_certainty(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        AldLinkSocket row;

        g_assert_cmpint(read_figures(&answer,
                                RATES ",\"UploadInterval\":0.4,\"DownloadInterval\":3,\"UploadSpread\":0,"
                                      "\"DownloadSpread\":2.5,\"UploadOtherBitsPerSecond\":0,"
                                      "\"SinkInterface\":\"eth7\",\"SpotUploadBitsPerSecond\":9",
                                &row),
                ==, 0);
        g_assert_cmpfloat(row.upload_interval, ==, 0.4);
        g_assert_cmpfloat(row.download_interval, ==, 3);
        g_assert_cmpfloat(row.upload_spread, ==, 0);
        g_assert_cmpfloat(row.download_spread, ==, 2.5);
        g_assert_cmpuint(row.upload_other_bits_per_second, ==, 0);
        g_assert_cmpuint(row.download_other_bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.spot_upload_bits_per_second, ==, 9);
        g_assert_cmpstr(row.sink_interface, ==, "eth7");
        /* An unknown interval is not 0. */
        g_assert_cmpint(read_figures(&answer,
                                RATES ",\"UploadInterval\":0,\"DownloadInterval\":-1,\"UploadSpread\":\"x\","
                                      "\"SinkInterface\":\"a-name-that-is-too-long\"",
                                &row),
                ==, 0);
        g_assert_true(isnan(row.upload_interval) && isnan(row.download_interval) && isnan(row.upload_spread));
        g_assert_null(row.sink_interface);
}

/* A rate of 0 is dropped, and with it all other figures of that direction. */
static void test_one_direction(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        g_autofree char *missing = NULL, *none = NULL, *both = NULL;
        AldLinkSocket row;

        g_assert_cmpint(read_figures(&answer,
                                "\"UploadBitsPerSecond\":0,\"DownloadBitsPerSecond\":7,\"UploadInterval\":3,"
                                "\"UploadSpread\":3,\"UploadLimiter\":\"sender\","
                                "\"UploadReason\":\"too little arrived\"",
                                &row),
                ==, 0);
        g_assert_cmpuint(row.upload_bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.download_bits_per_second, ==, 7);
        g_assert_true(isnan(row.upload_interval) && isnan(row.upload_spread) && !row.upload_limiter);
        missing = ald_probe_answer_missing(&answer);
        g_assert_cmpstr(missing, ==, "upload: too little arrived");
        g_assert_cmpint(read_figures(&answer, "\"UploadBitsPerSecond\":0,\"DownloadReason\":\"lost\"", &row),
                ==, -EBADMSG);
        both = ald_probe_answer_missing(&answer);
        g_assert_cmpstr(both, ==, "download: lost");
        g_assert_cmpint(read_figures(&answer, RATES, &row), ==, 0);
        none = ald_probe_answer_missing(&answer);
        g_assert_null(none);
}

static void test_check(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        AldLinkSocket row;

        g_assert_cmpint(
                read_figures(&answer,
                        RATES ",\"Scope\":\"check\",\"RttP50NSec\":9,\"SpotDownloadBitsPerSecond\":11,"
                              "\"SpotUploadBitsPerSecond\":0,\"Streams\":2,\"UploadInterval\":3",
                        &row),
                ==, 0);
        g_assert_true(ald_probe_answer_is_check(&answer));
        g_assert_cmpuint(row.rtt_p50_nsec, ==, 9);
        g_assert_cmpuint(row.spot_download_bits_per_second, ==, 11);
        g_assert_cmpuint(row.spot_upload_bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.upload_bits_per_second, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.streams, ==, ALD_ABSENT_UINT64);
        g_assert_true(isnan(row.upload_interval));
        g_assert_cmpint(read_figures(&answer, "\"Scope\":\"round-trips\",\"RttP50NSec\":9", &row), ==, 0);
        g_assert_cmpint(read_figures(&answer, "\"Scope\":\"round-trips\"", &row), ==, -EBADMSG);
}

static bool defers(AldDeferrals *deferrals, uint64_t other, uint64_t now)
{
        g_autofree char *output = g_strdup_printf(
                "{\"UploadBitsPerSecond\":1000000000,\"UploadInterval\":0.5,"
                "\"UploadOtherBitsPerSecond\":%" G_GUINT64_FORMAT "}",
                other);
        g_auto(AldProbeAnswer) answer = { 0 }, later = { 0 };
        bool deferred;

        ald_probe_answer_read(output, NULL, &answer);
        deferred = ald_deferrals_defer(deferrals, "path", &answer, now, &later);
        if (deferred) {
                g_assert_cmpint(later.verdict, ==, ALD_PROBE_LATER);
                g_assert_cmpstr(later.word, ==, "disturbed");
                g_assert_cmpstr(later.reason, ==, "other traffic of 300 Mb/s disturbed the measurement");
        }
        return deferred;
}

/* For a while; what is disturbed all the time is measured all the same, each time after so long. */
static void test_deferrals(void)
{
        AldDeferrals *deferrals = ald_deferrals_new();
        uint64_t begin = 1000, end = begin + ALD_DEFERRAL_MAX_USEC;

        g_assert_false(defers(deferrals, 20000000, begin - 1));
        g_assert_true(defers(deferrals, 300000000, begin));
        g_assert_true(defers(deferrals, 300000000, end - 1));
        g_assert_false(defers(deferrals, 300000000, end));
        g_assert_true(defers(deferrals, 300000000, end + 1));
        g_assert_false(defers(deferrals, 0, end + 2));
        g_assert_true(defers(deferrals, 300000000, 2 * end));
        ald_deferrals_free(deferrals);
}

static void test_progress(void)
{
        g_autofree char *phase = NULL, *odd = NULL;
        double fraction = -1;

        g_assert_cmpint(
                ald_probe_progress_read("{\"phase\":\"rtt\",\"fraction\":0.5}", &phase, &fraction), ==, 0);
        g_assert_cmpstr(phase, ==, "rtt");
        g_assert_cmpfloat(fraction, ==, 0.5);
        g_assert_cmpint(
                ald_probe_progress_read("{\"phase\":\"\\n\",\"fraction\":7}", &odd, &fraction), ==, 0);
        g_assert_null(odd);
        g_assert_cmpfloat(fraction, ==, 1);
        g_assert_cmpint(ald_probe_progress_read("{\"phase\":\"rtt\"}", &odd, &fraction), ==, -EBADMSG);
        g_assert_cmpint(ald_probe_progress_read("rtt", &odd, &fraction), ==, -EBADMSG);
}

static void test_report(void)
{
        g_auto(AldProbeReport) node = { 0 }, port = { 0 }, wish = { 0 };
        static const char *const odd[] = { "{\"peer\":\"\"}", "{\"bytes\":1}", "{\"scope\":\"moon\"}",
                "{\"peer\":7,\"scope\":\"full\"}" };

        for (unsigned i = 0; i < G_N_ELEMENTS(odd); i++)
                g_assert_cmpint(ald_probe_report_read(odd[i], &node), ==, -EBADMSG);
        g_assert_cmpint(
                ald_probe_report_read("{\"peer\":\"0000000000000000000000000000000a\"}", &node), ==, 0);
        g_assert_cmpstr(node.peer, ==, "0000000000000000000000000000000a");
        g_assert_null(node.port);
        g_assert_false(node.asks);
        g_assert_cmpint(ald_probe_report_read("{\"peer\":\"0000000000000000000000000000000a\","
                                              "\"port\":\"mlx5_0.1\",\"scope\":\"full\"}",
                                &port),
                ==, 0);
        g_assert_cmpstr(port.port, ==, "mlx5_0.1");
        g_assert_true(port.asks && port.wanted.scope == ALD_LINK_SCOPE_FULL);
        g_assert_false(port.wanted.automatic || port.wanted.overdue);
        g_assert_cmpint(
                ald_probe_report_read("{\"scope\":\"check\",\"automatic\":true,\"overdue\":true}", &wish), ==,
                0);
        g_assert_null(wish.peer);
        g_assert_true(wish.asks && wish.wanted.scope == ALD_LINK_SCOPE_CHECK);
        g_assert_true(wish.wanted.automatic && wish.wanted.overdue);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-answer/verdict", test_verdict);
        g_test_add_func("/link-probe-answer/nonsense", test_nonsense);
        g_test_add_func("/link-probe-answer/figures", test_figures);
        g_test_add_func("/link-probe-answer/certainty", test_certainty);
        g_test_add_func("/link-probe-answer/one-direction", test_one_direction);
        g_test_add_func("/link-probe-answer/check", test_check);
        g_test_add_func("/link-probe-answer/deferrals", test_deferrals);
        g_test_add_func("/link-probe-answer/progress", test_progress);
        g_test_add_func("/link-probe-answer/report", test_report);
        return g_test_run();
}
