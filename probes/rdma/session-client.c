/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/rdma/gid-rows.h"
#include "probes/rdma/preamble.h"
#include "probes/rdma/session.h"

#define SAMPLES 2000u
#define READS 500u
#define SLOW_BITS UINT64_C(10000000000)
#define FAST_QUEUES 4u /* one alone does not always saturate a fast port */

typedef struct Measuring {
        const AldRdmaOptions *options;
        AldTalk *talk;
        AldProgress *progress;
        AldRdmaMeasurement *result;
        AldEvaluatorLimits limits; /* of each direction */
} Measuring;

static void tell(const Measuring *measuring, const char *phase, double fraction)
{
        ald_progress_report(measuring->progress, phase, fraction);
}

static bool in6_of(int (*get)(int fd, AldAddress *ret), int fd, struct in6_addr *ret)
{
        AldAddress address;

        return get(fd, &address) >= 0 && ald_address_as_ipv6(&address, ret);
}

static int choose_gids(AldTalk *talk, const AldRdmaOffer *offer)
{
        struct in6_addr own, peer;
        AldGidHint hint = {};
        const AldGid *a, *b;
        AldGids theirs;

        if (ald_gid_rows_read(&offer->gids, &theirs) < 0)
                return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                        "the other side offers a GID that is not an address");
        if (in6_of(ald_address_local, talk->channel.fd, &own))
                hint.own = &own;
        if (in6_of(ald_address_peer, talk->channel.fd, &peer))
                hint.peer = &peer;
        if (ald_gids_match(&talk->port.gids, &theirs, &hint, &a, &b)) {
                talk->own_gid = *a;
                talk->peer_gid = *b;
                talk->has_gid = true;
                return 0;
        }
        if (talk->port.port.link_layer != IBV_LINK_LAYER_ETHERNET && theirs.n == 0)
                return 0;
        /* Each port may work with others. */
        return ald_fail(talk->failure, ALD_FAILURE_UNREACHABLE,
                "no GID of %s fits one of the other side: they have no address family in common",
                talk->port.name);
}

static bool is_slow(const AldPort *port)
{
        return ald_port_rate(port) < SLOW_BITS;
}

static int plan(const AldRdmaOptions *options, AldTalk *talk, const AldRdmaOffer *offer, AldPlan *ret)
{
        /* On a slow port a large message takes as long as a sample. */
        size_t size = options->size > 0 ? options->size : is_slow(&talk->port) ? 64u << 10 : 1u << 20;
        unsigned queues = options->queues > 0 ? options->queues : is_slow(&talk->port) ? 1 : FAST_QUEUES;
        bool immediate = ald_port_takes_immediate(&talk->port) && offer->immediate;
        bool send = options->method == ALD_RDMA_METHOD_SEND ||
                    (options->method == ALD_RDMA_METHOD_ANY && !immediate);
        AldPlanLimits limits;

        ald_port_limits(&talk->port, &limits);
        if (ald_plan_make(&limits, send ? ALD_RDMA_USE_OPERATION_SEND : ALD_RDMA_USE_OPERATION_WRITE, size,
                    offer->manager ? 1 : queues, ret))
                return 0;
        return ald_fail(talk->failure, ALD_FAILURE_LIMIT,
                "%s takes no messages of %zu KiB: it registers %" G_GUINT64_FORMAT " KiB at most",
                talk->port.name, size >> 10, limits.region >> 10);
}

static int greet(const Measuring *measuring, AldRecord **ret)
{
        AldTalk *talk = measuring->talk;
        const AldRdmaHello hello = { .version = ald_rdma_protocol.version,
                .port = measuring->options->peer_device,
                .manager = measuring->options->manager || ald_port_needs_manager(&talk->port),
                .automatic = measuring->options->link.automatic };
        g_autoptr(AldRecord) record = NULL;
        const AldRdmaOffer *offer;
        int r = ald_channel_send(&talk->channel, ALD_KIND_RDMA_HELLO, &hello);

        if (r >= 0)
                r = ald_talk_expect(talk, ALD_KIND_RDMA_OFFER, &record);
        if (r < 0)
                return r;
        offer = ald_record_as(record, RDMA_OFFER, AldRdmaOffer);
        g_strlcpy(measuring->result->sink_port, offer->port, sizeof measuring->result->sink_port);
        r = ald_channel_check_version(&talk->channel, offer->version);
        if (r >= 0)
                *ret = g_steal_pointer(&record);
        return r;
}

