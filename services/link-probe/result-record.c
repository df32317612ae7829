/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <net/if.h>
#include <string.h>

#include "services/link-probe/result-record.h"
#include "state/link-quality.h"
#include "state/path-end.h"

/* "disturbed" and "unsteady", and the NULL at the end. */
#define FLAGS_SIZE 3u

char *ald_result_key(const AldProbeTarget *target)
{
        if (target->transport == ALD_TRANSPORT_RDMA)
                return g_strdup_printf("%s,%s,%s", target->source_port, target->peer, target->sink_port);
        return g_strdup_printf("%s,%s", target->peer, target->address);
}

/* A few strings of bounded length always fit. */
static AldRecord *make_record(AldKind kind, const void *fields)
{
        AldRecord *record;
        int r = ald_record_new(kind, fields, &record);

        g_assert(r >= 0);
        return record;
}

/* These two take a struct whose source and sink are yet to be filled in. */
static AldRecord *record_of_socket(const char *own_id, const AldProbeTarget *target, AldLinkSocket *fields)
{
        fields->source = own_id;
        fields->sink = target->peer;
        fields->sink_address = target->address;
        return make_record(ALD_KIND_LINK_SOCKET, fields);
}

static AldRecord *record_of_rdma(const char *own_id, const AldProbeTarget *target, AldLinkRdma *fields)
{
        fields->source = own_id;
        fields->sink = target->peer;
        fields->source_port = target->source_port;
        fields->sink_port = target->sink_port;
        return make_record(ALD_KIND_LINK_RDMA, fields);
}

AldRecord *ald_result_failure(
        const char *own_id, const AldProbeTarget *target, const char *reason, uint64_t realtime_usec)
{
        AldLinkSocket socket = ALD_LINK_SOCKET_INIT;
        AldLinkRdma rdma = ALD_LINK_RDMA_INIT;

        if (target->transport == ALD_TRANSPORT_RDMA) {
                rdma.failure = reason;
                rdma.failed_usec = realtime_usec;
                return record_of_rdma(own_id, target, &rdma);
        }
        socket.failure = reason;
        socket.failed_usec = realtime_usec;
        return record_of_socket(own_id, target, &socket);
}

static const AldSocketResult *socket_result(const AldRecord *result)
{
        return ald_record_as(result, SOCKET_RESULT, AldSocketResult);
}

static bool is_check(const AldSocketResult *result)
{
        return result->scope &&
               ald_socket_result_scope_from_string(result->scope) != ALD_SOCKET_RESULT_SCOPE_FULL;
}

bool ald_result_is_check(const AldRecord *result)
{
        return result->kind == ALD_KIND_SOCKET_RESULT && is_check(socket_result(result));
}

static AldLinkSocket link_of(const AldSocketResult *result)
{
        AldLinkSocket link = ALD_LINK_SOCKET_INIT;

        ald_struct_copy_common(&ald_link_socket_struct, &link, &ald_socket_result_struct, result);
        return link;
}

AldLinkSocket ald_result_link(const AldRecord *result)
{
        return link_of(socket_result(result));
}

/* Why each direction without a rate has none: "upload: too little arrived". NULL if nothing is known. */
static char *describe_missing(const AldRecord *answer)
{
        const AldSocketResult *result = answer->kind == ALD_KIND_SOCKET_RESULT ? socket_result(answer) : NULL;
        const char *upload, *download;

        if (!result)
                return NULL;
        upload = result->upload_bits_per_second == ALD_ABSENT_UINT64 ? result->upload_reason : NULL;
        download = result->download_bits_per_second == ALD_ABSENT_UINT64 ? result->download_reason : NULL;
        if (!upload && !download)
                return NULL;
        return g_strconcat(upload ? "upload: " : "", upload ?: "", upload && download ? "; " : "",
                download ? "download: " : "", download ?: "", NULL);
}

