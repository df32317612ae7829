/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/socket/pace.h"
#include "probes/socket/server-private.h"

#define BEGINS_MAX 8u /* transfers in one session */
#define SPOTS_MAX 4u  /* spot checks */

int ald_server_give_tokens(AldServer *server, AldMessageType type, AldPurpose purpose, uint64_t count)
{
        AldMessage message = { .type = type };
        uint64_t now = ald_now();

        for (; message.n_tokens < MIN(count, ALD_MESSAGE_TOKENS_MAX); message.n_tokens++)
                if (ald_tokens_issue(&server->door.tokens, purpose, now, now + ALD_TOKEN_NS,
                            message.tokens[message.n_tokens]) < 0)
                        return ald_fail(
                                server->failure, ALD_FAILURE_LIMIT, "too many connections are asked for");
        return ald_exchange_send(&server->channel, &message);
}

static bool may_open(const AldServer *server, const AldMessage *message)
{
        switch ((AldPurpose) message->purpose) {
        case ALD_PURPOSE_RTT:
                return message->count == 1 && !server->echo.running;
        case ALD_PURPOSE_UPLOAD:
                return message->count == 1 && server->state == ALD_SERVER_UPLOAD &&
                       server->receiving.flow.n == 0;
        case ALD_PURPOSE_DOWNLOAD:
                return message->count > 0 && server->state == ALD_SERVER_DOWNLOAD &&
                       server->sending.n + message->count <= server->options->streams_max;
        default:
                return message->count == 1 && server->scope <= ALD_PROBE_CHECK &&
                       server->state == ALD_SERVER_IDLE && server->spots < SPOTS_MAX;
        }
}

static int handle_open(AldServer *server, const AldMessage *message)
{
        if (!may_open(server, message))
                return ald_exchange_unexpected(&server->channel, message);
        if (message->purpose > ALD_PURPOSE_DOWNLOAD) {
                server->spots++;
                /* The one before is over as soon as there is to be another. */
                ald_server_end_spot(server);
        }
        return ald_server_give_tokens(
                server, ALD_MESSAGE_TOKENS, (AldPurpose) message->purpose, message->count);
}

static AldTrafficSockets sockets_of(const AldServer *server)
{
        return (AldTrafficSockets){ { server->channel.fd, server->echo.running ? server->echo.fd : -1 } };
}

AldOptional ald_server_other_traffic(const AldServer *server)
{
        const AldFlow *flow = server->state == ALD_SERVER_UPLOAD ? &server->receiving.flow : &server->sending;
        const AldTrafficSockets sockets = sockets_of(server);

        return ald_traffic_end(&server->traffic, ald_flow_wire_bytes(flow), &sockets);
}

/* How many connections both sides take. */
static unsigned streams_of(const AldServer *server, const AldMessage *begin)
{
        unsigned most = server->options->streams_max;

        return begin->streams_max.known ? (unsigned) CLAMP(begin->streams_max.value, 1, most) : most;
}

static int handle_begin(AldServer *server, const AldMessage *message)
{
        uint64_t nsec = MIN(message->msec, server->options->link.seconds_max * 1000) * ALD_NSEC_PER_MSEC;
        uint64_t bytes = MIN(message->bytes, server->options->link.bytes_max);
        AldTrafficSockets sockets;
        AldAddress peer;
        bool zerocopy;
        int r;

        if (server->state != ALD_SERVER_IDLE || server->scope != ALD_PROBE_FULL ||
                (message->purpose != ALD_PURPOSE_UPLOAD && message->purpose != ALD_PURPOSE_DOWNLOAD))
                return ald_exchange_unexpected(&server->channel, message);
        if (++server->begins > BEGINS_MAX)
                return ald_fail(server->failure, ALD_FAILURE_LIMIT, "too many transfers in one session");
        ald_server_end_spot(server);
        server->peer_takes_reasons = message->revision.known && message->revision.value >= 1;
        sockets = sockets_of(server);
        ald_traffic_begin(&server->traffic, server->served->interface,
                message->purpose == ALD_PURPOSE_DOWNLOAD, &sockets);
        if (message->purpose == ALD_PURPOSE_UPLOAD) {
                r = ald_receiving_init(&server->receiving, nsec, bytes, streams_of(server, message),
                        MIN(message->min_rtt, ALD_NSEC_PER_SEC));
                server->state = ALD_SERVER_UPLOAD;
        } else {
                zerocopy = server->options->zerocopy && ald_address_peer(server->channel.fd, &peer) >= 0 &&
                           !ald_address_is_loopback(&peer);
                r = ald_flow_init(&server->sending, true, zerocopy, bytes);
                server->state = ALD_SERVER_DOWNLOAD;
        }
        server->deadline = ald_now() + nsec + ALD_GRACE_NS;
        return r < 0 ? ald_fail(server->failure, ALD_FAILURE_INTERNAL, "what is sent cannot be made up") : 0;
}

void ald_server_end_spot(AldServer *server)
{
        AldSpot *spot = &server->spot;

        if (!spot->running)
                return;
        ald_spot_stop(spot);
        *(spot->sending ? &server->served->sent : &server->served->received) += spot->bytes;
}

void ald_server_end_transfer(AldServer *server)
{
        if (server->state == ALD_SERVER_UPLOAD) {
                server->served->received += server->receiving.bytes;
                ald_receiving_clear(&server->receiving);
                ald_tokens_withdraw(&server->door.tokens, ALD_PURPOSE_UPLOAD);
        } else if (server->state == ALD_SERVER_DOWNLOAD) {
                server->served->sent += ald_flow_sent(&server->sending);
                ald_flow_clear(&server->sending);
                ald_tokens_withdraw(&server->door.tokens, ALD_PURPOSE_DOWNLOAD);
        }
        server->state = ALD_SERVER_IDLE;
        server->deadline = ald_now() + ALD_IDLE_NS;
}

static int handle_stop(AldServer *server)
{
        AldMessage message = {
                .type = ALD_MESSAGE_SENT,
                .bytes = ald_flow_sent(&server->sending),
                .retransmits = ald_flow_retransmits(&server->sending),
                .other = ald_server_other_traffic(server),
        };

        g_strlcpy(message.congestion, server->sending.congestion, sizeof message.congestion);
        ald_server_end_transfer(server);
        return ald_exchange_send(&server->channel, &message);
}

int ald_server_handle(AldServer *server, const AldMessage *message)
{
        bool wants = message->type == ALD_MESSAGE_OPEN || message->type == ALD_MESSAGE_BEGIN;
        int r = wants && !server->admitted ? ald_server_admit(server, message) : 0;

        if (r < 0)
                return r;
        switch (message->type) {
        case ALD_MESSAGE_OPEN:
                return handle_open(server, message);
        case ALD_MESSAGE_BEGIN:
                return handle_begin(server, message);
        case ALD_MESSAGE_EFFORT:
                /* One may have been under way when we had seen enough. */
                if (server->state == ALD_SERVER_UPLOAD)
                        server->receiving.other = message->effort;
                return server->begins > 0 ? 0 : ald_exchange_unexpected(&server->channel, message);
        case ALD_MESSAGE_STOP:
                if (server->state != ALD_SERVER_DOWNLOAD)
                        break;
                return handle_stop(server);
        case ALD_MESSAGE_BYE:
                server->served->measured = server->state == ALD_SERVER_IDLE;
                server->state = ALD_SERVER_OVER;
                return 0;
        default:
                break;
        }
        return ald_exchange_unexpected(&server->channel, message);
}
