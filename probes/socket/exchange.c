/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/socket/exchange.h"

static const AldKind session_kinds[] = {
        ALD_KIND_SOCKET_WELCOME,
        ALD_KIND_SOCKET_OPEN,
        ALD_KIND_SOCKET_TOKENS,
        ALD_KIND_SOCKET_MORE,
        ALD_KIND_SOCKET_BEGIN,
        ALD_KIND_SOCKET_EFFORT,
        ALD_KIND_SOCKET_VERDICT,
        ALD_KIND_SOCKET_NO_RATE,
        ALD_KIND_SOCKET_STOP,
        ALD_KIND_SOCKET_SENT,
        ALD_KIND_SOCKET_SPOT_RESULT,
        ALD_KIND_SOCKET_BYE,
        ALD_KIND_SOCKET_ABORT,
};

int ald_exchange_parse(const char *text, size_t n, AldRecord **ret, char **ret_reason)
{
        return ald_message_parse_named(
                session_kinds, G_N_ELEMENTS(session_kinds), text, n, ALD_FRAME_MAX, ret, ret_reason);
}

int ald_exchange_send(AldChannel *channel, AldKind kind, const void *fields)
{
        g_autofree char *text = ald_message_format_named(kind, fields);

        return ald_channel_send_text(channel, text);
}

void ald_exchange_send_abort(AldChannel *channel, AldFailureKind reason, const char *text)
{
        g_autofree char *shown = ald_message_text(text);
        const AldSocketAbort message = { .reason = ald_failure_to_string(reason), .text = shown };

        (void) ald_exchange_send(channel, ALD_KIND_SOCKET_ABORT, &message);
}

static int fail_as_aborted(AldChannel *channel, const AldSocketAbort *message)
{
        int reason = ald_failure_from_string(message->reason);

        return ald_fail(channel->failure, reason >= 0 ? (AldFailureKind) reason : ALD_FAILURE_ABORTED,
                "the other side: %s", message->text ?: message->reason);
}

static int parse(AldChannel *channel, const char *text, AldRecord **ret)
{
        g_autoptr(AldRecord) message = NULL;
        g_autofree char *reason = NULL;
        int r = ald_exchange_parse(text, strlen(text), &message, &reason);

        if (r == -ENOENT)
                return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent something that version %u of the protocol does not have",
                        ALD_PROTOCOL_VERSION);
        if (r < 0)
                return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent an invalid message: %s", reason);
        if (message->kind == ALD_KIND_SOCKET_ABORT)
                return fail_as_aborted(channel, ald_record_as(message, SOCKET_ABORT, AldSocketAbort));
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

int ald_exchange_expect(AldChannel *channel, AldKind kind, AldRecord **ret)
{
        g_autoptr(AldRecord) message = NULL;
        int r = ald_exchange_receive(channel, ald_now() + ALD_CHANNEL_PATIENCE, &message);

        if (r < 0)
                return r;
        if (message->kind != kind)
                return ald_exchange_unexpected(channel, message);
        *ret = g_steal_pointer(&message);
        return 0;
}
