/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/common/fd.h"
#include "probes/socket/client-private.h"
#include "probes/socket/pace.h"

static int add_streams(AldClient *client, AldReceiving *receiving, unsigned count)
{
        g_autoptr(AldRecord) record = NULL;
        int r = ald_client_ask_tokens(client, ALD_SOCKET_OPEN_PURPOSE_DOWNLOAD, count, &record), fd;
        const AldSocketTokens *tokens = ald_record_as(record, SOCKET_TOKENS, AldSocketTokens);

        for (unsigned i = 0; i < count && r >= 0; i++) {
                r = ald_client_connect(client, tokens->tokens[i], &fd);
                if (r >= 0 && (r = ald_flow_add(&receiving->flow, fd, 0)) < 0)
                        ald_fail(client->failure, ALD_FAILURE_INTERNAL, "no thread: %s", g_strerror(-r));
        }
        return r;
}

static int read_efforts(AldClient *client, AldReceiving *receiving)
{
        for (;;) {
                g_autoptr(AldRecord) message = NULL;
                int r = ald_channel_try(&client->channel, &message);

                if (r <= 0)
                        return r;
                if (message->kind != ALD_KIND_SOCKET_EFFORT)
                        return ald_channel_unexpected(&client->channel, message);
                receiving->other = *ald_record_as(message, SOCKET_EFFORT, AldSocketEffort);
        }
}

/* 1 when enough is known, or when nothing more arrives. */
static int step(AldClient *client, AldReceiving *receiving)
{
        AldReceivingStep step;
        int r = read_efforts(client, receiving);

        if (r < 0)
                return r;
        ald_progress_report(
                client->progress, "download", (double) (ald_now() - receiving->begun) / (double) ALD_SOFT_NS);
        step = ald_receiving_step(receiving);
        ald_rtt_set_pace(&client->rtt, receiving->bytes, ald_now() - receiving->begun);
        if (step == ALD_RECEIVING_DONE)
                return 1;
        if (step == ALD_RECEIVING_MORE)
                return add_streams(client, receiving, receiving->evaluator.streams - receiving->flow.n);
        if (step != ALD_RECEIVING_GO_ON)
                return step == ALD_RECEIVING_STALLED ? 1 : ald_receiving_failed(step, client->failure);
        return ald_client_wait(client, ald_receiving_tick(receiving));
}

/* Ends the transfer, and learns what only the sender knows. */
static int stop(AldClient *client, AldDirection *direction)
{
        g_autoptr(AldRecord) answer = NULL;
        const AldSocketSent *sent;
        int r = ald_channel_send(&client->channel, ALD_KIND_SOCKET_STOP, &(AldSocketStop){});

        if (r >= 0)
                r = ald_client_expect_after_efforts(client, ALD_KIND_SOCKET_SENT, &answer);
        if (r < 0)
                return r;
        sent = ald_record_as(answer, SOCKET_SENT, AldSocketSent);
        direction->retransmits = sent->retransmits;
        direction->other = ald_optional_max(
                direction->other, ald_optional_of_field(sent->other_bits_per_second));
        return 0;
}

int ald_client_download(AldClient *client)
{
        AldDirection *direction = &client->result->download;
        const AldTrafficSockets sockets = ald_client_sockets(client);
        AldInterfaceTraffic traffic;
        AldReceiving receiving;
        int r = ald_receiving_init(&receiving, ald_client_nsec_max(client), ald_client_bytes_max(client),
                ald_client_streams_max(client), client->result->rtt.min);

        if (r < 0)
                ald_fail(client->failure, ALD_FAILURE_INTERNAL, "the data to send cannot be generated");
        ald_traffic_begin(&traffic, client->result->interface, false, &sockets);
        if (r >= 0)
                r = ald_client_begin(client, ALD_SOCKET_BEGIN_DIRECTION_DOWNLOAD);
        if (r >= 0)
                r = add_streams(client, &receiving, 1);
        ald_client_begin_loaded(client);
        while (r == 0)
                r = step(client, &receiving);
        if (r > 0) {
                direction->other = ald_traffic_end(&traffic, ald_flow_wire_bytes(&receiving.flow), &sockets);
                direction->known = ald_receiving_verdict(&receiving, &direction->verdict, &direction->limiter,
                        direction->reason, sizeof direction->reason);
        }
        ald_receiving_clear(&receiving);
        ald_client_end_loaded(client, r < 0);
        return r > 0 ? stop(client, direction) : r;
}
