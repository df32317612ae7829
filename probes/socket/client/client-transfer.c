/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/common/evaluator.h"
#include "probes/socket/client/client-transfer.h"
#include "probes/socket/transfer/timing.h"
#include "probes/socket/transfer/token.h"

#define PEAK_NS (100 * ALD_NSEC_PER_MSEC)

/* An upload as this side sees it, to check the verdict of the other side. */
typedef struct Upload {
        AldStreamGroup group;
        AldInterfaceTraffic traffic;
        uint64_t begun, opened, acked; /* opened: time of the first token */
        bool started;                  /* something was acknowledged */
        uint64_t first;
        uint64_t window_begin, window_bytes;
        double peak; /* the greatest rate of acknowledged bytes, bytes/ns */
} Upload;

static int add_upload_streams(AldSocketClient *client, Upload *upload, const char *const *tokens)
{
        int r = 0, fd;

        for (size_t i = 0; tokens[i] && r >= 0; i++) {
                r = ald_socket_client_connect(client, tokens[i], &fd);
                if (r >= 0 && (r = ald_stream_group_add(&upload->group, fd, ALD_TOKEN_SIZE)) < 0)
                        ald_fail(client->failure, ALD_FAILURE_INTERNAL, "no thread: %s", g_strerror(-r));
        }
        return r;
}

static int add_more_streams(AldSocketClient *client, Upload *upload, const AldRecord *message)
{
        const char *const *tokens = ald_record_as(message, SOCKET_MORE, AldSocketMore)->tokens;

        if (upload->group.n + g_strv_length((char **) tokens) > ald_socket_client_streams_max(client))
                return ald_channel_unexpected(&client->channel, message);
        return add_upload_streams(client, upload, tokens);
}

static void watch_acknowledgements(Upload *upload)
{
        AldTransferCounters counters = ald_stream_group_counters(&upload->group);

        upload->acked = counters.bytes;
        if (counters.bytes == 0)
                return;
        if (!upload->started) {
                upload->started = true;
                upload->first = upload->window_begin = counters.when;
                upload->window_bytes = 0;
        }
        if (counters.when - upload->window_begin < PEAK_NS)
                return;
        upload->peak = MAX(upload->peak, (double) (counters.bytes - upload->window_bytes) /
                                                 (double) (counters.when - upload->window_begin));
        upload->window_begin = counters.when;
        upload->window_bytes = counters.bytes;
}

/* Returns whether a rate is possible, given the rates at which bytes were acknowledged. A transfer that was
 * over at once has none, so its rate must fit its bytes and time. */
static bool is_rate_plausible(
        const Upload *upload, const AldVerdict *verdict, const AldTransferCounters *counters)
{
        double claimed = (double) verdict->bits_per_second / 8e9, whole;
        double most = 1.01 * (double) verdict->bytes;

        if ((double) verdict->mean / 8e9 * (double) verdict->nsec > most)
                return false;
        if (verdict->bins == 0)
                return claimed * (double) verdict->nsec <= most;
        whole = upload->started ? (double) counters->bytes / (double) MAX(counters->when - upload->first, 1)
                                : 0;
        return claimed <= 2 * MAX(upload->peak, whole);
}

/*
 * Returns whether the verdict of the receiver fits the bytes that were sent and acknowledged. Its kernel
 * acknowledges what it has, so a large difference cannot be chance.
 */
static bool is_verdict_plausible(const Upload *upload, const AldVerdict *verdict)
{
        AldTransferCounters counters = ald_stream_group_counters(&upload->group);
        /* Data that a thread is sending is counted only when all of it is in the kernel. */
        uint64_t under_way = (uint64_t) upload->group.n * ALD_STREAM_CHUNK;

        return verdict->bytes <= ald_stream_group_sent(&upload->group) + under_way &&
               verdict->bytes >= counters.bytes / 2 && verdict->nsec <= counters.when - upload->begun &&
               verdict->streams >= 1 && verdict->streams <= ALD_STREAM_GROUP_MAX &&
               is_rate_plausible(upload, verdict, &counters);
}

/* Sets the rate of other traffic, at the end that saw more of it. */
static void set_other_traffic(AldSocketClient *client, Upload *upload, uint64_t theirs)
{
        const AldTrafficSockets sockets = ald_socket_client_sockets(client, &upload->group);

        client->result->upload.other = ald_optional_max(
                ald_optional_of_field(theirs), ald_traffic_end(&upload->traffic, &sockets, client->before));
}

/*
 * Explains why nothing arrived although round trips did, if the data was sent repeatedly. `packet` is the
 * size of the packets in bytes, 0 if unknown.
 */
static void explain_lost_packets(
        const AldSocketClient *client, uint64_t packet, AldSocketDirection *direction)
{
        g_autofree char *explained = NULL;

        if (packet == 0)
                return;
        explained = g_strdup_printf("%s: packets of %" G_GUINT64_FORMAT
                                    " bytes, the MTU here, are lost on the way, while small ones arrive; "
                                    "the MTU of %s may be larger than what the path carries",
                direction->reason, packet, client->result->interface ?: "the interface");
        g_strlcpy(direction->reason, explained, sizeof direction->reason);
}

