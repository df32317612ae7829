/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/link/link-validation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const char *text)
{
        g_autoptr(AldRecord) progress = NULL, report = NULL, served = NULL;

        if (ald_probe_answer_parse(ALD_KIND_PROBE_PROGRESS, text, &progress) >= 0) {
                double fraction = ald_record_as(progress, PROBE_PROGRESS, AldProbeProgress)->fraction;

                g_assert_true(fraction >= 0 && fraction <= 1);
        }
        if (ald_probe_answer_parse(ALD_KIND_SESSION_REPORT, text, &report) >= 0) {
                const AldSessionReport *fields = ald_record_as(report, SESSION_REPORT, AldSessionReport);

                g_assert_true(!fields->peer || strlen(fields->peer) == 32);
        }
        if (ald_probe_answer_parse(ALD_KIND_SOCKET_SERVED, text, &served) >= 0)
                g_assert_cmpuint(
                        ald_record_as(served, SOCKET_SERVED, AldSocketServed)->upload_bits_per_second, >, 0);
}

/* A result is a failure with a reason, or has what its link is shown with. */
static void check_result(const AldProbeKind *kind, const char *text)
{
        AldProbeTarget target;
        g_auto(AldProbeAnswer) answer = { 0 };

        g_assert_cmpint(
                ald_probe_target_set(&target, kind, "0000000000000000000000000000000b", "192.0.2.2", NULL),
                ==, 0);
        if (ald_probe_kind_is_rdma(kind))
                g_assert_cmpint(ald_probe_target_set_ports(&target, "mlx5_0.1", "mlx5_1.1"), ==, 0);
        kind->read(text, NULL, &target, &answer);
        g_assert_true((answer.verdict == ALD_PROBE_DONE) == (answer.result != NULL));
        g_assert_true((answer.verdict == ALD_PROBE_DONE) == (answer.reason == NULL));
        g_assert_true(!answer.reason || g_utf8_validate(answer.reason, -1, NULL));
        if (answer.result && !ald_probe_kind_is_rdma(kind)) {
                const AldLinkSocket link = ald_result_link(answer.result);

                g_assert_true(ald_result_is_check(answer.result)
                                      ? link.rtt_p50_nsec != ALD_ABSENT_UINT64
                                      : link.upload.bits_per_second != ALD_ABSENT_UINT64 ||
                                                link.download.bits_per_second != ALD_ABSENT_UINT64);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *text = g_strndup((const char *) data, size);

        check_lines(text);
        check_result(&ald_probe_socket, text);
        check_result(&ald_probe_rdma, text);
        return 0;
}
