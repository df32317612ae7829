/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <unistd.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/rdma/gid.h"
#include "probes/rdma/rdma-client.h"
#include "probes/rdma/rdma-measurement.h"
#include "probes/rdma/rdma-session.h"
#include "probes/rdma/rdma-transfer.h"
#include "record/figure-text.h"

#define SAMPLES 2000u
#define READS 500u
#define SLOW_BITS UINT64_C(10000000000)
#define FAST_QUEUES 4u /* a single one does not always saturate a fast port */

typedef struct Measuring {
        const AldRdmaOptions *options;
        AldRdmaSession *session;
        AldProgress *progress;
        AldRdmaMeasurement *result;
        AldEvaluatorLimits limits; /* of each direction */
} Measuring;

static bool read_in6(int (*get)(int fd, AldAddress *ret), int fd, struct in6_addr *ret)
{
        AldAddress address;

        return get(fd, &address) >= 0 && ald_address_as_ipv6(&address, ret);
}

static int choose_gids(AldRdmaSession *session, const AldRdmaOffer *offer)
{
        struct in6_addr own, peer;
        AldGidHint hint = {};
        const AldGid *a, *b;
        AldGids theirs;

        if (ald_gid_rows_read(&offer->gids, &theirs) < 0)
                return ald_fail(session->failure, ALD_FAILURE_PROTOCOL,
                        "the other side offers a GID that is not an address");
        if (read_in6(ald_address_local, session->channel.fd, &own))
                hint.own = &own;
        if (read_in6(ald_address_peer, session->channel.fd, &peer))
                hint.peer = &peer;
        if (ald_gids_match(&session->port.gids, &theirs, &hint, &a, &b)) {
                session->own_gid = *a;
                session->peer_gid = *b;
                session->has_gid = true;
                return 0;
        }
        if (session->port.port.link_layer != IBV_LINK_LAYER_ETHERNET && theirs.n == 0)
                return 0;
        /* Each port may still work with other ports. */
        return ald_fail(session->failure, ALD_FAILURE_UNREACHABLE,
                "no GID of %s fits one of the other side: they have no address family in common",
                session->port.name);
}

static bool is_slow(const AldVerbsPort *port)
{
        return ald_verbs_port_rate(port) < SLOW_BITS;
}

static int choose_plan(
        const AldRdmaOptions *options, AldRdmaSession *session, const AldRdmaOffer *offer, AldRdmaPlan *ret)
{
        /* On a slow port a large message takes as long as a sample. */
        size_t size = options->size > 0 ? options->size : is_slow(&session->port) ? 64u << 10 : 1u << 20;
        unsigned queues = options->queues > 0 ? options->queues : is_slow(&session->port) ? 1 : FAST_QUEUES;
        bool immediate = ald_verbs_port_takes_immediate(&session->port) && offer->immediate;
        bool send = options->method == ALD_RDMA_METHOD_SEND ||
                    (options->method == ALD_RDMA_METHOD_ANY && !immediate);
        g_autofree char *wanted = NULL, *most = NULL;
        AldRdmaPlanLimits limits;

        ald_verbs_port_limits(&session->port, &limits);
        if (ald_rdma_plan_make(&limits, send ? ALD_RDMA_USE_OPERATION_SEND : ALD_RDMA_USE_OPERATION_WRITE,
                    size, offer->manager ? 1 : queues, ret))
                return 0;
        wanted = ald_format_figure(&ald_unit_bytes, (double) size);
        most = ald_format_figure(&ald_unit_bytes, (double) limits.region);
        return ald_fail(session->failure, ALD_FAILURE_LIMIT,
                "%s takes no messages of %s: it registers %s at most", session->port.name, wanted, most);
}

static int request_offer(const Measuring *measuring, AldRecord **ret)
{
        AldRdmaSession *session = measuring->session;
        const AldRdmaHello hello = { .version = ald_rdma_protocol.version,
                .port = measuring->options->peer_device,
                .manager = measuring->options->manager || ald_verbs_port_needs_manager(&session->port),
                .automatic = measuring->options->link.automatic };
        g_autoptr(AldRecord) record = NULL;
        const AldRdmaOffer *offer;
        int r = ald_channel_send(&session->channel, ALD_KIND_RDMA_HELLO, &hello);

        if (r >= 0)
                r = ald_rdma_session_expect(session, ALD_KIND_RDMA_OFFER, &record);
        if (r < 0)
                return r;
        offer = ald_record_as(record, RDMA_OFFER, AldRdmaOffer);
        g_strlcpy(measuring->result->sink_port, offer->port, sizeof measuring->result->sink_port);
        r = ald_channel_check_version(&session->channel, offer->version);
        if (r >= 0)
                *ret = g_steal_pointer(&record);
        return r;
}

