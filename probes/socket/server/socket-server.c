/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "probes/common/admission.h"
#include "probes/common/evaluator.h"
#include "probes/common/interface.h"
#include "probes/common/probe-fd.h"
#include "probes/common/wait.h"
#include "probes/socket/server/data-listener.h"
#include "probes/socket/server/socket-server.h"
#include "probes/socket/transfer/protocol.h"
#include "probes/socket/transfer/rtt.h"
#include "probes/socket/transfer/spot-check.h"
#include "probes/socket/transfer/stream-receiver.h"
#include "probes/socket/transfer/timing.h"
#include "probes/socket/transfer/traffic.h"

#define BEGINS_MAX 8u /* transfers in one session */
#define SPOTS_MAX 4u  /* spot checks */
#define LIMITER_UNKNOWN "unknown"

typedef enum ServerState {
        SERVER_IDLE,
        SERVER_UPLOAD,
        SERVER_DOWNLOAD,
        SERVER_OVER,
} ServerState;

typedef struct Server {
        const AldSocketOptions *options;
        AldChannel channel;
        AldDataListener listener;
        AldEcho echo;
        ServerState state;
        unsigned begins, spots;
        uint64_t deadline;
        bool opened;                  /* the client of an upload has requested its first connection */
        AldTransferReceiver receiver; /* SERVER_UPLOAD */
        AldStreamGroup sending;       /* SERVER_DOWNLOAD */
        AldInterfaceTraffic traffic;  /* both */
        AldInterfaceTraffic quiet;    /* traffic until the client loads the path */
        AldOptional before;           /* the rate of `quiet`, once it has ended */
        AldSpotCheck spot;
        bool admitted;        /* the first message has stated what is to be measured */
        AldSocketScope scope; /* most that may be measured, once admitted */
        AldSocketSessionReport *served;
        AldFailure *failure;
} Server;

#define TOKENS_MAX 8u /* in one message */

typedef struct IssuedTokens {
        char texts[TOKENS_MAX][ALD_TOKEN_SIZE + 1];
        const char *list[TOKENS_MAX + 1];
} IssuedTokens;

static bool is_spot_check(AldSocketOpenPurpose purpose)
{
        return purpose == ALD_SOCKET_OPEN_PURPOSE_SPOT_UPLOAD ||
               purpose == ALD_SOCKET_OPEN_PURPOSE_SPOT_DOWNLOAD;
}

/* Refuses to measure: sends the reason to the client, and returns the failure. */
static int refuse_client(Server *server, AldFailureKind kind, const char *why)
{
        ald_channel_send_abort(&server->channel, kind, why);
        server->served->refused = true;
        return ald_fail(server->failure, kind, "refused: %s", why);
}

/* Reads whether the program that started this session lets it measure; if not, sends the reason to the
 * client. */
static int read_admission(Server *server)
{
        g_auto(AldAdmission) admission = {};

        if (ald_admission_read(server->options->link.report_fd, &admission) < 0)
                return ald_fail(server->failure, ALD_FAILURE_INTERNAL, "nobody answered whether to measure");
        return admission.why ? refuse_client(server, admission.kind, admission.why) : 0;
}

/* Decides whether the client may measure what its first message requests; if not, sends it the reason. */
static int admit_client(Server *server, const AldRecord *first)
{
        static const AldSocketOpen unknown = ALD_SOCKET_OPEN_INIT;
        const AldSocketOpen *open = first->kind == ALD_KIND_SOCKET_OPEN
                                            ? ald_record_as(first, SOCKET_OPEN, AldSocketOpen)
                                            : &unknown;
        const AldLinkOptions *link = &server->options->link;
        AldSessionReport report = ALD_SESSION_REPORT_INIT;

        server->admitted = true;
        server->scope = ald_socket_scope_from_string(open->scope);
        if (!link->ask || link->mode == ALD_LINK_MODE_LISTEN)
                return 0;
        report.scope = ald_socket_scope_to_string(server->scope);
        report.automatic = open->automatic > 0;
        report.overdue = open->overdue > 0;
        ald_admission_report(link->report_fd, &report);
        return read_admission(server);
}

