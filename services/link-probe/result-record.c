/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "services/link-probe/rdma-answer.h"
#include "services/link-probe/result-record.h"
#include "state/link-quality.h"
#include "state/path-end.h"

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

static bool is_unsteady(
        double upload_interval, double upload_spread, double download_interval, double download_spread)
{
        return ald_link_percent_is_unsteady(upload_interval, upload_spread) ||
               ald_link_percent_is_unsteady(download_interval, download_spread);
}

static bool make_flags(bool disturbed, bool unsteady, const char *flags[static ALD_RESULT_FLAGS_MAX + 1])
{
        unsigned n = 0;

        if (disturbed)
                flags[n++] = ALD_LINK_DISTURBED;
        if (unsteady)
                flags[n++] = ALD_LINK_UNSTEADY;
        flags[n] = NULL;
        return n > 0;
}

static bool flag_socket(const AldLinkSocket *fields, const char *flags[static ALD_RESULT_FLAGS_MAX + 1])
{
        return make_flags(ald_link_disturbance(fields) != ALD_ABSENT_UINT64,
                is_unsteady(fields->upload_interval, fields->upload_spread, fields->download_interval,
                        fields->download_spread),
                flags);
}

static bool flag_rdma(const AldLinkRdma *fields, const char *flags[static ALD_RESULT_FLAGS_MAX + 1])
{
        return make_flags(false,
                is_unsteady(fields->upload_interval, fields->upload_spread, fields->download_interval,
                        fields->download_spread),
                flags);
}

static int read_rdma(const AldProbeTarget *target, const AldProbeAnswer *answer, AldLinkRdma *ret)
{
        return ald_rdma_answer_figures(answer, target->source_port, target->sink_port, ret);
}

char *ald_result_problem(const AldProbeTarget *target, const AldProbeAnswer *answer)
{
        g_autofree char *missing = NULL;
        AldLinkSocket socket;
        AldLinkRdma rdma;
        int r = target->transport == ALD_TRANSPORT_RDMA ? read_rdma(target, answer, &rdma)
                                                        : ald_probe_answer_figures(answer, &socket);

        if (r >= 0)
                return NULL;
        if (r == -EXDEV)
                return g_strdup("the probe measured between other ports");
        if (ald_probe_answer_is_check(answer))
                return g_strdup("the probe gave no round trips");
        missing = ald_probe_answer_missing(answer);
        return g_strdup_printf("the probe gave no rates%s%s", missing ? ": " : "", missing ?: "");
}

bool ald_result_flags(const AldProbeTarget *target, const AldProbeAnswer *answer,
        const char *flags[static ALD_RESULT_FLAGS_MAX + 1])
{
        AldLinkSocket socket;
        AldLinkRdma rdma;

        if (target->transport == ALD_TRANSPORT_RDMA)
                return read_rdma(target, answer, &rdma) >= 0 && flag_rdma(&rdma, flags);
        return ald_probe_answer_figures(answer, &socket) >= 0 && flag_socket(&socket, flags);
}

static const AldNetwork *network_of(const AldNodeRecords *records)
{
        return ald_record_as(records->network, NETWORK, AldNetwork);
}

static const AldFabric *fabric_of(const AldNodeRecords *records)
{
        return ald_record_as(records->fabric, FABRIC, AldFabric);
}

static const AldRdmaPort *find_port(const AldNodeRecords *records, const char *port)
{
        const AldFabric *fabric = fabric_of(records);

        return fabric ? ald_rows_find(&fabric->rdma_ports, port) : NULL;
}

/* Why a direction has no rate, where that is so. */
static char *describe_missing(const AldProbeAnswer *answer, bool missing)
{
        g_autofree char *reason = missing ? ald_probe_answer_missing(answer) : NULL;

        return missing ? g_strconcat(ALD_LINK_PARTIAL, reason ?: "no rate was reported", NULL) : NULL;
}