/* Finds the path to the other side: by GIDs or by rdma_cm. */
static int find_way(AldTalk *talk, const AldRdmaOffer *offer)
{
        AldAddress local;
        int r;

        if (!offer->manager)
                return choose_gids(talk, offer);
        r = ald_manager_open(&talk->manager, talk->channel.stop, talk->failure);
        if (r >= 0 && ald_address_local(talk->channel.fd, &local) < 0)
                r = ald_fail(talk->failure, ALD_FAILURE_ABORTED, "the connection is gone");
        return r < 0 ? r : ald_manager_resolve(&talk->manager, &talk->port, &local, offer);
}

static int tell_use(const Measuring *measuring)
{
        AldTalk *talk = measuring->talk;
        AldRdmaUse use = ALD_RDMA_USE_INIT;
        char gid[INET6_ADDRSTRLEN];

        use.message_bytes = talk->pair.plan.size;
        use.queue_pairs = talk->pair.plan.queues;
        use.operation = ald_rdma_use_operation_to_string(talk->pair.plan.operation);
        use.duration_max_msec = measuring->limits.hard_ns / ALD_NSEC_PER_MSEC;
        use.bytes_max = measuring->limits.bytes;
        if (talk->has_gid) {
                use.source_gid = inet_ntop(AF_INET6, &talk->own_gid.bytes, gid, sizeof gid);
                use.gid_type = ald_gid_type_to_string(talk->own_gid.type);
                use.sink_gid_index = talk->peer_gid.index;
        }
        return ald_channel_send(&talk->channel, ALD_KIND_RDMA_USE, &use);
}

static int connect_pair(const Measuring *measuring, const AldRdmaOffer *offer)
{
        AldTalk *talk = measuring->talk;
        g_autoptr(AldRecord) ready = NULL;
        int r = tell_use(measuring);

        if (r >= 0)
                r = ald_channel_send(&talk->channel, ALD_KIND_RDMA_READY, &talk->pair.own);
        if (r >= 0 && offer->manager)
                r = ald_manager_connect(&talk->manager, offer->service_nonce);
        if (r >= 0)
                r = ald_talk_expect(talk, ALD_KIND_RDMA_READY, &ready);
        if (r >= 0)
                r = ald_pair_take_peer(&talk->pair, ready, talk->failure);
        return r < 0 || offer->manager ? r : ald_talk_connect(talk);
}

static int prepare(Measuring *measuring)
{
        AldTalk *talk = measuring->talk;
        g_autoptr(AldRecord) record = NULL;
        const AldRdmaOffer *offer;
        AldPlan how;
        int r = greet(measuring, &record);

        if (r < 0)
                return r;
        offer = ald_record_as(record, RDMA_OFFER, AldRdmaOffer);
        measuring->limits = ald_flow_limits(measuring->options, offer->duration_max_msec, offer->bytes_max);
        r = find_way(talk, offer);
        if (r >= 0)
                r = plan(measuring->options, talk, offer, &how);
        if (r >= 0)
                r = ald_pair_open(&talk->port, &how, talk->manager.id, &talk->pair, talk->failure);
        return r < 0 ? r : connect_pair(measuring, offer);
}

static int tell_phase(AldTalk *talk, AldRdmaPhaseName name)
{
        const AldRdmaPhase phase = { .name = ald_rdma_phase_name_to_string(name) };

        return ald_channel_send(&talk->channel, ALD_KIND_RDMA_PHASE, &phase);
}

static int begin(AldTalk *talk, AldRdmaPhaseName phase)
{
        int r = tell_phase(talk, phase);

        return r < 0 ? r : ald_talk_expect(talk, ALD_KIND_RDMA_GO, NULL);
}

