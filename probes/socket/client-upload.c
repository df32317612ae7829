/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "probes/common/evaluator.h"
#include "probes/common/fd.h"
#include "probes/socket/client-private.h"
#include "probes/socket/pace.h"
#include "probes/socket/token.h"

#define PEAK_NS (100 * ALD_NSEC_PER_MSEC)

/* What this side sees of an upload, to check the verdict of the other side. */
typedef struct Upload {
        AldFlow flow;
        AldInterfaceTraffic traffic;
        uint64_t begun, moved;
        bool moving; /* something was acknowledged */
        uint64_t first;
        uint64_t window_begin, window_bytes;
        double peak; /* the greatest rate of acknowledged bytes, bytes/ns */
} Upload;

static int add_streams(AldClient *client, Upload *upload, const char *const *tokens)
{
        int r = 0, fd;

        for (size_t i = 0; tokens[i] && r >= 0; i++) {
                r = ald_client_connect(client, tokens[i], &fd);
                if (r >= 0 && (r = ald_flow_add(&upload->flow, fd, ALD_TOKEN_SIZE)) < 0)
                        ald_fail(client->failure, ALD_FAILURE_INTERNAL, "no thread: %s", g_strerror(-r));
        }
        return r;
}

static int add_more_streams(AldClient *client, Upload *upload, const AldRecord *message)
{
        const char *const *tokens = ald_record_as(message, SOCKET_MORE, AldSocketMore)->tokens;

        if (upload->flow.n + g_strv_length((char **) tokens) > ald_client_streams_max(client))
                return ald_channel_unexpected(&client->channel, message);
        return add_streams(client, upload, tokens);
}

static void watch(Upload *upload)
{
        AldTransferCounters moved = ald_flow_moved(&upload->flow);

        upload->moved = moved.bytes;
        if (moved.bytes == 0)
                return;
        if (!upload->moving) {
                upload->moving = true;
                upload->first = upload->window_begin = moved.when;
                upload->window_bytes = 0;
        }
        if (moved.when - upload->window_begin < PEAK_NS)
                return;
        upload->peak = MAX(upload->peak,
                (double) (moved.bytes - upload->window_bytes) / (double) (moved.when - upload->window_begin));
        upload->window_begin = moved.when;
        upload->window_bytes = moved.bytes;
}

/* Whether a rate is possible, by the rates at which bytes were acknowledged. A transfer that was over at once
 * has none, so its rate has to fit its bytes and time. */
static bool is_rate_plausible(
        const Upload *upload, const AldVerdict *verdict, const AldTransferCounters *moved)
{
        double claimed = (double) verdict->bits_per_second / 8e9, whole;
        double most = 1.01 * (double) verdict->bytes;

        if ((double) verdict->mean / 8e9 * (double) verdict->nsec > most)
                return false;
        if (verdict->bins == 0)
                return claimed * (double) verdict->nsec <= most;
        whole = upload->moving ? (double) moved->bytes / (double) MAX(moved->when - upload->first, 1) : 0;
        return claimed <= 2 * MAX(upload->peak, whole);
}

/*
 * Whether the verdict of the receiver fits what was sent and acknowledged. Its kernel acknowledges what it
 * has, so a large difference cannot be chance.
 */
static bool is_plausible(const Upload *upload, const AldVerdict *verdict)
{
        AldTransferCounters moved = ald_flow_moved(&upload->flow);
        /* What a thread is about to send is counted when all of it is in the kernel. */
        uint64_t under_way = (uint64_t) upload->flow.n * ALD_STREAM_CHUNK;

        return verdict->bytes <= ald_flow_sent(&upload->flow) + under_way &&
               verdict->bytes >= moved.bytes / 2 && verdict->nsec <= moved.when - upload->begun &&
               verdict->streams >= 1 && verdict->streams <= ALD_FLOW_STREAMS_MAX &&
               is_rate_plausible(upload, verdict, &moved);
}

/* Other traffic, at the end that saw more of it. */
static void take_other_traffic(AldClient *client, const Upload *upload, uint64_t theirs)
{
        const AldTrafficSockets sockets = ald_client_sockets(client);

        client->result->upload.other = ald_optional_max(ald_optional_of_field(theirs),
                ald_traffic_end(&upload->traffic, ald_flow_wire_bytes(&upload->flow), &sockets));
}