static AldRecord *succeed_over_rdma(
        const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        const AldProbeTarget *target = ald_probe_target(probe);
        const AldRdmaPort *source = find_port(ald_probe_own(probe), target->source_port);
        const AldRdmaPort *sink = find_port(ald_probe_peer(probe), target->sink_port);
        const char *flags[ALD_RESULT_FLAGS_MAX + 1];
        g_autofree char *missing = NULL;
        AldLinkRdma fields;
        int r;

        r = read_rdma(target, answer, &fields);
        g_assert(r >= 0);
        missing = describe_missing(answer, fields.upload_bits_per_second == ALD_ABSENT_UINT64 ||
                                                   fields.download_bits_per_second == ALD_ABSENT_UINT64);
        fields.failure = missing;
        fields.flags = flag_rdma(&fields, flags) ? flags : NULL;
        fields.transport = ald_path_rdma_transport(source, sink);
        fields.negotiated_bits_per_second = ald_path_speed(
                fields.negotiated_bits_per_second, sink ? sink->rate_bits_per_second : ALD_ABSENT_UINT64);
        fields.measured_usec = realtime_usec;
        return record_of_rdma(own_id, target, &fields);
}

static void describe_path(const AldProbe *probe, AldLinkSocket *fields)
{
        const AldMedium *medium = ald_probe_medium(probe);
        const AldNodeRecords *peer = ald_probe_peer(probe);
        const AldPathEnd sink = ald_path_end_find(
                network_of(peer), fabric_of(peer), fields->sink_interface, ald_probe_target(probe)->address);

        fields->source_interface = ald_probe_interface(probe);
        fields->source_interface_type = medium->type;
        fields->source_interface_generation = medium->generation;
        fields->sink_interface_type = sink.type;
        fields->sink_interface_generation = sink.generation;
        fields->negotiated_bits_per_second = ald_path_speed(medium->bits_per_second, sink.bits_per_second);
}

/* A disturbed check has no information about the rates. Other traffic is recorded for whole measurements
 * only. */
static AldRecord *record_of_check(
        const char *own_id, const AldProbe *probe, AldLinkSocket *fields, uint64_t realtime_usec)
{
        if (ald_link_disturbance(fields) != ALD_ABSENT_UINT64)
                fields->spot_upload_bits_per_second = fields->spot_download_bits_per_second =
                        ALD_ABSENT_UINT64;
        fields->upload_other_bits_per_second = fields->download_other_bits_per_second = ALD_ABSENT_UINT64;
        describe_path(probe, fields);
        fields->rtt_measured_usec = realtime_usec;
        if (ald_probe_saw_errors(probe))
                fields->changed = ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_ERRORS);
        return record_of_socket(own_id, ald_probe_target(probe), fields);
}

static AldRecord *succeed_over_sockets(
        const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        const char *flags[ALD_RESULT_FLAGS_MAX + 1];
        g_autofree char *missing = NULL;
        AldLinkSocket fields;
        int r;

        r = ald_probe_answer_figures(answer, &fields);
        g_assert(r >= 0);
        if (ald_probe_answer_is_check(answer))
                return record_of_check(own_id, probe, &fields, realtime_usec);
        describe_path(probe, &fields);
        missing = describe_missing(answer, fields.upload_bits_per_second == ALD_ABSENT_UINT64 ||
                                                   fields.download_bits_per_second == ALD_ABSENT_UINT64);
        fields.failure = missing;
        fields.flags = flag_socket(&fields, flags) ? flags : NULL;
        fields.measured_usec = realtime_usec;
        if (fields.rtt_p50_nsec != ALD_ABSENT_UINT64)
                fields.rtt_measured_usec = realtime_usec;
        return record_of_socket(own_id, ald_probe_target(probe), &fields);
}

AldRecord *ald_result_success(
        const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        return ald_probe_target(probe)->transport == ALD_TRANSPORT_RDMA
                       ? succeed_over_rdma(own_id, probe, answer, realtime_usec)
                       : succeed_over_sockets(own_id, probe, answer, realtime_usec);
}
