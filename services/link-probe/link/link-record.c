/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/link-probe/link/link-record.h"
#include "services/link-probe/link/link-validation.h"
#include "state/link/link-quality.h"
#include "state/link/path-end.h"

char *ald_result_key(const AldProbeTarget *target)
{
        if (ald_probe_kind_is_rdma(target->kind))
                return g_strdup_printf("%s,%s,%s", target->source_port, target->peer, target->sink_port);
        return g_strdup_printf("%s,%s", target->peer, target->address);
}

/* Both functions set the source and the sink in `fields` and return the record. */
static AldRecord *make_socket_record(const char *own_id, const AldProbeTarget *target, AldLinkSocket *fields)
{
        fields->source = own_id;
        fields->sink = target->peer;
        fields->sink_address = target->address;
        return ald_result_make(ALD_KIND_LINK_SOCKET, fields);
}

static AldRecord *make_rdma_record(const char *own_id, const AldProbeTarget *target, AldLinkRdma *fields)
{
        fields->source = own_id;
        fields->sink = target->peer;
        fields->source_port = target->source_port;
        fields->sink_port = target->sink_port;
        return ald_result_make(ALD_KIND_LINK_RDMA, fields);
}

AldRecord *ald_result_failure(
        const char *own_id, const AldProbeTarget *target, const char *reason, uint64_t realtime_usec)
{
        AldLinkSocket socket = ALD_LINK_SOCKET_INIT;
        AldLinkRdma rdma = ALD_LINK_RDMA_INIT;

        if (ald_probe_kind_is_rdma(target->kind)) {
                rdma.failure = reason;
                rdma.failed_usec = realtime_usec;
                return make_rdma_record(own_id, target, &rdma);
        }
        socket.failure = reason;
        socket.failed_usec = realtime_usec;
        return make_socket_record(own_id, target, &socket);
}

static const AldRdmaPort *find_port(const AldNodeRecords *records, const char *port)
{
        const AldFabric *fabric = ald_node_records_as(records, FABRIC, AldFabric);

        return fabric ? ald_rows_find(&fabric->rdma_ports, port) : NULL;
}

/* Describes why a direction has no rate; NULL if both have one. Free with g_free(). */
static char *describe_partial(const AldRecord *result, const AldLinkBase *link)
{
        g_autofree char *reason = NULL;

        if (link->upload.bits_per_second != ALD_ABSENT_UINT64 &&
                link->download.bits_per_second != ALD_ABSENT_UINT64)
                return NULL;
        reason = ald_result_describe_missing(result);
        return g_strconcat(ALD_LINK_PARTIAL, reason ?: "no rate was reported", NULL);
}

static AldRecord *make_rdma_success(
        const char *own_id, const AldProbe *probe, const AldRecord *result, uint64_t realtime_usec)
{
        const AldProbeTarget *target = ald_probe_target(probe);
        const AldRdmaPort *source = find_port(ald_probe_own(probe), target->source_port);
        const AldRdmaPort *sink = find_port(ald_probe_peer(probe), target->sink_port);
        AldLinkRdma fields = ALD_LINK_RDMA_INIT;
        g_autofree char *missing = NULL;

        ald_struct_copy_common(
                &ald_link_rdma_struct, &fields, &ald_rdma_result_struct, ald_record_fields(result));
        missing = describe_partial(result, &fields.base);
        fields.failure = missing;
        fields.transport = ald_path_rdma_transport(source, sink);
        fields.negotiated_bits_per_second = ald_path_speed(
                fields.negotiated_bits_per_second, sink ? sink->rate_bits_per_second : ALD_ABSENT_UINT64);
        fields.measured_usec = realtime_usec;
        return make_rdma_record(own_id, target, &fields);
}

static void describe_path(const AldProbe *probe, AldLinkSocket *fields)
{
        const AldMedium *medium = ald_probe_medium(probe);
        const AldNodeRecords *peer = ald_probe_peer(probe);
        const AldPathEnd sink = ald_path_end_find(ald_node_records_as(peer, NETWORK, AldNetwork),
                ald_node_records_as(peer, FABRIC, AldFabric), fields->sink_interface,
                ald_probe_target(probe)->address);

        fields->source_interface = ald_probe_interface(probe);
        fields->source_interface_type = medium->type;
        fields->source_interface_generation = medium->generation;
        fields->sink_interface_type = sink.type;
        fields->sink_interface_generation = sink.generation;
        fields->negotiated_bits_per_second = ald_path_speed(medium->bits_per_second, sink.bits_per_second);
}

/* Round trips are kept: small packets may pass where full ones are lost. */
AldRecord *ald_result_without_rates(const char *own_id, const AldProbe *probe, const char *reason,
        const AldRecord *result, uint64_t realtime_usec)
{
        const AldLinkSocket measured = ald_result_link(result);
        AldLinkSocket fields = ALD_LINK_SOCKET_INIT;

        fields.sink_interface = measured.sink_interface;
        describe_path(probe, &fields);
        fields.rtt_min_nsec = measured.rtt_min_nsec;
        fields.rtt_p50_nsec = measured.rtt_p50_nsec;
        fields.rtt_p99_nsec = measured.rtt_p99_nsec;
        fields.jitter_nsec = measured.jitter_nsec;
        fields.kernel_min_rtt_nsec = measured.kernel_min_rtt_nsec;
        fields.rtt_measured_usec = realtime_usec;
        fields.failure = reason;
        fields.failed_usec = realtime_usec;
        return make_socket_record(own_id, ald_probe_target(probe), &fields);
}

/* Removes what a check does not measure. If it was disturbed, its rates say nothing about the link; other
 * traffic is recorded for full measurements only. */
static void reduce_to_check(const AldProbe *probe, uint64_t realtime_usec, AldLinkSocket *fields)
{
        bool disturbed = ald_link_disturbance(fields) != ALD_ABSENT_UINT64;

        for (size_t i = 0; i < G_N_ELEMENTS(fields->directions); i++) {
                if (disturbed)
                        fields->directions[i].spot_bits_per_second = ALD_ABSENT_UINT64;
                fields->directions[i].other_bits_per_second = ALD_ABSENT_UINT64;
        }
        fields->flags = NULL;
        fields->measured_usec = ALD_ABSENT_UINT64;
        fields->rtt_measured_usec = realtime_usec;
        if (ald_probe_saw_errors(probe))
                fields->changed = ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_ERRORS);
}

static AldRecord *make_socket_success(
        const char *own_id, const AldProbe *probe, const AldRecord *result, uint64_t realtime_usec)
{
        AldLinkSocket fields = ald_result_link(result);
        g_autofree char *missing = NULL;

        describe_path(probe, &fields);
        if (ald_result_is_check(result)) {
                reduce_to_check(probe, realtime_usec, &fields);
                return make_socket_record(own_id, ald_probe_target(probe), &fields);
        }
        missing = describe_partial(result, &fields.base);
        fields.failure = missing;
        fields.measured_usec = realtime_usec;
        if (fields.rtt_p50_nsec != ALD_ABSENT_UINT64)
                fields.rtt_measured_usec = realtime_usec;
        return make_socket_record(own_id, ald_probe_target(probe), &fields);
}

AldRecord *ald_result_success(
        const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        return ald_probe_kind_is_rdma(ald_probe_target(probe)->kind)
                       ? make_rdma_success(own_id, probe, answer->result, realtime_usec)
                       : make_socket_success(own_id, probe, answer->result, realtime_usec);
}
