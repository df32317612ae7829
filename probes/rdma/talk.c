/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <string.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/rdma/talk.h"

#define TURNS 8192u
#define LOOK_NS (2 * ALD_NSEC_PER_MSEC) /* each costs what a round trip of a fast device takes */

int ald_talk_say(AldTalk *talk, const AldRdmaMessage *message)
{
        g_autofree char *text = ald_rdma_message_write(message);

        return ald_channel_send_text(&talk->channel, text);
}

void ald_talk_abort(AldTalk *talk)
{
        AldRdmaMessage message = { .type = ALD_RDMA_ABORT, .reason = talk->failure->kind };
        AldFailure ignored = {};

        if (!talk->channel.ready)
                return;
        g_strlcpy(message.text, talk->failure->message ?: "it ended", sizeof message.text);
        talk->channel.failure = &ignored;
        (void) ald_talk_say(talk, &message);
        g_free(ignored.message);
}

static int parse(AldTalk *talk, const char *text, AldRdmaMessage *ret)
{
        int r = ald_rdma_message_read(text, ret);

        if (r < 0)
                return ald_fail(
                        talk->failure, ALD_FAILURE_PROTOCOL, "the other side sent a message that is none");
        if (ret->type == ALD_RDMA_ABORT)
                return ald_fail(talk->failure, (AldFailureKind) ret->reason, "the other side: %s", ret->text);
        return 1;
}

int ald_talk_expect(AldTalk *talk, AldRdmaMessageType type, AldRdmaMessage *ret)
{
        g_autofree char *text = NULL;
        int r = ald_channel_receive_text(&talk->channel, ald_now() + talk->patience, &text);

        if (r >= 0)
                r = parse(talk, text, ret);
        if (r >= 0 && ret->type != type)
                return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL, "the other side spoke out of turn");
        return r < 0 ? r : 0;
}

int ald_talk_look(AldTalk *talk, uint64_t deadline, AldRdmaMessage *ret)
{
        struct pollfd stop = { talk->channel.stop, POLLIN, 0 };
        g_autofree char *text = NULL;
        uint64_t now;
        int r;

        if (++talk->turns < TURNS)
                return 0;
        talk->turns = 0;
        now = ald_now();
        if (now - talk->looked < LOOK_NS)
                return 0;
        talk->looked = now;
        r = ald_pair_look(&talk->pair, talk->failure);
        if (r < 0)
                return r;
        if (poll(&stop, 1, 0) > 0)
                return ald_fail(talk->failure, ALD_FAILURE_ABORTED, "told to stop");
        if (now > deadline)
                return ald_fail(talk->failure, ALD_FAILURE_TIMEOUT, "nothing came over RDMA in time");
        r = ald_channel_try_text(&talk->channel, &text);
        return r > 0 ? parse(talk, text, ret) : r;
}

int ald_talk_rest(AldTalk *talk)
{
        talk->turns = TURNS;
        return ald_pair_rest(&talk->pair, LOOK_NS / ALD_NSEC_PER_MSEC, talk->failure);
}

int ald_talk_connect(AldTalk *talk)
{
        int r = talk->has_gid ? ald_port_check_gid(&talk->port, &talk->own_gid, talk->failure) : 0;

        return r < 0 ? r
                     : ald_pair_connect(&talk->pair, talk->has_gid ? &talk->own_gid : NULL, &talk->peer_gid,
                               talk->failure);
}

void ald_talk_close(AldTalk *talk)
{
        ald_channel_close(&talk->channel);
        ald_pair_close(&talk->pair);
        ald_manager_close(&talk->manager);
        ald_port_close(&talk->port);
}
