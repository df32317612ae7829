/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "probes/common/admission.h"
#include "probes/common/clock.h"
#include "probes/rdma/gid-rows.h"
#include "probes/rdma/session.h"

typedef struct Serving {
        const AldRdmaOptions *options;
        AldTalk *talk;
        AldRdmaVisit *served;
        AldEvaluatorLimits limits; /* of each direction */
        char **gids;               /* of the other side, as its records show; NULL: not restricted */
} Serving;

/* Reports the peer to the service and asks it whether to measure now. */
static int ask(Serving *serving, const AldRdmaHello *hello)
{
        const AldRdmaOptions *options = serving->options;
        AldTalk *talk = serving->talk;
        AldSessionReport report = ALD_SESSION_REPORT_INIT;
        g_auto(AldAdmission) answer = {};

        if (options->link.report_fd < 0)
                return 0;
        report.peer = serving->served->peer;
        if (*serving->served->port) {
                report.port = serving->served->port;
                report.scope = ald_session_report_scope_to_string(ALD_SESSION_REPORT_SCOPE_FULL);
                report.automatic = hello->automatic > 0;
        }
        ald_admission_report(options->link.report_fd, &report);
        if (!options->link.ask || talk->failure->message)
                return 0;
        if (ald_admission_read(options->link.report_fd, &answer) < 0)
                return ald_fail(talk->failure, ALD_FAILURE_INTERNAL, "no answer whether to measure");
        if (answer.why)
                return ald_fail(talk->failure, answer.kind, "%s", answer.why);
        serving->gids = answer.gids ? g_strsplit(answer.gids, " ", -1) : NULL;
        return 0;
}

/* Opens the port that the client requests, or that of our options. */
static int open_port(Serving *serving, const AldRdmaHello *hello)
{
        AldTalk *talk = serving->talk;
        const char *wanted = hello->port ?: serving->options->device;
        int r = ald_channel_check_version(&talk->channel, hello->version), asked;

        if (r >= 0)
                r = ald_port_open(wanted, &talk->port, talk->failure);
        if (r >= 0)
                g_strlcpy(serving->served->port, talk->port.name, sizeof serving->served->port);
        asked = ask(serving, hello);
        return r < 0 ? r : asked;
}

static int listen_by_manager(AldTalk *talk, AldRdmaOffer *offer)
{
        AldAddress local;
        int r = ald_manager_open(&talk->manager, talk->channel.stop, talk->failure);

        if (r >= 0 && ald_address_local(talk->channel.fd, &local) < 0)
                r = ald_fail(talk->failure, ALD_FAILURE_ABORTED, "the connection is gone");
        return r < 0 ? r : ald_manager_listen(&talk->manager, &talk->port, &local, offer);
}

static int make_offer(const Serving *serving, bool manager)
{
        AldTalk *talk = serving->talk;
        AldRdmaOffer offer = ALD_RDMA_OFFER_INIT;
        AldGidRows gids;
        int r = 0;

        offer.version = ald_rdma_protocol.version;
        offer.port = talk->port.name;
        offer.manager = manager;
        offer.immediate = ald_port_takes_immediate(&talk->port);
        offer.duration_max_msec = serving->options->link.seconds_max * 1000;
        offer.bytes_max = serving->options->link.bytes_max;
        offer.gids = ald_gid_rows_fill(&gids, &talk->port.gids);
        if (manager)
                r = listen_by_manager(talk, &offer);
        return r < 0 ? r : ald_channel_send(&talk->channel, ALD_KIND_RDMA_OFFER, &offer);
}

/* Data may only go to the authenticated node: to a GID or address in its records, or to the address of the
 * control connection. */
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
                                                "%s is not a known GID of the other side",
                                                inet_ntop(AF_INET6, gid, text, sizeof text));
}

