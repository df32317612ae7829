/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/common/fd.h"
#include "probes/common/wait.h"
#include "probes/socket/client-private.h"
#include "probes/socket/pace.h"

#define FASTER_MAX 1000.0
#define TOO_SLOW "too little arrived within %u ms to compute a rate"

static int connect_spot(AldClient *client, AldSocketOpenPurpose purpose)
{
        g_autoptr(AldRecord) tokens = NULL;
        int fd = -1, r = ald_client_ask_tokens(client, purpose, 1, &tokens);

        if (r >= 0)
                r = ald_client_connect(
                        client, ald_record_as(tokens, SOCKET_TOKENS, AldSocketTokens)->tokens[0], &fd);
        if (r < 0)
                return r;
        r = ald_spot_start(&client->spot, fd, purpose == ALD_SOCKET_OPEN_PURPOSE_SPOT_UPLOAD);
        return r < 0 ? ald_fail(client->failure, ALD_FAILURE_INTERNAL, "no thread: %s", g_strerror(-r)) : 0;
}

static void note(AldClient *client, const char *why)
{
        char *reason = client->result->spot_reason;

        if (!*reason)
                g_strlcpy(reason, why, sizeof client->result->spot_reason);
}

static void note_too_slow(AldClient *client)
{
        g_autofree char *why = g_strdup_printf(
                TOO_SLOW, (unsigned) (ALD_SPOT_LONGEST_NS / ALD_NSEC_PER_MSEC));

        note(client, why);
}

/*
 * The receiver cannot have more than was sent, and its last part was not much faster than all of it,
 * including the time until its message arrived.
 */
static bool is_plausible(const AldClient *client, uint64_t bytes, uint64_t rate, uint64_t elapsed)
{
        return bytes <= client->spot.bytes &&
               (double) rate * (double) elapsed <= FASTER_MAX * (double) bytes * 8e9;
}

static int take_spot(AldClient *client, const AldSocketSpotResult *message, uint64_t elapsed)
{
        AldOptional rate = ald_optional_of_field(message->bits_per_second);

        if (!is_plausible(client, message->bytes, rate.value, elapsed))
                return ald_fail(client->failure, ALD_FAILURE_PROTOCOL,
                        "what the other side says it received does not fit what was sent");
        client->result->spot_upload = rate.value;
        if (!rate.known)
                note_too_slow(client);
        return 0;
}

static int check_upload(AldClient *client)
{
        uint64_t begun = ald_now();
        g_autoptr(AldRecord) message = NULL;
        int r = connect_spot(client, ALD_SOCKET_OPEN_PURPOSE_SPOT_UPLOAD);

        if (r >= 0)
                r = ald_channel_expect(&client->channel, ald_now() + ALD_CHANNEL_PATIENCE,
                        ALD_KIND_SOCKET_SPOT_RESULT, &message);
        ald_spot_stop(&client->spot);
        if (r < 0)
                return r;
        return take_spot(
                client, ald_record_as(message, SOCKET_SPOT_RESULT, AldSocketSpotResult), ald_now() - begun);
}

static int check_download(AldClient *client)
{
        int r = connect_spot(client, ALD_SOCKET_OPEN_PURPOSE_SPOT_DOWNLOAD);

        while (r >= 0 && !atomic_load(&client->spot.ended)) {
                g_autoptr(AldRecord) message = NULL;

                r = ald_client_wait(client, ALD_SPOT_TICK_NS);
                if (r >= 0)
                        r = ald_channel_try(&client->channel, &message);
                if (r > 0)
                        r = ald_channel_unexpected(&client->channel, message);
        }
        ald_spot_stop(&client->spot);
        if (r < 0)
                return r;
        client->result->spot_download = ald_spot_rate(client->spot.points, client->spot.n);
        if (client->result->spot_download == 0)
                note_too_slow(client);
        return 0;
}

int ald_client_check_spots(AldClient *client)
{
        int r;

        if (client->result->rtt.min > ALD_SPOT_RTT_MAX_NS) {
                g_autofree char *why = g_strdup_printf(
                        "the round trip of %.1f ms is too long for a spot check",
                        (double) client->result->rtt.min / 1e6);

                note(client, why);
                return 0;
        }
        r = check_upload(client);
        return r < 0 ? r : check_download(client);
}