static int measure_rtt(const Measuring *measuring, AldRdmaPhaseName phase, AldRttFigures *ret)
{
        g_autofree AldRttSample *samples = g_new0(AldRttSample, SAMPLES);
        size_t n = 0;
        int r;

        tell(measuring, "rtt", phase == ALD_RDMA_PHASE_NAME_PING ? 0 : 0.5);
        r = begin(measuring->talk, phase);
        if (r >= 0)
                r = phase == ALD_RDMA_PHASE_NAME_PING ? ald_flow_ping(measuring->talk, samples, SAMPLES, &n)
                                                      : ald_flow_read(measuring->talk, samples, READS, &n);
        if (r >= 0)
                ald_rtt_figures(samples, n, ret);
        return r;
}

static int measure_upload(const Measuring *measuring, AldVerdict *ret)
{
        AldTalk *talk = measuring->talk;
        g_autoptr(AldRecord) stop = NULL;
        uint64_t bytes = 0, begun = ald_now();
        AldVerdict verdict;
        int r;

        tell(measuring, "upload", 0);
        r = begin(talk, ALD_RDMA_PHASE_NAME_UPLOAD);

        /* The server sends its verdict again once all data has arrived. */
        if (r >= 0)
                r = ald_flow_send(talk, &measuring->limits, &bytes);
        if (r >= 0)
                r = ald_talk_expect(talk, ALD_KIND_RDMA_STOP, &stop);
        if (r < 0)
                return r;
        verdict = ald_flow_verdict(ald_record_as(stop, RDMA_STOP, AldRdmaStop));
        verdict.streams = talk->pair.plan.queues;
        if (!ald_flow_is_plausible(&verdict, bytes, ald_now() - begun))
                return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                        "what the other side says it received does not fit what was sent");
        *ret = verdict;
        return 0;
}

static int measure_download(const Measuring *measuring, AldVerdict *ret)
{
        int r;

        tell(measuring, "download", 0);
        r = begin(measuring->talk, ALD_RDMA_PHASE_NAME_DOWNLOAD);
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
        result->mtu = 128u << MIN(talk->pair.own.mtu, talk->pair.peer->mtu);
        result->inline_max = talk->pair.inline_max;
        result->node = talk->port.node;
        result->plan = talk->pair.plan;
        result->plan.depth = talk->pair.limit;
        result->rate = ald_port_rate(&talk->port);
        result->measured = (uint64_t) g_get_real_time();
}

static int measure(Measuring *measuring)
{
        AldRdmaMeasurement *result = measuring->result;
        int r = prepare(measuring);

        if (r >= 0)
                r = measure_rtt(measuring, ALD_RDMA_PHASE_NAME_PING, &result->rtt);
        if (r >= 0)
                r = measure_rtt(measuring, ALD_RDMA_PHASE_NAME_READ, &result->read);
        if (r >= 0)
                r = measure_upload(measuring, &result->upload);
        if (r >= 0)
                r = measure_download(measuring, &result->download);
        if (r < 0)
                return r;
        describe(measuring);
        return tell_phase(measuring->talk, ALD_RDMA_PHASE_NAME_DONE);
}

int ald_session_measure(const AldRdmaOptions *options, AldTalk *talk, int fd, AldTls *tls,
        AldProgress *progress, AldRdmaMeasurement *ret)
{
        AldRdmaMeasurement result = {};
        Measuring measuring = { .options = options, .talk = talk, .progress = progress, .result = &result };
        int stop = talk->channel.stop, r = ald_preamble_say(fd, talk->failure);
        AldAddress peer;

        talk->patience = options->link.seconds_max * ALD_NSEC_PER_SEC + ALD_TALK_PATIENCE;
        if (ald_address_peer(fd, &peer) >= 0)
                ald_address_format(&peer, result.sink_address);
        g_strlcpy(result.source_port, talk->port.name, sizeof result.source_port);
        if (r < 0) {
                close(fd);
                ald_tls_free(tls);
                return r;
        }
        r = ald_channel_open(&talk->channel, &ald_rdma_protocol, fd, tls, false, stop, talk->failure);
        g_strlcpy(result.sink, talk->channel.peer, sizeof result.sink);
        if (r >= 0)
                r = measure(&measuring);
        if (r < 0) {
                ald_talk_abort(talk);
                return r;
        }
        *ret = result;
        return 0;
}