/* A direction without a rate has no figures that describe one. */
#define CLEAR_UNLESS_RATED(result, way)                                                \
        do {                                                                           \
                if ((result)->way##_bits_per_second != ALD_ABSENT_UINT64)              \
                        break;                                                         \
                (result)->way##_interval = (result)->way##_spread = ALD_ABSENT_DOUBLE; \
                (result)->way##_mean_bits_per_second = ALD_ABSENT_UINT64;              \
                (result)->way##_interval_bits_per_second = ALD_ABSENT_UINT64;          \
        } while (0)

#define IS_UNSTEADY(result)                                                                  \
        (ald_link_percent_is_unsteady((result)->upload_interval, (result)->upload_spread) || \
                ald_link_percent_is_unsteady((result)->download_interval, (result)->download_spread))

#define HAS_RATE(result)                                          \
        ((result)->upload_bits_per_second != ALD_ABSENT_UINT64 || \
                (result)->download_bits_per_second != ALD_ABSENT_UINT64)

static void set_flags(bool disturbed, bool unsteady, const char *flags[static FLAGS_SIZE])
{
        unsigned n = 0;

        if (disturbed)
                flags[n++] = ALD_LINK_DISTURBED;
        if (unsteady)
                flags[n++] = ALD_LINK_UNSTEADY;
        flags[n] = NULL;
}

/* Both return a description of the problem, or NULL; free with g_free(). */
static char *judge_socket(const AldRecord *answer, AldSocketResult *fields)
{
        if (is_check(fields))
                fields->upload_bits_per_second = fields->download_bits_per_second = fields->streams =
                        fields->loaded_rtt_p50_nsec = ALD_ABSENT_UINT64;
        CLEAR_UNLESS_RATED(fields, upload);
        CLEAR_UNLESS_RATED(fields, download);
        if (fields->upload_bits_per_second == ALD_ABSENT_UINT64)
                fields->upload_limiter = NULL;
        if (fields->download_bits_per_second == ALD_ABSENT_UINT64)
                fields->download_limiter = NULL;
        if (fields->sink_interface && strlen(fields->sink_interface) >= IFNAMSIZ)
                fields->sink_interface = NULL;
        if (is_check(fields))
                return fields->rtt_p50_nsec == ALD_ABSENT_UINT64
                               ? g_strdup("the probe returned no round trips")
                               : NULL;
        if (!HAS_RATE(fields)) {
                g_autofree char *missing = describe_missing(answer);

                return g_strconcat("the probe returned no rates", missing ? ": " : "", missing, NULL);
        }
        return NULL;
}

static bool is_other(const char *told, const char *port)
{
        return told && !g_str_equal(told, port);
}

static char *judge_rdma(const AldProbeTarget *target, AldRdmaResult *fields)
{
        if (is_other(fields->source_port, target->source_port) ||
                is_other(fields->sink_port, target->sink_port))
                return g_strdup("the probe measured between different ports");
        fields->source_port = target->source_port;
        fields->sink_port = target->sink_port;
        CLEAR_UNLESS_RATED(fields, upload);
        CLEAR_UNLESS_RATED(fields, download);
        return HAS_RATE(fields) ? NULL : g_strdup("the probe returned no rates");
}

void ald_result_judge(const AldProbeTarget *target, AldProbeAnswer *answer)
{
        const char *flags[FLAGS_SIZE];
        AldRecord *record = NULL;
        char *problem;

        if (answer->verdict != ALD_PROBE_DONE)
                return;
        if (target->transport == ALD_TRANSPORT_RDMA) {
                AldRdmaResult fields = *ald_record_as(answer->result, RDMA_RESULT, AldRdmaResult);

                problem = judge_rdma(target, &fields);
                set_flags(false, IS_UNSTEADY(&fields), flags);
                fields.flags = flags;
                record = make_record(ALD_KIND_RDMA_RESULT, &fields);
        } else {
                AldSocketResult fields = *socket_result(answer->result);
                AldLinkSocket link;

                problem = judge_socket(answer->result, &fields);
                link = link_of(&fields);
                set_flags(ald_link_disturbance(&link) != ALD_ABSENT_UINT64, IS_UNSTEADY(&fields), flags);
                fields.flags = flags;
                record = make_record(ALD_KIND_SOCKET_RESULT, &fields);
        }
        ald_probe_answer_clear(answer);
        if (problem)
                *answer = (AldProbeAnswer){ .verdict = ALD_PROBE_FAILED, .reason = problem };
        else
                *answer = (AldProbeAnswer){ .verdict = ALD_PROBE_DONE, .result = ald_record_ref(record) };
        ald_record_unref(record);
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

/* Why a direction has no rate; NULL if both have one. Free with g_free(). */
static char *describe_partial(const AldRecord *result, uint64_t upload, uint64_t download)
{
        g_autofree char *reason = NULL;

        if (upload != ALD_ABSENT_UINT64 && download != ALD_ABSENT_UINT64)
                return NULL;
        reason = describe_missing(result);
        return g_strconcat(ALD_LINK_PARTIAL, reason ?: "no rate was reported", NULL);
}

static AldRecord *succeed_over_rdma(
        const char *own_id, const AldProbe *probe, const AldRecord *result, uint64_t realtime_usec)
{
        const AldProbeTarget *target = ald_probe_target(probe);
        const AldRdmaPort *source = find_port(ald_probe_own(probe), target->source_port);
        const AldRdmaPort *sink = find_port(ald_probe_peer(probe), target->sink_port);
        AldLinkRdma fields = ALD_LINK_RDMA_INIT;
        g_autofree char *missing = NULL;

        ald_struct_copy_common(
                &ald_link_rdma_struct, &fields, &ald_rdma_result_struct, ald_record_fields(result));
        missing = describe_partial(result, fields.upload_bits_per_second, fields.download_bits_per_second);
        fields.failure = missing;
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
static void finish_check(const AldProbe *probe, uint64_t realtime_usec, AldLinkSocket *fields)
{
        if (ald_link_disturbance(fields) != ALD_ABSENT_UINT64)
                fields->spot_upload_bits_per_second = fields->spot_download_bits_per_second =
                        ALD_ABSENT_UINT64;
        fields->upload_other_bits_per_second = fields->download_other_bits_per_second = ALD_ABSENT_UINT64;
        fields->flags = NULL;
        fields->measured_usec = ALD_ABSENT_UINT64;
        fields->rtt_measured_usec = realtime_usec;
        if (ald_probe_saw_errors(probe))
                fields->changed = ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_ERRORS);
}

static AldRecord *succeed_over_sockets(
        const char *own_id, const AldProbe *probe, const AldRecord *result, uint64_t realtime_usec)
{
        AldLinkSocket fields = ald_result_link(result);
        g_autofree char *missing = NULL;

        describe_path(probe, &fields);
        if (ald_result_is_check(result)) {
                finish_check(probe, realtime_usec, &fields);
                return record_of_socket(own_id, ald_probe_target(probe), &fields);
        }
        missing = describe_partial(result, fields.upload_bits_per_second, fields.download_bits_per_second);
        fields.failure = missing;
        fields.measured_usec = realtime_usec;
        if (fields.rtt_p50_nsec != ALD_ABSENT_UINT64)
                fields.rtt_measured_usec = realtime_usec;
        return record_of_socket(own_id, ald_probe_target(probe), &fields);
}

AldRecord *ald_result_success(
        const char *own_id, const AldProbe *probe, const AldProbeAnswer *answer, uint64_t realtime_usec)
{
        return ald_probe_target(probe)->transport == ALD_TRANSPORT_RDMA
                       ? succeed_over_rdma(own_id, probe, answer->result, realtime_usec)
                       : succeed_over_sockets(own_id, probe, answer->result, realtime_usec);
}
