/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/rdma/preamble.h"
#include "probes/rdma/session.h"

#define SAMPLES 2000u
#define READS 500u
#define SLOW_BITS UINT64_C(10000000000)
#define FAST_QUEUES 4u /* one alone does not always fill a fast port */

typedef struct Measuring {
        const AldRdmaOptions *options;
        AldTalk *talk;
        AldProgress *progress;
        AldRdmaMeasurement *result;
        AldJudgeLimits limits; /* of what goes and comes */
} Measuring;

static void tell(const Measuring *measuring, const char *phase, double fraction)
{
        ald_progress_tell(measuring->progress, phase, fraction);
}

static bool in6_of(int (*get)(int fd, AldAddress *ret), int fd, struct in6_addr *ret)
{
        AldAddress address;

        return get(fd, &address) >= 0 && ald_address_as_ipv6(&address, ret);
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
        /* Either port may be fine with others. */
        return ald_fail(talk->failure, ALD_FAILURE_UNREACHABLE,
                "no GID of %s fits one of the other side: they have no address family in common",
                talk->port.name);
}

static bool is_slow(const AldPort *port)
{
        return ald_port_rate(port) < SLOW_BITS;
}

static int plan(const AldRdmaOptions *options, AldTalk *talk, const AldRdmaMessage *offer, AldPlan *ret)
{
        /* On a slow port a large message takes as long as what we look at. */
        size_t size = options->size > 0 ? options->size : is_slow(&talk->port) ? 64u << 10 : 1u << 20;
        unsigned queues = options->queues > 0 ? options->queues : is_slow(&talk->port) ? 1 : FAST_QUEUES;
        bool immediate = ald_port_takes_immediate(&talk->port) && offer->immediate;
        bool send = options->method == ALD_RDMA_METHOD_SEND ||
                    (options->method == ALD_RDMA_METHOD_ANY && !immediate);
        AldPlanLimits limits;

        ald_port_limits(&talk->port, &limits);
        if (ald_plan_make(
                    &limits, send ? ALD_RDMA_SEND : ALD_RDMA_WRITE, size, offer->manager ? 1 : queues, ret))
                return 0;
        return ald_fail(talk->failure, ALD_FAILURE_LIMIT,
                "%s takes no messages of %zu KiB: it registers %" G_GUINT64_FORMAT " KiB at most",
                talk->port.name, size >> 10, limits.region >> 10);
}

static int greet(const Measuring *measuring, AldRdmaMessage *ret)
{
        AldTalk *talk = measuring->talk;
        AldRdmaMessage hello = { .type = ALD_RDMA_HELLO,
                .version = ALD_RDMA_PROTOCOL,
                .manager = measuring->options->manager || ald_port_needs_manager(&talk->port),
                .automatic = measuring->options->link.automatic };
        int r;

        g_strlcpy(hello.port, measuring->options->peer_device ?: "", sizeof hello.port);
        r = ald_talk_say(talk, &hello);
        if (r >= 0)
                r = ald_talk_expect(talk, ALD_RDMA_OFFER, ret);
        if (r >= 0 && ret->version != ALD_RDMA_PROTOCOL)
                r = ald_fail(talk->failure, ALD_FAILURE_PROTOCOL, "the other side has another version");
        if (r >= 0)
                g_strlcpy(measuring->result->sink_port, ret->port, sizeof measuring->result->sink_port);
        return r;
}

/* The way to the other side: GIDs, or what rdma_cm finds. */
static int find_way(AldTalk *talk, const AldRdmaMessage *offer)
{
        AldAddress local;
        int r;

        if (!offer->manager)
                return choose_gids(talk, &offer->gids);
        r = ald_manager_open(&talk->manager, talk->channel.stop, talk->failure);
        if (r >= 0 && ald_address_local(talk->channel.fd, &local) < 0)
                r = ald_fail(talk->failure, ALD_FAILURE_ABORTED, "the connection is gone");
        return r < 0 ? r : ald_manager_resolve(&talk->manager, &talk->port, &local, offer);
}

static int use(const Measuring *measuring, const AldRdmaMessage *offer)
{
        AldTalk *talk = measuring->talk;
        AldRdmaMessage message = { .type = ALD_RDMA_USE,
                .size = talk->pair.plan.size,
                .method = talk->pair.plan.method,
                .msec = measuring->limits.hard_ns / ALD_NSEC_PER_MSEC,
                .limit = measuring->limits.bytes,
                .end = talk->pair.own };
        AldRdmaMessage ready;
        int r;

        if (talk->has_gid)
                message.gids = (AldGids){ { talk->own_gid, talk->peer_gid }, 2 };
        r = ald_talk_say(talk, &message);
        if (r >= 0 && offer->manager)
                r = ald_manager_connect(&talk->manager, offer->nonce);
        if (r >= 0)
                r = ald_talk_expect(talk, ALD_RDMA_READY, &ready);
        if (r >= 0)
                r = ald_pair_take_peer(&talk->pair, &ready.end, talk->failure);
        return r < 0 || offer->manager ? r : ald_talk_connect(talk);
}

