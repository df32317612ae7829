/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>

#include <glib.h>

#include "probes/common/admission.h"
#include "probes/common/probe-clock.h"
#include "probes/rdma/gid.h"
#include "probes/rdma/rdma-measurement.h"
#include "probes/rdma/rdma-server.h"
#include "probes/rdma/rdma-transfer.h"
#include "record/figure-text.h"

typedef struct Serving {
        const AldRdmaOptions *options;
        AldRdmaSession *session;
        AldRdmaSessionReport *served;
        AldEvaluatorLimits limits; /* of each direction */
        char **gids;               /* of the other side, from its records; NULL if not restricted */
} Serving;

/* Reports the peer to the service and asks it whether to measure now. */
static int request_admission(Serving *serving, const AldRdmaHello *hello)
{
        const AldRdmaOptions *options = serving->options;
        AldRdmaSession *session = serving->session;
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
        if (!options->link.ask || session->failure->message)
                return 0;
        if (ald_admission_read(options->link.report_fd, &answer) < 0)
                return ald_fail(session->failure, ALD_FAILURE_INTERNAL, "no answer whether to measure");
        if (answer.why)
                return ald_fail(session->failure, answer.kind, "%s", answer.why);
        serving->gids = answer.gids ? g_strsplit(answer.gids, " ", -1) : NULL;
        return 0;
}

/* Opens the port that the client requests, or that of our options. */
static int open_port(Serving *serving, const AldRdmaHello *hello)
{
        AldRdmaSession *session = serving->session;
        const char *wanted = hello->port ?: serving->options->device;
        int r = ald_channel_check_version(&session->channel, hello->version), asked;

        if (r >= 0)
                r = ald_verbs_port_open(wanted, &session->port, session->failure);
        if (r >= 0)
                g_strlcpy(serving->served->port, session->port.name, sizeof serving->served->port);
        asked = request_admission(serving, hello);
        return r < 0 ? r : asked;
}

static int listen_by_manager(AldRdmaSession *session, AldRdmaOffer *offer)
{
        AldAddress local;
        int r = ald_rdma_cm_open(&session->manager, session->channel.stop, session->failure);

        if (r >= 0 && ald_address_local(session->channel.fd, &local) < 0)
                r = ald_fail(session->failure, ALD_FAILURE_ABORTED, "the connection is gone");
        return r < 0 ? r : ald_rdma_cm_listen(&session->manager, &session->port, &local, offer);
}

static int make_offer(const Serving *serving, bool manager)
{
        AldRdmaSession *session = serving->session;
        AldRdmaOffer offer = ALD_RDMA_OFFER_INIT;
        AldGidRows gids;
        int r = 0;

        offer.version = ald_rdma_protocol.version;
        offer.port = session->port.name;
        offer.manager = manager;
        offer.immediate = ald_verbs_port_takes_immediate(&session->port);
        offer.duration_max_msec = serving->options->link.seconds_max * 1000;
        offer.bytes_max = serving->options->link.bytes_max;
        offer.gids = ald_gid_rows_fill(&gids, &session->port.gids);
        if (manager)
                r = listen_by_manager(session, &offer);
        return r < 0 ? r : ald_channel_send(&session->channel, ALD_KIND_RDMA_OFFER, &offer);
}

/* Returns whether the GID belongs to the authenticated node, the only one that data may go to: it is a GID or
 * address in its records, or the address of the control connection. */
