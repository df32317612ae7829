/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/common/admission.h"
#include "probes/socket/pace.h"
#include "probes/socket/server-private.h"

#define BEGINS_MAX 8u /* transfers in one session */
#define SPOTS_MAX 4u  /* spot checks */

int ald_server_refuse(AldServer *server, AldFailureKind kind, const char *why)
{
        ald_channel_send_abort(&server->channel, kind, why);
        server->served->refused = true;
        return ald_fail(server->failure, kind, "refused: %s", why);
}

/* Whether the client may measure what its first message requests; if not, sends it the reason. */
static int admit(AldServer *server, const AldRecord *first)
{
        static const AldSocketOpen unknown = ALD_SOCKET_OPEN_INIT;
        const AldSocketOpen *open = first->kind == ALD_KIND_SOCKET_OPEN
                                            ? ald_record_as(first, SOCKET_OPEN, AldSocketOpen)
                                            : &unknown;
        const AldLinkOptions *link = &server->options->link;
        AldSessionReport report = ALD_SESSION_REPORT_INIT;
        g_auto(AldAdmission) told = {};

        server->admitted = true;
        server->scope = ald_socket_scope_from_string(open->scope);
        if (!link->ask)
                return 0;
        report.scope = ald_socket_scope_to_string(server->scope);
        report.automatic = open->automatic > 0;
        report.overdue = open->overdue > 0;
        ald_admission_report(link->report_fd, &report);
        if (ald_admission_read(link->report_fd, &told) < 0)
                return ald_fail(server->failure, ALD_FAILURE_INTERNAL,
                        "the service did not answer whether to measure");
        return told.why ? ald_server_refuse(server, told.kind, told.why) : 0;
}

int ald_server_issue_tokens(
        AldServer *server, AldSocketOpenPurpose purpose, uint64_t count, AldServerTokens *ret)
{
        AldServerTokens tokens = {};
        uint64_t now = ald_now();

        for (size_t i = 0; i < MIN(count, ALD_SERVER_TOKENS_MAX); i++) {
                if (ald_tokens_issue(
                            &server->door.tokens, purpose, now, now + ALD_TOKEN_NS, tokens.texts[i]) < 0)
                        return ald_fail(
                                server->failure, ALD_FAILURE_LIMIT, "too many connections are requested");
        }
        *ret = tokens;
        for (size_t i = 0; i < MIN(count, ALD_SERVER_TOKENS_MAX); i++)
                ret->list[i] = ret->texts[i];
        return 0;
}

static bool may_open(const AldServer *server, AldSocketOpenPurpose purpose, uint64_t count)
{
        switch (purpose) {
        case ALD_SOCKET_OPEN_PURPOSE_RTT:
                return count == 1 && !server->echo.running;
        case ALD_SOCKET_OPEN_PURPOSE_UPLOAD:
                return count == 1 && server->state == ALD_SERVER_UPLOAD && server->receiving.flow.n == 0;
        case ALD_SOCKET_OPEN_PURPOSE_DOWNLOAD:
                return count > 0 && server->state == ALD_SERVER_DOWNLOAD &&
                       server->sending.n + count <= server->options->streams_max;
        default:
                return count == 1 && server->scope <= ALD_SOCKET_SCOPE_CHECK &&
                       server->state == ALD_SERVER_IDLE && server->spots < SPOTS_MAX;
        }
}

