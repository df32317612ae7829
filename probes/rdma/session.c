/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/common/address.h"
#include "probes/common/clock.h"
#include "probes/rdma/session.h"

#define SAMPLES 2000u
#define READS 500u
#define SLOW_BITS UINT64_C(10000000000)

static AldJudgeLimits limits_of(const AldRdmaOptions *options)
{
        return (AldJudgeLimits){ .soft_ns = options->seconds_max * ALD_NSEC_PER_SEC / 2,
                .hard_ns = options->seconds_max * ALD_NSEC_PER_SEC,
                .bytes = UINT64_MAX,
                .streams = 1 };
}

static size_t size_of(const AldRdmaOptions *options, const AldPort *port)
{
        if (options->size > 0)
                return options->size;
        /* On a slow port a large message takes as long as what we look at. */
        return ald_port_rate(port) < SLOW_BITS ? 64u << 10 : 1u << 20;
}

static bool in6_of(int (*get)(int fd, AldAddress *ret), int fd, struct in6_addr *ret)
{
        AldAddress address;

        if (get(fd, &address) < 0)
                return false;
        if (address.storage.ss_family == AF_INET6) {
                *ret = ((const struct sockaddr_in6 *) (const void *) &address.storage)->sin6_addr;
                return true;
        }
        *ret = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
        memcpy(&ret->s6_addr[12], &((const struct sockaddr_in *) (const void *) &address.storage)->sin_addr,
                4);
        return true;
}

static int choose_gids(AldTalk *talk, const AldGids *theirs)
{
        struct in6_addr own, peer;
        AldGidHint hint = {};
        const AldGid *a, *b;

        if (in6_of(ald_address_local, talk->channel.fd, &own))
                hint.own = &own;
        if (in6_of(ald_address_peer, talk->channel.fd, &peer))
                hint.peer = &peer;
        if (ald_gids_match(&talk->port.gids, theirs, &hint, &a, &b)) {
                talk->own_gid = *a;
                talk->peer_gid = *b;
                talk->has_gid = true;
                return 0;
        }
        if (talk->port.port.link_layer != IBV_LINK_LAYER_ETHERNET && theirs->n == 0)
                return 0;
        return ald_fail(talk->failure, ALD_FAILURE_NO_GID,
                "no GID of %s fits one of the other side: they have no address family in common",
                talk->port.name);
}

static int connect_pair(AldTalk *talk)
{
        return ald_pair_connect(
                &talk->pair, talk->has_gid ? &talk->own_gid : NULL, &talk->peer_gid, talk->failure);
}

static int prepare(const AldRdmaOptions *options, AldTalk *talk, AldRdmaResult *ret)
{
        AldRdmaMessage hello, use = { .type = ALD_RDMA_USE }, ready;
        int r = ald_talk_expect(talk, ALD_RDMA_HELLO, &hello);

        if (r < 0)
                return r;
        if (hello.version != ALD_RDMA_PROTOCOL)
                return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL, "the other side has another version");
        g_strlcpy(ret->sink_port, hello.port, sizeof ret->sink_port);
        r = choose_gids(talk, &hello.gids);
        if (r >= 0)
                r = ald_pair_open(&talk->port, size_of(options, &talk->port), &talk->pair, talk->failure);
        if (r < 0)
                return r;
        use.size = talk->pair.size;
        use.end = talk->pair.own;
        if (talk->has_gid)
                use.gids = (AldGids){ { talk->own_gid, talk->peer_gid }, 2 };
        r = ald_talk_say(talk, &use);
        if (r >= 0)
                r = ald_talk_expect(talk, ALD_RDMA_READY, &ready);
        if (r < 0)
                return r;
        talk->pair.peer = ready.end;
        if (ready.end.bytes < talk->pair.size || ready.end.depth < 16)
                return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL, "the other side has too little room");
        return connect_pair(talk);
}

static int begin(AldTalk *talk, AldRdmaPhase phase)
{
        AldRdmaMessage message = { .type = ALD_RDMA_PHASE, .phase = phase }, go;
        int r = ald_talk_say(talk, &message);

        return r < 0 ? r : ald_talk_expect(talk, ALD_RDMA_GO, &go);
}

static int measure_rtt(AldTalk *talk, AldRdmaPhase phase, AldRttFigures *ret)
{
        g_autofree AldRttSample *samples = g_new0(AldRttSample, SAMPLES);
        size_t n = 0;
        int r = begin(talk, phase);

        if (r >= 0)
                r = phase == ALD_RDMA_PING ? ald_flow_ping(talk, samples, SAMPLES, &n)
                                           : ald_flow_read(talk, samples, READS, &n);
        if (r >= 0)
                ald_rtt_figures(samples, n, ret);
        return r;
}

static int measure_upload(AldTalk *talk, AldVerdict *ret)
{
        uint64_t bytes;
        int r = begin(talk, ALD_RDMA_UPLOAD);

        /* The verdict came within stop; the server says it once more when all is there. */
        if (r >= 0)
                r = ald_flow_send(talk, &bytes);
        if (r >= 0) {
                AldRdmaMessage stop;

                r = ald_talk_expect(talk, ALD_RDMA_STOP, &stop);
                *ret = (AldVerdict){ .bits_per_second = stop.bits_per_second,
                        .mean = stop.mean,
                        .interval = stop.interval,
                        .bytes = stop.bytes,
                        .nsec = stop.nsec,
                        .bins = (unsigned) stop.bins,
                        .streams = 1 };
        }
        return r;
}