static int take_no_rate(AldClient *client, const Upload *upload, const AldSocketNoRate *message)
{
        AldDirection *direction = &client->result->upload;

        take_other_traffic(client, upload, message->other_bits_per_second);
        g_strlcpy(direction->reason, message->reason ?: "the other side found no rate",
                sizeof direction->reason);
        return 1;
}

static int take_verdict(AldClient *client, const Upload *upload, const AldSocketVerdict *message)
{
        AldDirection *direction = &client->result->upload;
        AldVerdict verdict = ALD_VERDICT_OF_REPORT(message);

        verdict.streams = (unsigned) message->streams;
        take_other_traffic(client, upload, message->other_bits_per_second);
        if (!is_plausible(upload, &verdict))
                return ald_fail(client->failure, ALD_FAILURE_PROTOCOL,
                        "what the other side says it received does not fit what it acknowledged");
        direction->known = true;
        direction->limiter = (AldSocketVerdictLimiter) ald_socket_verdict_limiter_from_string(
                message->limiter);
        direction->retransmits = ald_flow_retransmits(&upload->flow);
        direction->verdict = verdict;
        memcpy(client->result->congestion, upload->flow.congestion, sizeof client->result->congestion);
        return 1;
}

static int tell_effort(AldClient *client, Upload *upload)
{
        AldSocketEffort effort;

        if (!ald_flow_effort_is_due(&upload->flow, upload->moved, ald_now()))
                return 0;
        ald_flow_effort(&upload->flow, &effort);
        return ald_channel_send(&client->channel, ALD_KIND_SOCKET_EFFORT, &effort);
}

/* 1 at the end of the upload. */
static int handle(AldClient *client, Upload *upload, const AldRecord *message)
{
        switch ((int) message->kind) {
        case ALD_KIND_SOCKET_VERDICT:
                return take_verdict(client, upload, ald_record_as(message, SOCKET_VERDICT, AldSocketVerdict));
        case ALD_KIND_SOCKET_NO_RATE:
                return take_no_rate(client, upload, ald_record_as(message, SOCKET_NO_RATE, AldSocketNoRate));
        case ALD_KIND_SOCKET_MORE:
                return add_more_streams(client, upload, message);
        default:
                return ald_channel_unexpected(&client->channel, message);
        }
}

/* 1 at the end of the upload. */
static int step(AldClient *client, Upload *upload)
{
        g_autoptr(AldRecord) message = NULL;
        int r = ald_channel_try(&client->channel, &message);

        if (r != 0)
                return r < 0 ? r : handle(client, upload, message);
        watch(upload);
        ald_rtt_set_pace(&client->rtt, upload->moved, ald_now() - upload->begun);
        if (ald_now() - upload->begun > ald_client_nsec_max(client) + ALD_GRACE_NS)
                return ald_fail(
                        client->failure, ALD_FAILURE_TIMEOUT, "the other side did not end the transfer");
        ald_progress_report(
                client->progress, "upload", (double) (ald_now() - upload->begun) / (double) ALD_SOFT_NS);
        r = tell_effort(client, upload);
        return r < 0 ? r : ald_client_wait(client, ALD_TICK_NS);
}

int ald_client_upload(AldClient *client)
{
        Upload upload = { .begun = ald_now() };
        g_autoptr(AldRecord) tokens = NULL;
        const AldTrafficSockets sockets = ald_client_sockets(client);
        int r = ald_flow_init(&upload.flow, true, client->zerocopy, ald_client_bytes_max(client));

        if (r < 0)
                ald_fail(client->failure, ALD_FAILURE_INTERNAL, "the data to send cannot be generated");
        ald_traffic_begin(&upload.traffic, client->result->interface, true, &sockets);
        if (r >= 0)
                r = ald_client_begin(client, ALD_SOCKET_BEGIN_DIRECTION_UPLOAD);
        if (r >= 0)
                r = ald_client_ask_tokens(client, ALD_SOCKET_OPEN_PURPOSE_UPLOAD, 1, &tokens);
        if (r >= 0)
                r = add_streams(
                        client, &upload, ald_record_as(tokens, SOCKET_TOKENS, AldSocketTokens)->tokens);
        ald_client_begin_loaded(client);
        while (r == 0)
                r = step(client, &upload);
        ald_flow_clear(&upload.flow);
        ald_client_end_loaded(client, r < 0);
        return MIN(r, 0);
}
