/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/rdma/talk.h"
#include "record/message.h"

#define TURNS 8192u
#define LOOK_NS (2 * ALD_NSEC_PER_MSEC) /* a look takes as long as a round trip of a fast device */

int ald_talk_say(AldTalk *talk, AldKind kind, const void *fields)
{
        g_autofree char *text = ald_message_format_named(kind, fields);

        return ald_channel_send_text(&talk->channel, text);
}

void ald_talk_abort(AldTalk *talk)
{
        g_autofree char *text = ald_message_text(talk->failure->message ?: "");
        const AldRdmaAbort abort = { .reason = ald_failure_to_string(talk->failure->kind), .text = text };
        AldFailure ignored = {};

        if (!talk->channel.ready)
                return;
        talk->channel.failure = &ignored;
        (void) ald_talk_say(talk, ALD_KIND_RDMA_ABORT, &abort);
        g_free(ignored.message);
}

int ald_talk_parse(const char *text, size_t n, AldRecord **ret, char **ret_reason)
{
        static const AldKind kinds[] = { ALD_KIND_RDMA_HELLO, ALD_KIND_RDMA_OFFER, ALD_KIND_RDMA_USE,
                ALD_KIND_RDMA_READY, ALD_KIND_RDMA_PHASE, ALD_KIND_RDMA_GO, ALD_KIND_RDMA_STOP,
                ALD_KIND_RDMA_DRAINED, ALD_KIND_RDMA_ABORT };

        return ald_message_parse_named(kinds, G_N_ELEMENTS(kinds), text, n, ALD_FRAME_MAX, ret, ret_reason);
}

static int ended_by_other(AldTalk *talk, const AldRdmaAbort *abort)
{
        int kind = ald_failure_from_string(abort->reason);

        return ald_fail(talk->failure, kind < 0 ? ALD_FAILURE_ABORTED : (AldFailureKind) kind,
                "the other side: %s", abort->text ?: abort->reason);
}

static int parse(AldTalk *talk, const char *text, AldRecord **ret)
{
        g_autoptr(AldRecord) record = NULL;
        g_autofree char *reason = NULL;
        int r = ald_talk_parse(text, strlen(text), &record, &reason);

        if (r == -ENOENT)
                return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent something that is not a message of version %u of the protocol",
                        ALD_RDMA_PROTOCOL);
        if (r < 0)
                return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                        "the other side sent an invalid message: %s", reason);
        if (record->kind == ALD_KIND_RDMA_ABORT)
                return ended_by_other(talk, ald_record_as(record, RDMA_ABORT, AldRdmaAbort));
        *ret = g_steal_pointer(&record);
        return 1;
}

int ald_talk_check_version(AldTalk *talk, uint64_t version)
{
        return version == ALD_RDMA_PROTOCOL ? 0
                                            : ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                                                      "the other side uses version %" G_GUINT64_FORMAT
                                                      " of the protocol, this side version %u",
                                                      version, ALD_RDMA_PROTOCOL);
}

int ald_talk_out_of_turn(AldTalk *talk)
{
        return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL, "the other side sent a message out of turn");
}

int ald_talk_expect(AldTalk *talk, AldKind kind, AldRecord **ret)
{
        g_autoptr(AldRecord) record = NULL;
        g_autofree char *text = NULL;
        int r = ald_channel_receive_text(&talk->channel, ald_now() + talk->patience, &text);

        if (r >= 0)
                r = parse(talk, text, &record);
        if (r < 0)
                return r;
        if (record->kind != kind)
                return ald_talk_out_of_turn(talk);
        if (ret)
                *ret = g_steal_pointer(&record);
        return 0;
}

int ald_talk_look(AldTalk *talk, uint64_t deadline, AldRecord **ret)
{
        g_autoptr(AldRecord) record = NULL;
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
                return ald_fail(talk->failure, ALD_FAILURE_ABORTED, "stopped by a signal");
        if (now > deadline)
                return ald_fail(talk->failure, ALD_FAILURE_TIMEOUT, "nothing came over RDMA in time");
        r = ald_channel_try_text(&talk->channel, &text);
        if (r > 0)
                r = parse(talk, text, &record);
        if (r > 0 && ret)
                *ret = g_steal_pointer(&record);
        return r;
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