static int take_gids(const Serving *serving, const AldRdmaUse *use)
{
        AldTalk *talk = serving->talk;
        AldGid peer = {};
        int r;

        /* The records of nodes do not have LIDs. */
        if (!use->source_gid)
                return serving->gids
                               ? ald_fail(talk->failure, ALD_FAILURE_REFUSED,
                                         "the other side chose no GID, and a LID does not show to which "
                                         "node it belongs")
                               : 0;
        if (inet_pton(AF_INET6, use->source_gid, &peer.bytes) != 1)
                return ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                        "the other side chose a GID that is not an address");
        r = check_known(serving, &peer.bytes);
        if (r < 0)
                return r;
        for (size_t i = 0; i < talk->port.gids.n; i++) {
                const AldGid *own = &talk->port.gids.gids[i];

                if (own->index != use->sink_gid_index ||
                        g_strcmp0(ald_gid_type_to_string(own->type), use->gid_type) != 0)
                        continue;
                peer.type = own->type;
                talk->own_gid = *own;
                talk->peer_gid = peer;
                talk->has_gid = true;
                return 0;
        }
        return ald_fail(talk->failure, ALD_FAILURE_NO_GID,
                "the GID that the other side chose does not exist here (any more)");
}

/* The same with rdma_cm, which chose the path. */
static int meet(const Serving *serving)
{
        AldTalk *talk = serving->talk;
        AldGids destinations = {};
        int r = ald_manager_meet(&talk->manager);

        if (r < 0 || !serving->gids)
                return r;
        ald_manager_destinations(&talk->manager, &talk->port, &destinations);
        if (destinations.n == 0)
                return ald_fail(talk->failure, ALD_FAILURE_REFUSED,
                        "rdma_cm does not report the address of the other side");
        for (size_t i = 0; i < destinations.n && r >= 0; i++)
                r = check_known(serving, &destinations.gids[i].bytes);
        return r;
}

/* Opens the queue pairs that the client chose, within the limits of our port. */
static int open_pair(Serving *serving, const AldRdmaUse *use)
{
        AldTalk *talk = serving->talk;
        int operation = ald_rdma_use_operation_from_string(use->operation);
        AldPlanLimits limits;
        AldPlan plan;

        ald_port_limits(&talk->port, &limits);
        if (!ald_plan_make(&limits, (AldRdmaUseOperation) operation, use->message_bytes,
                    (unsigned) use->queue_pairs, &plan) ||
                plan.size != use->message_bytes || plan.queues != use->queue_pairs)
                return ald_fail(talk->failure, ALD_FAILURE_LIMIT,
                        "%s does not support %u queue pairs with messages of %zu KiB", talk->port.name,
                        (unsigned) use->queue_pairs, (size_t) use->message_bytes >> 10);
        serving->limits = ald_flow_limits(serving->options, use->duration_max_msec, use->bytes_max);
        return ald_pair_open(&talk->port, &plan, talk->manager.id, &talk->pair, talk->failure);
}

static int greet(Serving *serving)
{
        AldTalk *talk = serving->talk;
        g_autoptr(AldRecord) record = NULL;
        const AldRdmaHello *hello;
        int r = ald_talk_expect(talk, ALD_KIND_RDMA_HELLO, &record);

        if (r < 0)
                return r;
        hello = ald_record_as(record, RDMA_HELLO, AldRdmaHello);
        r = open_port(serving, hello);
        return r < 0 ? r : make_offer(serving, hello->manager || ald_port_needs_manager(&talk->port));
}

/* Opens our end of the connection as the client chose it. */
static int take_use(Serving *serving)
{
        AldTalk *talk = serving->talk;
        g_autoptr(AldRecord) record = NULL, ready = NULL;
        const AldRdmaUse *use;
        int r = ald_talk_expect(talk, ALD_KIND_RDMA_USE, &record);

        if (r >= 0)
                r = ald_talk_expect(talk, ALD_KIND_RDMA_READY, &ready);
        if (r < 0)
                return r;
        use = ald_record_as(record, RDMA_USE, AldRdmaUse);
        r = talk->manager.listener ? meet(serving) : take_gids(serving, use);
        if (r >= 0)
                r = open_pair(serving, use);
        return r < 0 ? r : ald_pair_take_peer(&talk->pair, ready, talk->failure);
}

static int get_ready(Serving *serving)
{
        AldTalk *talk = serving->talk;
        int r = greet(serving);

        if (r >= 0)
                r = take_use(serving);
        if (r >= 0)
                r = talk->manager.listener ? ald_manager_accept(&talk->manager) : ald_talk_connect(talk);
        return r < 0 ? r : ald_channel_send(&talk->channel, ALD_KIND_RDMA_READY, &talk->pair.own);
}