static int handle_no_rate(AldSocketClient *client, Upload *upload, const AldSocketNoRate *message)
{
        AldSocketDirection *direction = &client->result->upload;
        uint64_t packet = ald_stream_group_packet(&upload->group);

        set_other_traffic(client, upload, message->other_bits_per_second);
        g_strlcpy(direction->reason, message->reason ?: "the other side found no rate",
                sizeof direction->reason);
        /* The kernel counts the start of the connection as an acknowledged byte. */
        if (upload->acked <= packet / 2 && ald_stream_group_retransmits(&upload->group) > 0)
                explain_lost_packets(client, packet, direction);
        return 1;
}

static int handle_verdict(AldSocketClient *client, Upload *upload, const AldSocketVerdict *message)
{
        AldSocketDirection *direction = &client->result->upload;
        AldVerdict verdict = ALD_VERDICT_OF_REPORT(message);

        verdict.streams = (unsigned) message->streams;
        set_other_traffic(client, upload, message->other_bits_per_second);
        if (!is_verdict_plausible(upload, &verdict))
                return ald_fail(client->failure, ALD_FAILURE_PROTOCOL,
                        "what the other side says it received does not fit what it acknowledged");
        direction->known = true;
        direction->limiter = ald_socket_limiter_from_string(message->limited_by ?: message->limiter);
        direction->retransmits = ald_stream_group_retransmits(&upload->group);
        direction->verdict = verdict;
        memcpy(client->result->congestion, upload->group.congestion, sizeof client->result->congestion);
        return 1;
}

static int send_effort(AldSocketClient *client, Upload *upload)
{
        AldSocketEffort effort;

        if (!ald_stream_group_effort_is_due(&upload->group, upload->acked, ald_now()))
                return 0;
        ald_stream_group_effort(&upload->group, &effort);
        return ald_channel_send(&client->channel, ALD_KIND_SOCKET_EFFORT, &effort);
}

/* Returns 1 at the end of the upload. */
static int handle_message(AldSocketClient *client, Upload *upload, const AldRecord *message)
{
        switch ((int) message->kind) {
        case ALD_KIND_SOCKET_VERDICT:
                return handle_verdict(
                        client, upload, ald_record_as(message, SOCKET_VERDICT, AldSocketVerdict));
        case ALD_KIND_SOCKET_NO_RATE:
                return handle_no_rate(
                        client, upload, ald_record_as(message, SOCKET_NO_RATE, AldSocketNoRate));
        case ALD_KIND_SOCKET_MORE:
                return add_more_streams(client, upload, message);
        default:
                return ald_channel_unexpected(&client->channel, message);
        }
}

/* Returns 1 at the end of the upload. */
static int step_upload(AldSocketClient *client, Upload *upload)
{
        const AldTrafficSockets sockets = ald_socket_client_sockets(client, &upload->group);
        g_autoptr(AldRecord) message = NULL;
        int r = ald_channel_try(&client->channel, &message);

        if (r != 0)
                return r < 0 ? r : handle_message(client, upload, message);
        watch_acknowledgements(upload);
        ald_traffic_step(&upload->traffic, &sockets);
        ald_rtt_set_interval(&client->rtt, upload->acked, ald_now() - upload->begun);
        if (ald_now() - upload->opened > ald_socket_client_nsec_max(client) + ALD_GRACE_NS)
                return ald_fail(
                        client->failure, ALD_FAILURE_TIMEOUT, "the other side did not end the transfer");
        ald_progress_report(
                client->progress, "upload", (double) (ald_now() - upload->begun) / (double) ALD_SOFT_NS);
        r = send_effort(client, upload);
        return r < 0 ? r : ald_socket_client_wait(client, ALD_TICK_NS);
}

int ald_socket_client_upload(AldSocketClient *client)
{
        Upload upload = { .begun = ald_now() };
        g_autoptr(AldRecord) tokens = NULL;
        const AldTrafficSockets sockets = ald_socket_client_sockets(client, &upload.group);
        int r = ald_stream_group_init(
                &upload.group, true, client->zerocopy, ald_socket_client_bytes_max(client));

        if (r < 0)
                ald_fail(client->failure, ALD_FAILURE_INTERNAL, "the data to send cannot be generated");
        ald_traffic_begin(&upload.traffic, client->result->interface, true, &sockets);
        if (r >= 0)
                r = ald_socket_client_begin(client, ALD_SOCKET_BEGIN_DIRECTION_UPLOAD);
        if (r >= 0)
                r = ald_socket_client_request_tokens(client, ALD_SOCKET_OPEN_PURPOSE_UPLOAD, 1, &tokens);
        upload.opened = ald_now();
        if (r >= 0)
                r = add_upload_streams(
                        client, &upload, ald_record_as(tokens, SOCKET_TOKENS, AldSocketTokens)->tokens);
        ald_socket_client_begin_loaded(client);
        while (r == 0)
                r = step_upload(client, &upload);
        ald_stream_group_clear(&upload.group);
        ald_socket_client_end_loaded(client, r < 0);
        return MIN(r, 0);
}

