/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "probes/common/admission.h"
#include "probes/common/evaluator.h"
#include "probes/common/fd.h"
#include "probes/common/interface.h"
#include "probes/common/wait.h"
#include "probes/socket/pace.h"
#include "probes/socket/server-private.h"

void ald_served_clear(AldServed *served)
{
        g_clear_pointer(&served->address, g_free);
        g_clear_pointer(&served->interface, g_free);
}

static void learn_ways(AldServer *server)
{
        AldAddress address = {}, local;

        server->served->address = g_malloc0(ALD_ADDRESS_SIZE);
        if (ald_address_peer(server->channel.fd, &address) >= 0)
                ald_address_format(&address, server->served->address);
        if (ald_address_local(server->channel.fd, &local) >= 0)
                server->served->interface = ald_interface_between(&local, &address);
}

static int refuse_if_told(AldServer *server, int lock)
{
        struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        const AldSocketOptions *options = server->options;

        if (options->inhibited)
                return ald_server_refuse(server, ALD_FAILURE_INHIBITED, options->inhibited);
        if (options->busy)
                return ald_server_refuse(server, ALD_FAILURE_BUSY, options->busy);
        if (lock >= 0 && fcntl(lock, F_SETLK, &whole) < 0)
                return ald_server_refuse(server, ALD_FAILURE_BUSY, "another session is under way");
        return 0;
}

static int welcome(AldServer *server)
{
        const char *interface = server->served->interface;
        const AldSocketWelcome message = {
                .version = ald_socket_protocol.version,
                .port = server->door.port,
                .streams_max = server->options->streams_max,
                .duration_max_msec = server->options->link.seconds_max * 1000,
                .bytes_max = server->options->link.bytes_max,
                .interface = interface && ald_interface_name_is_valid(interface) ? interface : NULL,
        };

        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_WELCOME, &message);
}

/* Closes a connection that is not needed, or no longer. */
static int handle_connection(AldServer *server, int fd, AldSocketOpenPurpose purpose)
{
        int r = 0;

        if (purpose == ALD_SOCKET_OPEN_PURPOSE_RTT)
                r = ald_echo_start(&server->echo, fd);
        else if (purpose == ALD_SOCKET_OPEN_PURPOSE_UPLOAD && server->state == ALD_SERVER_UPLOAD &&
                 server->receiving.flow.n < server->receiving.evaluator.streams)
                r = ald_flow_add(&server->receiving.flow, fd, ALD_TOKEN_SIZE);
        else if (purpose == ALD_SOCKET_OPEN_PURPOSE_DOWNLOAD && server->state == ALD_SERVER_DOWNLOAD &&
                 server->sending.n < server->options->streams_max)
                r = ald_flow_add(&server->sending, fd, 0);
        else if (ald_server_is_spot(purpose) && server->state == ALD_SERVER_IDLE)
                r = ald_spot_start(&server->spot, fd, purpose == ALD_SOCKET_OPEN_PURPOSE_SPOT_DOWNLOAD);
        else
                ald_fd_close(&fd);
        return r < 0 ? ald_fail(server->failure, ALD_FAILURE_INTERNAL, "a data connection cannot be used: %s",
                               g_strerror(-r))
                     : 0;
}

static int send_verdict(AldServer *server)
{
        char reason[ALD_MESSAGE_STRING_MAX];
        AldSocketVerdict message = ALD_SOCKET_VERDICT_INIT;
        AldSocketNoRate none = { .reason = reason };
        AldSocketVerdictLimiter limiter;
        AldVerdict verdict;
        bool known = ald_receiving_verdict(&server->receiving, &verdict, &limiter, reason, sizeof reason);

        message.other_bits_per_second = none.other_bits_per_second = ald_optional_to_field(
                ald_server_other_traffic(server));
        ald_server_end_transfer(server);
        if (!known)
                return ald_channel_send(&server->channel, ALD_KIND_SOCKET_NO_RATE, &none);
        ALD_VERDICT_TO_REPORT(&message, &verdict);
        message.streams = verdict.streams;
        message.limiter = ald_socket_verdict_limiter_to_string(limiter);
        server->served->upload = verdict.bits_per_second;
        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_VERDICT, &message);
}

static int send_more(AldServer *server)
{
        AldServerTokens issued;
        AldSocketMore more = { .tokens = issued.list };
        int r = ald_server_issue_tokens(server, ALD_SOCKET_OPEN_PURPOSE_UPLOAD,
                server->receiving.evaluator.streams - server->receiving.flow.n, &issued);

        return r < 0 ? r : ald_channel_send(&server->channel, ALD_KIND_SOCKET_MORE, &more);
}

static int step_upload(AldServer *server)
{
        AldReceivingStep step = ald_receiving_step(&server->receiving);

        switch (step) {
        case ALD_RECEIVING_GO_ON:
                return 0;
        case ALD_RECEIVING_MORE:
                return send_more(server);
        case ALD_RECEIVING_DONE:
        case ALD_RECEIVING_STALLED:
                return send_verdict(server);
        default:
                return ald_receiving_failed(step, server->failure);
        }
}