/* Issues tokens for at most TOKENS_MAX connections. */
static int issue_tokens(Server *server, AldSocketOpenPurpose purpose, uint64_t count, IssuedTokens *ret)
{
        IssuedTokens tokens = {};
        uint64_t now = ald_now();

        for (size_t i = 0; i < MIN(count, TOKENS_MAX); i++) {
                if (ald_tokens_issue(
                            &server->listener.tokens, purpose, now, now + ALD_TOKEN_NS, tokens.texts[i]) < 0)
                        return ald_fail(
                                server->failure, ALD_FAILURE_LIMIT, "too many connections are requested");
        }
        *ret = tokens;
        for (size_t i = 0; i < MIN(count, TOKENS_MAX); i++)
                ret->list[i] = ret->texts[i];
        return 0;
}

/* Ends the spot check under way, if there is one, and counts what it moved. */
static void end_spot(Server *server)
{
        AldSpotCheck *spot = &server->spot;

        if (!spot->running)
                return;
        ald_spot_check_stop(spot);
        *(spot->sending ? &server->served->sent : &server->served->received) += spot->bytes;
}

static bool may_open(const Server *server, AldSocketOpenPurpose purpose, uint64_t count)
{
        switch (purpose) {
        case ALD_SOCKET_OPEN_PURPOSE_RTT:
                return count == 1 && !server->echo.running;
        case ALD_SOCKET_OPEN_PURPOSE_UPLOAD:
                return count == 1 && server->state == SERVER_UPLOAD && !server->opened;
        case ALD_SOCKET_OPEN_PURPOSE_DOWNLOAD:
                return count > 0 && server->state == SERVER_DOWNLOAD &&
                       server->sending.n + count <= server->options->streams_max;
        default:
                return count == 1 && server->scope <= ALD_SOCKET_SCOPE_CHECK &&
                       server->state == SERVER_IDLE && server->spots < SPOTS_MAX;
        }
}

/* Returns the connections of the session, with those of the transfer under way. */
static AldTrafficSockets traffic_sockets(Server *server)
{
        AldStreamGroup *group = server->state == SERVER_UPLOAD     ? &server->receiver.group
                                : server->state == SERVER_DOWNLOAD ? &server->sending
                                                                   : NULL;

        return (AldTrafficSockets){ .fds = { server->channel.fd,
                                            server->echo.running ? server->echo.fd : -1 },
                .data = group ? ald_stream_group_wire : NULL,
                .group = group };
}

/* Ends the measurement of quiet traffic, since the client is about to load the path. */
static void end_quiet(Server *server)
{
        const AldTrafficSockets sockets = traffic_sockets(server);

        if (server->quiet.known)
                server->before = ald_traffic_end(&server->quiet, &sockets, (AldOptional){});
        server->quiet.known = false;
}

static int handle_open(Server *server, const AldRecord *message)
{
        const AldSocketOpen *open = ald_record_as(message, SOCKET_OPEN, AldSocketOpen);
        AldSocketOpenPurpose purpose = (AldSocketOpenPurpose) ald_socket_open_purpose_from_string(
                open->purpose);
        IssuedTokens issued;
        AldSocketTokens tokens = { .tokens = issued.list };
        int r;

        if (!may_open(server, purpose, open->count))
                return ald_channel_unexpected(&server->channel, message);
        if (is_spot_check(purpose)) {
                end_quiet(server);
                server->spots++;
                /* A new spot check ends the previous one. */
                end_spot(server);
        }
        r = issue_tokens(server, purpose, open->count, &issued);
        /* The time counts from here, lest a late request of the client look like a link that carries
         * nothing. */
        if (purpose == ALD_SOCKET_OPEN_PURPOSE_UPLOAD) {
                server->opened = true;
                ald_transfer_receiver_start(&server->receiver);
                server->deadline = server->receiver.until + ALD_GRACE_NS;
        }
        return r < 0 ? r : ald_channel_send(&server->channel, ALD_KIND_SOCKET_TOKENS, &tokens);
}

