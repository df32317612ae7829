/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "probes/common/asking.h"
#include "probes/common/clock.h"
#include "probes/rdma/session.h"

typedef struct Serving {
        const AldRdmaOptions *options;
        AldTalk *talk;
        AldRdmaServed *served;
        AldJudgeLimits limits; /* of what comes */
} Serving;

/* Whoever runs us gives strangers little time, and judges whether the port has time for a measurement. */
static int ask(Serving *serving)
{
        const AldRdmaOptions *options = serving->options;
        AldTalk *talk = serving->talk;
        AldAsking told = {};

        if (options->link.report_fd < 0)
                return 0;
        if (*serving->served->port)
                (void) dprintf(options->link.report_fd, "{\"peer\":\"%s\",\"port\":\"%s\"}\n",
                        serving->served->peer, serving->served->port);
        else
                (void) dprintf(options->link.report_fd, "{\"peer\":\"%s\"}\n", serving->served->peer);
        if (!options->link.ask || talk->failure->message)
                return 0;
        if (ald_asking_read(options->link.report_fd, &told) < 0)
                return ald_fail(talk->failure, ALD_FAILURE_INTERNAL, "not told whether to measure");
        if (told.inhibited)
                return ald_fail(talk->failure, ALD_FAILURE_INHIBITED, "%s", told.inhibited);
        return told.busy ? ald_fail(talk->failure, ALD_FAILURE_BUSY, "%s", told.busy) : 0;
}

/* The client says which port it wants, and we may have to use another one. */
static int open_port(Serving *serving, const AldRdmaMessage *hello)
{
        AldTalk *talk = serving->talk;
        const char *wanted = *hello->port ? hello->port : serving->options->device;
        int r = 0, asked;

        if (hello->version != ALD_RDMA_PROTOCOL)
                r = ald_fail(talk->failure, ALD_FAILURE_PROTOCOL, "the other side has another version");
        if (r >= 0)
                r = ald_port_open(wanted, &talk->port, talk->failure);
        if (r >= 0)
                g_strlcpy(serving->served->port, talk->port.name, sizeof serving->served->port);
        asked = ask(serving);
        return r < 0 ? r : asked;
}

static int make_offer(const Serving *serving, bool manager, AldRdmaMessage *ret)
{
        AldTalk *talk = serving->talk;
        AldAddress local;
        int r;

        *ret = (AldRdmaMessage){ .type = ALD_RDMA_OFFER,
                .version = ALD_RDMA_PROTOCOL,
                .manager = manager,
                .immediate = ald_port_takes_immediate(&talk->port),
                .gids = talk->port.gids,
                .msec = serving->options->link.seconds_max * 1000,
                .limit = serving->options->link.bytes_max };
        g_strlcpy(ret->port, talk->port.name, sizeof ret->port);
        if (!manager)
                return 0;
        r = ald_manager_open(&talk->manager, talk->channel.stop, talk->failure);
        if (r >= 0 && ald_address_local(talk->channel.fd, &local) < 0)
                r = ald_fail(talk->failure, ALD_FAILURE_ABORTED, "the connection is gone");
        return r < 0 ? r : ald_manager_listen(&talk->manager, &talk->port, &local, ret);
}

static int take_gids(AldTalk *talk, const AldGids *chosen)
{
        if (chosen->n == 0)
                return 0;
        for (size_t i = 0; i < talk->port.gids.n && chosen->n == 2; i++) {
                const AldGid *own = &talk->port.gids.gids[i];

                if (own->index != chosen->gids[1].index || own->type != chosen->gids[0].type)
                        continue;
                talk->own_gid = *own;
                talk->peer_gid = chosen->gids[0];
                talk->has_gid = true;
                return 0;
        }
        return ald_fail(talk->failure, ALD_FAILURE_NO_GID, "there is no such GID here (any more)");
}

/* What the client decided on, within what we can. */
static int open_pair(Serving *serving, const AldRdmaMessage *use)
{
        AldTalk *talk = serving->talk;
        AldPlanLimits limits;
        AldPlan plan;

        ald_port_limits(&talk->port, &limits);
        if (!ald_plan_make(
                    &limits, (AldRdmaMethod) use->method, use->size, (unsigned) use->end.n_queues, &plan) ||
                plan.size != use->size || plan.queues != use->end.n_queues)
                return ald_fail(talk->failure, ALD_FAILURE_LIMIT,
                        "%s takes no %zu queues with messages of %zu KiB", talk->port.name, use->end.n_queues,
                        (size_t) use->size >> 10);
        serving->limits = ald_flow_limits(serving->options, use);
        return ald_pair_open(&talk->port, &plan, talk->manager.id, &talk->pair, talk->failure);
}

