/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/common/evaluator.h"
#include "probes/common/probe-clock.h"
#include "probes/rdma/ping.h"
#include "probes/rdma/rdma-transfer.h"

#define WARM_UP 200u
#define WARM_UP_NSEC ALD_NSEC_PER_SEC    /* most for all of them, since slow links have nothing to warm up */
#define RTT_NSEC ALD_NSEC_PER_SEC        /* most for all of them */
#define READ_NSEC (ALD_NSEC_PER_SEC / 2) /* the same */
#define TURNS 64u                        /* between two checks whether a ping has failed */
#define SAMPLE_NS (500 * UINT64_C(1000))
#define GRACE_NS ALD_NSEC_PER_SEC /* for the other side to report the end of a direction */

AldEvaluatorLimits ald_rdma_transfer_limits(
        const AldRdmaOptions *options, uint64_t their_msec, uint64_t their_bytes)
{
        uint64_t msec = MIN(options->link.seconds_max * 1000, their_msec);

        /* A transfer starts at full speed. If its rate is not clear early, it is unsteady and remains so. */
        return (AldEvaluatorLimits){ .soft_ns = msec * ALD_NSEC_PER_MSEC / 4,
                .hard_ns = msec * ALD_NSEC_PER_MSEC,
                .bytes = MIN(options->link.bytes_max, their_bytes),
                .streams = 1 };
}

static int fail_wrong_peer(AldRdmaSession *session)
{
        return ald_fail(session->failure, ALD_FAILURE_WRONG_PEER,
                "what arrived over RDMA was not sent by the other side");
}

/* Waits for a ping. Returns the number of pings received. */
static int wait_for_ping(AldRdmaSession *session, uint64_t deadline, const uint8_t **ret)
{
        for (unsigned turn = 1;; turn++) {
                int r = ald_endpoint_received(&session->endpoint, ALD_RDMA_PLAN_PING, ret, session->failure);

                if (r != 0)
                        return r;
                if (turn % TURNS == 0)
                        r = ald_endpoint_sent(&session->endpoint, session->failure);
                if (r >= 0)
                        r = ald_rdma_session_poll(session, deadline, NULL);
                if (r > 0)
                        r = ald_rdma_session_unexpected(session);
                if (r < 0)
                        return r;
        }
}

static int exchange_ping(
        AldRdmaSession *session, unsigned queue, uint64_t number, uint64_t deadline, uint64_t *ret_nsec)
{
        const AldPing out = { session->endpoint.peer->nonce, number };
        AldPing in;
        const uint8_t *came = NULL;
        uint64_t begun, elapsed;
        int r;

        ald_ping_write(&out, session->endpoint.buffer);
        begun = ald_now();
        r = ald_endpoint_ping(&session->endpoint, queue, session->failure);
        if (r >= 0)
                r = wait_for_ping(session, deadline, &came);
        if (r < 0)
                return r;
        elapsed = ald_now() - begun;
        in = ald_ping_read(came);
        if (r > 1 || in.nonce != session->endpoint.own.nonce || in.number != number)
                return fail_wrong_peer(session);
        r = ald_endpoint_sent(&session->endpoint, session->failure);
        if (r >= 0)
                *ret_nsec = elapsed;
        return r;
}

int ald_rdma_transfer_ping(AldRdmaSession *session, AldRttSample *samples, size_t n, size_t *ret_n)
{
        uint64_t deadline = ald_now() + session->timeout, end = ald_now() + WARM_UP_NSEC;
        size_t i;
        int r = 0;

        /* A ping on each queue pair proves to the other side that it ends here. */
        for (unsigned queue = 0; queue < session->endpoint.plan.queues && r >= 0; queue++)
                r = exchange_ping(session, queue, queue, deadline, &samples[0].nsec);
        for (i = 0; i < WARM_UP && r >= 0 && ald_now() < end; i++)
                r = exchange_ping(session, 0, i, deadline, &samples[0].nsec);
        end = ald_now() + RTT_NSEC;
        for (i = 0; i < n && r >= 0 && ald_now() < end; i++) {
                samples[i].burst = 0;
                r = exchange_ping(session, 0, WARM_UP + i, deadline, &samples[i].nsec);
        }
        if (r < 0)
                return r;
        *ret_n = i;
        return 0;
}

static int wait_until_idle(AldRdmaSession *session, uint64_t deadline)
{
        while (!ald_endpoint_is_idle(&session->endpoint)) {
                int r = ald_endpoint_sent(&session->endpoint, session->failure);

                if (r >= 0)
                        r = ald_rdma_session_poll(session, deadline, NULL);
                if (r < 0)
                        return r;
        }
        return 0;
}

