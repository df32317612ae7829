/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/socket/exchange.h"

int ald_exchange_send(AldChannel *channel, const AldMessage *message)
{
        g_autofree char *text = ald_message_write(message);

        return ald_channel_send_text(channel, text);
}

static int parse(AldChannel *channel, const char *text, AldMessage *ret)
{
        const char *key = NULL;

        if (ald_message_read(text, strlen(text), ret, &key) < 0)
                return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent a message that is none%s%s", key ? ": bad " : "", key ?: "");
        if (ret->type == ALD_MESSAGE_REFUSAL || ret->type == ALD_MESSAGE_ABORT)
                return ald_fail(
                        channel->failure, (AldFailureKind) ret->reason, "the other side: %s", ret->text);
        return 1;
}

int ald_exchange_try(AldChannel *channel, AldMessage *ret)
{
        g_autofree char *text = NULL;
        int r = ald_channel_try_text(channel, &text);

        return r > 0 ? parse(channel, text, ret) : r;
}

int ald_exchange_receive(AldChannel *channel, uint64_t deadline, AldMessage *ret)
{
        g_autofree char *text = NULL;
        int r = ald_channel_receive_text(channel, deadline, &text);

        return r > 0 ? parse(channel, text, ret) : r;
}

int ald_exchange_unexpected(AldChannel *channel, const AldMessage *message)
{
        return ald_fail(channel->failure, ALD_FAILURE_PROTOCOL, "the other side said “%s” out of turn",
                ald_message_type_to_string(message->type));
}

int ald_exchange_expect(AldChannel *channel, AldMessageType type, AldMessage *ret)
{
        int r = ald_exchange_receive(channel, ald_now() + ALD_CHANNEL_PATIENCE, ret);

        if (r < 0)
                return r;
        return ret->type == type ? 0 : ald_exchange_unexpected(channel, ret);
}
