/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/common/probe-fd.h"
#include "probes/socket/client/client-transfer.h"
#include "probes/socket/transfer/timing.h"
#include "record/figure-text.h"

#define FASTER_MAX 1000.0
#define TOO_SLOW "too little arrived within %u ms to compute a rate"

static int wait_for_rtt(AldSocketClient *client)
{
        int r = 0;

        while (r >= 0 && !atomic_load(&client->rtt.ended)) {
                g_autoptr(AldRecord) message = NULL;

                ald_progress_report(client->progress, "rtt", atomic_load(&client->rtt.progress) / 1000.0);
                r = ald_socket_client_wait(client, ALD_TICK_NS);
                if (r < 0)
                        break;
                r = ald_channel_try(&client->channel, &message);
                if (r > 0)
                        r = ald_channel_unexpected(&client->channel, message);
        }
        ald_rtt_finish(&client->rtt, r < 0);
        return r;
}

static int measure_rtt(AldSocketClient *client)
{
        const AldSocketScope scope = client->options->scope;
        bool brief = scope == ALD_SOCKET_SCOPE_CHECK || scope == ALD_SOCKET_SCOPE_ROUND_TRIPS;
        g_autoptr(AldRecord) tokens = NULL;
        AldTcpInfo info;
        int r = ald_socket_client_request_tokens(client, ALD_SOCKET_OPEN_PURPOSE_RTT, 1, &tokens);

        if (r >= 0)
                r = ald_socket_client_connect(client,
                        ald_record_as(tokens, SOCKET_TOKENS, AldSocketTokens)->tokens[0], &client->rtt_fd);
        if (r < 0)
                return r;
        ald_rtt_prepare(client->rtt_fd);
        r = ald_rtt_start(&client->rtt, client->rtt_fd, brief ? ALD_RTT_BRIEF : ALD_RTT_THOROUGH);
        if (r < 0)
                return ald_fail(client->failure, ALD_FAILURE_INTERNAL, "no thread: %s", g_strerror(-r));
        r = wait_for_rtt(client);
        if (r < 0)
                return r;
        client->result->rtt_known = ald_rtt_figures(client->rtt.samples, client->rtt.n, &client->result->rtt);
        if (!client->result->rtt_known || client->rtt.failed)
                return ald_fail(client->failure, ALD_FAILURE_TIMEOUT, "what was sent did not come back");
        if (ald_tcp_info_get(client->rtt_fd, &info) >= 0)
                client->result->kernel_min_rtt = info.min_rtt * 1000;
        return 0;
}

static int connect_spot(AldSocketClient *client, AldSocketOpenPurpose purpose)
{
        g_autoptr(AldRecord) tokens = NULL;
        int fd = -1, r = ald_socket_client_request_tokens(client, purpose, 1, &tokens);

        if (r >= 0)
                r = ald_socket_client_connect(
                        client, ald_record_as(tokens, SOCKET_TOKENS, AldSocketTokens)->tokens[0], &fd);
        if (r < 0)
                return r;
        r = ald_spot_check_start(&client->spot, fd, purpose == ALD_SOCKET_OPEN_PURPOSE_SPOT_UPLOAD);
        return r < 0 ? ald_fail(client->failure, ALD_FAILURE_INTERNAL, "no thread: %s", g_strerror(-r)) : 0;
}

static void set_spot_reason(AldSocketClient *client, const char *why)
{
        char *reason = client->result->spot_reason;

        if (!*reason)
                g_strlcpy(reason, why, sizeof client->result->spot_reason);
}

static void set_spot_too_slow(AldSocketClient *client)
{
        g_autofree char *why = g_strdup_printf(
                TOO_SLOW, (unsigned) (ALD_SPOT_CHECK_LONGEST_NS / ALD_NSEC_PER_MSEC));

        set_spot_reason(client, why);
}

/*
 * Returns whether a result is possible. The receiver cannot have more than was sent, and the last part cannot
 * be much faster than the whole, including the time until the message arrived.
 */
