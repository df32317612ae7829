/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

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

static void test_figures(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        AldLinkSocket row;

        ald_probe_answer_read("{" RATES ",\"RttP50NSec\":-1,\"JitterNSec\":9007199254740993,\"Streams\":2.0,"
                              "\"Limiter\":\"moon\",\"UploadBytes\":3,\"nested\":{\"a\":1},\"Odd\":\"\\n\"}",
                NULL, &answer);
        g_assert_cmpint(ald_probe_answer_figures(&answer, &row), ==, 0);
        g_assert_cmpuint(row.upload_bits_per_second, ==, 5);
        g_assert_cmpuint(row.download_bits_per_second, ==, 7);
        g_assert_cmpuint(row.rtt_p50_nsec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.jitter_nsec, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(row.streams, ==, ALD_ABSENT_UINT64);
        g_assert_null(row.limiter);
        g_assert_null(row.source);
        g_assert_null(json_object_get(answer.json, "nested"));
        g_assert_null(json_object_get(answer.json, "Odd"));
}

static void test_one_rate_is_none(void)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        AldLinkSocket row;

        ald_probe_answer_read("{\"UploadBitsPerSecond\":5,\"Limiter\":\"sender\"}", NULL, &answer);
        g_assert_cmpint(ald_probe_answer_figures(&answer, &row), ==, -EBADMSG);
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
        g_autofree char *peer = NULL, *port = NULL, *same = NULL;

        g_assert_cmpint(ald_probe_report_read("{\"peer\":\"\"}", &peer, &port), ==, -EBADMSG);
        g_assert_cmpint(ald_probe_report_read("{\"bytes\":1}", &peer, &port), ==, -EBADMSG);
        g_assert_cmpint(
                ald_probe_report_read("{\"peer\":\"0000000000000000000000000000000a\"}", &peer, &port), ==,
                0);
        g_assert_cmpstr(peer, ==, "0000000000000000000000000000000a");
        g_assert_null(port);
        g_assert_cmpint(
                ald_probe_report_read("{\"peer\":\"0000000000000000000000000000000a\",\"port\":\"mlx5_0.1\"}",
                        &same, &port),
                ==, 0);
        g_assert_cmpstr(port, ==, "mlx5_0.1");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-answer/verdict", test_verdict);
        g_test_add_func("/link-probe-answer/nonsense", test_nonsense);
        g_test_add_func("/link-probe-answer/figures", test_figures);
        g_test_add_func("/link-probe-answer/one-rate-is-none", test_one_rate_is_none);
        g_test_add_func("/link-probe-answer/progress", test_progress);
        g_test_add_func("/link-probe-answer/report", test_report);
        return g_test_run();
}