static int serve_upload(Serving *serving)
{
        AldVerdict verdict;
        AldRdmaStop stop;
        int r = ald_flow_receive(serving->talk, &serving->limits, 0, &verdict);

        if (r < 0)
                return r;
        serving->served->received += verdict.bytes;
        stop = ald_flow_stop(&verdict);
        return ald_channel_send(&serving->talk->channel, ALD_KIND_RDMA_STOP, &stop);
}

/* 1 if the next phase has been requested already. */
static int serve_phase(Serving *serving, AldRdmaPhaseName phase, AldRecord **ret_next)
{
        AldTalk *talk = serving->talk;
        uint64_t bytes = 0;
        int r;

        switch (phase) {
        case ALD_RDMA_PHASE_NAME_PING:
                r = ald_flow_answer(talk, ret_next);
                return r < 0 || (*ret_next)->kind == ALD_KIND_RDMA_PHASE ? r : ald_talk_out_of_turn(talk);
        case ALD_RDMA_PHASE_NAME_UPLOAD:
                return serve_upload(serving);
        case ALD_RDMA_PHASE_NAME_DOWNLOAD:
                r = ald_flow_send(talk, &serving->limits, &bytes);
                serving->served->sent += bytes;
                return r;
        default:
                return 0;
        }
}

/* No data is sent to a queue pair before a ping has shown that it belongs to the other side. */
static int check_proof(const Serving *serving, AldRdmaPhaseName phase)
{
        const AldTalk *talk = serving->talk;

        return phase == ALD_RDMA_PHASE_NAME_PING || ald_pair_is_proved(&talk->pair)
                       ? 0
                       : ald_fail(talk->failure, ALD_FAILURE_PROTOCOL,
                                 "the other side has not shown by a ping that each queue pair leads to it");
}

static AldRdmaPhaseName phase_of(const AldRecord *record)
{
        const AldRdmaPhase *phase = ald_record_as(record, RDMA_PHASE, AldRdmaPhase);

        return (AldRdmaPhaseName) ald_rdma_phase_name_from_string(phase->name);
}

/* Each phase may come once, in its order. */
static int serve_phases(Serving *serving)
{
        AldTalk *talk = serving->talk;
        AldRdmaPhaseName phase, due = ALD_RDMA_PHASE_NAME_PING;
        g_autoptr(AldRecord) next = NULL;
        int r = ald_talk_expect(talk, ALD_KIND_RDMA_PHASE, &next);

        while (r >= 0 && (phase = phase_of(next)) != ALD_RDMA_PHASE_NAME_DONE) {
                const AldRdmaGo go = {};

                g_clear_pointer(&next, ald_record_unref);
                if (phase < due)
                        return ald_fail(
                                talk->failure, ALD_FAILURE_PROTOCOL, "the other side requests a phase again");
                due = phase + 1;
                r = check_proof(serving, phase);
                if (r >= 0)
                        r = ald_channel_send(&talk->channel, ALD_KIND_RDMA_GO, &go);
                if (r >= 0)
                        r = serve_phase(serving, phase, &next);
                if (r == 0)
                        r = ald_talk_expect(talk, ALD_KIND_RDMA_PHASE, &next);
        }
        return r;
}

static int serve(Serving *serving)
{
        int r = get_ready(serving);

        return r < 0 ? r : serve_phases(serving);
}

int ald_session_serve(const AldRdmaOptions *options, AldTalk *talk, int fd, AldTls *tls, AldRdmaVisit *served)
{
        Serving serving = { .options = options, .talk = talk, .served = served };
        AldAddress peer;
        int r;

        talk->patience = options->link.seconds_max * ALD_NSEC_PER_SEC + ALD_TALK_PATIENCE;
        if (ald_address_peer(fd, &peer) >= 0)
                ald_address_format(&peer, served->address);
        r = ald_channel_open(
                &talk->channel, &ald_rdma_protocol, fd, tls, true, talk->channel.stop, talk->failure);
        served->authenticated = r >= 0;
        g_strlcpy(served->peer, talk->channel.peer, sizeof served->peer);
        if (r >= 0)
                r = serve(&serving);
        if (r < 0)
                ald_talk_abort(talk);
        g_strfreev(serving.gids);
        return r;
}