static int step_download(AldServer *server)
{
        AldSocketEffort effort;

        if (!ald_flow_effort_is_due(&server->sending, ald_flow_moved(&server->sending).bytes, ald_now()))
                return 0;
        ald_flow_effort(&server->sending, &effort);
        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_EFFORT, &effort);
}

/* Sends the client the result of a spot check. */
static int step_spot(AldServer *server)
{
        AldSocketSpotResult message = ALD_SOCKET_SPOT_RESULT_INIT;
        AldSpot *spot = &server->spot;
        uint64_t rate;

        if (!spot->running || !atomic_load(&spot->ended))
                return 0;
        ald_server_end_spot(server);
        if (spot->sending)
                return 0;
        rate = ald_spot_rate(spot->points, spot->n);
        message.bytes = spot->bytes;
        if (rate > 0)
                message.bits_per_second = rate;
        return ald_channel_send(&server->channel, ALD_KIND_SOCKET_SPOT_RESULT, &message);
}

static int read_messages(AldServer *server)
{
        while (server->state != ALD_SERVER_OVER) {
                g_autoptr(AldRecord) message = NULL;
                int r = ald_channel_try(&server->channel, &message);

                if (r > 0)
                        r = ald_server_handle(server, message);
                else if (r == 0)
                        return 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

static int take_connections(AldServer *server)
{
        AldSocketOpenPurpose purpose;
        int fd, r = 0;

        while (r >= 0 && ald_door_step(&server->door, ald_now(), &fd, &purpose))
                r = handle_connection(server, fd, purpose);
        return r;
}

static int wait_for_events(AldServer *server)
{
        struct pollfd fds[2 + ALD_DOOR_FDS] = { { server->channel.stop, POLLIN, 0 },
                { server->channel.fd, POLLIN, 0 } };
        bool ticking = server->state == ALD_SERVER_UPLOAD || server->state == ALD_SERVER_DOWNLOAD;
        uint64_t until = server->deadline;
        unsigned n = 2 + ald_door_fds(&server->door, fds + 2);

        if (server->state == ALD_SERVER_UPLOAD)
                until = ald_now() + ald_receiving_tick(&server->receiving);
        else if (ticking)
                until = ald_now() + ALD_TICK_NS;
        else if (server->spot.running)
                until = ald_now() + ALD_SPOT_TICK_NS;
        if (ald_wait(fds, n, MIN(until, server->deadline)) < 0)
                return ald_fail(server->failure, ALD_FAILURE_INTERNAL, "waiting failed");
        if (fds[0].revents)
                return ald_fail(server->failure, ALD_FAILURE_ABORTED, "stopped by a signal");
        if (ald_now() < server->deadline)
                return 0;
        return ald_fail(server->failure, ALD_FAILURE_TIMEOUT,
                ticking ? "the transfer was not ended in time" : "the other side sent nothing for too long");
}

static int serve(AldServer *server)
{
        int r = 0;

        server->deadline = ald_now() + ALD_IDLE_NS;
        while (r >= 0 && server->state != ALD_SERVER_OVER) {
                r = read_messages(server);
                if (r >= 0)
                        r = take_connections(server);
                if (r >= 0)
                        r = step_spot(server);
                if (r >= 0 && server->state == ALD_SERVER_UPLOAD)
                        r = step_upload(server);
                else if (r >= 0 && server->state == ALD_SERVER_DOWNLOAD)
                        r = step_download(server);
                if (r >= 0 && server->state != ALD_SERVER_OVER)
                        r = wait_for_events(server);
        }
        return r;
}

static int run_session(AldServer *server, int lock)
{
        int r = refuse_if_told(server, lock);

        if (r < 0)
                return r;
        r = ald_door_open(&server->door, server->channel.fd, server->options->link.port + 1,
                ALD_SOCKET_DATA_PORTS, server->failure);
        if (r >= 0)
                r = welcome(server);
        if (r >= 0)
                r = serve(server);
        if (r < 0 && !server->served->refused)
                ald_channel_send_abort(&server->channel, server->failure->kind, server->failure->message);
        ald_server_end_transfer(server);
        ald_echo_stop(&server->echo);
        ald_server_end_spot(server);
        ald_spot_clear(&server->spot);
        ald_door_close(&server->door);
        return r;
}

int ald_server_run(const AldSocketOptions *options, int fd, AldTls *tls, int stop, int lock,
        AldServed *served, AldFailure *failure)
{
        AldServer server = { .options = options, .served = served, .failure = failure };
        AldSessionReport report = ALD_SESSION_REPORT_INIT;
        int r;

        *served = (AldServed){};
        r = ald_channel_open(&server.channel, &ald_socket_protocol, fd, tls, true, stop, failure);
        learn_ways(&server);
        if (r >= 0) {
                served->authenticated = true;
                g_strlcpy(served->peer, server.channel.peer, sizeof served->peer);
                /* The service limits the time of unauthenticated peers. */
                report.peer = served->peer;
                ald_admission_report(options->link.report_fd, &report);
                r = run_session(&server, lock);
        }
        ald_channel_close(&server.channel);
        return r;
}