static int add_download_streams(AldSocketClient *client, AldTransferReceiver *receiver, unsigned count)
{
        g_autoptr(AldRecord) record = NULL;
        int r = ald_socket_client_request_tokens(client, ALD_SOCKET_OPEN_PURPOSE_DOWNLOAD, count, &record),
            fd;
        const AldSocketTokens *tokens = ald_record_as(record, SOCKET_TOKENS, AldSocketTokens);

        for (unsigned i = 0; i < count && r >= 0; i++) {
                r = ald_socket_client_connect(client, tokens->tokens[i], &fd);
                if (r >= 0 && (r = ald_stream_group_add(&receiver->group, fd, 0)) < 0)
                        ald_fail(client->failure, ALD_FAILURE_INTERNAL, "no thread: %s", g_strerror(-r));
        }
        return r;
}

static int read_efforts(AldSocketClient *client, AldTransferReceiver *receiver)
{
        for (;;) {
                g_autoptr(AldRecord) message = NULL;
                int r = ald_channel_try(&client->channel, &message);

                if (r <= 0)
                        return r;
                if (message->kind != ALD_KIND_SOCKET_EFFORT)
                        return ald_channel_unexpected(&client->channel, message);
                ald_transfer_receiver_take_effort(
                        receiver, ald_record_as(message, SOCKET_EFFORT, AldSocketEffort));
        }
}

/* Returns 1 when enough is known, or when nothing more arrives. */
static int step_download(AldSocketClient *client, AldTransferReceiver *receiver)
{
        AldTransferReceiverStep step;
        int r = read_efforts(client, receiver);

        if (r < 0)
                return r;
        ald_progress_report(
                client->progress, "download", (double) (ald_now() - receiver->begun) / (double) ALD_SOFT_NS);
        step = ald_transfer_receiver_step(receiver);
        ald_rtt_set_interval(&client->rtt, receiver->bytes, ald_now() - receiver->begun);
        if (step == ALD_TRANSFER_RECEIVER_DONE)
                return 1;
        if (step == ALD_TRANSFER_RECEIVER_MORE)
                return add_download_streams(
                        client, receiver, receiver->evaluator.streams - receiver->group.n);
        if (step != ALD_TRANSFER_RECEIVER_GO_ON)
                return step == ALD_TRANSFER_RECEIVER_STALLED
                               ? 1
                               : ald_transfer_receiver_failed(step, client->failure);
        return ald_socket_client_wait(client, ald_transfer_receiver_tick(receiver));
}

/* Ends the transfer, and reads the figures that only the sender has. `unseen` is the size of the packets in
 * bytes if none arrived, else 0. */
static int stop_download(AldSocketClient *client, uint64_t unseen, AldSocketDirection *direction)
{
        g_autoptr(AldRecord) answer = NULL;
        const AldSocketSent *sent;
        int r = ald_channel_send(&client->channel, ALD_KIND_SOCKET_STOP, &(AldSocketStop){});

        if (r >= 0)
                r = ald_socket_client_expect_after_efforts(client, ALD_KIND_SOCKET_SENT, &answer);
        if (r < 0)
                return r;
        sent = ald_record_as(answer, SOCKET_SENT, AldSocketSent);
        direction->retransmits = sent->retransmits;
        direction->other = ald_optional_max(
                direction->other, ald_optional_of_field(sent->other_bits_per_second));
        if (unseen > 0 && sent->retransmits > 0)
                explain_lost_packets(client, unseen, direction);
        return 0;
}

int ald_socket_client_download(AldSocketClient *client)
{
        AldSocketDirection *direction = &client->result->download;
        AldTransferReceiver receiver = {};
        const AldTrafficSockets sockets = ald_socket_client_sockets(client, &receiver.group);
        AldInterfaceTraffic traffic;
        uint64_t unseen = 0;
        int r = ald_transfer_receiver_init(&receiver, ald_socket_client_nsec_max(client),
                ald_socket_client_bytes_max(client), ald_socket_client_streams_max(client),
                client->result->rtt.min);

        if (r < 0)
                ald_fail(client->failure, ALD_FAILURE_INTERNAL, "the data to send cannot be generated");
        ald_traffic_begin(&traffic, client->result->interface, false, &sockets);
        if (r >= 0)
                r = ald_socket_client_begin(client, ALD_SOCKET_BEGIN_DIRECTION_DOWNLOAD);
        if (r >= 0)
                r = add_download_streams(client, &receiver, 1);
        ald_socket_client_begin_loaded(client);
        while (r == 0)
                r = step_download(client, &receiver);
        if (r > 0) {
                direction->other = ald_traffic_end(&traffic, &sockets, (AldOptional){});
                if (!receiver.measuring)
                        unseen = ald_stream_group_packet(&receiver.group);
                direction->known = ald_transfer_receiver_verdict(&receiver, &direction->verdict,
                        &direction->limiter, direction->reason, sizeof direction->reason);
        }
        ald_transfer_receiver_clear(&receiver);
        ald_socket_client_end_loaded(client, r < 0);
        return r > 0 ? stop_download(client, unseen, direction) : r;
}