static int handle_open(AldServer *server, const AldRecord *message)
{
        const AldSocketOpen *open = ald_record_as(message, SOCKET_OPEN, AldSocketOpen);
        AldSocketOpenPurpose purpose = (AldSocketOpenPurpose) ald_socket_open_purpose_from_string(
                open->purpose);
        AldServerTokens issued;
        AldSocketTokens tokens = { .tokens = issued.list };
        int r;

        if (!may_open(server, purpose, open->count))
                return ald_channel_unexpected(&server->channel, message);
        if (ald_server_is_spot(purpose)) {
                server->spots++;
                /* The next spot check ends the one before. */
                ald_server_end_spot(server);
        }
        r = ald_server_issue_tokens(server, purpose, open->count, &issued);
        return r < 0 ? r : ald_channel_send(&server->channel, ALD_KIND_SOCKET_TOKENS, &tokens);
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

static int begin_upload(AldServer *server, const AldSocketBegin *begin, uint64_t nsec, uint64_t bytes)
{
        server->state = ALD_SERVER_UPLOAD;
        return ald_receiving_init(&server->receiving, nsec, bytes,
                (unsigned) MIN(begin->streams_max, server->options->streams_max),
                MIN(begin->min_rtt_nsec, ALD_NSEC_PER_SEC));
}

static int begin_download(AldServer *server, uint64_t bytes)
{
        AldAddress peer;
        bool zerocopy = server->options->zerocopy && ald_address_peer(server->channel.fd, &peer) >= 0 &&
                        !ald_address_is_loopback(&peer);

        server->state = ALD_SERVER_DOWNLOAD;
        return ald_flow_init(&server->sending, true, zerocopy, bytes);
}

static int handle_begin(AldServer *server, const AldRecord *message)
{
        const AldSocketBegin *begin = ald_record_as(message, SOCKET_BEGIN, AldSocketBegin);
        const AldLinkOptions *link = &server->options->link;
        uint64_t nsec = MIN(begin->duration_max_msec, link->seconds_max * 1000) * ALD_NSEC_PER_MSEC;
        uint64_t bytes = MIN(begin->bytes_max, link->bytes_max);
        bool download = ald_socket_begin_direction_from_string(begin->direction) ==
                        ALD_SOCKET_BEGIN_DIRECTION_DOWNLOAD;
        AldTrafficSockets sockets;
        int r;

        if (server->state != ALD_SERVER_IDLE || server->scope != ALD_SOCKET_SCOPE_FULL)
                return ald_channel_unexpected(&server->channel, message);
        if (++server->begins > BEGINS_MAX)
                return ald_fail(server->failure, ALD_FAILURE_LIMIT, "too many transfers in one session");
        ald_server_end_spot(server);
        sockets = sockets_of(server);
        ald_traffic_begin(&server->traffic, server->served->interface, download, &sockets);
        r = download ? begin_download(server, bytes) : begin_upload(server, begin, nsec, bytes);
        server->deadline = ald_now() + nsec + ALD_GRACE_NS;
        return r < 0 ? ald_fail(server->failure, ALD_FAILURE_INTERNAL, "the data to send cannot be generated")
                     : 0;
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
                ald_tokens_withdraw(&server->door.tokens, ALD_SOCKET_OPEN_PURPOSE_UPLOAD);
        } else if (server->state == ALD_SERVER_DOWNLOAD) {
                server->served->sent += ald_flow_sent(&server->sending);
                ald_flow_clear(&server->sending);
                ald_tokens_withdraw(&server->door.tokens, ALD_SOCKET_OPEN_PURPOSE_DOWNLOAD);
        }
        server->state = ALD_SERVER_IDLE;
        server->deadline = ald_now() + ALD_IDLE_NS;
}

static int handle_stop(AldServer *server)
{
        const AldSocketSent message = {
                .retransmits = ald_flow_retransmits(&server->sending),
                .other_bits_per_second = ald_optional_to_field(ald_server_other_traffic(server)),
        };

        ald_server_end_transfer(server);
        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_SENT, &message);
}

int ald_server_handle(AldServer *server, const AldRecord *message)
{
        bool wants = message->kind == ALD_KIND_SOCKET_OPEN || message->kind == ALD_KIND_SOCKET_BEGIN;
        int r = wants && !server->admitted ? admit(server, message) : 0;

        if (r < 0)
                return r;
        switch ((int) message->kind) {
        case ALD_KIND_SOCKET_OPEN:
                return handle_open(server, message);
        case ALD_KIND_SOCKET_BEGIN:
                return handle_begin(server, message);
        case ALD_KIND_SOCKET_EFFORT:
                /* One may have been under way when the upload ended. */
                if (server->state == ALD_SERVER_UPLOAD)
                        server->receiving.other = *ald_record_as(message, SOCKET_EFFORT, AldSocketEffort);
                return server->begins > 0 ? 0 : ald_channel_unexpected(&server->channel, message);
        case ALD_KIND_SOCKET_STOP:
                if (server->state != ALD_SERVER_DOWNLOAD)
                        break;
                return handle_stop(server);
        case ALD_KIND_SOCKET_BYE:
                server->served->measured = server->state == ALD_SERVER_IDLE;
                server->state = ALD_SERVER_OVER;
                return 0;
        default:
                break;
        }
        return ald_channel_unexpected(&server->channel, message);
}