/* Returns the rate of other traffic at this interface during the transfer under way. */
static AldOptional other_traffic(Server *server)
{
        const AldTrafficSockets sockets = traffic_sockets(server);

        return ald_traffic_end(&server->traffic, &sockets, server->before);
}

static int begin_upload(Server *server, const AldSocketBegin *begin, uint64_t nsec, uint64_t bytes)
{
        server->state = SERVER_UPLOAD;
        server->opened = false;
        return ald_transfer_receiver_init(&server->receiver, nsec, bytes,
                (unsigned) MIN(begin->streams_max, server->options->streams_max),
                MIN(begin->min_rtt_nsec, ALD_NSEC_PER_SEC));
}

static int begin_download(Server *server, uint64_t bytes)
{
        AldAddress peer;
        bool zerocopy = server->options->zerocopy && ald_address_peer(server->channel.fd, &peer) >= 0 &&
                        !ald_address_is_loopback(&peer);

        server->state = SERVER_DOWNLOAD;
        return ald_stream_group_init(&server->sending, true, zerocopy, bytes);
}

static int handle_begin(Server *server, const AldRecord *message)
{
        const AldSocketBegin *begin = ald_record_as(message, SOCKET_BEGIN, AldSocketBegin);
        const AldLinkOptions *link = &server->options->link;
        uint64_t nsec = MIN(begin->duration_max_msec, link->seconds_max * 1000) * ALD_NSEC_PER_MSEC;
        uint64_t bytes = MIN(begin->bytes_max, link->bytes_max);
        bool download = ald_socket_begin_direction_from_string(begin->direction) ==
                        ALD_SOCKET_BEGIN_DIRECTION_DOWNLOAD;
        AldTrafficSockets sockets;
        int r;

        if (server->state != SERVER_IDLE || server->scope != ALD_SOCKET_SCOPE_FULL)
                return ald_channel_unexpected(&server->channel, message);
        if (++server->begins > BEGINS_MAX)
                return ald_fail(server->failure, ALD_FAILURE_LIMIT, "too many transfers in one session");
        end_quiet(server);
        end_spot(server);
        sockets = traffic_sockets(server);
        ald_traffic_begin(&server->traffic, server->served->interface, download, &sockets);
        r = download ? begin_download(server, bytes) : begin_upload(server, begin, nsec, bytes);
        server->deadline = ald_now() + nsec + ALD_GRACE_NS;
        return r < 0 ? ald_fail(server->failure, ALD_FAILURE_INTERNAL, "the data to send cannot be generated")
                     : 0;
}

/* Ends the transfer under way, if there is one. */
static void end_transfer(Server *server)
{
        if (server->state == SERVER_UPLOAD) {
                server->served->received += server->receiver.bytes;
                ald_transfer_receiver_clear(&server->receiver);
                ald_tokens_withdraw(&server->listener.tokens, ALD_SOCKET_OPEN_PURPOSE_UPLOAD);
        } else if (server->state == SERVER_DOWNLOAD) {
                server->served->sent += ald_stream_group_sent(&server->sending);
                ald_stream_group_clear(&server->sending);
                ald_tokens_withdraw(&server->listener.tokens, ALD_SOCKET_OPEN_PURPOSE_DOWNLOAD);
        }
        server->state = SERVER_IDLE;
        server->deadline = ald_now() + ALD_IDLE_NS;
}

static int handle_stop(Server *server)
{
        const AldSocketSent message = {
                .retransmits = ald_stream_group_retransmits(&server->sending),
                .other_bits_per_second = ald_optional_to_field(other_traffic(server)),
        };

        end_transfer(server);
        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_SENT, &message);
}

