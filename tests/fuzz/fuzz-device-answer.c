/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/kinds/compute-answer.h"
#include "services/link-probe/kinds/storage-answer.h"
#include "state/results/compute-result.h"

#define NOW UINT64_C(1700000000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_progress(const char *text)
{
        g_autofree char *phase = NULL;
        double fraction = -1;

        if (ald_compute_progress_read(text, ALD_COMPUTE_GEMM | ALD_COMPUTE_PEAK, &phase, &fraction) < 0)
                return;
        g_assert_true(fraction >= 0 && fraction <= 1);
        g_assert_true(g_utf8_validate(phase, -1, NULL));
}

/* One row, of our device, as it was measured now; merged with itself it is the same. */
static void check_record(AldRecord *record)
{
        const AldRows *rows = &ald_record_as(record, COMPUTE, AldCompute)->devices;
        const AldComputeDevice *row = ald_rows_at(rows, 0);
        g_autoptr(AldRecord) once = NULL, twice = NULL;

        g_assert_cmpuint(rows->n, ==, 1);
        g_assert_cmpstr(row->id, ==, "cpu");
        g_assert_cmpstr(row->driver_version, ==, "3.1");
        g_assert_cmpuint(row->measured_usec, ==, NOW);
        g_assert_true((row->failure != NULL) == (row->failed_usec == NOW));
        g_assert_false(row->gemm_tflops < 0 || row->peak_tflops < 0);
        g_assert_cmpint(ald_compute_result_merge(NULL, record, &once), ==, 0);
        g_assert_cmpint(ald_compute_result_merge(once, record, &twice), ==, 0);
        g_assert_cmpint(ald_record_compare(once, twice), ==, 0);
}

static void check_storage(const char *text)
{
        const AldProbeTarget target = { .device = (char *) "cpu" };
        g_auto(AldProbeAnswer) answer = { 0 };
        g_autoptr(AldRecord) record = NULL;

        ald_storage_answer_read(text, NULL, "cpu", false, &answer);
        g_assert_true((answer.verdict == ALD_PROBE_DONE) == (answer.reason == NULL));
        if (answer.verdict == ALD_PROBE_DONE)
                g_assert_cmpint(ald_storage_answer_record(&target, &answer, NOW, &record), ==, 0);
        (void) ald_storage_answer_bytes(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);
        const AldProbeTarget target = { .device = (char *) "cpu", .driver_version = (char *) "3.1" };
        g_auto(AldProbeAnswer) answer = { 0 };
        g_autoptr(AldRecord) record = NULL;

        check_progress(text);
        check_storage(text);
        ald_compute_answer_read(text, NULL, "cpu", false, &answer);
        g_assert_true((answer.verdict == ALD_PROBE_DONE) == (answer.result != NULL));
        g_assert_true((answer.verdict == ALD_PROBE_DONE) == (answer.reason == NULL));
        g_assert_true(!answer.reason || g_utf8_validate(answer.reason, -1, NULL));
        if (!answer.result)
                return 0;
        g_assert_cmpint(ald_compute_answer_record(&target, &answer, NOW, &record), ==, 0);
        check_record(record);
        return 0;
}
