/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/link-probe/rdma-answer.h"

void ald_rdma_answer_read(const char *output, const char *failure, AldProbeAnswer *ret)
{
        char *reason;

        ald_probe_answer_read(output, failure, ret);
        if (ret->verdict != ALD_PROBE_FAILED || !ret->word || g_str_equal(ret->word, ret->reason))
                return;
        reason = g_strdup_printf("%s: %s", ret->word, ret->reason);
        g_free(ret->reason);
        ret->reason = reason;
}

static bool is_other(const AldProbeAnswer *answer, const char *name, const char *port)
{
        const char *told = json_string_value(json_object_get(answer->json, name));

        return told && port && !g_str_equal(told, port);
}

int ald_rdma_answer_figures(
        const AldProbeAnswer *answer, const char *source_port, const char *sink_port, AldLinkRdma *ret)
{
        AldLinkRdma figures = ALD_LINK_RDMA_INIT;

        if (is_other(answer, "SourcePort", source_port) || is_other(answer, "SinkPort", sink_port))
                return -EXDEV;
        figures.upload_bits_per_second = ald_probe_answer_rate(answer, "UploadBitsPerSecond");
        figures.download_bits_per_second = ald_probe_answer_rate(answer, "DownloadBitsPerSecond");
        figures.upload_interval = ald_probe_answer_interval(answer, "UploadInterval");
        figures.download_interval = ald_probe_answer_interval(answer, "DownloadInterval");
        figures.upload_spread = ald_probe_answer_percent(answer, "UploadSpread");
        figures.download_spread = ald_probe_answer_percent(answer, "DownloadSpread");
        figures.rtt_min_nsec = ald_probe_answer_uint(answer, "RttMinNSec");
        figures.rtt_p50_nsec = ald_probe_answer_uint(answer, "RttP50NSec");
        figures.rtt_p99_nsec = ald_probe_answer_uint(answer, "RttP99NSec");
        figures.jitter_nsec = ald_probe_answer_uint(answer, "JitterNSec");
        figures.message_bytes = ald_probe_answer_uint(answer, "MessageBytes");
        figures.queue_pairs = ald_probe_answer_uint(answer, "QueuePairs");
        figures.negotiated_bits_per_second = ald_probe_answer_uint(answer, "NegotiatedBitsPerSecond");
        if (figures.upload_bits_per_second == ALD_ABSENT_UINT64 &&
                figures.download_bits_per_second == ALD_ABSENT_UINT64)
                return -EBADMSG;
        *ret = figures;
        return 0;
}