static int get_ready(Serving *serving)
{
        AldTalk *talk = serving->talk;
        AldRdmaMessage hello, offer, use, ready = { .type = ALD_RDMA_READY };
        int r = ald_talk_expect(talk, ALD_RDMA_HELLO, &hello);

        if (r >= 0)
                r = open_port(serving, &hello);
        if (r >= 0)
                r = make_offer(serving, hello.manager || ald_port_needs_manager(&talk->port), &offer);
        if (r >= 0)
                r = ald_talk_say(talk, &offer);
        if (r >= 0)
                r = ald_talk_expect(talk, ALD_RDMA_USE, &use);
        if (r >= 0)
                r = take_gids(talk, &use.gids);
        if (r >= 0 && offer.manager)
                r = ald_manager_meet(&talk->manager, offer.nonce);
        if (r >= 0)
                r = open_pair(serving, &use);
        if (r >= 0)
                r = ald_pair_take_peer(&talk->pair, &use.end, talk->failure);
        if (r >= 0)
                r = offer.manager ? ald_manager_accept(&talk->manager) : ald_talk_connect(talk);
        if (r < 0)
                return r;
        ready.end = talk->pair.own;
        return ald_talk_say(talk, &ready);
}

static int serve_upload(Serving *serving)
{
        AldVerdict verdict;
        AldRdmaMessage stop;
        int r = ald_flow_receive(serving->talk, &serving->limits, 0, &verdict);

        if (r < 0)
                return r;
        serving->served->received += verdict.bytes;
        stop = ald_flow_stop_message(&verdict);
        return ald_talk_say(serving->talk, &stop);
}

/* 1: the next phase is there already. */
static int serve_phase(Serving *serving, AldRdmaMessage *next)
{
        AldTalk *talk = serving->talk;
        uint64_t bytes = 0;
        int r;

        switch ((AldRdmaPhase) next->phase) {
        case ALD_RDMA_PING:
                r = ald_flow_answer(talk, next);
                return r < 0 || next->type == ALD_RDMA_PHASE ? r
                                                             : ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                                                                       "the other side spoke out of turn");
        case ALD_RDMA_UPLOAD:
                return serve_upload(serving);
        case ALD_RDMA_DOWNLOAD:
                r = ald_flow_send(talk, &serving->limits, &bytes);
                serving->served->sent += bytes;
                return r;
        default:
                return 0;
        }
}

static int serve(Serving *serving)
{
        static const AldRdmaMessage go = { .type = ALD_RDMA_GO };
        AldTalk *talk = serving->talk;
        AldRdmaMessage next;
        uint64_t due = 0;
        int r = get_ready(serving);

        if (r >= 0)
                r = ald_talk_expect(talk, ALD_RDMA_PHASE, &next);
        while (r >= 0 && next.phase != ALD_RDMA_DONE) {
                /* Each of them is paid for once. */
                if (next.phase < due)
                        return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                                "the other side wants to measure the same again");
                due = next.phase + 1;
                r = ald_talk_say(talk, &go);
                if (r >= 0)
                        r = serve_phase(serving, &next);
                if (r == 0)
                        r = ald_talk_expect(talk, ALD_RDMA_PHASE, &next);
        }
        return r;
}

int ald_session_serve(const AldRdmaOptions *options, AldTalk *talk, int fd, AldTls *tls, AldRdmaServed *ret)
{
        Serving serving = { .options = options, .talk = talk, .served = ret };
        AldAddress peer;
        int r;

        talk->patience = options->link.seconds_max * ALD_NSEC_PER_SEC + ALD_TALK_PATIENCE;
        if (ald_address_peer(fd, &peer) >= 0)
                ald_address_format(&peer, ret->address);
        r = ald_channel_open(&talk->channel, fd, tls, true, talk->channel.stop, talk->failure);
        ret->authenticated = r >= 0;
        g_strlcpy(ret->peer, talk->channel.peer, sizeof ret->peer);
        if (r >= 0)
                r = serve(&serving);
        if (r < 0)
                ald_talk_abort(talk);
        return r;
}