/* Finds the path to the other side, through GIDs or by rdma_cm. */
static int find_path(AldRdmaSession *session, const AldRdmaOffer *offer)
{
        AldAddress local;
        int r;

        if (!offer->manager)
                return choose_gids(session, offer);
        r = ald_rdma_cm_open(&session->manager, session->channel.stop, session->failure);
        if (r >= 0 && ald_address_local(session->channel.fd, &local) < 0)
                r = ald_fail(session->failure, ALD_FAILURE_ABORTED, "the connection is gone");
        return r < 0 ? r : ald_rdma_cm_resolve(&session->manager, &session->port, &local, offer);
}

static int send_use(const Measuring *measuring)
{
        AldRdmaSession *session = measuring->session;
        AldRdmaUse use = ALD_RDMA_USE_INIT;
        char gid[INET6_ADDRSTRLEN];

        use.message_bytes = session->endpoint.plan.size;
        use.queue_pairs = session->endpoint.plan.queues;
        use.operation = ald_rdma_use_operation_to_string(session->endpoint.plan.operation);
        use.duration_max_msec = measuring->limits.hard_ns / ALD_NSEC_PER_MSEC;
        use.bytes_max = measuring->limits.bytes;
        if (session->has_gid) {
                use.source_gid = inet_ntop(AF_INET6, &session->own_gid.bytes, gid, sizeof gid);
                use.gid_type = ald_gid_type_to_string(session->own_gid.type);
                use.sink_gid_index = session->peer_gid.index;
        }
        return ald_channel_send(&session->channel, ALD_KIND_RDMA_USE, &use);
}

static int connect_endpoint(const Measuring *measuring, const AldRdmaOffer *offer)
{
        AldRdmaSession *session = measuring->session;
        g_autoptr(AldRecord) ready = NULL;
        int r = send_use(measuring);

        if (r >= 0)
                r = ald_channel_send(&session->channel, ALD_KIND_RDMA_READY, &session->endpoint.own);
        if (r >= 0 && offer->manager)
                r = ald_rdma_cm_connect(&session->manager, offer->service_nonce);
        if (r >= 0)
                r = ald_rdma_session_expect(session, ALD_KIND_RDMA_READY, &ready);
        if (r >= 0)
                r = ald_endpoint_set_peer(&session->endpoint, ready, session->failure);
        return r < 0 || offer->manager ? r : ald_rdma_session_connect(session);
}

static int prepare_connection(Measuring *measuring)
{
        AldRdmaSession *session = measuring->session;
        g_autoptr(AldRecord) record = NULL;
        const AldRdmaOffer *offer;
        AldRdmaPlan how;
        int r = request_offer(measuring, &record);

        if (r < 0)
                return r;
        offer = ald_record_as(record, RDMA_OFFER, AldRdmaOffer);
        measuring->limits = ald_rdma_transfer_limits(
                measuring->options, offer->duration_max_msec, offer->bytes_max);
        r = find_path(session, offer);
        if (r >= 0)
                r = choose_plan(measuring->options, session, offer, &how);
        if (r >= 0)
                r = ald_endpoint_open(
                        &session->port, &how, session->manager.id, &session->endpoint, session->failure);
        return r < 0 ? r : connect_endpoint(measuring, offer);
}

static int send_phase(AldRdmaSession *session, AldRdmaPhaseName name)
{
        const AldRdmaPhase phase = { .name = ald_rdma_phase_name_to_string(name) };

        return ald_channel_send(&session->channel, ALD_KIND_RDMA_PHASE, &phase);
}

static int begin_phase(AldRdmaSession *session, AldRdmaPhaseName phase)
{
        int r = send_phase(session, phase);

        return r < 0 ? r : ald_rdma_session_expect(session, ALD_KIND_RDMA_GO, NULL);
}