static int measure(const AldRdmaOptions *options, AldTalk *talk, AldRdmaResult *ret)
{
        AldRdmaMessage done = { .type = ALD_RDMA_PHASE, .phase = ALD_RDMA_DONE };
        AldJudgeLimits limits = limits_of(options);
        int r = prepare(options, talk, ret);

        g_strlcpy(ret->source_port, talk->port.name, sizeof ret->source_port);
        g_strlcpy(ret->sink, talk->channel.peer, sizeof ret->sink);
        ret->own_gid = talk->own_gid;
        ret->peer_gid = talk->peer_gid;
        ret->has_gid = talk->has_gid;
        ret->mtu = 128u << MIN(talk->pair.own.mtu, talk->pair.peer.mtu);
        ret->inline_max = talk->pair.inline_max;
        ret->size = talk->pair.size;
        ret->depth = (unsigned) MIN(talk->pair.depth, talk->pair.peer.depth);
        ret->rate = ald_port_rate(&talk->port);
        if (r >= 0)
                r = measure_rtt(talk, ALD_RDMA_PING, &ret->rtt);
        if (r >= 0)
                r = measure_rtt(talk, ALD_RDMA_READ, &ret->read);
        if (r >= 0)
                r = measure_upload(talk, &ret->upload);
        if (r >= 0)
                r = begin(talk, ALD_RDMA_DOWNLOAD);
        if (r >= 0)
                r = ald_flow_receive(talk, &limits, ret->rtt.min, &ret->download);
        return r < 0 ? r : ald_talk_say(talk, &done);
}

int ald_session_measure(const AldRdmaOptions *options, AldPort *port, int fd, AldTls *tls, int stop,
        AldRdmaResult *ret, AldFailure *failure)
{
        AldTalk talk = { .failure = failure, .port = *port };
        int r = ald_channel_open(&talk.channel, fd, tls, false, stop, failure);

        *port = (AldPort){};
        if (r >= 0)
                r = measure(options, &talk, ret);
        if (r < 0)
                ald_talk_abort(&talk);
        ald_talk_close(&talk);
        return r;
}

/* Of the GIDs that the client chose ours must be one that was offered. */
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

static int get_ready(AldTalk *talk)
{
        AldRdmaMessage hello = {
                .type = ALD_RDMA_HELLO, .version = ALD_RDMA_PROTOCOL, .gids = talk->port.gids
        };
        AldRdmaMessage use, ready = { .type = ALD_RDMA_READY };
        int r;

        g_strlcpy(hello.port, talk->port.name, sizeof hello.port);
        r = ald_talk_say(talk, &hello);
        if (r >= 0)
                r = ald_talk_expect(talk, ALD_RDMA_USE, &use);
        if (r >= 0)
                r = take_gids(talk, &use.gids);
        if (r >= 0 && (use.size < 1024 || use.end.bytes < use.size || use.end.depth < 16))
                r = ald_fail(talk->failure, ALD_FAILURE_PROTOCOL, "the other side has too little room");
        if (r >= 0)
                r = ald_pair_open(&talk->port, use.size, &talk->pair, talk->failure);
        if (r < 0)
                return r;
        talk->pair.peer = use.end;
        r = connect_pair(talk);
        ready.end = talk->pair.own;
        return r < 0 ? r : ald_talk_say(talk, &ready);
}

static int serve_upload(AldTalk *talk, const AldJudgeLimits *limits)
{
        AldVerdict verdict;
        AldRdmaMessage stop;
        int r = ald_flow_receive(talk, limits, 0, &verdict);

        if (r < 0)
                return r;
        stop = (AldRdmaMessage){ .type = ALD_RDMA_STOP,
                .bits_per_second = verdict.bits_per_second,
                .mean = verdict.mean,
                .interval = verdict.interval,
                .bytes = verdict.bytes,
                .nsec = verdict.nsec,
                .bins = verdict.bins };
        return ald_talk_say(talk, &stop);
}

static int serve(const AldRdmaOptions *options, AldTalk *talk)
{
        static const AldRdmaMessage go = { .type = ALD_RDMA_GO };
        AldJudgeLimits limits = limits_of(options);
        AldRdmaMessage next;
        uint64_t bytes;
        int r = get_ready(talk);

        if (r >= 0)
                r = ald_talk_expect(talk, ALD_RDMA_PHASE, &next);
        while (r >= 0 && next.phase != ALD_RDMA_DONE) {
                AldRdmaPhase phase = (AldRdmaPhase) next.phase;

                r = ald_talk_say(talk, &go);
                if (r < 0)
                        break;
                if (phase == ALD_RDMA_PING) {
                        r = ald_flow_answer(talk, &next);
                        if (r > 0 && next.type != ALD_RDMA_PHASE)
                                r = ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                                        "the other side spoke out of turn");
                        continue;
                }
                r = phase == ALD_RDMA_UPLOAD     ? serve_upload(talk, &limits)
                    : phase == ALD_RDMA_DOWNLOAD ? ald_flow_send(talk, &bytes)
                                                 : 0;
                if (r >= 0)
                        r = ald_talk_expect(talk, ALD_RDMA_PHASE, &next);
        }
        return r;
}

int ald_session_serve(const AldRdmaOptions *options, int fd, AldTls *tls, int stop, AldFailure *failure)
{
        AldTalk talk = { .failure = failure };
        int r = ald_channel_open(&talk.channel, fd, tls, true, stop, failure);

        if (r >= 0)
                r = ald_port_open(options->device, &talk.port, failure);
        if (r >= 0)
                r = serve(options, &talk);
        if (r < 0)
                ald_talk_abort(&talk);
        ald_talk_close(&talk);
        return r;
}
