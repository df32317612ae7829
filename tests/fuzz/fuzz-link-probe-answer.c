/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record.h"
#include "services/link-probe/rdma-answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const char *text)
{
        g_autofree char *phase = NULL;
        g_auto(AldProbeReport) report = { 0 };
        double fraction = -1;

        if (ald_probe_progress_read(text, &phase, &fraction) >= 0)
                g_assert_true(fraction >= 0 && fraction <= 1);
        if (ald_probe_report_read(text, &report) >= 0)
                g_assert_true(report.peer ? strlen(report.peer) == 32 : report.asks);
}

static void check_rdma(const char *text)
{
        g_auto(AldProbeAnswer) answer = { 0 };
        g_autoptr(AldRecord) record = NULL;
        AldLinkRdma row;

        ald_rdma_answer_read(text, NULL, &answer);
        g_assert_true((answer.verdict == ALD_PROBE_DONE) == (answer.json != NULL));
        g_assert_true((answer.verdict == ALD_PROBE_DONE) == (answer.reason == NULL));
        g_assert_true(!answer.reason || g_utf8_validate(answer.reason, -1, NULL));
        if (!answer.json || ald_rdma_answer_figures(&answer, "mlx5_0.1", "mlx5_1.1", &row) < 0)
                return;
        g_assert_cmpint(ald_record_new(ALD_KIND_LINK_RDMA, &row, &record), ==, 0);
        g_assert_cmpuint(ald_record_as(record, LINK_RDMA, AldLinkRdma)->download_bits_per_second, ==,
                row.download_bits_per_second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);
        g_auto(AldProbeAnswer) answer = { 0 };
        g_autoptr(AldRecord) record = NULL;
        AldLinkSocket row;

        check_lines(text);
        check_rdma(text);
        ald_probe_answer_read(text, NULL, &answer);
        g_assert_true((answer.verdict == ALD_PROBE_DONE) == (answer.json != NULL));
        g_assert_true((answer.verdict == ALD_PROBE_DONE) == (answer.reason == NULL));
        g_assert_true(!answer.reason || g_utf8_validate(answer.reason, -1, NULL));
        if (!answer.json || ald_probe_answer_figures(&answer, &row) < 0)
                return 0;
        g_assert_cmpint(ald_record_new(ALD_KIND_LINK_SOCKET, &row, &record), ==, 0);
        g_assert_cmpuint(ald_record_as(record, LINK_SOCKET, AldLinkSocket)->upload_bits_per_second, ==,
                row.upload_bits_per_second);
        return 0;
}