static bool is_spot_plausible(const AldSocketClient *client, uint64_t bytes, uint64_t rate, uint64_t elapsed)
{
        return bytes <= client->spot.bytes &&
               (double) rate * (double) elapsed <= FASTER_MAX * (double) bytes * 8e9;
}

static int handle_spot_result(AldSocketClient *client, const AldSocketSpotResult *message, uint64_t elapsed)
{
        AldOptional rate = ald_optional_of_field(message->bits_per_second);

        if (!is_spot_plausible(client, message->bytes, rate.value, elapsed))
                return ald_fail(client->failure, ALD_FAILURE_PROTOCOL,
                        "what the other side says it received does not fit what was sent");
        client->result->spot_upload = rate.value;
        if (!rate.known)
                set_spot_too_slow(client);
        return 0;
}

static int check_upload(AldSocketClient *client)
{
        uint64_t begun = ald_now();
        g_autoptr(AldRecord) message = NULL;
        int r = connect_spot(client, ALD_SOCKET_OPEN_PURPOSE_SPOT_UPLOAD);

        if (r >= 0)
                r = ald_channel_expect(&client->channel, ald_now() + ALD_CHANNEL_TIMEOUT,
                        ALD_KIND_SOCKET_SPOT_RESULT, &message);
        ald_spot_check_stop(&client->spot);
        if (r < 0)
                return r;
        return handle_spot_result(
                client, ald_record_as(message, SOCKET_SPOT_RESULT, AldSocketSpotResult), ald_now() - begun);
}

static int check_download(AldSocketClient *client)
{
        int r = connect_spot(client, ALD_SOCKET_OPEN_PURPOSE_SPOT_DOWNLOAD);

        while (r >= 0 && !atomic_load(&client->spot.ended)) {
                g_autoptr(AldRecord) message = NULL;

                r = ald_socket_client_wait(client, ALD_SPOT_CHECK_TICK_NS);
                if (r >= 0)
                        r = ald_channel_try(&client->channel, &message);
                if (r > 0)
                        r = ald_channel_unexpected(&client->channel, message);
        }
        ald_spot_check_stop(&client->spot);
        if (r < 0)
                return r;
        client->result->spot_download = ald_spot_check_rate(client->spot.points, client->spot.n);
        if (client->result->spot_download == 0)
                set_spot_too_slow(client);
        return 0;
}

/* Makes a spot check of both directions; a missing rate is not an error. */
static int check_spots(AldSocketClient *client)
{
        int r;

        if (client->result->rtt.min > ALD_SPOT_CHECK_RTT_MAX_NS) {
                g_autofree char *rtt = ald_format_figure(
                        &ald_unit_nanoseconds, (double) client->result->rtt.min);
                g_autofree char *why = g_strdup_printf(
                        "the round trip of %s is too long for a spot check", rtt);

                set_spot_reason(client, why);
                return 0;
        }
        r = check_upload(client);
        return r < 0 ? r : check_download(client);
}

