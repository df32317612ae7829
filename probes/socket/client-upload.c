/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "probes/fd.h"
#include "probes/socket/client-private.h"
#include "probes/socket/pace.h"

#define PEAK_NS (100 * ALD_NSEC_PER_MSEC)

/* What we see of an upload ourselves, to check what the other side says of it. */
typedef struct Upload {
        AldFlow flow;
        AldTraffic traffic;
        uint64_t begun, moved;
        bool moving; /* something was acknowledged */
        uint64_t first;
        uint64_t window_begin, window_bytes;
        double peak; /* the greatest rate of acknowledged bytes, bytes/ns */
} Upload;

static int add_streams(AldClient *client, Upload *upload, const AldMessage *tokens)
{
        int r = 0, fd;

        if (upload->flow.n + tokens->n_tokens > ald_client_streams_max(client))
                return ald_exchange_unexpected(&client->channel, tokens);
        for (size_t i = 0; i < tokens->n_tokens && r >= 0; i++) {
                r = ald_client_connect(client, tokens->tokens[i], &fd);
                if (r >= 0 && (r = ald_flow_add(&upload->flow, fd, ALD_TOKEN_SIZE)) < 0)
                        ald_fail(client->failure, ALD_FAILURE_INTERNAL, "no thread: %s", g_strerror(-r));
        }
        return r;
}

static void watch(Upload *upload)
{
        AldMoved moved = ald_flow_moved(&upload->flow);

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

/* Whether a rate can be, by the rates at which bytes were acknowledged; of what was over at once there are
 * none, so there it has to fit its own bytes and time. */
static bool is_rate_plausible(const Upload *upload, const AldMessage *verdict, const AldMoved *moved)
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
 * Whether the word of the receiver fits what was sent and acknowledged. Its kernel acknowledges what it has,
 * so no great part of the difference can be chance.
 */
static bool is_plausible(const Upload *upload, const AldMessage *verdict)
{
        AldMoved moved = ald_flow_moved(&upload->flow);
        /* What a thread is about to send is counted when all of it is in the kernel. */
        uint64_t under_way = (uint64_t) upload->flow.n * ALD_STREAM_CHUNK;

        return verdict->bytes <= ald_flow_sent(&upload->flow) + under_way &&
               verdict->bytes >= moved.bytes / 2 && verdict->nsec <= moved.when - upload->begun &&
               verdict->streams >= 1 && verdict->streams <= ALD_FLOW_STREAMS_MAX &&
               is_rate_plausible(upload, verdict, &moved);
}

static int take_verdict(AldClient *client, const Upload *upload, const AldMessage *message)
{
        AldDirection *direction = &client->result->upload;
        const AldTrafficSockets sockets = ald_client_sockets(client);

        direction->other = ald_optional_max(message->other,
                ald_traffic_end(&upload->traffic, ald_flow_wire_bytes(&upload->flow), &sockets));
        if (message->bits_per_second == 0) {
                g_strlcpy(direction->reason, *message->text ? message->text : "the other side found no rate",
                        sizeof direction->reason);
                return 1;
        }
        if (!is_plausible(upload, message))
                return ald_fail(client->failure, ALD_FAILURE_PROTOCOL,
                        "what the other side says it received does not fit what it acknowledged");
        direction->known = true;
        direction->limiter = (AldLimiter) message->limiter;
        direction->retransmits = ald_flow_retransmits(&upload->flow);
        direction->verdict = (AldVerdict){
                .bits_per_second = message->bits_per_second,
                .mean = message->mean,
                .interval = MIN(message->interval, message->bits_per_second),
                .spread = message->spread,
                .bytes = message->bytes,
                .nsec = message->nsec,
                .bins = (unsigned) MIN(message->bins, UINT_MAX),
                .streams = (unsigned) message->streams,
        };
        memcpy(client->result->congestion, upload->flow.congestion, sizeof client->result->congestion);
        return 1;
}

static int tell_effort(AldClient *client, Upload *upload)
{
        AldMessage message = { .type = ALD_MESSAGE_EFFORT };

        if (!ald_flow_effort_is_due(&upload->flow, upload->moved, ald_now()))
                return 0;
        ald_flow_effort(&upload->flow, &message.effort);
        return ald_exchange_send(&client->channel, &message);
}

/* 1 with the verdict. */
static int step(AldClient *client, Upload *upload)
{
        AldMessage message;
        int r = ald_exchange_try(&client->channel, &message);

        if (r > 0 && message.type == ALD_MESSAGE_VERDICT)
                return take_verdict(client, upload, &message);
        if (r > 0 && message.type == ALD_MESSAGE_MORE)
                return add_streams(client, upload, &message);
        if (r > 0)
                return ald_exchange_unexpected(&client->channel, &message);
        if (r < 0)
                return r;
        watch(upload);
        ald_rtt_set_pace(&client->rtt, upload->moved, ald_now() - upload->begun);
        if (ald_now() - upload->begun > ald_client_nsec_max(client) + ALD_GRACE_NS)
                return ald_fail(
                        client->failure, ALD_FAILURE_TIMEOUT, "the other side did not end the transfer");
        ald_progress_tell(
                client->progress, "upload", (double) (ald_now() - upload->begun) / (double) ALD_SOFT_NS);
        r = tell_effort(client, upload);
        return r < 0 ? r : ald_client_wait(client, ALD_TICK_NS);
}

int ald_client_upload(AldClient *client)
{
        Upload upload = { .begun = ald_now() };
        AldMessage tokens;
        const AldTrafficSockets sockets = ald_client_sockets(client);
        int r = ald_flow_init(&upload.flow, true, client->zerocopy, ald_client_bytes_max(client));

        if (r < 0)
                ald_fail(client->failure, ALD_FAILURE_INTERNAL, "what is sent cannot be made up");
        ald_traffic_begin(&upload.traffic, client->result->interface, true, &sockets);
        if (r >= 0)
                r = ald_client_begin(client, ALD_PURPOSE_UPLOAD);
        if (r >= 0)
                r = ald_client_ask_tokens(client, ALD_PURPOSE_UPLOAD, 1, &tokens);
        if (r >= 0)
                r = add_streams(client, &upload, &tokens);
        ald_client_begin_loaded(client);
        while (r == 0)
                r = step(client, &upload);
        ald_flow_clear(&upload.flow);
        ald_client_end_loaded(client, r < 0);
        return MIN(r, 0);
}
