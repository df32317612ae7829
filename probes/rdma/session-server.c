/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "probes/common/asking.h"
#include "probes/common/clock.h"
#include "probes/rdma/session.h"

typedef struct Serving {
        const AldRdmaOptions *options;
        AldTalk *talk;
        AldRdmaVisit *served;
        AldJudgeLimits limits; /* of what comes */
        char **gids;           /* that the other side is known to have; NULL: nobody says */
} Serving;

/* The service gives strangers little time, and judges whether the port has time for a measurement. */
static int ask(Serving *serving, const AldRdmaMessage *hello)
{
        const AldRdmaOptions *options = serving->options;
        AldTalk *talk = serving->talk;
        AldSessionReport report = ALD_SESSION_REPORT_INIT;
        AldAsking told;

        if (options->link.report_fd < 0)
                return 0;
        report.peer = serving->served->peer;
        if (*serving->served->port) {
                report.port = serving->served->port;
                report.scope = ald_session_report_scope_to_string(ALD_SESSION_REPORT_SCOPE_FULL);
                report.automatic = hello->automatic > 0;
        }
        ald_asking_report(options->link.report_fd, &report);
        if (!options->link.ask || talk->failure->message)
                return 0;
        if (ald_asking_read(options->link.report_fd, &told) < 0)
                return ald_fail(talk->failure, ALD_FAILURE_INTERNAL, "not told whether to measure");
        if (told.why)
                return ald_fail(talk->failure, told.kind, "%s", told.why);
        serving->gids = told.gids ? g_strsplit(told.gids, " ", -1) : NULL;
        return 0;
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
        asked = ask(serving, hello);
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

/* What we send is to go to the node that has proved who it is: to a GID or address that its records show, or
 * to the address at which it has proved it. */
static bool is_known(const Serving *serving, const struct in6_addr *gid)
{
        struct in6_addr other;
        AldAddress peer;

        if (!serving->gids || (ald_address_peer(serving->talk->channel.fd, &peer) >= 0 &&
                                      ald_address_as_ipv6(&peer, &other) && IN6_ARE_ADDR_EQUAL(gid, &other)))
                return true;
        for (char **text = serving->gids; *text; text++)
                if (inet_pton(AF_INET6, *text, &other) == 1 && IN6_ARE_ADDR_EQUAL(gid, &other))
                        return true;
        return false;
}

static int check_known(const Serving *serving, const struct in6_addr *gid)
{
        char text[INET6_ADDRSTRLEN];

        return is_known(serving, gid) ? 0
                                      : ald_fail(serving->talk->failure, ALD_FAILURE_REFUSED,
                                                "%s is not known to be a GID of the node that asks",
                                                inet_ntop(AF_INET6, gid, text, sizeof text));
}

static int take_gids(const Serving *serving, const AldGids *chosen)
{
        AldTalk *talk = serving->talk;
        int r;

        /* The records of nodes show no LIDs. */
        if (chosen->n == 0)
                return serving->gids ? ald_fail(talk->failure, ALD_FAILURE_REFUSED,
                                               "the node that asks has named no GID, and a LID alone is not "
                                               "known to be its own")
                                     : 0;
        r = check_known(serving, &chosen->gids[0].bytes);
        if (r < 0)
                return r;
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

/* The same where rdma_cm knows the way. */
static int meet(const Serving *serving, uint64_t nonce)
{
        AldTalk *talk = serving->talk;
        AldGids destinations = {};
        int r = ald_manager_meet(&talk->manager, nonce);

        if (r < 0 || !serving->gids)
                return r;
        ald_manager_destinations(&talk->manager, &talk->port, &destinations);
        if (destinations.n == 0)
                return ald_fail(
                        talk->failure, ALD_FAILURE_REFUSED, "rdma_cm does not say where the other side is");
        for (size_t i = 0; i < destinations.n && r >= 0; i++)
                r = check_known(serving, &destinations.gids[i].bytes);
        return r;
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
                r = offer.manager ? meet(serving, offer.nonce) : take_gids(serving, &use.gids);
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

/* Nothing goes to the other end of a queue pair before that has shown whose it is. */
static int check_proof(const Serving *serving, const AldRdmaMessage *next)
{
        const AldTalk *talk = serving->talk;

        return next->phase == ALD_RDMA_PING || ald_pair_is_proved(&talk->pair)
                       ? 0
                       : ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                                 "the other side has not shown by a ping that each queue pair leads to it");
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
                r = check_proof(serving, &next);
                if (r >= 0)
                        r = ald_talk_say(talk, &go);
                if (r >= 0)
                        r = serve_phase(serving, &next);
                if (r == 0)
                        r = ald_talk_expect(talk, ALD_RDMA_PHASE, &next);
        }
        return r;
}

int ald_session_serve(const AldRdmaOptions *options, AldTalk *talk, int fd, AldTls *tls, AldRdmaVisit *ret)
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
        g_strfreev(serving.gids);
        return r;
}