/* Does what the client requests, if that is allowed. */
static int handle_message(Server *server, const AldRecord *message)
{
        bool wants = message->kind == ALD_KIND_SOCKET_OPEN || message->kind == ALD_KIND_SOCKET_BEGIN;
        int r = wants && !server->admitted ? admit_client(server, message) : 0;

        if (r < 0)
                return r;
        switch ((int) message->kind) {
        case ALD_KIND_SOCKET_OPEN:
                return handle_open(server, message);
        case ALD_KIND_SOCKET_BEGIN:
                return handle_begin(server, message);
        case ALD_KIND_SOCKET_EFFORT:
                /* A report may have been under way when the upload ended. */
                if (server->state == SERVER_UPLOAD)
                        ald_transfer_receiver_take_effort(
                                &server->receiver, ald_record_as(message, SOCKET_EFFORT, AldSocketEffort));
                return server->begins > 0 ? 0 : ald_channel_unexpected(&server->channel, message);
        case ALD_KIND_SOCKET_STOP:
                if (server->state != SERVER_DOWNLOAD)
                        break;
                return handle_stop(server);
        case ALD_KIND_SOCKET_BYE:
                server->served->measured = server->state == SERVER_IDLE;
                server->state = SERVER_OVER;
                return 0;
        default:
                break;
        }
        return ald_channel_unexpected(&server->channel, message);
}

static void find_addresses(Server *server)
{
        AldAddress address = {}, local;

        server->served->address = g_malloc0(ALD_ADDRESS_SIZE);
        if (ald_address_peer(server->channel.fd, &address) >= 0)
                ald_address_format(&address, server->served->address);
        if (ald_address_local(server->channel.fd, &local) >= 0)
                server->served->interface = ald_interface_between(&local, &address);
}

static int refuse_if_configured(Server *server)
{
        const AldSocketOptions *options = server->options;

        if (options->inhibited)
                return refuse_client(server, ALD_FAILURE_INHIBITED, options->inhibited);
        if (options->busy)
                return refuse_client(server, ALD_FAILURE_BUSY, options->busy);
        return 0;
}

static int send_welcome(Server *server)
{
        const char *interface = server->served->interface;
        const AldSocketWelcome message = {
                .version = ald_socket_protocol.version,
                .port = server->listener.port,
                .streams_max = server->options->streams_max,
                .duration_max_msec = server->options->link.seconds_max * 1000,
                .bytes_max = server->options->link.bytes_max,
                .interface = interface && ald_interface_name_is_valid(interface) ? interface : NULL,
        };

        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_WELCOME, &message);
}

/* Uses a data connection for its purpose, or closes it if it is not needed, or no longer. */
static int handle_connection(Server *server, int fd, AldSocketOpenPurpose purpose)
{
        int r = 0;

        if (purpose == ALD_SOCKET_OPEN_PURPOSE_RTT)
                r = ald_echo_start(&server->echo, fd);
        else if (purpose == ALD_SOCKET_OPEN_PURPOSE_UPLOAD && server->state == SERVER_UPLOAD &&
                 server->receiver.group.n < server->receiver.evaluator.streams)
                r = ald_stream_group_add(&server->receiver.group, fd, ALD_TOKEN_SIZE);
        else if (purpose == ALD_SOCKET_OPEN_PURPOSE_DOWNLOAD && server->state == SERVER_DOWNLOAD &&
                 server->sending.n < server->options->streams_max)
                r = ald_stream_group_add(&server->sending, fd, 0);
        else if (is_spot_check(purpose) && server->state == SERVER_IDLE)
                r = ald_spot_check_start(&server->spot, fd, purpose == ALD_SOCKET_OPEN_PURPOSE_SPOT_DOWNLOAD);
        else
                ald_fd_close(&fd);
        return r < 0 ? ald_fail(server->failure, ALD_FAILURE_INTERNAL, "a data connection cannot be used: %s",
                               g_strerror(-r))
                     : 0;
}