static int prepare(Measuring *measuring)
{
        AldTalk *talk = measuring->talk;
        AldRdmaMessage offer;
        AldPlan how;
        int r = greet(measuring, &offer);

        if (r < 0)
                return r;
        measuring->limits = ald_flow_limits(measuring->options, &offer);
        r = find_way(talk, &offer);
        if (r >= 0)
                r = plan(measuring->options, talk, &offer, &how);
        if (r >= 0)
                r = ald_pair_open(&talk->port, &how, talk->manager.id, &talk->pair, talk->failure);
        return r < 0 ? r : use(measuring, &offer);
}

static int begin(AldTalk *talk, AldRdmaPhase phase)
{
        AldRdmaMessage message = { .type = ALD_RDMA_PHASE, .phase = phase }, go;
        int r = ald_talk_say(talk, &message);

        return r < 0 ? r : ald_talk_expect(talk, ALD_RDMA_GO, &go);
}

static int measure_rtt(const Measuring *measuring, AldRdmaPhase phase, AldRttFigures *ret)
{
        g_autofree AldRttSample *samples = g_new0(AldRttSample, SAMPLES);
        size_t n = 0;
        int r;

        tell(measuring, "rtt", phase == ALD_RDMA_PING ? 0 : 0.5);
        r = begin(measuring->talk, phase);
        if (r >= 0)
                r = phase == ALD_RDMA_PING ? ald_flow_ping(measuring->talk, samples, SAMPLES, &n)
                                           : ald_flow_read(measuring->talk, samples, READS, &n);
        if (r >= 0)
                ald_rtt_figures(samples, n, ret);
        return r;
}

static int measure_upload(const Measuring *measuring, AldVerdict *ret)
{
        AldTalk *talk = measuring->talk;
        uint64_t bytes = 0;
        int r;

        tell(measuring, "upload", 0);
        r = begin(talk, ALD_RDMA_UPLOAD);

        /* The verdict came within stop; the server says it once more when all is there. */
        if (r >= 0)
                r = ald_flow_send(talk, &measuring->limits, &bytes);
        if (r >= 0) {
                AldRdmaMessage stop;

                r = ald_talk_expect(talk, ALD_RDMA_STOP, &stop);
                *ret = (AldVerdict){ .bits_per_second = stop.bits_per_second,
                        .mean = stop.mean,
                        .interval = MIN(stop.interval, stop.bits_per_second),
                        .spread = stop.spread,
                        .bytes = stop.bytes,
                        .nsec = stop.nsec,
                        .bins = (unsigned) stop.bins,
                        .streams = talk->pair.plan.queues };
        }
        return r;
}

static int measure_download(const Measuring *measuring, AldVerdict *ret)
{
        int r;

        tell(measuring, "download", 0);
        r = begin(measuring->talk, ALD_RDMA_DOWNLOAD);
        if (r >= 0)
                r = ald_flow_receive(measuring->talk, &measuring->limits, measuring->result->rtt.min, ret);
        return r;
}

static void describe(const Measuring *measuring)
{
        const AldTalk *talk = measuring->talk;
        AldRdmaMeasurement *result = measuring->result;

        result->own_gid = talk->own_gid;
        result->peer_gid = talk->peer_gid;
        result->has_gid = talk->has_gid;
        result->manager = talk->manager.id != NULL;
        result->mtu = 128u << MIN(talk->pair.own.mtu, talk->pair.peer.mtu);
        result->inline_max = talk->pair.inline_max;
        result->node = talk->port.node;
        result->plan = talk->pair.plan;
        result->plan.depth = talk->pair.limit;
        result->rate = ald_port_rate(&talk->port);
        result->measured = (uint64_t) g_get_real_time();
}

static int measure(Measuring *measuring)
{
        AldRdmaMessage done = { .type = ALD_RDMA_PHASE, .phase = ALD_RDMA_DONE };
        AldRdmaMeasurement *result = measuring->result;
        int r = prepare(measuring);

        if (r >= 0)
                r = measure_rtt(measuring, ALD_RDMA_PING, &result->rtt);
        if (r >= 0)
                r = measure_rtt(measuring, ALD_RDMA_READ, &result->read);
        if (r >= 0)
                r = measure_upload(measuring, &result->upload);
        if (r >= 0)
                r = measure_download(measuring, &result->download);
        if (r < 0)
                return r;
        describe(measuring);
        return ald_talk_say(measuring->talk, &done);
}

int ald_session_measure(const AldRdmaOptions *options, AldTalk *talk, int fd, AldTls *tls,
        AldProgress *progress, AldRdmaMeasurement *ret)
{
        Measuring measuring = { .options = options, .talk = talk, .progress = progress, .result = ret };
        int stop = talk->channel.stop, r = ald_preamble_say(fd, talk->failure);
        AldAddress peer;

        talk->patience = options->link.seconds_max * ALD_NSEC_PER_SEC + ALD_TALK_PATIENCE;
        if (ald_address_peer(fd, &peer) >= 0)
                ald_address_format(&peer, ret->sink_address);
        g_strlcpy(ret->source_port, talk->port.name, sizeof ret->source_port);
        if (r < 0) {
                close(fd);
                ald_tls_free(tls);
                return r;
        }
        r = ald_channel_open(&talk->channel, fd, tls, false, stop, talk->failure);
        g_strlcpy(ret->sink, talk->channel.peer, sizeof ret->sink);
        if (r >= 0)
                r = measure(&measuring);
        if (r < 0)
                ald_talk_abort(talk);
        return r;
}