int ald_rdma_transfer_answer(AldRdmaSession *session, AldRecord **ret)
{
        uint64_t deadline = ald_now() + session->timeout;
        g_autoptr(AldRecord) message = NULL;
        int r, settled;

        for (;;) {
                const uint8_t *came = NULL;
                AldPing in;

                r = ald_endpoint_received(&session->endpoint, ALD_RDMA_PLAN_PING, &came, session->failure);
                if (r > 0) {
                        in = ald_ping_read(came);
                        if (in.nonce != session->endpoint.own.nonce)
                                return fail_wrong_peer(session);
                        ald_endpoint_note_verified(&session->endpoint);
                        in.nonce = session->endpoint.peer->nonce;
                        ald_ping_write(&in, session->endpoint.buffer);
                        r = ald_endpoint_ping(
                                &session->endpoint, session->endpoint.last_queue, session->failure);
                }
                if (r >= 0)
                        r = ald_endpoint_sent(&session->endpoint, session->failure);
                if (r >= 0)
                        r = ald_rdma_session_poll(session, deadline, &message);
                if (r != 0)
                        break;
        }
        if (r < 0)
                return r;
        /* If an answer was not acknowledged, the other end may belong to another machine. */
        settled = wait_until_idle(session, deadline);
        if (settled < 0)
                return settled;
        *ret = g_steal_pointer(&message);
        return r;
}

static int read_once(AldRdmaSession *session, uint64_t deadline, uint64_t *ret_nsec)
{
        uint64_t begun = ald_now();
        int r = ald_endpoint_read(&session->endpoint, session->failure);

        /* The completion of the last ping may come first. */
        while (r >= 0 && !ald_endpoint_is_idle(&session->endpoint)) {
                r = ald_endpoint_sent(&session->endpoint, session->failure);
                if (r == 0)
                        r = ald_rdma_session_poll(session, deadline, NULL);
        }
        if (r >= 0)
                *ret_nsec = ald_now() - begun;
        return r;
}

int ald_rdma_transfer_read(AldRdmaSession *session, AldRttSample *samples, size_t n, size_t *ret_n)
{
        uint64_t deadline = ald_now() + session->timeout, end = ald_now() + READ_NSEC;
        size_t i;
        int r = 0;

        for (i = 0; i < n && r >= 0 && ald_now() < end; i++) {
                samples[i].burst = 0;
                r = read_once(session, deadline, &samples[i].nsec);
        }
        if (r < 0)
                return r;
        *ret_n = i;
        return 0;
}

/* Returns whether more may be sent: the bytes that were agreed on, plus those in flight until the receiver
 * stops the transfer. */
static bool may_send(
        const AldRdmaSession *session, const AldEvaluatorLimits *limits, uint64_t end, uint64_t sent)
{
        const AldEndpoint *endpoint = &session->endpoint;
        uint64_t under_way = endpoint->limit * endpoint->plan.queues + ALD_ENDPOINT_BATCH;

        return session->polled < end && sent < limits->bytes + under_way * endpoint->plan.size;
}

int ald_rdma_transfer_send(AldRdmaSession *session, const AldEvaluatorLimits *limits, uint64_t *bytes)
{
        uint64_t now = ald_now(), end = now + limits->hard_ns + GRACE_NS, deadline = now + session->timeout;
        uint64_t begun = session->endpoint.posted;
        g_autoptr(AldRecord) message = NULL;
        AldRdmaDrained drained = {};
        int r = 0;

        while (r == 0) {
                if (may_send(session, limits, end, *bytes))
                        r = ald_endpoint_fill(&session->endpoint, session->failure);
                *bytes = (session->endpoint.posted - begun) * session->endpoint.plan.size;
                if (r >= 0)
                        r = ald_endpoint_sent(&session->endpoint, session->failure);
                if (r >= 0)
                        r = ald_rdma_session_poll(session, UINT64_MAX, &message);
                if (r == 0 && session->polled > deadline)
                        r = ald_fail(session->failure, ALD_FAILURE_TIMEOUT,
                                "the other side does not end the transfer");
        }
        if (r < 0)
                return r;
        if (message->kind != ALD_KIND_RDMA_STOP)
                return ald_rdma_session_unexpected(session);
        drained.bytes = *bytes;
        r = wait_until_idle(session, deadline);
        return r < 0 ? r : ald_channel_send(&session->channel, ALD_KIND_RDMA_DRAINED, &drained);
}

AldRdmaStop ald_rdma_transfer_stop(const AldVerdict *verdict)
{
        AldRdmaStop stop = ALD_RDMA_STOP_INIT;

        ALD_VERDICT_TO_REPORT(&stop, verdict);
        return stop;
}

AldVerdict ald_rdma_transfer_verdict(const AldRdmaStop *stop)
{
        return ALD_VERDICT_OF_REPORT(stop);
}