static int send_verdict(Server *server)
{
        char reason[ALD_MESSAGE_STRING_MAX];
        AldSocketVerdict message = ALD_SOCKET_VERDICT_INIT;
        AldSocketNoRate none = { .reason = reason };
        AldSocketLimiter limiter;
        AldVerdict verdict;
        bool known = ald_transfer_receiver_verdict(
                &server->receiver, &verdict, &limiter, reason, sizeof reason);

        message.other_bits_per_second = none.other_bits_per_second = ald_optional_to_field(
                other_traffic(server));
        end_transfer(server);
        if (!known)
                return ald_channel_send(&server->channel, ALD_KIND_SOCKET_NO_RATE, &none);
        ALD_VERDICT_TO_REPORT(&message, &verdict);
        message.streams = verdict.streams;
        message.limited_by = ald_socket_limiter_to_string(limiter) ?: LIMITER_UNKNOWN;
        message.limiter = ald_socket_limiter_to_string(
                limiter <= ALD_SOCKET_LIMITER_LOSS ? ALD_SOCKET_LIMITER_NETWORK : limiter);
        server->served->upload = verdict.bits_per_second;
        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_VERDICT, &message);
}

static int send_more(Server *server)
{
        IssuedTokens issued;
        AldSocketMore more = { .tokens = issued.list };
        int r = issue_tokens(server, ALD_SOCKET_OPEN_PURPOSE_UPLOAD,
                server->receiver.evaluator.streams - server->receiver.group.n, &issued);

        return r < 0 ? r : ald_channel_send(&server->channel, ALD_KIND_SOCKET_MORE, &more);
}

static int step_upload(Server *server)
{
        AldTransferReceiverStep step = server->opened ? ald_transfer_receiver_step(&server->receiver)
                                                      : ALD_TRANSFER_RECEIVER_GO_ON;

        switch (step) {
        case ALD_TRANSFER_RECEIVER_GO_ON:
                return 0;
        case ALD_TRANSFER_RECEIVER_MORE:
                return send_more(server);
        case ALD_TRANSFER_RECEIVER_DONE:
        case ALD_TRANSFER_RECEIVER_STALLED:
                return send_verdict(server);
        default:
                return ald_transfer_receiver_failed(step, server->failure);
        }
}

static int step_download(Server *server)
{
        const AldTrafficSockets sockets = traffic_sockets(server);
        AldSocketEffort effort;

        ald_traffic_step(&server->traffic, &sockets);
        if (!ald_stream_group_effort_is_due(
                    &server->sending, ald_stream_group_counters(&server->sending).bytes, ald_now()))
                return 0;
        ald_stream_group_effort(&server->sending, &effort);
        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_EFFORT, &effort);
}

/* Sends the client the result of a spot check that has ended. */
static int step_spot(Server *server)
{
        AldSocketSpotResult message = ALD_SOCKET_SPOT_RESULT_INIT;
        AldSpotCheck *spot = &server->spot;
        uint64_t rate;

        if (!spot->running || !atomic_load(&spot->ended))
                return 0;
        end_spot(server);
        if (spot->sending)
                return 0;
        rate = ald_spot_check_rate(spot->points, spot->n);
        message.bytes = spot->bytes;
        if (rate > 0)
                message.bits_per_second = rate;
        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_SPOT_RESULT, &message);
}

