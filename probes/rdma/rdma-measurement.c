/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>

#include <glib.h>

#include "probes/common/evaluator.h"
#include "probes/rdma/rdma-measurement.h"
#include "record/figure-text.h"
#include "record/message.h"

#define METHOD "rdma; mean at the receiver's completions from arrival to arrival, without outliers"

/* Sets the GIDs, whose texts must outlive the message. */
static void set_gids(const AldRdmaMeasurement *result, char own[static INET6_ADDRSTRLEN],
        char peer[static INET6_ADDRSTRLEN], AldRdmaResult *message)
{
        if (!result->has_gid)
                return;
        message->source_gid = inet_ntop(AF_INET6, &result->own_gid.bytes, own, INET6_ADDRSTRLEN);
        message->sink_gid = inet_ntop(AF_INET6, &result->peer_gid.bytes, peer, INET6_ADDRSTRLEN);
        message->gid_type = ald_gid_type_to_string(result->own_gid.type);
        message->source_gid_index = result->own_gid.index;
        message->sink_gid_index = result->peer_gid.index;
}

static void set_path(const AldRdmaMeasurement *result, AldRdmaResult *message)
{
        message->connected_by = result->manager ? "rdma_cm" : "verbs";
        message->operation = ald_rdma_use_operation_to_string(result->plan.operation);
        message->mtu = result->mtu;
        message->message_bytes = result->plan.size;
        message->depth = result->plan.depth;
        message->queue_pairs = result->plan.queues;
        message->inline_bytes = result->inline_max;
        if (result->node >= 0)
                message->numa_node = (uint64_t) result->node;
        if (result->rate > 0)
                message->negotiated_bits_per_second = result->rate;
}

static void set_rtt(const AldRdmaMeasurement *result, AldRdmaResult *message)
{
        message->rtt_min_nsec = result->rtt.min;
        message->rtt_p50_nsec = result->rtt.p50;
        message->rtt_p99_nsec = result->rtt.p99;
        message->rtt_samples = result->rtt.n;
        message->jitter_nsec = result->rtt.jitter;
        message->read_rtt_p50_nsec = result->read.p50;
}

char *ald_rdma_measurement_to_json(const AldRdmaMeasurement *result)
{
        AldRdmaResult message = ALD_RDMA_RESULT_INIT;
        char own[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];

        message.sink = result->sink;
        message.sink_address = result->sink_address;
        message.source_port = result->source_port;
        message.sink_port = result->sink_port;
        message.measured_usec = result->measured;
        message.method = METHOD;
        set_gids(result, own, peer, &message);
        set_path(result, &message);
        set_rtt(result, &message);
        ald_verdict_to_message(&result->upload, &message.upload);
        ald_verdict_to_message(&result->download, &message.download);
        return ald_message_format(ALD_KIND_RDMA_RESULT, &message);
}

char *ald_rdma_session_report_to_json(const AldRdmaSessionReport *served, const AldFailure *failure)
{
        AldRdmaServed message = ALD_RDMA_SERVED_INIT;

        message.peer = served->peer;
        message.address = served->address;
        message.port = served->port;
        message.bytes = served->received + served->sent;
        message.received = served->received;
        message.sent = served->sent;
        message.error = ald_failure_name(failure);
        message.message = failure->message;
        return ald_message_format(ALD_KIND_RDMA_SERVED, &message);
}

static char *time_text(uint64_t nsec)
{
        return ald_format_figure(&ald_unit_nanoseconds, (double) nsec);
}

static char *rate_text(const AldVerdict *verdict)
{
        double rate = (double) verdict->bits_per_second;
        g_autofree char *text = ald_format_figure(&ald_unit_bits_per_second, rate);
        g_autofree char *interval = ald_format_interval(100 * (double) verdict->interval / rate);

        return verdict->interval == 0 ? g_steal_pointer(&text) : g_strdup_printf("%s %s", text, interval);
}

char *ald_rdma_measurement_to_text(const AldRdmaMeasurement *result)
{
        g_autofree char *upload = rate_text(&result->upload), *download = rate_text(&result->download);
        g_autofree char *p50 = time_text(result->rtt.p50), *min = time_text(result->rtt.min);
        g_autofree char *p99 = time_text(result->rtt.p99), *jitter = time_text(result->rtt.jitter);
        g_autofree char *read = time_text(result->read.p50);
        g_autofree char *size = ald_format_figure(&ald_unit_bytes, (double) result->plan.size);
        char own[INET6_ADDRSTRLEN] = "", peer[INET6_ADDRSTRLEN] = "";
        bool gids = result->has_gid;

        inet_ntop(AF_INET6, &result->own_gid.bytes, own, sizeof own);
        inet_ntop(AF_INET6, &result->peer_gid.bytes, peer, sizeof peer);

        return g_strdup_printf("%s%s%s → %s%s%s, %s, MTU %u, %u queue pair%s, %s of %s\n"
                               "Upload      %s\nDownload    %s\n"
                               "Round trip  %s (minimum %s, 99 %% within %s), jitter %s; reads %s\n",
                result->source_port, gids ? " by " : "", gids ? own : "", result->sink_port,
                gids ? " by " : "", gids ? peer : "",
                gids ? ald_gid_type_to_string(result->own_gid.type) : "rdma_cm", result->mtu,
                result->plan.queues, result->plan.queues == 1 ? "" : "s",
                ald_rdma_use_operation_to_string(result->plan.operation), size, upload, download, p50, min,
                p99, jitter, read);
}

char *ald_rdma_session_report_to_text(const AldRdmaSessionReport *served, const AldFailure *failure)
{
        g_autofree char *received = ald_format_figure(&ald_unit_bytes, (double) served->received);
        g_autofree char *sent = ald_format_figure(&ald_unit_bytes, (double) served->sent);

        if (failure->message)
                return g_strdup_printf(
                        "%s: %s", *served->address ? served->address : "no session", failure->message);
        return g_strdup_printf(
                "%s: %s from there, %s back, by %s", served->address, received, sent, served->port);
}