/* A rate is the mean of bins, which together hold no more bytes than arrived. */
bool ald_rdma_transfer_is_plausible(const AldVerdict *verdict, uint64_t sent, uint64_t nsec)
{
        double most = 1.01 * (double) verdict->bytes * 8e9;
        uint64_t least = verdict->bins > 0 ? MIN(verdict->nsec, ALD_ESTIMATE_BIN_NS) : verdict->nsec;

        return verdict->bytes <= sent && verdict->nsec <= nsec &&
               (double) verdict->mean * (double) verdict->nsec <= most &&
               (double) verdict->bits_per_second * (double) least <= most;
}

/* Returns the number of messages that arrived. If there is none, waits for a moment. */
static int receive_messages(AldRdmaSession *session, uint64_t *bytes)
{
        int r = ald_endpoint_received(
                &session->endpoint, session->endpoint.plan.size, NULL, session->failure);

        *bytes += r > 0 ? (uint64_t) r * session->endpoint.plan.size : 0;
        return r != 0 ? r : ald_rdma_session_wait(session);
}

/* Receives the data that was still in flight. */
static int receive_rest(AldRdmaSession *session, uint64_t deadline, uint64_t bytes)
{
        g_autoptr(AldRecord) message = NULL;
        const AldRdmaDrained *drained;
        int r = 0;

        while (r == 0) {
                r = receive_messages(session, &bytes);
                if (r >= 0)
                        r = ald_rdma_session_poll(session, deadline, &message);
        }
        if (r < 0)
                return r;
        if (message->kind != ALD_KIND_RDMA_DRAINED)
                return ald_rdma_session_unexpected(session);
        drained = ald_record_as(message, RDMA_DRAINED, AldRdmaDrained);
        while (r >= 0 && bytes < drained->bytes) {
                r = receive_messages(session, &bytes);
                if (r == 0)
                        r = ald_rdma_session_poll(session, deadline, NULL);
        }
        if (r < 0)
                return r;
        return bytes == drained->bytes ? 0
                                       : ald_fail(session->failure, ALD_FAILURE_PROTOCOL,
                                                 "the other side reports another amount than it sent");
}

/* A direction as its receiver sees it. */
typedef struct Receiving {
        const AldRdmaSession *session;
        const AldEvaluatorLimits *limits;
        AldEvaluator evaluator;
        AldTransferCounters moved;
        uint64_t evaluated; /* time of the last sample; 0 if none */
        uint64_t end;       /* when its time is over */
} Receiving;

/* Gives the evaluator a sample from time to time, and at once when the limit of bytes or of time is reached.
 */
static AldEvaluatorStep evaluate_sample(Receiving *receiving, bool more)
{
        AldTransferCounters *moved = &receiving->moved;

        if (!more && receiving->session->polled <= receiving->end)
                return ALD_EVALUATOR_GO_ON;
        moved->when = more ? ald_now() : receiving->session->polled;
        if (moved->when - receiving->evaluated < SAMPLE_NS && moved->bytes < receiving->limits->bytes)
                return ALD_EVALUATOR_GO_ON;
        if (receiving->evaluated == 0)
                receiving->end = moved->when + receiving->limits->hard_ns;
        receiving->evaluated = moved->when;
        return ald_evaluator_sample(&receiving->evaluator, moved, ALD_EVALUATOR_UNBOUND);
}

static int receive_all(AldRdmaSession *session, Receiving *receiving, uint64_t deadline)
{
        AldEvaluatorStep step = ALD_EVALUATOR_GO_ON;

        while (step != ALD_EVALUATOR_STOP) {
                int r = receive_messages(session, &receiving->moved.bytes);

                if (r < 0)
                        return r;
                step = evaluate_sample(receiving, r > 0);
                r = ald_rdma_session_poll(session, deadline, NULL);
                if (r > 0)
                        return ald_rdma_session_unexpected(session);
                if (r < 0)
                        return r;
        }
        return 0;
}

int ald_rdma_transfer_receive(
        AldRdmaSession *session, const AldEvaluatorLimits *limits, uint64_t min_rtt, AldVerdict *ret)
{
        Receiving receiving = { .session = session, .limits = limits, .end = UINT64_MAX };
        uint64_t deadline = ald_now() + session->timeout;
        AldVerdict verdict;
        AldRdmaStop stop;
        int r;

        ald_evaluator_init(&receiving.evaluator, limits, min_rtt);
        r = receive_all(session, &receiving, deadline);
        if (r >= 0 && !ald_evaluator_verdict(&receiving.evaluator, &verdict))
                r = ald_fail(session->failure, ALD_FAILURE_TIMEOUT, "nothing came over RDMA in time");
        ald_evaluator_clear(&receiving.evaluator);
        if (r < 0)
                return r;
        stop = ald_rdma_transfer_stop(&verdict);
        r = ald_channel_send(&session->channel, ALD_KIND_RDMA_STOP, &stop);
        if (r >= 0)
                r = receive_rest(session, deadline, receiving.moved.bytes);
        if (r >= 0)
                *ret = verdict;
        return r;
}
