/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <sys/socket.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/common/wait.h"
#include "probes/socket/client/client-session.h"
#include "probes/socket/transfer/token.h"

/* Names the ports if they may be closed, since a firewall may be open for the control connection alone. The
 * state service reads them from the end of this message (ald_link_closed_ports()). */
static int connect_data(AldSocketClient *client, int *ret_fd)
{
        unsigned control = client->options->link.port;
        AldFailure failure = {};
        int r = ald_address_connect(&client->peer, &client->origin, client->channel.stop, ret_fd, &failure);

        if (r >= 0)
                return 0;
        if (failure.kind == ALD_FAILURE_UNREACHABLE || failure.kind == ALD_FAILURE_REFUSED ||
                failure.kind == ALD_FAILURE_TIMEOUT)
                r = ald_fail(client->failure, failure.kind, "%s; data connections use TCP ports %u to %u",
                        failure.message, control + 1, control + ALD_SOCKET_DATA_PORTS);
        else
                r = ald_fail(client->failure, failure.kind, "%s", failure.message);
        ald_failure_clear(&failure);
        return r;
}

int ald_socket_client_connect(AldSocketClient *client, const char *token, int *ret_fd)
{
        ald_fd int fd = -1;
        int r;

        if (!ald_token_is_well_formed(token))
                return ald_fail(
                        client->failure, ALD_FAILURE_PROTOCOL, "the other side sent an invalid token");
        r = connect_data(client, &fd);
        if (r < 0)
                return r;
        if (send(fd, token, ALD_TOKEN_SIZE, MSG_NOSIGNAL) != ALD_TOKEN_SIZE || fcntl(fd, F_SETFL, 0) < 0)
                return ald_fail(client->failure, ALD_FAILURE_ABORTED, "a data connection was closed");
        *ret_fd = ald_fd_steal(&fd);
        return 0;
}

int ald_socket_client_expect_after_efforts(AldSocketClient *client, AldKind kind, AldRecord **ret)
{
        uint64_t deadline = ald_now() + ALD_CHANNEL_TIMEOUT;

        for (;;) {
                g_autoptr(AldRecord) message = NULL;
                int r = ald_channel_receive(&client->channel, deadline, &message);

                if (r < 0)
                        return r;
                if (message->kind == kind) {
                        *ret = g_steal_pointer(&message);
                        return 0;
                }
                if (message->kind != ALD_KIND_SOCKET_EFFORT)
                        return ald_channel_unexpected(&client->channel, message);
        }
}

int ald_socket_client_request_tokens(
        AldSocketClient *client, AldSocketOpenPurpose purpose, unsigned count, AldRecord **ret)
{
        const AldSocketOptions *options = client->options;
        g_autoptr(AldRecord) tokens = NULL;
        AldSocketOpen open = ALD_SOCKET_OPEN_INIT;
        int r;

        open.purpose = ald_socket_open_purpose_to_string(purpose);
        open.count = count;
        /* The first request of a session says what is to be measured. */
        if (purpose == ALD_SOCKET_OPEN_PURPOSE_RTT) {
                open.scope = ald_socket_scope_to_string(options->scope);
                open.automatic = options->link.automatic;
                open.overdue = options->link.overdue;
        }
        r = ald_channel_send(&client->channel, ALD_KIND_SOCKET_OPEN, &open);
        if (r >= 0)
                r = ald_socket_client_expect_after_efforts(client, ALD_KIND_SOCKET_TOKENS, &tokens);
        if (r < 0)
                return r;
        if (g_strv_length((char **) ald_record_as(tokens, SOCKET_TOKENS, AldSocketTokens)->tokens) != count)
                return ald_channel_unexpected(&client->channel, tokens);
        *ret = g_steal_pointer(&tokens);
        return 0;
}

uint64_t ald_socket_client_nsec_max(const AldSocketClient *client)
{
        return MIN(client->options->link.seconds_max * 1000, client->welcome->duration_max_msec) *
               ALD_NSEC_PER_MSEC;
}

uint64_t ald_socket_client_bytes_max(const AldSocketClient *client)
{
        return MIN(client->options->link.bytes_max, client->welcome->bytes_max);
}

unsigned ald_socket_client_streams_max(const AldSocketClient *client)
{
        return (unsigned) MIN(client->options->streams_max, client->welcome->streams_max);
}

int ald_socket_client_begin(AldSocketClient *client, AldSocketBeginDirection direction)
{
        const AldSocketBegin begin = {
                .direction = ald_socket_begin_direction_to_string(direction),
                .duration_max_msec = ald_socket_client_nsec_max(client) / ALD_NSEC_PER_MSEC,
                .bytes_max = ald_socket_client_bytes_max(client),
                .streams_max = client->options->streams_max,
                .min_rtt_nsec = client->result->rtt.min,
        };

        return ald_channel_send(&client->channel, ALD_KIND_SOCKET_BEGIN, &begin);
}

AldTrafficSockets ald_socket_client_sockets(const AldSocketClient *client, AldStreamGroup *group)
{
        return (AldTrafficSockets){ .fds = { client->channel.fd, client->rtt_fd },
                .data = group ? ald_stream_group_wire : NULL,
                .group = group };
}

int ald_socket_client_wait(AldSocketClient *client, uint64_t nsec)
{
        struct pollfd fds[] = { { client->channel.stop, POLLIN, 0 }, { client->channel.fd, POLLIN, 0 } };

        if (ald_wait(fds, 2, ald_now() + nsec) < 0)
                return ald_fail(client->failure, ALD_FAILURE_INTERNAL, "waiting failed");
        if (fds[0].revents)
                return ald_fail(client->failure, ALD_FAILURE_ABORTED, "stopped by a signal");
        return 0;
}

void ald_socket_client_begin_loaded(AldSocketClient *client)
{
        client->loaded_since = ald_now();
        if (client->rtt_fd >= 0 && ald_rtt_start(&client->rtt, client->rtt_fd, ALD_RTT_STEADY) < 0)
                ald_fd_close(&client->rtt_fd);
}

void ald_socket_client_end_loaded(AldSocketClient *client, bool now)
{
        if (client->rtt_fd < 0)
                return;
        ald_rtt_finish(&client->rtt, now);
        g_array_append_vals(client->loaded, client->rtt.samples, (guint) client->rtt.n);
        if (client->rtt.n > 0)
                client->result->loaded_nsec = MAX(
                        client->result->loaded_nsec, ald_now() - client->loaded_since);
        if (client->rtt.failed)
                ald_fd_close(&client->rtt_fd);
}
