/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/fd.h"
#include "probes/socket/client-private.h"
#include "probes/socket/pace.h"

static int add_streams(AldClient *client, AldReceiving *receiving, unsigned count)
{
        AldMessage tokens;
        int r = ald_client_ask_tokens(client, ALD_PURPOSE_DOWNLOAD, count, &tokens), fd;

        for (unsigned i = 0; i < count && r >= 0; i++) {
                r = ald_client_connect(client, tokens.tokens[i], &fd);
                if (r >= 0 && (r = ald_flow_add(&receiving->flow, fd, 0)) < 0)
                        ald_fail(client->failure, ALD_FAILURE_INTERNAL, "no thread: %s", g_strerror(-r));
        }
        return r;
}

static int read_efforts(AldClient *client, AldReceiving *receiving)
{
        AldMessage message;
        int r;

        while ((r = ald_exchange_try(&client->channel, &message)) > 0) {
                if (message.type != ALD_MESSAGE_EFFORT)
                        return ald_exchange_unexpected(&client->channel, &message);
                receiving->other = message.effort;
        }
        return r;
}

/* 1 when enough is known, or nothing more comes. */
static int step(AldClient *client, AldReceiving *receiving)
{
        AldReceivingStep step;
        int r = read_efforts(client, receiving);

        if (r < 0)
                return r;
        ald_progress_tell(
                client->progress, "download", (double) (ald_now() - receiving->begun) / (double) ALD_SOFT_NS);
        step = ald_receiving_step(receiving);
        ald_rtt_set_pace(&client->rtt, receiving->bytes, ald_now() - receiving->begun);
        if (step == ALD_RECEIVING_DONE)
                return 1;
        if (step == ALD_RECEIVING_MORE)
                return add_streams(client, receiving, receiving->judge.streams - receiving->flow.n);
        if (step != ALD_RECEIVING_GO_ON)
                return step == ALD_RECEIVING_STALLED ? 1 : ald_receiving_failed(step, client->failure);
        return ald_client_wait(client, ald_receiving_tick(receiving));
}

/* Ends the transfer, and learns what only the sender knows. */
static int stop(AldClient *client, AldDirection *direction)
{
        const AldMessage message = { .type = ALD_MESSAGE_STOP };
        uint64_t deadline = ald_now() + ALD_CHANNEL_PATIENCE;
        AldMessage answer = { .type = ALD_MESSAGE_EFFORT };
        int r = ald_exchange_send(&client->channel, &message);

        while (r >= 0 && answer.type == ALD_MESSAGE_EFFORT)
                r = ald_exchange_receive(&client->channel, deadline, &answer);
        if (r < 0)
                return r;
        if (answer.type != ALD_MESSAGE_SENT)
                return ald_exchange_unexpected(&client->channel, &answer);
        direction->retransmits = answer.retransmits;
        direction->other = ald_optional_max(direction->other, answer.other);
        return 0;
}

int ald_client_download(AldClient *client)
{
        AldDirection *direction = &client->result->download;
        const AldTrafficSockets sockets = ald_client_sockets(client);
        AldTraffic traffic;
        AldReceiving receiving;
        int r = ald_receiving_init(&receiving, ald_client_nsec_max(client), ald_client_bytes_max(client),
                ald_client_streams_max(client), client->result->rtt.min);

        if (r < 0)
                ald_fail(client->failure, ALD_FAILURE_INTERNAL, "what is sent cannot be made up");
        ald_traffic_begin(&traffic, client->result->interface, false, &sockets);
        if (r >= 0)
                r = ald_client_begin(client, ALD_PURPOSE_DOWNLOAD);
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
