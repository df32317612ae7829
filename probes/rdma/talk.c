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

static const AldKind kinds[] = { ALD_KIND_RDMA_HELLO, ALD_KIND_RDMA_OFFER, ALD_KIND_RDMA_USE,
        ALD_KIND_RDMA_READY, ALD_KIND_RDMA_PHASE, ALD_KIND_RDMA_GO, ALD_KIND_RDMA_STOP, ALD_KIND_RDMA_DRAINED,
        ALD_KIND_PROBE_ABORT };

const AldProtocol ald_rdma_protocol = { .version = 3, .kinds = kinds, .n_kinds = G_N_ELEMENTS(kinds) };

void ald_talk_abort(AldTalk *talk)
{
        AldFailure ignored = {};

        if (!talk->channel.ready)
                return;
        talk->channel.failure = &ignored;
        ald_channel_send_abort(&talk->channel, talk->failure->kind, talk->failure->message ?: "");
        g_free(ignored.message);
}

int ald_talk_out_of_turn(AldTalk *talk)
{
        return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL, "the other side sent a message out of turn");
}

int ald_talk_expect(AldTalk *talk, AldKind kind, AldRecord **ret)
{
        return ald_channel_expect(&talk->channel, ald_now() + talk->patience, kind, ret);
}

int ald_talk_look(AldTalk *talk, uint64_t deadline, AldRecord **ret)
{
        g_autoptr(AldRecord) record = NULL;
        struct pollfd stop = { talk->channel.stop, POLLIN, 0 };
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
        r = ald_channel_try(&talk->channel, &record);
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
