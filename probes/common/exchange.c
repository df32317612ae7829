/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/common/exchange.h"

int ald_exchange_parse(
        const AldProtocol *protocol, const char *text, size_t n, AldRecord **ret, char **ret_reason)
{
        return ald_message_parse_named(
                protocol->kinds, protocol->n_kinds, text, n, ALD_FRAME_MAX, ret, ret_reason);
}

int ald_exchange_send(AldChannel *channel, AldKind kind, const void *fields)
{
        g_autofree char *text = ald_message_format_named(kind, fields);

        return ald_channel_send_text(channel, text);
}

void ald_exchange_send_abort(AldChannel *channel, AldFailureKind reason, const char *text)
{
        g_autofree char *shown = ald_message_text(text);
        const AldProbeAbort message = { .reason = ald_failure_to_string(reason), .text = shown };

        (void) ald_exchange_send(channel, ALD_KIND_PROBE_ABORT, &message);
}

static int fail_as_aborted(AldChannel *channel, const AldProbeAbort *message)
{
        int reason = ald_failure_from_string(message->reason);

        return ald_fail(channel->failure, reason >= 0 ? (AldFailureKind) reason : ALD_FAILURE_ABORTED,
                "the other side: %s", message->text ?: message->reason);
}

static int parse(AldChannel *channel, const char *text, AldRecord **ret)
{
        g_autoptr(AldRecord) message = NULL;
        g_autofree char *reason = NULL;
        int r = ald_exchange_parse(channel->protocol, text, strlen(text), &message, &reason);

        if (r == -ENOENT)
                return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent something that version %u of the protocol does not have",
                        channel->protocol->version);
        if (r < 0)
                return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent an invalid message: %s", reason);
        if (message->kind == ALD_KIND_PROBE_ABORT)
                return fail_as_aborted(channel, ald_record_as(message, PROBE_ABORT, AldProbeAbort));
        *ret = g_steal_pointer(&message);
        return 1;
}

int ald_exchange_try(AldChannel *channel, AldRecord **ret)
{
        g_autofree char *text = NULL;
        int r = ald_channel_try_text(channel, &text);

        return r > 0 ? parse(channel, text, ret) : r;
}

int ald_exchange_receive(AldChannel *channel, uint64_t deadline, AldRecord **ret)
{
        g_autofree char *text = NULL;
        int r = ald_channel_receive_text(channel, deadline, &text);

        return r > 0 ? parse(channel, text, ret) : r;
}

int ald_exchange_unexpected(AldChannel *channel, const AldRecord *message)
{
        return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL, "the other side sent %s out of turn",
                ald_kinds[message->kind].name);
}

int ald_exchange_check_version(AldChannel *channel, uint64_t version)
{
        if (version == channel->protocol->version)
                return 0;
        return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                "the other side uses version %" G_GUINT64_FORMAT " of the protocol, and this side version %u",
                version, channel->protocol->version);
}

int ald_exchange_expect(AldChannel *channel, uint64_t deadline, AldKind kind, AldRecord **ret)
{
        g_autoptr(AldRecord) message = NULL;
        int r = ald_exchange_receive(channel, deadline, &message);

        if (r < 0)
                return r;
        if (message->kind != kind)
                return ald_exchange_unexpected(channel, message);
        if (ret)
                *ret = g_steal_pointer(&message);
        return 0;
}