static bool is_known(const Serving *serving, const struct in6_addr *gid)
{
        struct in6_addr other;
        AldAddress peer;

        if (!serving->gids || (ald_address_peer(serving->session->channel.fd, &peer) >= 0 &&
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
                                      : ald_fail(serving->session->failure, ALD_FAILURE_REFUSED,
                                                "%s is not a known GID of the other side",
                                                inet_ntop(AF_INET6, gid, text, sizeof text));
}

static int check_gids(const Serving *serving, const AldRdmaUse *use)
{
        AldRdmaSession *session = serving->session;
        AldGid peer = {};
        int r;

        /* The records of nodes have no LIDs. */
        if (!use->source_gid)
                return serving->gids
                               ? ald_fail(session->failure, ALD_FAILURE_REFUSED,
                                         "the other side chose no GID, and a LID does not show to which "
                                         "node it belongs")
                               : 0;
        if (inet_pton(AF_INET6, use->source_gid, &peer.bytes) != 1)
                return ald_fail(session->failure, ALD_FAILURE_PROTOCOL,
                        "the other side chose a GID that is not an address");
        r = check_known(serving, &peer.bytes);
        if (r < 0)
                return r;
        for (size_t i = 0; i < session->port.gids.n; i++) {
                const AldGid *own = &session->port.gids.gids[i];

                if (own->index != use->sink_gid_index ||
                        g_strcmp0(ald_gid_type_to_string(own->type), use->gid_type) != 0)
                        continue;
                peer.type = own->type;
                session->own_gid = *own;
                session->peer_gid = peer;
                session->has_gid = true;
                return 0;
        }
        return ald_fail(session->failure, ALD_FAILURE_NO_GID,
                "the GID that the other side chose does not exist here (any more)");
}

/* Waits for the client of rdma_cm, and checks the path that rdma_cm chose. */
static int wait_for_client(const Serving *serving)
{
        AldRdmaSession *session = serving->session;
        AldGids destinations = {};
        int r = ald_rdma_cm_wait_for_client(&session->manager);

        if (r < 0 || !serving->gids)
                return r;
        ald_rdma_cm_find_destinations(&session->manager, &session->port, &destinations);
        if (destinations.n == 0)
                return ald_fail(session->failure, ALD_FAILURE_REFUSED,
                        "rdma_cm does not report the address of the other side");
        for (size_t i = 0; i < destinations.n && r >= 0; i++)
                r = check_known(serving, &destinations.gids[i].bytes);
        return r;
}

/* Opens the queue pairs that the client chose, within the limits of our port. */
static int open_endpoint(Serving *serving, const AldRdmaUse *use)
{
        AldRdmaSession *session = serving->session;
        int operation = ald_rdma_use_operation_from_string(use->operation);
        AldRdmaPlanLimits limits;
        AldRdmaPlan plan;

        ald_verbs_port_limits(&session->port, &limits);
        if (!ald_rdma_plan_make(&limits, (AldRdmaUseOperation) operation, use->message_bytes,
                    (unsigned) use->queue_pairs, &plan) ||
                plan.size != use->message_bytes || plan.queues != use->queue_pairs) {
                g_autofree char *size = ald_format_figure(&ald_unit_bytes, (double) use->message_bytes);

                return ald_fail(session->failure, ALD_FAILURE_LIMIT,
                        "%s does not support %u queue pairs with messages of %s", session->port.name,
                        (unsigned) use->queue_pairs, size);
        }
        serving->limits = ald_rdma_transfer_limits(serving->options, use->duration_max_msec, use->bytes_max);
        return ald_endpoint_open(
                &session->port, &plan, session->manager.id, &session->endpoint, session->failure);
}

static int answer_hello(Serving *serving)
{
        AldRdmaSession *session = serving->session;
        g_autoptr(AldRecord) record = NULL;
        const AldRdmaHello *hello;
        int r = ald_rdma_session_expect(session, ALD_KIND_RDMA_HELLO, &record);

        if (r < 0)
                return r;
        hello = ald_record_as(record, RDMA_HELLO, AldRdmaHello);
        r = open_port(serving, hello);
        return r < 0 ? r
                     : make_offer(serving, hello->manager || ald_verbs_port_needs_manager(&session->port));
}

/* Opens our end of the connection as the client chose it. */
static int handle_use(Serving *serving)
{
        AldRdmaSession *session = serving->session;
        g_autoptr(AldRecord) record = NULL, ready = NULL;
        const AldRdmaUse *use;
        int r = ald_rdma_session_expect(session, ALD_KIND_RDMA_USE, &record);

        if (r >= 0)
                r = ald_rdma_session_expect(session, ALD_KIND_RDMA_READY, &ready);
        if (r < 0)
                return r;
        use = ald_record_as(record, RDMA_USE, AldRdmaUse);
        r = session->manager.listener ? wait_for_client(serving) : check_gids(serving, use);
        if (r >= 0)
                r = open_endpoint(serving, use);
        return r < 0 ? r : ald_endpoint_set_peer(&session->endpoint, ready, session->failure);
}

static int prepare_connection(Serving *serving)
{
        AldRdmaSession *session = serving->session;
        int r = answer_hello(serving);

        if (r >= 0)
                r = handle_use(serving);
        if (r >= 0)
                r = session->manager.listener ? ald_rdma_cm_accept(&session->manager)
                                              : ald_rdma_session_connect(session);
        return r < 0 ? r : ald_channel_send(&session->channel, ALD_KIND_RDMA_READY, &session->endpoint.own);
}

static int serve_upload(Serving *serving)
{
        AldVerdict verdict;
        AldRdmaStop stop;
        int r = ald_rdma_transfer_receive(serving->session, &serving->limits, 0, &verdict);

        if (r < 0)
                return r;
        serving->served->received += verdict.bytes;
        stop = ald_rdma_transfer_stop(&verdict);
        return ald_channel_send(&serving->session->channel, ALD_KIND_RDMA_STOP, &stop);
}

/* Serves a phase. Returns 1 if the next phase has been requested already. */
static int serve_phase(Serving *serving, AldRdmaPhaseName phase, AldRecord **ret_next)
{
        AldRdmaSession *session = serving->session;
        uint64_t bytes = 0;
        int r;

        switch (phase) {
        case ALD_RDMA_PHASE_NAME_PING:
                r = ald_rdma_transfer_answer(session, ret_next);
                return r < 0 || (*ret_next)->kind == ALD_KIND_RDMA_PHASE
                               ? r
                               : ald_rdma_session_unexpected(session);
        case ALD_RDMA_PHASE_NAME_UPLOAD:
                return serve_upload(serving);
        case ALD_RDMA_PHASE_NAME_DOWNLOAD:
                r = ald_rdma_transfer_send(session, &serving->limits, &bytes);
                serving->served->sent += bytes;
                return r;
        default:
                return 0;
        }
}

/* No data is sent to a queue pair before a ping has shown that it belongs to the other side. */
static int check_verified(const Serving *serving, AldRdmaPhaseName phase)
{
        const AldRdmaSession *session = serving->session;

        return phase == ALD_RDMA_PHASE_NAME_PING || ald_endpoint_is_verified(&session->endpoint)
                       ? 0
                       : ald_fail(session->failure, ALD_FAILURE_PROTOCOL,
                                 "the other side has not shown by a ping that each queue pair leads to it");
}

static AldRdmaPhaseName phase_of(const AldRecord *record)
{
        const AldRdmaPhase *phase = ald_record_as(record, RDMA_PHASE, AldRdmaPhase);

        return (AldRdmaPhaseName) ald_rdma_phase_name_from_string(phase->name);
}

/* Serves the phases, each of which may come once, in order. */
static int serve_phases(Serving *serving)
{
        AldRdmaSession *session = serving->session;
        AldRdmaPhaseName phase, due = ALD_RDMA_PHASE_NAME_PING;
        g_autoptr(AldRecord) next = NULL;
        int r = ald_rdma_session_expect(session, ALD_KIND_RDMA_PHASE, &next);

        while (r >= 0 && (phase = phase_of(next)) != ALD_RDMA_PHASE_NAME_DONE) {
                const AldRdmaGo go = {};

                g_clear_pointer(&next, ald_record_unref);
                if (phase < due)
                        return ald_fail(session->failure, ALD_FAILURE_PROTOCOL,
                                "the other side requests a phase again");
                due = phase + 1;
                r = check_verified(serving, phase);
                if (r >= 0)
                        r = ald_channel_send(&session->channel, ALD_KIND_RDMA_GO, &go);
                if (r >= 0)
                        r = serve_phase(serving, phase, &next);
                if (r == 0)
                        r = ald_rdma_session_expect(session, ALD_KIND_RDMA_PHASE, &next);
        }
        return r;
}

int ald_rdma_server_run(const AldRdmaOptions *options, AldRdmaSession *session, int fd, AldTls *tls,
        AldRdmaSessionReport *served)
{
        Serving serving = { .options = options, .session = session, .served = served };
        AldAddress peer;
        int r;

        session->timeout = options->link.seconds_max * ALD_NSEC_PER_SEC + ALD_RDMA_SESSION_TIMEOUT;
        if (ald_address_peer(fd, &peer) >= 0)
                ald_address_format(&peer, served->address);
        r = ald_channel_open(&session->channel, &ald_rdma_protocol, fd, tls, true, session->channel.stop,
                session->failure);
        served->authenticated = r >= 0;
        g_strlcpy(served->peer, session->channel.peer, sizeof served->peer);
        if (r >= 0)
                r = prepare_connection(&serving);
        if (r >= 0)
                r = serve_phases(&serving);
        if (r < 0)
                ald_rdma_session_abort(session);
        g_strfreev(serving.gids);
        return r;
}