static int receive_welcome(AldSocketClient *client)
{
        const AldSocketWelcome *welcome;
        int r = ald_channel_expect(&client->channel, ald_now() + ALD_CHANNEL_TIMEOUT, ALD_KIND_SOCKET_WELCOME,
                &client->welcome_record);

        if (r < 0)
                return r;
        client->welcome = welcome = ald_record_as(client->welcome_record, SOCKET_WELCOME, AldSocketWelcome);
        r = ald_channel_check_version(&client->channel, welcome->version);
        if (r < 0)
                return r;
        if (welcome->interface && !ald_interface_name_is_valid(welcome->interface))
                return ald_fail(client->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent an invalid interface name");
        g_strlcpy(client->result->sink_interface, welcome->interface ?: "",
                sizeof client->result->sink_interface);
        ald_address_set_port(&client->peer, (unsigned) welcome->port);
        /* Data connections must take the same path. */
        client->origin.source = &client->local;
        return 0;
}

static int run_measurement(AldSocketClient *client)
{
        const AldSocketScope scope = client->options->scope;
        AldTrafficSockets sockets = ald_socket_client_sockets(client, NULL);
        int r = receive_welcome(client);

        ald_traffic_begin(&client->quiet, client->result->interface, true, &sockets);
        if (r >= 0)
                r = measure_rtt(client);
        sockets = ald_socket_client_sockets(client, NULL);
        client->before = ald_traffic_end(&client->quiet, &sockets, (AldOptional){});
        if (r >= 0 && (scope == ALD_SOCKET_SCOPE_FULL || scope == ALD_SOCKET_SCOPE_CHECK))
                r = check_spots(client);
        if (r >= 0 && scope == ALD_SOCKET_SCOPE_FULL)
                r = ald_socket_client_upload(client);
        if (r >= 0 && scope == ALD_SOCKET_SCOPE_FULL)
                r = ald_socket_client_download(client);
        if (r >= 0)
                r = ald_channel_send(&client->channel, ALD_KIND_SOCKET_BYE, &(AldSocketBye){});
        return r;
}

static void finish_result(AldSocketClient *client)
{
        AldSocketMeasurement *result = client->result;

        result->measured = (uint64_t) g_get_real_time();
        result->loaded_known = ald_rtt_figures(
                (const AldRttSample *) client->loaded->data, client->loaded->len, &result->loaded);
}

/* Opens the control connection, and records the addresses and the interface that it uses. */
static int open_channel(AldSocketClient *client, const AldAddress *to, AldTls *tls, int stop)
{
        ald_fd int fd = -1;
        /* If the path loses packets of full size, this can only be reported if messages still get through;
         * the first ones of TLS 1.3 may have more than a thousand bytes. */
        AldOrigin origin = { client->origin.device, client->origin.source, .small_segments = true };
        int r = ald_address_connect(to, &origin, stop, &fd, client->failure);

        if (r < 0) {
                ald_tls_free(tls);
                return r;
        }
        client->peer = *to;
        ald_address_format(to, client->result->sink_address);
        if (ald_address_local(fd, &client->local) < 0) {
                ald_tls_free(tls);
                return ald_fail(client->failure, ALD_FAILURE_ABORTED, "the connection is gone");
        }
        client->result->interface = client->origin.device ? g_strdup(client->origin.device)
                                                          : ald_interface_between(&client->local, to);
        client->zerocopy = client->options->zerocopy && !ald_address_is_loopback(to);
        return ald_channel_open(
                &client->channel, &ald_socket_protocol, ald_fd_steal(&fd), tls, false, stop, client->failure);
}

int ald_socket_client_run(const AldSocketOptions *options, const AldAddress *to, const AldOrigin *origin,
        AldTls *tls, int stop, AldProgress *progress, AldSocketMeasurement *result, AldFailure *failure)
{
        g_autofree AldSocketClient *client = g_new0(AldSocketClient, 1);
        int r;

        *client = (AldSocketClient){
                .options = options,
                .origin = *origin,
                .channel = { .fd = -1 },
                .progress = progress,
                .failure = failure,
                .result = result,
                .spot = { .fd = -1 },
                .rtt_fd = -1,
                .loaded = g_array_new(FALSE, FALSE, sizeof(AldRttSample)),
        };
        result->scope = options->scope;
        ald_progress_report(progress, "connect", 0);
        r = open_channel(client, to, tls, stop);
        if (r >= 0) {
                g_strlcpy(result->sink, client->channel.peer, sizeof result->sink);
                r = run_measurement(client);
                if (r < 0)
                        ald_channel_send_abort(&client->channel, failure->kind, failure->message);
                else
                        finish_result(client);
        }
        ald_channel_close(&client->channel);
        ald_spot_check_clear(&client->spot);
        g_clear_pointer(&client->welcome_record, ald_record_unref);
        ald_fd_close(&client->rtt_fd);
        g_array_unref(client->loaded);
        return r;
}
