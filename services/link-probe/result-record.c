/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/result-record.h"
#include "services/link-probe/rdma-answer.h"

char *ald_result_key(const AldProbeTarget *target)
{
        if (target->transport == ALD_TRANSPORT_RDMA)
                return g_strdup_printf("%s,%s,%s", target->source_port, target->peer, target->sink_port);
        return g_strdup_printf("%s,%s", target->peer, target->address);
}

/* Both take a struct whose source and sink are yet to be filled in. A few strings of bounded length always
 * fit. */
static AldRecord *record_of_socket(const char *own_id, const AldProbeTarget *target, AldLinkSocket *fields)
{
        AldRecord *record;
        int r;

        fields->source = own_id;
        fields->sink = target->peer;
        fields->sink_address = target->address;
        r = ald_record_new(ALD_KIND_LINK_SOCKET, fields, &record);
        g_assert(r >= 0);
        return record;
}

static AldRecord *record_of_rdma(const char *own_id, const AldProbeTarget *target, AldLinkRdma *fields)
{
        AldRecord *record;
        int r;

        fields->source = own_id;
        fields->sink = target->peer;
        fields->source_port = target->source_port;
        fields->sink_port = target->sink_port;
        r = ald_record_new(ALD_KIND_LINK_RDMA, fields, &record);
        g_assert(r >= 0);
        return record;
}

static uint64_t one_more(uint64_t failures)
{
        return failures == ALD_ABSENT_UINT64 ? 1 : failures + 1;
}

AldRecord *ald_result_failure(const char *own_id, const AldProbeTarget *target, const AldRecord *before,
        const char *reason, uint64_t realtime_usec)
{
        AldLinkSocket socket = ALD_LINK_SOCKET_INIT;
        AldLinkRdma rdma = ALD_LINK_RDMA_INIT;

        if (target->transport == ALD_TRANSPORT_RDMA) {
                if (before)
                        rdma = *ald_record_as(before, LINK_RDMA, AldLinkRdma);
                rdma.failure = reason;
                rdma.failed_usec = realtime_usec;
                rdma.failures = one_more(rdma.failures);
                return record_of_rdma(own_id, target, &rdma);
        }
        if (before)
                socket = *ald_record_as(before, LINK_SOCKET, AldLinkSocket);
        socket.failure = reason;
        socket.failed_usec = realtime_usec;
        socket.failures = one_more(socket.failures);
        return record_of_socket(own_id, target, &socket);
}

int ald_result_success(const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer,
        uint64_t realtime_usec, AldRecord **ret)
{
        const AldProbeTarget *target = ald_probe_target(probe);
        const AldMedium *medium = ald_probe_medium(probe);
        AldLinkSocket socket;
        AldLinkRdma rdma;
        int r;

        if (target->transport == ALD_TRANSPORT_RDMA) {
                r = ald_rdma_answer_figures(answer, target->source_port, target->sink_port, &rdma);
                if (r < 0)
                        return r;
                rdma.measured_usec = realtime_usec;
                *ret = record_of_rdma(own_id, target, &rdma);
                return 0;
        }
        r = ald_probe_answer_figures(answer, &socket);
        if (r < 0)
                return r;
        socket.source_interface = ald_probe_interface(probe);
        socket.source_interface_type = medium->type;
        socket.source_interface_generation = medium->generation;
        socket.negotiated_bits_per_second = medium->bits_per_second;
        socket.measured_usec = realtime_usec;
        *ret = record_of_socket(own_id, target, &socket);
        return 0;
}