static int read_messages(Server *server)
{
        while (server->state != SERVER_OVER) {
                g_autoptr(AldRecord) message = NULL;
                int r = ald_channel_try(&server->channel, &message);

                if (r > 0)
                        r = handle_message(server, message);
                else if (r == 0)
                        return 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

static int accept_data_connections(Server *server)
{
        AldSocketOpenPurpose purpose;
        int fd, r = 0;

        while (r >= 0 && ald_data_listener_step(&server->listener, ald_now(), &fd, &purpose))
                r = handle_connection(server, fd, purpose);
        return r;
}

static int wait_for_events(Server *server)
{
        struct pollfd fds[2 + ALD_DATA_LISTENER_FDS] = { { server->channel.stop, POLLIN, 0 },
                { server->channel.fd, POLLIN, 0 } };
        bool ticking = server->state == SERVER_UPLOAD || server->state == SERVER_DOWNLOAD;
        uint64_t until = server->deadline;
        unsigned n = 2 + ald_data_listener_fds(&server->listener, fds + 2);

        if (server->state == SERVER_UPLOAD)
                until = ald_now() + ald_transfer_receiver_tick(&server->receiver);
        else if (ticking)
                until = ald_now() + ALD_TICK_NS;
        else if (server->spot.running)
                until = ald_now() + ALD_SPOT_CHECK_TICK_NS;
        if (ald_wait(fds, n, MIN(until, server->deadline)) < 0)
                return ald_fail(server->failure, ALD_FAILURE_INTERNAL, "waiting failed");
        if (fds[0].revents)
                return ald_fail(server->failure, ALD_FAILURE_ABORTED, "stopped by a signal");
        if (ald_now() < server->deadline)
                return 0;
        return ald_fail(server->failure, ALD_FAILURE_TIMEOUT,
                ticking ? "the transfer was not ended in time" : "the other side sent nothing for too long");
}

static int serve_client(Server *server)
{
        const AldTrafficSockets sockets = traffic_sockets(server);
        int r = 0;

        ald_traffic_begin(&server->quiet, server->served->interface, true, &sockets);
        server->deadline = ald_now() + ALD_IDLE_NS;
        while (r >= 0 && server->state != SERVER_OVER) {
                r = read_messages(server);
                if (r >= 0)
                        r = accept_data_connections(server);
                if (r >= 0)
                        r = step_spot(server);
                if (r >= 0 && server->state == SERVER_UPLOAD)
                        r = step_upload(server);
                else if (r >= 0 && server->state == SERVER_DOWNLOAD)
                        r = step_download(server);
                if (r >= 0 && server->state != SERVER_OVER)
                        r = wait_for_events(server);
        }
        return r;
}

static int run_session(Server *server)
{
        int r = refuse_if_configured(server);

        /* With --listen, a client gets its turn before it says what to measure. */
        if (r >= 0 && server->options->link.mode == ALD_LINK_MODE_LISTEN)
                r = read_admission(server);
        if (r < 0)
                return r;
        r = ald_data_listener_open(&server->listener, server->channel.fd, server->options->link.port + 1,
                ALD_SOCKET_DATA_PORTS, server->failure);
        if (r >= 0)
                r = send_welcome(server);
        if (r >= 0)
                r = serve_client(server);
        if (r < 0 && !server->served->refused)
                ald_channel_send_abort(&server->channel, server->failure->kind, server->failure->message);
        end_transfer(server);
        ald_echo_stop(&server->echo);
        end_spot(server);
        ald_spot_check_clear(&server->spot);
        ald_data_listener_close(&server->listener);
        return r;
}

int ald_socket_server_run(const AldSocketOptions *options, int fd, AldTls *tls, int stop,
        AldSocketSessionReport *served, AldFailure *failure)
{
        Server server = { .options = options, .served = served, .failure = failure };
        AldSessionReport report = ALD_SESSION_REPORT_INIT;
        int r;

        *served = (AldSocketSessionReport){};
        r = ald_channel_open(&server.channel, &ald_socket_protocol, fd, tls, true, stop, failure);
        find_addresses(&server);
        if (r >= 0) {
                served->authenticated = true;
                g_strlcpy(served->peer, server.channel.peer, sizeof served->peer);
                /* The service limits the time of unauthenticated peers. */
                report.peer = served->peer;
                ald_admission_report(options->link.report_fd, &report);
                r = run_session(&server);
        }
        ald_channel_close(&server.channel);
        return r;
}