static int measure_rtt(const Measuring *measuring, AldRdmaPhaseName phase, AldRttFigures *ret)
{
        g_autofree AldRttSample *samples = g_new0(AldRttSample, SAMPLES);
        size_t n = 0;
        int r;

        ald_progress_report(measuring->progress, "rtt", phase == ALD_RDMA_PHASE_NAME_PING ? 0 : 0.5);
        r = begin_phase(measuring->session, phase);
        if (r >= 0)
                r = phase == ALD_RDMA_PHASE_NAME_PING
                            ? ald_rdma_transfer_ping(measuring->session, samples, SAMPLES, &n)
                            : ald_rdma_transfer_read(measuring->session, samples, READS, &n);
        if (r >= 0)
                ald_rtt_figures(samples, n, ret);
        return r;
}

static int measure_upload(const Measuring *measuring, AldVerdict *ret)
{
        AldRdmaSession *session = measuring->session;
        g_autoptr(AldRecord) stop = NULL;
        uint64_t bytes = 0, begun = ald_now();
        AldVerdict verdict;
        int r;

        ald_progress_report(measuring->progress, "upload", 0);
        r = begin_phase(session, ALD_RDMA_PHASE_NAME_UPLOAD);

        /* The server sends its verdict again once all data has arrived. */
        if (r >= 0)
                r = ald_rdma_transfer_send(session, &measuring->limits, &bytes);
        if (r >= 0)
                r = ald_rdma_session_expect(session, ALD_KIND_RDMA_STOP, &stop);
        if (r < 0)
                return r;
        verdict = ald_rdma_transfer_verdict(ald_record_as(stop, RDMA_STOP, AldRdmaStop));
        verdict.streams = session->endpoint.plan.queues;
        if (!ald_rdma_transfer_is_plausible(&verdict, bytes, ald_now() - begun))
                return ald_fail(session->failure, ALD_FAILURE_PROTOCOL,
                        "what the other side says it received does not fit what was sent");
        *ret = verdict;
        return 0;
}

static int measure_download(const Measuring *measuring, AldVerdict *ret)
{
        int r;

        ald_progress_report(measuring->progress, "download", 0);
        r = begin_phase(measuring->session, ALD_RDMA_PHASE_NAME_DOWNLOAD);
        if (r >= 0)
                r = ald_rdma_transfer_receive(
                        measuring->session, &measuring->limits, measuring->result->rtt.min, ret);
        return r;
}

static void complete_result(const Measuring *measuring)
{
        const AldRdmaSession *session = measuring->session;
        AldRdmaMeasurement *result = measuring->result;

        result->own_gid = session->own_gid;
        result->peer_gid = session->peer_gid;
        result->has_gid = session->has_gid;
        result->manager = session->manager.id != NULL;
        result->mtu = 128u << MIN(session->endpoint.own.mtu, session->endpoint.peer->mtu);
        result->inline_max = session->endpoint.inline_max;
        result->node = session->port.node;
        result->plan = session->endpoint.plan;
        result->plan.depth = session->endpoint.limit;
        result->rate = ald_verbs_port_rate(&session->port);
        result->measured = (uint64_t) g_get_real_time();
}

static int run_phases(Measuring *measuring)
{
        AldRdmaMeasurement *result = measuring->result;
        int r = prepare_connection(measuring);

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
        complete_result(measuring);
        return send_phase(measuring->session, ALD_RDMA_PHASE_NAME_DONE);
}

int ald_rdma_client_run(const AldRdmaOptions *options, AldRdmaSession *session, int fd, AldTls *tls,
        AldProgress *progress, AldRdmaMeasurement *ret)
{
        AldRdmaMeasurement result = {};
        Measuring measuring = {
                .options = options, .session = session, .progress = progress, .result = &result
        };
        int stop = session->channel.stop, r = ald_rdma_session_send_preamble(fd, session->failure);
        AldAddress peer;

        session->timeout = options->link.seconds_max * ALD_NSEC_PER_SEC + ALD_RDMA_SESSION_TIMEOUT;
        if (ald_address_peer(fd, &peer) >= 0)
                ald_address_format(&peer, result.sink_address);
        g_strlcpy(result.source_port, session->port.name, sizeof result.source_port);
        if (r < 0) {
                close(fd);
                ald_tls_free(tls);
                return r;
        }
        r = ald_channel_open(&session->channel, &ald_rdma_protocol, fd, tls, false, stop, session->failure);
        g_strlcpy(result.sink, session->channel.peer, sizeof result.sink);
        if (r >= 0)
                r = run_phases(&measuring);
        if (r < 0) {
                ald_rdma_session_abort(session);
                return r;
        }
        *ret = result;
        return 0;
}
